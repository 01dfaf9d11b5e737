"""Whether a kernel is built with automatic synchronisation, by the build's own words.

A build says so in three ways that may occur in any repository:

- a compile option `--cce-auto-sync`, with `=on` or `=off`, in a call for the operator (it is in
  the operator's CMakeLists.txt or names the operator's type), or for all operators;
- a keyword `AUTO_SYNC` of such a call;
- a list of operators in JSON that the build's scripts read, with `"auto_sync": false`, or one
  answer for each compute unit.

A call or entry that names compute units holds for these. Where nothing is said, the toolkit's
compiler of operators switches it on: `_add_op_compile_options_by_customized_json` of asc-devkit's
`tools/build/asc_op_compile_base/asc_op_compiler/` appends `--cce-auto-sync` unless the options hold
`--cce-auto-sync=off` or the operator's JSON has `"auto_sync": false`. So one "off" is enough.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ci.model.regular_file import file_text
from ci.source.build.calls import Call
from ci.source.build.chips import is_chip
from ci.source.build.evaluation import Tree

DEFAULT = "the toolkit's default; the build leaves it open"

_OPTION = re.compile(r"--cce-auto-sync(?:=(on|off))?")
_ALL = frozenset({"ALL", "__ALL__", "__ALLSOC__", "all"})
_MOST_CONFIG_BYTES = 8 << 20


@dataclass(frozen=True)
class Sync:
    """`on` is None where the build's configurations differ, or cmake could not evaluate it."""

    on: bool | None
    said_by: str


@dataclass(frozen=True)
class Entry:
    """What a list of operators says of one of them, for a compute unit."""

    place: str
    on: bool | None
    options: tuple[str, ...]


def for_operator(
    calls: Iterable[Call],
    ours: str,
    op_type: str,
    unit: str,
    chips: Collection[str],
    others: Collection[str] = (),
) -> list[Call]:
    """Calls that are about an operator on the compute unit, its own ones first.

    `ours`: what the paths of the operator's files begin with; `chips`: words that mean compute
    units; `others`: types of other operators there, whose calls are not about this one.
    """
    own, named, everyone = [], [], []
    for call in calls:
        units = {word.lower() for word in call.after("COMPUTE_UNIT", "COMPUTE_UNITS")}
        units = units or {word.lower() for word in call.arguments if is_chip(word, chips)}
        if units and unit not in units and not units & _ALL:
            continue
        another_s = op_type not in call.arguments and any(t in call.arguments for t in others)
        if call.file.startswith(ours) and not another_s:
            own.append(call)
        elif op_type in call.arguments:
            named.append(call)
        elif not _ALL.isdisjoint(call.arguments):
            everyone.append(call)
    return own + named + everyone


def _words(call: Call) -> Iterator[bool]:
    for word in call.arguments:
        if match := _OPTION.fullmatch(word):
            yield match.group(1) != "off"
    for word in call.after("AUTO_SYNC")[:1]:
        yield word.lower() not in ("false", "off", "0", "no")


def synchronisation(
    calls: Sequence[Call], entry: Entry | None, texts: Sequence[Call], *, evaluated: bool
) -> Sync:
    """The decision from the operator's calls and its entry in a list, if it has one.

    `texts` are the calls of the operator's texts, whatever their conditions: they count where the
    build as it is configured says nothing. One of them that says "off" leaves the answer open, and
    so do texts that say both where cmake could not evaluate which of them holds.
    """
    said = [(on, call.place) for call in calls for on in _words(call)]
    if not evaluated and len({on for on, _ in said}) > 1:
        places = " and ".join(dict.fromkeys(place for _, place in said))
        return Sync(None, f"{places} say both, and cmake could not evaluate the build")
    if entry is not None and entry.on is not None:
        said.append((entry.on, entry.place))
    if off := [place for on, place in said if not on]:
        return Sync(False, off[0])
    if said:
        return Sync(True, said[0][1])
    elsewhere = [(on, call.place) for call in texts for on in _words(call)]
    if off := [place for on, place in elsewhere if not on]:
        return Sync(None, f"{off[0]}, off in a configuration of the build that is not the default")
    return Sync(True, elsewhere[0][1] if elsewhere else DEFAULT)


@lru_cache(maxsize=8)
def _lists(tree: Tree) -> tuple[tuple[str, tuple[dict[str, object], ...]], ...]:
    """Lists of operators that speak of automatic synchronisation, of files that the repository's
    own scripts name."""
    found = []
    scripts = ""
    for path in tree.files:
        if not path.endswith(".json") or path.endswith("_binary.json"):
            continue
        file = tree.top / path
        if file.is_symlink() or file.stat().st_size > _MOST_CONFIG_BYTES:
            continue
        text = file_text(file)
        if '"auto_sync"' not in text:
            continue
        scripts = scripts or _scripts(tree)
        if file.name in scripts and (entries := _entries(text)):
            found.append((path, entries))
    return tuple(found)


def _scripts(tree: Tree) -> str:
    named = [p for p in tree.files if p.endswith((".sh", ".py", ".cmake", "CMakeLists.txt"))]
    texts = [(tree.top / p) for p in named if not (tree.top / p).is_symlink()]
    return "\n".join(file_text(t) for t in texts)


def _entries(text: str) -> tuple[dict[str, object], ...]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        return ()
    if isinstance(data, dict):
        data = [{"name": name, **one} for name, one in data.items() if isinstance(one, dict)]
    if not isinstance(data, list):
        return ()
    return tuple(one for one in data if isinstance(one, dict) and isinstance(one.get("name"), str))


def entry_of(tree: Tree, op_type: str, unit: str) -> Entry | None:
    """The last entry for the operator and the compute unit in a list that the build reads."""
    found = None
    for path, entries in _lists(tree):
        for one in entries:
            units = one.get("compute_units")
            if one["name"] != op_type or (isinstance(units, list) and unit not in units):
                continue
            said = one.get("auto_sync")
            if isinstance(said, dict):
                said = said.get(unit)
            options = one.get("compile_options")
            words = options.get(unit, options.get("__ALL__")) if isinstance(options, dict) else None
            found = Entry(
                path,
                said if isinstance(said, bool) else None,
                tuple(map(str, words)) if isinstance(words, list) else (),
            )
    return found
