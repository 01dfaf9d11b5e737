"""Candidates made of earlier trials: one's change on top of another, or a step taken out again."""

from __future__ import annotations

from ci.model.operator import Operator
from ci.model.trial import Candidate, Trial
from ci.source.source_diff import merged

WITHOUT = "Without trial"
"""How the rationale of what takes a step out begins: no reason why anything is faster."""


def joined(operator: Operator, onto: Trial, parent: Trial, child: Trial) -> Candidate | None:
    """`onto` with the change that made `child` of `parent`; None when they meet in one place."""
    files = _carried(operator, parent.candidate, child.candidate, onto.candidate)
    if files is None:
        return None
    made = child.candidate
    return made.model_copy(
        update={
            "files": files,
            "parent": onto.candidate.hash,
            "proposer": "rules",
            "rationale": f"With trial {onto.number}: {made.rationale}",
            "knobs": {},
            "parts": made.own_parts,
        }
    )


def without(operator: Operator, best: Trial, parent: Trial, child: Trial) -> Candidate | None:
    """`best` without the step that made `child` of `parent`; None when later steps rest on it."""
    files = _carried(operator, child.candidate, parent.candidate, best.candidate)
    if files is None:
        return None
    return Candidate(
        files=files,
        stage=child.candidate.stage,
        parent=best.candidate.hash,
        proposer="rules",
        rationale=f"{WITHOUT} {child.number}, to see what it still gains.",
        parts=tuple(p.model_copy(update={"undone": True}) for p in child.candidate.own_parts),
    )


def _carried(
    operator: Operator, before: Candidate, after: Candidate, onto: Candidate
) -> dict[str, str] | None:
    """The changed files of `onto` with what turned `before` into `after`."""
    files = dict(onto.files)
    for path in sorted(before.files.keys() | after.files.keys()):
        own = operator.read(path)
        old, new = before.files.get(path, own), after.files.get(path, own)
        text = merged(old, onto.files.get(path, own), new)
        if text is None:
            return None
        files[path] = text
    return {path: text for path, text in files.items() if text != operator.read(path)}
