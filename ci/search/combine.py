"""Candidates made of earlier trials: one's change on top of another, or a step taken out again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def halves(operator: Operator, start: Trial, line: Sequence[Trial]) -> Iterator[Candidate]:
    """The kernel steps alone of a line that begins at `start`, then its tiling steps alone.

    None of those that are a trial of the line, or that change what a step left out has written.
    """
    for stage in ("kernel", "tiling"):
        gone = [step for step in line if step.candidate.stage != stage]
        if len(gone) == len(line) or gone == [*line[len(line) - len(gone) :]]:
            continue
        left: Candidate | None = line[-1].candidate
        for parent, step in reversed([*zip([start, *line], line, strict=False)]):
            if left is not None and step in gone:
                whole = line[-1].model_copy(update={"candidate": left})
                left = without(operator, whole, parent, step)
        if left is not None and left.files:
            yield left_of(line, gone, left.files)


def left_of(line: Sequence[Trial], gone: Sequence[Trial], files: dict[str, str]) -> Candidate:
    """The candidate of the texts that are left of a line of steps without some, described by all
    that stay."""
    first = min(line.index(step) for step in gone)
    later = [step.candidate for step in line[first:] if step not in gone]
    said = (made.rationale for made in later)
    told = {
        "files": files,
        "parent": line[first].candidate.parent,
        "rationale": " ".join(words for words in said if not words.startswith(WITHOUT)),
        "motif_ids": tuple(dict.fromkeys(m for made in later for m in made.motif_ids)),
        "tuple_ids": tuple(dict.fromkeys(t for made in later for t in made.tuple_ids)),
        "knobs": {},
        "parts": tuple(part for made in later for part in made.own_parts),
    }
    return (later or [line[-1].candidate])[-1].model_copy(update=told)


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
