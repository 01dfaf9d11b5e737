"""Whether a lesson is about the diff that it stands next to: what it names must occur there.

A model that answers for two pairs at once may swap its answers; each reads well, and neither is
true of its diff.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from ci.source.cpp_source import identifiers
from rules.api import load_api
from rules.load import load_motifs

_HUMPS = re.compile(r"[A-Z]\w*[a-z]\w*[A-Z]\w*|[A-Z]+[A-Z][a-z]\w*")
_WORDS = frozenset({"AscendC"})


class _Told(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def motif_id(self) -> str: ...


def misfit(lesson: _Told, diff: str) -> str:
    """Why a lesson does not fit its diff, as a sentence; '' when it does.

    A lesson of a motif bears no other motif's title. Every call of AscendC in the title, and at
    least one of those in the description, is in the diff.
    """
    motifs = {m.title: m.id for m in load_motifs()}
    named = motifs.get(lesson.title.removeprefix("No gain: "), lesson.motif_id)
    if lesson.motif_id in motifs.values() and named != lesson.motif_id:
        return f"The title is that of {named}, and {lesson.motif_id} made the change."
    inside = identifiers(diff)
    titled = sorted(calls_named(lesson.title) - inside)
    if titled:
        return f"The title names {', '.join(titled)}, but the diff contains no such call."
    described = calls_named(lesson.description)
    if described and not described & inside:
        return (
            f"The description names {', '.join(sorted(described))}; the diff contains none of them."
        )
    return ""


def calls_named(text: str) -> set[str]:
    """What a sentence names as code of AscendC: DataCopy, `Add`, Cast(); 'Add a buffer' is none."""
    code = set(re.findall(r"`(\w+)", text)) | set(re.findall(r"\b(\w+)(?=[(<])", text))
    humps = {w for w in identifiers(text) if _HUMPS.fullmatch(w)} - _WORDS
    return humps | (code & load_api().known)


def changed_names(diff: str) -> frozenset[str]:
    """The names in the lines that a diff adds or removes."""
    return frozenset(_names(line[1:] for line in diff.splitlines() if _is_change(line)))


def _is_change(line: str) -> bool:
    return line[:1] in ("+", "-") and line[:3] not in ("+++", "---")


def _names(lines: Iterable[str]) -> set[str]:
    return {name for line in lines for name in identifiers(line)}
