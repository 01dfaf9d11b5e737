"""Edits in a model's answer: search/replace blocks and whole functions, applied to known texts.

A block names a file, but never opens one: the name is looked up among the texts that the role may
change. Every text that comes out is checked by the caller before anything is built.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping
from typing import Final
from unicodedata import category

from ci.model.frozen import Frozen
from ci.proposer.llm.answer import LONGEST, BadAnswer, read_object, spoken
from ci.source.cpp_source import Function, parse, walk
from ci.tiling.template import strip_markers

MOST_EDITS: Final = 40
"""Edits of one answer: one that needs more should give whole functions."""

# Control, format (bidirectional, zero width), private-use and surrogate characters: what a
# reviewer does not see must not be in a patch.
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})

_OPEN: Final = re.compile(r"[ \t]*<{5,9}[ \t]*(SEARCH|FUNCTION|LINES)\b[ \t:]*(.*)")
_MIDDLE: Final = re.compile(r"[ \t]*={5,9}[ \t]*$")
_CLOSE: Final = re.compile(r"[ \t]*>{5,9}[ \t]*(?:REPLACE|END|FUNCTION)\b")


# Somebody else may have written them: a longer number would be an indent without end.
_PLACE: Final = re.compile(r"([0-9]{1,7})-([0-9]{1,7}) ([0-9a-f]{16})")
_KNOWN: Final = re.compile(r"@([0-9]{1,7}) ([0-9]{1,3})")


class Edit(Frozen):
    """One change: `search` by `replace`, the function `name`, or the lines at a `place`."""

    file: str
    replace: str
    search: str = ""
    name: str = ""
    place: str = ""
    """First and last line with the hash of what is there; as recordings have it."""


def digest(text: str) -> str:
    """What lines must hash to that an edit by position replaces."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_edits(text: str) -> tuple[Edit, ...]:
    """The edits in an answer, as blocks or as a JSON object with a list `edits`.

    Raises BadAnswer when there are none, or one is not closed.
    """
    said = spoken(text)[:LONGEST]
    found = _blocks(said.splitlines()) or _from_json(said)
    if not found:
        raise BadAnswer("The answer holds no edit.")
    if len(found) > MOST_EDITS:
        raise BadAnswer(f"The answer holds {len(found)} edits; at most {MOST_EDITS} are taken.")
    return tuple(found)


def _blocks(lines: list[str]) -> list[Edit]:
    found: list[Edit] = []
    head: tuple[str, str] | None = None  # kind and the rest of the opening line
    parts: list[list[str]] = []
    for line in lines:
        opened = _OPEN.match(line)
        if opened is not None and head is None:
            head, parts = (opened.group(1), opened.group(2).strip()), [[]]
        elif head is None:
            continue
        elif opened is not None:
            break
        elif _MIDDLE.match(line) and head[0] == "SEARCH" and len(parts) == 1:
            parts.append([])
        elif _CLOSE.match(line) and len(parts) == (2 if head[0] == "SEARCH" else 1):
            found.append(_edit(head, ["".join(f"{line}\n" for line in part) for part in parts]))
            head = None
        else:
            parts[-1].append(line)
    if head is not None:
        raise BadAnswer(
            f"Edit {len(found) + 1} is not complete: it needs its lines '<<<<<<< SEARCH file', "
            "'=======' and '>>>>>>> REPLACE', or '<<<<<<< FUNCTION file name' and '>>>>>>> END'."
        )
    return found


def _edit(head: tuple[str, str], parts: list[str]) -> Edit:
    if head[0] == "SEARCH":
        return Edit(file=_name(head[1]), search=parts[0], replace=parts[1])
    if head[0] == "LINES":
        file, _, place = head[1].partition(" ")
        return Edit(file=_name(file), place=place.strip(), replace=parts[0])
    file, _, name = head[1].rpartition(" ")
    return Edit(file=_name(file), name=name.strip("`'\""), replace=parts[0])


def _name(text: str) -> str:
    return text.strip().strip("`'\"").removeprefix("./")


def _from_json(said: str) -> list[Edit]:
    try:
        listed = read_object(said).get("edits", [])
    except BadAnswer:
        return []
    found = []
    for one in listed if isinstance(listed, list) else []:
        if not isinstance(one, dict):
            continue
        given = {k: one.get(k, "") for k in ("file", "search", "replace", "name")}
        if all(isinstance(v, str) for v in given.values()):
            found.append(Edit(**given))
    return found


def apply_edits(
    texts: Mapping[str, str], edits: tuple[Edit, ...], *, markers: bool = False
) -> dict[str, str]:
    """The texts that the edits change, one after the other.

    Evolution markers in an edit are dropped unless `markers`. Raises BadAnswer with all that is
    wrong, each with its edit and place: what does not fit, what the parser no longer reads, and
    edits that change nothing.
    """
    now = dict(texts)
    wrong: list[str] = []
    for number, edit in enumerate(edits, start=1):
        if not markers:
            search, replace = strip_markers(edit.search), strip_markers(edit.replace)
            edit = edit.model_copy(update={"search": search, "replace": replace})
        try:
            file = _file(edit.file, texts, number)
            _check_visible(edit, number)
            if edit.place:
                now[file] = _lines(now[file], texts[file], file, edit, number)
                continue
            change = _function if edit.name else _search
            now[file] = change(now[file], file, edit, number)
        except BadAnswer as mistake:
            wrong.append(str(mistake))
    changed = {f: t for f, t in now.items() if t != texts[f]}
    wrong += [fault for f, t in changed.items() if (fault := _broken(f, texts[f], t))]
    if wrong:
        raise BadAnswer("\n".join(wrong))
    if not changed:
        raise BadAnswer("The edits change nothing: search and replacement are the same.")
    return changed


def _check_visible(edit: Edit, number: int) -> None:
    """Raise BadAnswer naming the line that holds what a reviewer does not see."""
    for line in edit.replace.splitlines():
        if any(c not in "\t\r" and category(c) in _HIDDEN for c in line):
            shown = "".join(c if category(c) not in _HIDDEN else "?" for c in line.strip())
            raise BadAnswer(
                f"Edit {number} holds control or invisible characters in the line `{shown[:120]}`."
            )


def _broken(file: str, before: str, after: str) -> str:
    """Where an edited text no longer parses, as a sentence; '' when it is as valid as before."""
    source = parse(after)
    if source.errors <= parse(before).errors:
        return ""
    old = set(before.splitlines())
    faults = [n for n in walk(source.root) if n.is_error or n.is_missing]
    lines = after.splitlines()
    places = [source.line(n.start_byte) for n in faults]
    place = next((p for p in places if p <= len(lines) and lines[p - 1] not in old), places[0])
    said = lines[place - 1].strip() if place <= len(lines) else ""
    return (
        f"After the edits {file} is no longer valid C++ (unbalanced braces?), near its line "
        f"{place}: `{said[:160]}`."
    )


def _file(name: str, texts: Mapping[str, str], number: int) -> str:
    """The text that a name means: by its path, by a part of it, or the only one there is."""
    if name in texts:
        return name
    alike = [f for f in texts if name and (f.endswith(f"/{name}") or name.endswith(f"/{f}"))]
    if len(alike) == 1:
        return alike[0]
    if not name and len(texts) == 1:
        return next(iter(texts))
    raise BadAnswer(
        f"Edit {number} is for the file '{name[:120]}', which may not be changed; "
        f"these may: {', '.join(texts)}."
    )


def _search(text: str, file: str, edit: Edit, number: int) -> str:
    wanted = edit.search
    if not wanted.strip():
        raise BadAnswer(f"Edit {number} searches for nothing; give the lines that it replaces.")
    if text.count(wanted) == 1:
        return text.replace(wanted, edit.replace, 1)
    lines = text.splitlines(keepends=True)
    part = wanted.strip("\n").splitlines()
    for same in (_same_but_ends, _same_but_spaces):
        places = [
            i
            for i in range(len(lines) - len(part) + 1)
            if all(same(a, b) for a, b in zip(lines[i : i + len(part)], part, strict=True))
        ]
        if len(places) == 1:
            start, end = places[0], places[0] + len(part)
            new = _indented(edit.replace.strip("\n"), part[0], lines[start])
            return "".join([*lines[:start], new + "\n" if new.strip() else "", *lines[end:]])
        if len(places) > 1:
            where = ", ".join(str(i + 1) for i in places[:5])
            raise BadAnswer(
                f"The lines that edit {number} searches for are in {file} {len(places)} times "
                f"(lines {where}); give more lines around them, so that one place is meant."
            )
    piece = wanted.strip("\n")  # a part of a line
    if text.count(piece) == 1:
        return text.replace(piece, edit.replace.strip("\n"), 1)
    if text.count(piece) > 1:
        raise BadAnswer(
            f"What edit {number} searches for is in {file} {text.count(piece)} times; "
            "give the whole lines around it, so that one place is meant."
        )
    raise BadAnswer(
        f"The lines that edit {number} searches for are not in {file}. "
        f"{_nearest(lines, part)}Copy them from the source exactly."
    )


def _same_but_ends(one: str, other: str) -> bool:
    return one.rstrip() == other.rstrip()


def _same_but_spaces(one: str, other: str) -> bool:
    return one.split() == other.split()


def _indented(replace: str, searched: str, found: str) -> str:
    """The replacement moved by as much as the searched lines were off."""
    off = len(found) - len(found.lstrip()) - (len(searched) - len(searched.lstrip()))
    if off == 0:
        return replace
    moved = []
    for line in replace.splitlines():
        own = len(line) - len(line.lstrip())
        moved.append(" " * max(0, own + off) + line.lstrip() if line.strip() else "")
    return "\n".join(moved)


def _nearest(lines: list[str], part: list[str]) -> str:
    first = next((p for p in part if p.strip()), "")
    bare = [line.strip() for line in lines]
    close = difflib.get_close_matches(first.strip(), bare, 1, 0.6)
    if not close:
        return ""
    return f"The nearest line there is line {bare.index(close[0]) + 1}, `{close[0][:200]}`. "


def _lines(text: str, whole: str, file: str, edit: Edit, number: int) -> str:
    """Lines by position, as a recording has them: only in the very text that they were made for.

    Edits of a file go from its end to its beginning, so that each finds its lines; a line that is
    named is one of `whole`, the text before all edits.
    """
    found = _PLACE.fullmatch(edit.place)
    lines, known_lines = text.split("\n"), whole.split("\n")
    first, last = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
    if found is None or digest("\n".join(lines[first - 1 : last])) != found.group(3):
        raise BadAnswer(f"Edit {number} was recorded on another text of {file}.")
    new = []
    for line in edit.replace.split("\n")[:-1]:
        known = _KNOWN.fullmatch(line)
        if known is not None and not 0 < int(known.group(1)) <= len(known_lines):
            raise BadAnswer(f"Edit {number} names line {known.group(1)}, which {file} lacks.")
        if known is not None:
            line = " " * int(known.group(2)) + known_lines[int(known.group(1)) - 1].strip()
        new.append(line)
    return "\n".join([*lines[: first - 1], *new, *lines[last:]])


def _function(text: str, file: str, edit: Edit, number: int) -> str:
    source = parse(text)
    wanted = edit.name.split("(")[0].strip()
    found = [f for f in source.functions if f.name.split("::")[-1] == wanted.split("::")[-1]]
    if len(found) != 1:
        known = ", ".join(dict.fromkeys(f.name for f in source.functions))
        raise BadAnswer(
            f"Edit {number} replaces the function '{wanted[:80]}', which {file} defines "
            f"{len(found)} times; its functions are: {known[:600]}."
        )
    if not parse(edit.replace).functions:
        raise BadAnswer(
            f"Edit {number} must give the whole definition of '{wanted[:80]}', or of functions "
            "in its place."
        )
    start, end = _extent(text, found[0])
    return f"{text[:start]}{edit.replace.strip(chr(10))}\n{text[end:]}"


def _extent(text: str, function: Function) -> tuple[int, int]:
    """A definition with its whole lines, a template line above it included."""
    node = function.node
    if node.parent is not None and node.parent.type == "template_declaration":
        node = node.parent
    start = text.rfind("\n", 0, node.start_byte) + 1
    end = text.find("\n", function.body.end_byte)
    return start, len(text) if end < 0 else end + 1
