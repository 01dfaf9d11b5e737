"""The rows that reports, pictures and merge requests show: pure functions of a `Result`.

Every row that holds a figure carries the number of the trial that measured it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from bot.base.language import translated as _
from bot.base.text import microseconds, shell_word
from bot.report.sentences import local
from bot.report.uncertainty import reported_times
from ci.model.comparison import STEP_EFFECT, Comparison, compare
from ci.model.result import Result, UsedTuple
from ci.model.trial import CaseMeasurement, Change, Measurement, Outcome, Trial
from rules.load import load_motifs

PIPES: Final = ("SCALAR", "MTE2", "VECTOR", "CUBE", "MTE1", "MTE3", "FIX")


class CaseRow(NamedTuple):
    """One workload case, before and after."""

    before: CaseMeasurement
    after: CaseMeasurement
    floor_us: float | None
    """Least time for what `after` moves and computes; None where it is not known."""

    @property
    def ratio(self) -> float:
        """Ratio before / after; above 1 when the case became faster."""
        if self.after.paired is not None:  # taken in turn, not minutes apart
            return self.after.paired.ratio
        return self.before.median_us / self.after.median_us


class PipeRow(NamedTuple):
    """One pipe's mean busy cycles per core, summed over the cases, before and after."""

    pipe: str
    before_cycles: float
    after_cycles: float
    before_share: float
    """Busy cycles over the launch's cycles, 0 to 1."""
    after_share: float


class Step(NamedTuple):
    """One accepted change on the way from the baseline to the best pair."""

    trial: Trial
    before_us: float
    after_us: float


class TupleRow(NamedTuple):
    """An experience tuple with every trial that it was retrieved for."""

    nearest: UsedTuple
    """The retrieval with the highest similarity."""
    trials: tuple[int, ...]
    won: tuple[int, ...]
    """Trials that became the best."""


class Point(NamedTuple):
    """One evaluation in the trajectory picture."""

    trial: int
    stage: str
    outcome: Outcome
    score_us: float | None
    acceptable: bool
    """Faster than the baseline, with no case slower."""
    best_us: float
    """Best acceptable score after this evaluation, in µs."""


def time_word(result: Result) -> str:
    """'simulated time' or 'time': no figure appears without it."""
    return _("simulated time") if result.fingerprint.simulated else _("time")


def plain_time(result: Result) -> str:
    """The same in English, for pictures: their font has Latin letters only."""
    return "simulated time" if result.fingerprint.simulated else "time"


def case_rows(result: Result) -> list[CaseRow]:
    """Cases in the workload's order; empty when the baseline was never measured."""
    before, after = result.baseline.measurement, result.best.measurement
    if before is None or after is None:
        return []
    later = {case.case: case for case in after.cases}
    floors = result.floors_us
    both = [(case, later[case.case]) for case in before.cases if case.case in later]
    return [CaseRow(old, new, floors.get(old.case)) for old, new in both]


def _pipe_sums(measurement: Measurement) -> tuple[dict[str, float], float]:
    sums: dict[str, float] = {}
    total = 0.0
    for case in measurement.cases:
        total += case.pipes.total_cycles
        for pipe, cycles in case.pipes.busy_cycles.items():
            sums[pipe] = sums.get(pipe, 0.0) + cycles
    return sums, total or 1.0


def pipe_rows(result: Result) -> tuple[PipeRow, ...]:
    """Pipes that did any work before or after, in the order of the data's way through them."""
    if result.baseline.measurement is None or result.best.measurement is None:
        return ()
    before, before_total = _pipe_sums(result.baseline.measurement)
    after, after_total = _pipe_sums(result.best.measurement)
    known = [*PIPES, *sorted(set(before) | set(after) - set(PIPES))]
    rows = []
    for pipe in dict.fromkeys(known):
        b, a = before.get(pipe, 0.0), after.get(pipe, 0.0)
        if b or a:
            rows.append(PipeRow(pipe, b, a, b / before_total, a / after_total))
    return tuple(rows)


def score(trial: Trial) -> float | None:
    """Score of a trial in µs, None when it was not measured."""
    return trial.measurement.score_us if trial.measurement is not None else None


def steps(result: Result) -> list[Step]:
    """The chain of accepted changes from the baseline to the best pair, oldest first."""
    by_hash = {t.candidate.hash: t for t in reversed(result.trials) if t.outcome is Outcome.OK}
    chain: list[Trial] = []
    trial: Trial | None = result.best
    while trial is not None and trial.candidate.files and trial not in chain:
        chain.append(trial)
        trial = by_hash.get(trial.candidate.parent)
    found = []
    previous = score(result.baseline)
    for trial in reversed(chain):
        now = score(trial)
        if previous is None or now is None:
            continue
        found.append(Step(trial, previous, now))
        previous = now
    return found


def changes(result: Result) -> list[Change]:
    """Return the changes of the patch in all, or the rationales of its steps."""
    rationales = [step.trial.candidate.rationale for step in steps(result)]
    return list(result.changes) or [Change(what=words) for words in rationales if words]


def by(trial: Trial) -> str:
    """Who proposed a trial: 'rules', or role and model: 'gpt-5 (mutation)'."""
    candidate = trial.candidate
    return f"{candidate.model} ({candidate.role})" if candidate.model else candidate.proposer


def named_rules(trial: Trial) -> list[str]:
    """The motifs that made a trial; moves of numbers say in words what they are."""
    motifs = {motif.id for motif in load_motifs()}
    return [name for name in trial.candidate.motif_ids if name in motifs]


def money(cost: float | None, currency: str) -> str:
    """A cost with its currency; 'unknown' when a price was not known."""
    return _("unknown") if cost is None else f"{cost:.4f} {currency}".rstrip()


def model_total(result: Result) -> str:
    """Requests, tokens and cost of a run's models in one sentence; '' when none was asked."""
    asked = [role for role in result.models if role.calls]
    if not asked:
        return ""
    names = ", ".join(dict.fromkeys(role.by for role in asked))
    tokens = sum(role.tokens_in + role.tokens_out for role in asked)
    estimated = sum(role.tokens_unsaid for role in asked)
    costs = [role.cost for role in asked]
    cost = None if None in costs else sum(c for c in costs if c is not None)
    more = _(" and about {count} that the endpoint did not report", count=f"{estimated:,}")
    return _(
        "{models}: {requests:request|requests}, {tokens:token|tokens}{more}, cost {cost}.",
        models=names,
        requests=sum(role.calls for role in asked),
        tokens=f"{tokens:,}",
        more=more if estimated else "",
        cost=money(cost, result.currency),
    )


def tuple_rows(result: Result) -> list[TupleRow]:
    """Retrieved tuples, each once: those that won first, then by similarity."""
    grouped: dict[str, list[UsedTuple]] = {}
    for used in result.retrieved:
        grouped.setdefault(used.id, []).append(used)
    rows = []
    for group in grouped.values():
        nearest = max(group, key=lambda used: used.similarity)
        trials = tuple(sorted({used.trial for used in group}))
        rows.append(TupleRow(nearest, trials, tuple(sorted({u.trial for u in group if u.won}))))
    return sorted(rows, key=lambda row: (not row.won, -row.nearest.similarity, row.nearest.id))


def judgement(result: Result, trial: Trial) -> Comparison | None:
    """A trial that passed against the baseline; None for one that was refused."""
    if trial.outcome is not Outcome.OK or trial.measurement is None:
        return None
    if result.baseline.measurement is None:
        return None
    return compare(result.baseline.measurement, trial.measurement, STEP_EFFECT)


def remarks(result: Result) -> dict[int, str]:
    """Why a trial with outcome ok was no improvement all the same, by trial number."""
    found = {}
    for trial in result.trials:
        judged = judgement(result, trial)
        if judged is not None and judged.verdict in ("worse", "unknown"):
            found[trial.number] = judged.reason
    return found


def gates(result: Result, trial: Trial) -> str:
    """'rejected by run', or the first and the last gate that the trial passed."""
    if trial.refusal is not None:
        gate = trial.refusal.gate
        return _("rejected by {gate}", gate=gate) if gate else _("rejected")
    passed = trial.gates
    if result.verification is not None and trial.number == result.best.number:
        passed += result.verification.gates
    return _("{first} to {last}", first=passed[0], last=passed[-1]) if passed else ""


def trajectory(result: Result) -> tuple[Point, ...]:
    """Every evaluation with the best score so far; empty when the baseline was not measured."""
    best = score(result.baseline)
    if best is None:
        return ()
    points = []
    for trial in result.trials:
        now = score(trial)
        judged = judgement(result, trial)
        acceptable = judged is not None and judged.verdict == "improved"
        if now is not None and acceptable:
            best = min(best, now)
        stage = trial.candidate.stage
        points.append(Point(trial.number, stage, trial.outcome, now, acceptable, best))
    return tuple(points)


def outcome_counts(result: Result) -> dict[str, int]:
    """How many trials ended how, the commonest first."""
    counts = Counter(trial.outcome.value for trial in result.trials)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def counted(counts: dict[str, int]) -> str:
    """'12 ok, 3 race': outcomes with how many trials ended so."""
    return ", ".join(
        _("{count} {outcome}", count=count, outcome=_(name.replace("_", " ")))
        for name, count in counts.items()
    )


def headline(result: Result) -> str:
    """The verdict in one sentence: the speedup that holds in every start state comes first."""
    if result.verdict == "improved":
        return _(
            "{operator}: {gain} faster{first} ({kind}, {device})",
            operator=result.op_type,
            gain=_gain(result),
            first=_first_state(result),
            kind=_("simulated") if result.fingerprint.simulated else _("measured"),
            device=result.fingerprint.device,
        )
    values = {"operator": result.op_type, "reason": local(result.verdict_reason)}
    if result.verdict == "not_improved":
        return _("No verified improvement of {operator} was found: {reason}", **values)
    if result.verdict == "baseline_failed":
        return _("The original {operator} fails, so nothing was tried: {reason}", **values)
    if result.verdict == "unverified":
        return _("{operator} became faster, but is not verified: {reason}", **values)
    return _("It is unknown whether {operator} became faster: {reason}", **values)


def mean_times(result: Result) -> str:
    """'8.210 µs → 5.938 µs, geometric mean of 2 cases (simulated time, cold)'; '' without times."""
    times = reported_times(result)
    if times is None:
        return ""
    cases = len(case_rows(result))
    state = f", {_(result.uncertainty.condition)}" if result.uncertainty is not None else ""
    return _(
        "{before} → {after}, {over} ({time})",
        before=microseconds(times[0]),
        after=microseconds(times[1]),
        over=_("one case") if cases == 1 else _("geometric mean of {n:case|cases}", n=cases),
        time=time_word(result) + state,
    )


def _first_state(result: Result) -> str:
    """', 1.38× from a cold start' where that is another figure than the one that always holds."""
    found = result.uncertainty
    if found is None or not found.differs:
        return ""
    speedup = f"{found.speedup:.2f}×"
    if found.even and found.condition == "cold":
        return _(" from a cold start, slower from none")
    if found.even:
        return _(" in the state: {state}, slower in none", state=_(found.condition))
    if found.condition == "cold":
        return _(", {speedup} from a cold start", speedup=speedup)
    return _(", {speedup} in the state: {state}", speedup=speedup, state=_(found.condition))


def _gain(result: Result) -> str:
    """'1.21×', or 'at least 1.14×' where a start state or a doubt of the model gives less.

    A gain of which some state leaves nothing is that of the first state.
    """
    found = result.uncertainty
    if found is not None and found.differs and not found.even:
        return _("at least {gain}", gain=f"{result.held:.2f}×")
    return f"{result.speedup:.2f}×"


def evaluation_command(result: Result) -> str:
    """The shell line that measures the operator in the checkout."""
    parts = ["ascendopt", "evaluate", shell_word(result.operator_path or ".")]
    for name in ("workload", "backend", "device"):
        value = result.settings.get(name)
        if isinstance(value, str) and value:
            parts += [f"--{name}", shell_word(value)]
    if result.uncertainty is not None:
        parts.append("--uncertainty")
    return " ".join(parts)


def reproduction(result: Result) -> list[str]:
    """Shell lines that measure the same figure again, then those that search again."""
    evaluate = evaluation_command(result)
    lines = [f"git checkout {shell_word(result.base_commit)}"] if result.base_commit else []
    if result.derived_workload:
        lines.append(f"ascendopt workload derive {shell_word(result.operator_path or '.')}")
    lines.append(evaluate)
    if result.diff:
        lines += ["git apply best.patch", evaluate, "git apply --reverse best.patch"]
    search = evaluate.replace("ascendopt evaluate", "ascendopt optimize", 1)
    search = search.removesuffix(" --uncertainty")
    for name in ("budget", "stage", "proposer", "conditions", "inputs"):
        if name in result.settings:
            search += f" --{name} {shell_word(str(result.settings[name]))}"
    return [*lines, f"{search} --seed {result.seed}"]
