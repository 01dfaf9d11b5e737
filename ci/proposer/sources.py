"""The texts that a proposer works on: what may be changed, and what differs in the end."""

from __future__ import annotations

from collections.abc import Iterable

from ci.model.operator import Operator
from ci.tiling.synthesize import REPLACEMENT


def editable(operator: Operator, files: dict[str, str], paths: Iterable[str]) -> dict[str, str]:
    """Return those of the sources, as overlaid by `files`, that can be written back without
    loss."""
    texts = operator.texts(files)
    return {p: texts[p] for p in paths if REPLACEMENT not in texts[p]}


def left_alone(operator: Operator) -> str:
    """A sentence on the sources that are not UTF-8 text, with the first line that is none; '' when
    all are."""
    places = []
    for path in operator.sources:
        raw = operator.raw(path)
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as problem:
            line = raw.count(b"\n", 0, problem.start) + 1
            places.append(f"{path}:{line}")
    if not places:
        return ""
    return f"Sources that are not UTF-8 text were left as they are: {', '.join(places)}."


def changed_only(operator: Operator, files: dict[str, str]) -> dict[str, str]:
    """Only the files that differ from the repository's: equal programs get equal hashes."""
    return {p: t for p, t in files.items() if t != operator.read(p)}
