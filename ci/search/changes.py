"""The changes of a patch in all: the sum of its steps, compared with the original."""

from __future__ import annotations

from collections.abc import Iterable

from ci.model.operator import Operator
from ci.model.trial import Change, Trial
from ci.search.run import Run
from ci.tiling.knob_words import knob_changes
from ci.tiling.synthesize import follow, synthesize


def summed(run: Run, operator: Operator, best: Trial) -> tuple[Change, ...]:
    """The changes of `best` against the original operator, host tiling first.

    A number that several steps moved is one change, from its first value to its last. A change
    that a later step took back is none. A source that lies outside the operator's two folders is
    named by its path from the repository's top.
    """
    shared = operator.shared_paths
    return tuple(
        one.model_copy(update={"path": shared.get(one.path, one.path)})
        for one in _summed(run, operator, best)
    )


def _summed(run: Run, operator: Operator, best: Trial) -> tuple[Change, ...]:
    assert run.baseline.measurement is not None
    parts = remaining(part for step in run.line(best) for part in step.candidate.own_parts)
    template = synthesize(operator, run.baseline.measurement.fingerprint.device)
    known = follow(operator, template, [*run.history, best])
    at = known.get(best.candidate.hash)
    moved = {part.knob: part for part in parts if part.knob}
    others = [part for part in parts if not part.knob]
    if at is None:  # the tiling was rewritten beyond its numbers
        return (*moved.values(), *others)
    now = {name: value for name, value in at.values.items() if name in moved}
    return (*knob_changes(template, now), *others)


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
