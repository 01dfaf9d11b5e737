"""The changes of a patch in all: the sum of its steps, compared with the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ci.judge.causes import SCOPE, SCOPE_OF_EACH, cause
from ci.model.operator import Operator
from ci.model.trial import Candidate, Change, Outcome, Trial
from ci.search.run import Run
from ci.tiling.knob_words import knob_changes
from ci.tiling.synthesize import follow, synthesize
from ci.tiling.template import KnobValue, TilingTemplate


def summed(run: Run, operator: Operator, best: Trial) -> tuple[Change, ...]:
    """The changes of `best` against the original operator, host tiling first.

    A number that several steps moved is one change, from its first value to its last. A change
    that a later step took back is none. The reason for a change is what it alone changed in the
    profile; where no trial shows that, the knob's or the motif's own. A source that lies outside
    the operator's two folders is named by its path from the repository's top.
    """
    shared = operator.shared_paths
    return tuple(
        one.model_copy(update={"path": shared.get(one.path, one.path)})
        for one in _scope_once(_summed(run, operator, best))
    )


def _scope_once(changes: Sequence[Change]) -> list[Change]:
    """Say of several measured reasons once, with the last, what their figures are of."""
    measured = [one for one in changes if one.why.endswith(SCOPE)]
    if len(measured) < 2:
        return list(changes)
    said = {id(one): one.why.removesuffix(SCOPE) for one in measured}
    said[id(measured[-1])] += SCOPE_OF_EACH
    return [one.model_copy(update={"why": said.get(id(one), one.why).rstrip()}) for one in changes]


def _summed(run: Run, operator: Operator, best: Trial) -> tuple[Change, ...]:
    assert run.baseline.measurement is not None
    parts = remaining(part for step in run.line(best) for part in step.candidate.own_parts)
    template = synthesize(operator, run.baseline.measurement.fingerprint.device)
    trials = [*run.history, best]
    known = follow(operator, template, trials)
    at = known.get(best.candidate.hash)
    moved = {part.knob: part for part in parts if part.knob}
    seen = _seen_alone(run, best)
    others = [
        part.model_copy(update={"why": seen.get(part.what) or part.why})
        for part in parts
        if not part.knob
    ]
    if at is None:  # the tiling was rewritten beyond its numbers
        return (*moved.values(), *others)
    now = {name: value for name, value in at.values.items() if name in moved}
    measured = [t for t in trials if t.outcome is Outcome.OK and t.measurement is not None]
    original = template.values
    moves = []
    for one in knob_changes(template, now):
        first, last = original[one.knob], now[one.knob]
        shown = _shown(operator, measured, known, one.knob, first, last)
        moves.append(one.model_copy(update={"why": shown or one.why}))
    return (*moves, *others)


def _seen_alone(run: Run, best: Trial) -> dict[str, str]:
    """What the profiles show of each change that was a step of its own and gained, by its words."""
    weak = run.weak(best)
    seen = {}
    for step in run.line(best):
        before, parts = run.parent(step).measurement, step.candidate.own_parts
        if len(parts) == 1 and before and step.measurement and step not in weak:
            seen[parts[0].what] = cause(before, step.measurement)
    return seen


def _shown(
    operator: Operator,
    measured: Sequence[Trial],
    known: Mapping[str, TilingTemplate],
    knob: str,
    first: KnobValue,
    last: KnobValue,
) -> str:
    """What the profiles of two programs show that differ in one knob alone; '' without such."""
    by_hash = {trial.candidate.hash: trial for trial in measured}
    for trial in measured:
        at = known.get(trial.candidate.hash)
        if at is None or at.values.get(knob) != first:
            continue
        texts = trial.candidate.files | at.changes({knob: last})
        own = {path: text for path, text in texts.items() if text != operator.read(path)}
        other = by_hash.get(Candidate(files=own).hash)
        if other is not None and trial.measurement and other.measurement:
            return cause(trial.measurement, other.measurement)
    return ""


def remaining(parts: Iterable[Change]) -> list[Change]:
    """The changes in their order, each once, without those that a later one undoes."""
    kept: dict[tuple[str, str], Change] = {}
    for part in parts:
        key = (part.what, part.path)
        if part.undone:
            kept.pop(key, None)
        else:
            kept.setdefault(key, part)
    return list(kept.values())
