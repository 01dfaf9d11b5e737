"""What of an operator's sources a prompt shows: what these cases run, and what decides the tiling.

Left out, with a line that says so: licence text, branches and functions of tiling keys that no case
has, and, where the rest is still too long, functions that cost nothing by the profile of the
original operator. What is hidden is named by function, and chosen once from the operator as it
stands: every prompt of a run hides the same, so that they share their beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tree_sitter import Node

from ci.model import layout
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.model.trial import Trial
from ci.source.cpp_source import Function, Source, identifiers, parse, walk
from ci.source.readable_files import within
from ci.source.source_diff import lines_of
from ci.tiling.regions import last_name
from ci.tiling.template import TilingTemplate

WANTED: Final = 26_000
"""Characters of sources that a prompt is held to where it can: about 6,500 tokens."""

LONGEST: Final = 48_000
"""Characters above which whole files that cost nothing go, then functions of the tiling."""

SHARED_HOST: Final = 6000
"""Characters of a shared host tiling that are shown, though it cannot be changed."""

LEAST_HIDDEN: Final = 4
"""A shorter run of lines is shown: the line that stands for it would take its place."""

_LICENCE = re.compile(r"\A\s*(?:/\*.*?\*/|(?://[^\n]*\n\s*)+)", re.DOTALL)
_LICENCE_WORDS = re.compile(r"copyright|license", re.I)
_KEY_TEST = re.compile(r"\bTILING_KEY_IS\((\w+)\)")
_PASTED = re.compile(r"(\w+)\s*##")
_NUMBER = re.compile(r"\d+")
_CLASSES = ("class_specifier", "struct_specifier")
LEAST_BODY: Final = 300
"""Characters of a body below which leaving it out saves nothing worth a gap."""

Span = tuple[int, int, str]
"""First index, end, and what is there, in a few words."""


@dataclass(frozen=True)
class View:
    """Which functions and branches of an operator are hidden."""

    keys: frozenset[int]
    """Tiling keys of the cases; none hides no branch."""
    hidden: frozenset[tuple[str, str]]
    """(path, function's full name)."""
    cold: frozenset[tuple[str, str]] = field(default=frozenset())
    """Functions as in `hidden`, but they run: only their bodies are left out."""
    closed: frozenset[str] = field(default=frozenset())
    """Files of which nothing is shown."""

    def shown(self, path: str, text: str) -> str:
        """The text with what is hidden replaced by a line of its own."""
        if path in self.closed:
            return "// … not shown: nothing of it runs in these cases\n"
        source = parse(text)
        spans = [*_licence(text), *self._branches(source), *self._classes(path, source)]
        for one in source.functions:
            name = (path, full_name(one))
            if name in self.hidden:
                spans.append((_whole(one.node), one.body.end_byte, last_name(one)))
            elif name in self.cold:
                spans.append((one.body.start_byte + 1, one.body.end_byte - 1, ""))
        return _without(source, spans)

    def _classes(self, path: str, source: Source) -> Iterator[Span]:
        """Classes all of whose methods are hidden."""
        for node in walk(source.root):
            name = node.child_by_field_name("name") if node.type in _CLASSES else None
            inner = [f for f in source.functions if name is not None and _within(f.body, node)]
            if (
                name is not None
                and inner
                and all((path, full_name(f)) in self.hidden for f in inner)
            ):
                yield _whole(node), node.end_byte + 1, source.code(name)

    def _branches(self, source: Source) -> Iterator[Span]:
        """What stands under tiling keys that no case has."""
        for node in walk(source.root) if self.keys else ():
            if node.type != "if_statement":
                continue
            condition, inner = (node.child_by_field_name(f) for f in ("condition", "consequence"))
            if condition is None or inner is None:
                continue
            tested = _KEY_TEST.findall(source.code(condition))
            numbers = {_number(source, key) for key in tested}
            if tested and None not in numbers and not numbers & self.keys:
                yield inner.start_byte + 1, inner.end_byte - 1, "another tiling key"


def view_of(
    operator: Operator, baseline: Trial, template: TilingTemplate, shared: Mapping[str, str]
) -> View:
    """The view for the cases that the baseline measured.

    What the template lets change of the host tiling is shown, as is what is hot. `shared` are
    sources of others that the kernel includes.
    """
    cases = baseline.measurement.cases if baseline.measurement is not None else ()
    keys = frozenset(c.tiling_key for c in cases)
    texts = {p: operator.read(p) for p in (*operator.tiling_sources, *operator.kernel_sources)}
    view = View(keys, frozenset())
    kernel = {p: parse(texts[p]) for p in operator.kernel_sources}
    kernel |= {p: parse(t) for p, t in shared.items()}
    host = {p: parse(texts[p]) for p in operator.tiling_sources}
    entry = _entry(view, kernel[operator.kernel_entry]) if operator.kernel_entry in kernel else ""
    hidden = _unreached(view, kernel, entry)
    hidden |= {
        (path, full_name(one))
        for path, source in host.items()
        for one in source.functions
        if not _open(template, path, source, one)
    }
    hot = {(file, line) for c in cases for file, line, _ in c.pipes.hot_lines}
    ran = {file for c in cases for file in c.pipes.ran} | {file for file, _ in hot}
    hidden -= _warm(host | kernel, hot)  # what ran is shown, however it was reached
    view = View(keys, frozenset(hidden))
    return _held(view, operator, {p: s.text for p, s in (host | kernel).items()}, hot, ran)


def shared_texts(operator: Operator, baseline: Trial) -> dict[str, str]:
    """Sources outside the operator that its profile names, and the shared host tiling."""
    found: dict[str, str] = {}
    for case in baseline.measurement.cases if baseline.measurement is not None else ():
        for file, _, _ in case.pipes.hot_lines:
            if file not in operator.kernel_sources and file not in found:
                text = _read(Path(file).name, operator)
                if text:
                    found[file] = text
    if not operator.tiling_sources:
        for path in operator.shared_host_sources:
            text = file_text(path)
            if "SetBlockDim" in text:
                found[f"op_host/{path.name}"] = text[:SHARED_HOST]
    return found


def _read(name: str, operator: Operator) -> str:
    """The source of that name in the shared folders; a kernel may say of itself that it lies in
    any file (`#line`)."""
    top = operator.repository or operator.root
    for folder in operator.shared_folders if Path(name).suffix in layout.SOURCES else ():
        place = folder / name
        if place.is_file() and within(place, top):
            return file_text(place, top.resolve())
    return ""


def _open(template: TilingTemplate, path: str, source: Source, function: Function) -> bool:
    """Whether a template lets something of a function change; or has no say in this file."""
    blocks = [b for b in template.blocks if b.file == path]
    first, last = source.line(function.node.start_byte), source.line(function.body.end_byte)
    return not blocks or any(b.first_line <= last and first <= b.last_line for b in blocks)


def full_name(function: Function) -> str:
    """Name with the class around it, so that methods of two classes are distinguished."""
    node = function.node.parent
    while node is not None and node.type not in _CLASSES:
        node = node.parent
    name = node.child_by_field_name("name") if node is not None else None
    around = f"{name.text.decode()}::" if name is not None and name.text else ""
    return around + function.name


def _warm(sources: Mapping[str, Source], hot: set[tuple[str, int]]) -> set[tuple[str, str]]:
    """The functions that hold a costly line."""
    found = set[tuple[str, str]]()
    for path, source in sources.items():
        for one in source.functions:
            lines = range(source.line(one.node.start_byte), source.line(one.body.end_byte) + 1)
            if any((path, line) in hot for line in lines):
                found.add((path, full_name(one)))
    return found


def _held(
    view: View,
    operator: Operator,
    texts: dict[str, str],
    hot: set[tuple[str, int]],
    ran: set[str],
) -> View:
    """The view shortened step by step, until it is as short as wanted or nothing can go.

    First bodies in classes that cost nothing go, the longest first. Where the rest is beyond all
    measure, other bodies follow, files of which nothing ran, functions of the tiling.
    """

    def total(now: View) -> int:
        return sum(len(now.shown(p, t)) for p, t in texts.items())

    left = total(view)
    if not hot or left <= WANTED:
        return view
    sources = {path: parse(text) for path, text in texts.items()}
    warm = _warm(sources, hot)
    sizes: dict[tuple[str, str], int] = {}
    for path, source in sources.items():
        for one in source.functions:
            key = (path, full_name(one))
            sizes[key] = max(sizes.get(key, 0), one.body.end_byte - one.body.start_byte)
    kernel = set(texts) - set(operator.tiling_sources)
    working = {(path, name.rpartition("::")[0]) for path, name in warm}

    def at_work(key: tuple[str, str]) -> bool:
        around = key[1].rpartition("::")[0]
        return (key[0], around) in working or key[0] == operator.kernel_entry

    by_size = sorted(sizes, key=lambda k: (at_work(k), -sizes[k], k))
    for key in by_size:
        if left <= (LONGEST if at_work(key) else WANTED):
            break
        if sizes[key] >= LEAST_BODY and key[0] in kernel and key not in warm | view.hidden:
            view = replace(view, cold=view.cold | {key})
            left -= sizes[key]
    if left > LONGEST:
        idle = kernel - ran - {operator.kernel_entry}
        view = replace(view, closed=frozenset(idle), hidden=view.hidden | view.cold)
        left = total(view)
    registered = {f.split("::")[-1] for f in operator.tiling_functions}
    for path, name in by_size:
        if left > LONGEST and path not in kernel and name.split("::")[-1] not in registered:
            view = replace(view, hidden=view.hidden | {(path, name)})
            left -= sizes[path, name]
    return view


def _unreached(view: View, sources: Mapping[str, Source], entry: str) -> set[tuple[str, str]]:
    """The functions that nothing names that the entry leads to."""
    bodies: dict[tuple[str, str], tuple[str, str, frozenset[str]]] = {}
    others: dict[str, frozenset[str]] = {}
    for path, source in sources.items():
        active_text = _active(view, source)
        for one in source.functions:
            full = full_name(one)
            *around, name = full.split("::")
            owner = around[-1].split("<")[0] if around else ""
            words = frozenset(identifiers(active_text[one.node.start_byte : one.node.end_byte]))
            words |= bodies[path, full][2] if (path, full) in bodies else frozenset()
            bodies[path, full] = (owner, name.split("<")[0].lstrip("~"), words)
        others |= _definitions(source)
    active = set(identifiers(entry)) or {n for _, n, _ in bodies.values()}
    reached: set[tuple[str, str]] = set()
    classes = {owner for owner, _, _ in bodies.values() if owner}
    pasting = {head for s in sources.values() for head in _PASTED.findall(s.shadow)}
    named = classes | others.keys() | {name for _, name, _ in bodies.values()}
    while True:
        before = len(active), len(reached)
        for key, (owner, name, words) in bodies.items():
            called = name in active or name == owner
            if key not in reached and called and (owner in active or owner not in classes):
                reached.add(key)
                active |= words
        for name in others.keys() & active:
            active |= others[name]
        active |= {head + word for head in pasting for word in active} & named
        if (len(active), len(reached)) == before:
            return bodies.keys() - reached


def _definitions(source: Source) -> dict[str, frozenset[str]]:
    """The names that each class, macro and alias uses, without its methods and theirs."""
    found: dict[str, frozenset[str]] = {}
    for node in walk(source.root):
        name = node.child_by_field_name("name")
        if name is None or node.type not in (
            *_CLASSES,
            "preproc_def",
            "preproc_function_def",
            "alias_declaration",
        ):
            continue
        text = source.shadow[node.start_byte : node.end_byte]
        if node.type in _CLASSES:
            for inner in reversed([n for n in walk(node) if _is_method(n)]):
                start, end = inner.start_byte - node.start_byte, inner.end_byte - node.start_byte
                text = text[:start] + " " * (end - start) + text[end:]
        words = frozenset(identifiers(text))
        found[source.code(name)] = found.get(source.code(name), frozenset()) | words
    return found


def _is_method(node: Node) -> bool:
    """Whether a node defines or declares a function."""
    if node.type == "function_definition":
        return True
    declared = node.child_by_field_name("declarator")
    return node.type in ("field_declaration", "declaration") and (
        declared is not None and declared.type == "function_declarator"
    )


def _active(view: View, source: Source) -> str:
    """The shadow with what stands under other tiling keys blanked."""
    text = source.shadow
    for start, end, _ in view._branches(source):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _entry(view: View, source: Source) -> str:
    """The code of the functions that are launched, without what other tiling keys run."""
    text, parts = _active(view, source), list[str]()
    for one in source.functions:
        before = source.text[: one.body.start_byte]
        head = before[max(before.rfind("}"), before.rfind(";")) + 1 :]
        if "__global__" in head:
            parts.append(text[one.node.start_byte : one.body.end_byte])
    return "".join(parts)


def _within(inner: Node, outer: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _whole(node: Node) -> int:
    """Where a definition starts, its template line included."""
    parent = node.parent
    if parent is not None and parent.type == "template_declaration":
        return parent.start_byte
    return node.start_byte


def _number(source: Source, key: str) -> int | None:
    """The value of a tiling key as it is tested: a number, or the name of one in this file."""
    if _NUMBER.match(key):
        return int(key.rstrip("uUlL"))
    found = re.search(rf"\b{key}\b\s*=?\s*(\d+)", source.shadow)
    return int(found.group(1)) if found else None


def _licence(text: str) -> Iterator[Span]:
    found = _LICENCE.match(text)
    if found and _LICENCE_WORDS.search(found.group()):
        yield found.start(), found.end(), "-"


def _without(source: Source, spans: list[Span]) -> str:
    """The text without whole lines of the spans; neighbours share the line that stands for them."""
    text, code = source.text, source.shadow
    gone: dict[int, str] = {}
    for start, end, what in spans:
        before, after = code[:start].rpartition("\n")[2], code[end:].partition("\n")[0]
        first = text.count("\n", 0, start) + bool(before.strip())
        last = text.count("\n", 0, end) - bool(after.strip(" \t;"))
        if what == "-" or last - first + 1 >= LEAST_HIDDEN:
            gone |= dict.fromkeys(range(first, last + 1), what)
    lines = lines_of(text)
    parts: list[str] = []
    line = 0
    while line < len(lines):
        if line not in gone:
            parts.append(lines[line])
            line += 1
            continue
        end, names = line, list[str]()
        while end < len(lines) and (end in gone or not lines[end].strip()):
            names += [gone[end]] if gone.get(end, "") not in ("", "-", *names) else []
            end += 1
        if gone[line] != "-":
            said = f": {', '.join(names)[:160]}" if names else ""
            parts.append(f"// … {end - line} lines not shown{said}\n")
        line = end
    return "".join(parts)
