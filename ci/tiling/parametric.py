"""Parametric mutation of a tiling: single knob moves by diagnosis, then optuna's TPE.

Both are pure functions of their arguments. optuna is used by ask and tell, with the
whole history sent again each time, so a resumed run asks what the interrupted one would have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

import optuna
from optuna.distributions import BaseDistribution, IntDistribution

from ci.model.objective import worth
from ci.model.trial import Outcome, Trial
from ci.tiling.core_counts import core_counts
from ci.tiling.core_knobs import NO_CAP
from ci.tiling.foretold import LEAST, foretold, limits_nothing, starves
from ci.tiling.knob_words import limit, move_id, reason, set_to
from ci.tiling.template import Knob, KnobValue, TilingTemplate

FAILED_FACTOR = 4.0
"""A failed candidate counts for TPE as four times the baseline: worse than any that runs."""

STARTUP_TRIALS = 4
"""Random asks before TPE models: the single moves have given it data already."""

ASKS = 48
"""Asks in a row that may repeat known candidates before the space counts as exhausted."""

REACH = 3
"""Steps of a knob's scale that TPE may go from the best: farther is seldom better at once."""

HARM = 1.03
"""A move that costs 3 % is not tried again, nor one further on, when other things changed."""

INDIFFERENT = 2
"""Kernels under which every move of a knob alone changed nothing, for it to be left alone."""

MOST_MOVES = 5
"""Values of one knob that are tried one by one; TPE reaches the others."""

MOST_FORETOLD = 2
"""Limits on the cores that come before all else: where both disappoint, the forecast is wrong."""

# Which kinds of knob a bottleneck speaks for, most promising first.
_BY_CLASS: dict[str, tuple[str, ...]] = {
    "launch_overhead": (
        "core_root",
        "core_work",
        "core_rows",
        "core_cap",
        "literal",
        "block_constant",
    ),
    "low_parallelism": ("ub_work", "literal", "block_constant", "constant", "core_cap"),
    "tail_imbalance": ("core_root", "core_work", "core_rows", "core_cap", "ub_share", "constant"),
    "no_overlap": ("ub_share", "ub_work", "constant", "divisor"),
    "gm_bandwidth": (
        "ub_share",
        "core_root",
        "core_work",
        "core_cap",
        "constant",
        "literal",
        "block_constant",
    ),
    "small_copies": ("divisor", "constant", "core_rows", "core_root", "core_work", "core_cap"),
    "ub_underused": ("divisor", "constant"),
    "short_vectors": ("divisor", "constant", "core_root", "core_work"),
    "vector_bound": ("core_root", "core_work", "literal", "block_constant", "divisor"),
    "scalar_bound": ("divisor", "constant", "literal", "block_constant"),
    "bank_conflict": ("divisor", "ub_share", "constant"),
}
_ALL_KINDS = (
    "core_root", "core_work", "core_rows", "ub_share", "ub_work", "literal", "block_constant",
    "constant", "divisor", "core_cap",
)  # fmt: skip
# core_cap comes last: it fits the workload's shapes only, the others adapt.

_LIMITS = ("core_cap", "ub_work")
"""Kinds whose larger values limit less, and whose neutral value limits nothing."""

_CORE_LIMITS = ("core_root", "core_work", "core_rows", "core_cap")
"""Kinds that limit one number: of two at once mostly the tighter one acts."""


def knob_moves(
    template: TilingTemplate,
    classes: Sequence[str],
    best: Trial,
    history: Sequence[Trial],
    known: Mapping[str, bool],
    templates: Mapping[str, TilingTemplate],
) -> Iterator[tuple[dict[str, KnobValue], str, str]]:
    """(all knob values, why, id of the move) with one knob moved.

    A limit on the cores takes the place of another one. `templates` has the template at each trial
    by its candidate's hash.

    First what experience says of such bottlenecks: `known` has, by the move's id and in the order
    of their promise, whether it held. Then the limits on the cores that the profile speaks for, the
    first choice of each knob, the second …, and at last what seldom held. Moves that an earlier one
    proves idle are left out: it changed no figure, and went further. So are those of knobs that
    changed no figure under `INDIFFERENT` kernels, and limits that limit nothing in any case.
    """
    hopeless = _hopeless(template, best, history, templates)
    kinds = list(dict.fromkeys([*(k for c in classes for k in _BY_CLASS.get(c, ())), *_ALL_KINDS]))
    now = template.values
    knobs = sorted(template.knobs, key=lambda knob: kinds.index(knob.kind))
    rows = [
        [
            (k, v)
            for v in _preferred(template, k)
            if not _ruled_out(k, now[k.name], v, *hopeless.get(k.name, ([], [])))
            and not limits_nothing(template, k, v)
            and not starves(template, k, v, best)
        ][:MOST_MOVES]
        for k in knobs
    ]
    columns = (m for column in zip_longest(*rows) for m in column if m is not None)
    moves = [(knob, value, move_id(knob, now[knob.name], value)) for knob, value in columns]
    places = {move: place for place, move in enumerate(m for m, held in known.items() if held)}
    late = {move for move, held in known.items() if not held}
    first = _foretold(template, moves, best)
    moves.sort(key=lambda m: (m[2] in late, places.get(m[2], len(places)), -first.get(m[:2], 0)))
    for knob, value, move in moves:
        gone = _replaced(template, knob, value)
        was = "".join(f" Before: {limit(k.kind, now[k.name])}." for k in gone)
        before = now[knob.name]
        why = f"{set_to(knob, before, value)}.{was} {reason(knob, before, value)}".rstrip()
        yield now | {k.name: NO_CAP for k in gone} | {knob.name: value}, why, move


def _foretold(
    template: TilingTemplate, moves: Sequence[tuple[Knob, KnobValue, str]], best: Trial
) -> dict[tuple[Knob, KnobValue], float]:
    """The `MOST_FORETOLD` limits on the cores from which the profile promises most."""
    measured = best.measurement
    if measured is None or not measured.fingerprint.simulated:
        return {}
    sizes = template.cut.elements or (None,) * len(measured.cases)
    promised = {
        (knob, value): foretold(knob, value, sizes, measured)
        for knob, value, _ in moves
        if knob.kind in _CORE_LIMITS
    }
    most = sorted(promised, key=promised.__getitem__, reverse=True)[:MOST_FORETOLD]
    return {move: promised[move] for move in most if promised[move] >= LEAST}


def _replaced(template: TilingTemplate, knob: Knob, value: KnobValue) -> list[Knob]:
    """The other limits on the same number of cores that a limit takes the place of."""
    if knob.kind not in _CORE_LIMITS or value == NO_CAP:
        return []
    number = knob.name.partition(".")[0]
    return [
        other
        for other in template.knobs
        if other.kind in _CORE_LIMITS
        and (other.name, other.file) != (knob.name, knob.file)
        and other.name.partition(".")[0] == number
        and template.values[other.name] != NO_CAP
    ]


def _hopeless(
    template: TilingTemplate,
    best: Trial,
    history: Sequence[Trial],
    templates: Mapping[str, TilingTemplate],
) -> dict[str, tuple[list[KnobValue], list[KnobValue]]]:
    """Return, by knob, the values to which a single move changed no figure, and those
    where it failed.

    A failure counts from whatever parent it was tried, and so does what other shapes refused of the
    move but not of its parent; one that was idle or clearly harmful only from the present value,
    and with the kernel as it is: another one may want it. Values
    that made the present program, or that of a trial which differs in one of them, were idle, too.
    Where several kernels did not care what a knob was, no other one is asked.
    """
    now, kernel, mine = template.values, _kernel(best, template), template.skeleton()
    by_hash = {t.candidate.hash: t for t in history if not t.cached}
    limits = {k.name for k in template.knobs if k.kind in _CORE_LIMITS}
    found: dict[str, tuple[list[KnobValue], list[KnobValue]]] = {}
    idle_under: dict[str, list[dict[str, str]]] = {}
    acted: set[str] = set()
    programs: dict[str, dict[str, KnobValue]] = {}
    for trial in history:
        at = templates.get(trial.candidate.hash)
        if at is not None and _kernel(trial, template) == kernel and at.skeleton() == mine:
            apart = [k for k in now if at.values.get(k, now[k]) != now[k]]
            if len(apart) == 1 and _ratio(trial, best) > HARM:  # from whatever it was made
                found.setdefault(apart[0], ([], []))[1].append(at.values[apart[0]])
            values = now | {k: at.values[k] for k in now if k in at.values}
            first = programs.setdefault(trial.program, values) if trial.program else values
            differ = [k for k in now if first[k] != values[k]]
            for name in differ if first == now or len(differ) == 1 else ():
                if now[name] in (first[name], values[name]):
                    other = values[name] if first[name] == now[name] else first[name]
                    found.setdefault(name, ([], []))[0].append(other)
        parent = by_hash.get(trial.candidate.parent)
        knobs = trial.candidate.knobs
        if parent is None or not knobs:
            continue
        at = templates.get(parent.candidate.hash)
        before = at.values if at is not None else now
        moved = [k for k, v in knobs.items() if k in now and v != before.get(k, now[k])]
        if len({k.partition(".")[0] for k in moved}) == 1 and limits.issuperset(moved):
            moved = [k for k in moved if knobs[k] != NO_CAP] or moved  # one in place of another
        if len(moved) != 1 or isinstance(value := knobs[moved[0]], str):
            continue
        idle, failed = found.setdefault(moved[0], ([], []))
        under = _kernel(trial, template)
        same_start = before.get(moved[0], now[moved[0]]) == now[moved[0]] and under == kernel
        harmed = _ratio(trial, parent) > HARM
        unfit = trial.outcome is Outcome.UNFIT and parent.outcome is not Outcome.UNFIT
        same = same_figures(trial, parent)
        if trial.measurement is None or unfit or (same_start and harmed):
            failed.append(value)
        elif same_start and same:
            idle.append(value)
        if not same:
            acted.add(moved[0])
        elif under not in idle_under.setdefault(moved[0], []):
            idle_under[moved[0]].append(under)
    for knob in template.knobs:
        if knob.name not in acted and len(idle_under.get(knob.name, ())) >= INDIFFERENT:
            found[knob.name][0].extend(template.choices(knob))
    return found


def _ratio(trial: Trial, parent: Trial) -> float:
    """The trial's time over its parent's, in the start state where that is most."""
    if trial.measurement is None or parent.measurement is None:
        return 1.0
    return 1 / worth(parent.measurement, trial.measurement)


def _ruled_out(
    knob: Knob,
    now: KnobValue,
    value: KnobValue,
    idle: Sequence[KnobValue],
    failed: Sequence[KnobValue],
) -> bool:
    """Whether a value is hopeless because another one was.

    A limit that did not bite leaves looser limits idle too, and one that failed tighter ones fail.
    Any other knob that was moved without effect is taken to have none further on in the same
    direction, and to fail beyond a failure.
    """
    if knob.kind in _LIMITS and now == knob.neutral:
        return any(value >= s for s in idle) or any(0 < value <= f for f in failed)
    if any((value >= f > now) or (value <= f < now) for f in failed):
        return True
    if knob.kind in ("core_work", "core_root", "core_rows") and now == knob.neutral:
        return any(0 < value <= s for s in idle)
    return any((value > now) == (s > now) for s in idle)


def same_figures(one: Trial, two: Trial) -> bool:
    """Whether two trials took exactly the same time in every case."""
    if one.measurement is None or two.measurement is None:
        return False
    return [c.samples_us for c in one.measurement.cases] == [
        c.samples_us for c in two.measurement.cases
    ]


def sample(
    template: TilingTemplate,
    best: Trial,
    history: Sequence[Trial],
    seed: int,
    templates: Mapping[str, TilingTemplate],
) -> Iterator[dict[str, KnobValue]]:
    """Knob values that TPE asks for, given the measured trials of this kernel and skeleton.

    Not those that differ from a trial in what a single move showed to be idle alone.
    `templates` has the template at each trial by its candidate's hash.
    """
    if not template.knobs:
        return
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    told = _told(template, best, history, templates)
    hopeless = _hopeless(template, best, history, templates)
    now = template.values

    def acting(values: Mapping[str, KnobValue]) -> dict[str, KnobValue]:
        """The values without those that change no figure, or changed none when moved alone."""
        return {
            k.name: now[k.name]
            if _ruled_out(k, now[k.name], values[k.name], hopeless.get(k.name, ([], []))[0], [])
            or limits_nothing(template, k, values[k.name])
            else values[k.name]
            for k in template.knobs
        }

    tried = [acting(values) for values, _ in told]
    scales = {k.name: _near(template, k) for k in template.knobs}
    space: dict[str, BaseDistribution] = {
        name: IntDistribution(0, len(scale) - 1) for name, scale in scales.items()
    }
    sampler = optuna.samplers.TPESampler(
        seed=_seed(seed, len(history)), n_startup_trials=STARTUP_TRIALS, multivariate=True
    )
    study = optuna.create_study(sampler=sampler)
    for values, cost in told:
        if any(values[name] not in scale for name, scale in scales.items()):
            continue
        study.add_trial(
            optuna.trial.create_trial(
                params={n: scales[n].index(values[n]) for n in scales},
                distributions=space,
                value=cost,
            )
        )
    for _ in range(ASKS):
        asked = study.ask(space)
        study.tell(asked, state=optuna.trial.TrialState.FAIL)
        values = {name: scale[asked.params[name]] for name, scale in scales.items()}
        if acting(values) not in tried and not any(
            _ruled_out(k, now[k.name], values[k.name], [], hopeless.get(k.name, ([], []))[1])
            or starves(template, k, values[k.name], best)
            for k in template.knobs
        ):
            yield values


def _told(
    template: TilingTemplate,
    best: Trial,
    history: Sequence[Trial],
    templates: Mapping[str, TilingTemplate],
) -> list[tuple[dict[str, KnobValue], float]]:
    """(knob values, cost) of the earlier trials with the same kernel and the same skeleton."""
    mine, kernel = template.skeleton(), _kernel(best, template)
    base = history[0].measurement
    if base is None:
        return []
    choices = {k.name: template.choices(k) for k in template.knobs}
    told = []
    for trial in history:
        theirs = templates.get(trial.candidate.hash)
        if trial.cached or theirs is None or _kernel(trial, template) != kernel:
            continue
        if theirs.skeleton() != mine:
            continue
        cost = 1 / worth(base, trial.measurement) if trial.measurement else FAILED_FACTOR
        if all(theirs.values.get(name) in allowed for name, allowed in choices.items()):
            told.append((theirs.values, cost))
    return told


def _kernel(trial: Trial, template: TilingTemplate) -> dict[str, str]:
    return {p: t for p, t in trial.candidate.files.items() if p not in template.sources}


def _near(template: TilingTemplate, knob: Knob) -> list[KnobValue]:
    """The values within REACH steps of the present one, from the loosest limit to the tightest."""
    scale = list(template.choices(knob))
    if knob.kind in (*_LIMITS, "ub_share"):
        scale.sort(key=lambda v: (v != knob.neutral, -v))
    place = scale.index(template.values[knob.name])
    return scale[max(0, place - REACH) : place + REACH + 1]


def _seed(seed: int, trials: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{trials}".encode()).digest()[:4], "big")


def _preferred(template: TilingTemplate, knob: Knob) -> list[KnobValue]:
    """The knob's other values, the most promising first."""
    now, cores = template.values[knob.name], core_counts(template.device)
    order: tuple[KnobValue, ...]
    if knob.kind in ("literal", "block_constant"):
        order = cores.promising_numbers()
    elif knob.kind == "core_cap":
        order = (*cores.promising_caps(), cores.own, NO_CAP)
    elif knob.kind == "core_work":
        order = (8192, 65536, 4096, 16384, 131072, 2048, 32768, 262144, 1024, 512, 0)
    elif knob.kind in ("core_root", "core_rows"):
        order = (4096, 8192, 2048, 1024, 512, 16384, 256, 128, 32768, 65536, 0)
    elif knob.kind == "ub_share":
        order = (8, 4, 12, 2, 6, 16)
    elif knob.kind == "ub_work":
        order = (8, 4, 16, 2, 32, 1)
    elif knob.decides == "buffer_number":
        order = (2, 1, 3, 4)
    elif knob.kind == "divisor":
        order = (now - 1, 2 * now, now + 1, now - 2, 4 * now)
    else:
        order = (2 * now, now // 2, 4 * now, now // 4, 8 * now)
    choices = template.choices(knob)
    return list(dict.fromkeys(v for v in order if v in choices and v != now))
