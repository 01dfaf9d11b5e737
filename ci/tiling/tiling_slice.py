"""Which statements of a host tiling source decide partition, block dim, key, buffers, alignment.

A backward slice: the names that reach `SetBlockDim`, `SetTilingKey` or a tiling field, and every
statement of the same function that gives one of those names a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from ci.source.cpp_source import Function, Source, identifiers, walk
from ci.tiling.template import Decides

_BLOCK_DIM = re.compile(r"\bSetBlockDim\b")
_TILING_KEY = re.compile(r"\bSetTilingKey\b")
_FIELD = re.compile(
    r"(?:\.|->)\s*set_(\w+)\b|\b(?:tiling\w*|td_?)\s*(?:\.|->)\s*(\w+)\s*=[^=]", re.I
)
_PLATFORM = re.compile(
    r"\bGetCoreNum\w*\(|\bGetCoreMemSize\(|compile_?info\w*(?:->|\.)\w*core", re.I
)
_BUFFER = re.compile(r"buf(?:fer)?_?num|double_?buf|db_?num|queue_?depth|stages?\b", re.I)
_ALIGNMENT = re.compile(r"align|block_?(?:size|bytes?)|byte_?block", re.I)
_CORES = re.compile(r"GetCoreNum|core_?num|block_?(?:dim|num)|used?_?cores?|need_?core", re.I)
_OTHER_TASK = re.compile(r"Infer(?:Shape|DataType)|OpDef|TilingParse|\boperator\b")

MAX_PASSES = 8  # the slice of the longest tiling function seen settles in four


@dataclass(frozen=True)
class Deciding:
    """A statement (or constant) that decides something of the tiling."""

    start: int
    end: int
    decides: tuple[Decides, ...]


def deciding(source: Source, functions: frozenset[str]) -> tuple[Deciding, ...]:
    """The deciding statements of a source, in order, none inside another.

    `functions` are the registered tiling functions; other functions of the file count when they
    set a tiling value themselves. What asks how many cores there are or how much memory decides
    too, wherever it goes from there.
    """
    names: set[str] = set()
    setting, others = [], []
    for function in source.functions:
        body = source.code(function.body)
        sets = _BLOCK_DIM.search(body) or _TILING_KEY.search(body) or _FIELD.search(body)
        if sets or function.name.split("::")[-1] in functions:
            setting.append(function)
        elif not _OTHER_TASK.search(
            source.shadow[function.node.start_byte : function.body.start_byte]
        ):
            others.append(function)
    if not setting:
        return ()
    found: list[Deciding] = []
    for function in setting:
        mine, used = _slice(_body(source, function), {})
        found += mine
        names |= used
    found += _of_other_methods(source, others, names)
    found += _questions(source, [*setting, *others])
    found += _constants(source, names)
    return _outermost(found)


def _of_other_methods(source: Source, others: list[Function], names: set[str]) -> list[Deciding]:
    """What gives a value to the members that `names` holds; adds the names that this uses.

    A tiling class computes its members in one method and stores them in another.
    """
    own = _members(source)
    bodies = [_body(source, function) for function in others]
    found: list[Deciding] = []
    for _ in range(MAX_PASSES):
        before = len(names)
        members: dict[str, set[Decides]] = {n: {"partition"} for n in names if n in own}
        if not members:
            break
        found = []
        for body in bodies:
            mine, used = _slice(body, members)
            found += mine
            names |= used
        if len(names) == before:
            break
    return found


def _questions(source: Source, functions: list[Function]) -> list[Deciding]:
    """The statements that ask for the number of cores or the size of a memory."""
    return [
        Deciding(node.start_byte, node.end_byte, _labels(code, frozenset({"partition"})))
        for function in functions
        for node in walk(function.body)
        if node.type in ("declaration", "expression_statement")
        and _PLATFORM.search(code := source.code(node))
    ]


def _members(source: Source) -> frozenset[str]:
    """Names of data members of the classes in the file."""
    return frozenset(
        source.code(name)
        for node in walk(source.root)
        if node.type == "field_declaration"
        and (name := node.child_by_field_name("declarator")) is not None
        and name.type == "field_identifier"
    )


@dataclass(frozen=True)
class _Body:
    """The top statements of a function: their code, and the names that each gives a value."""

    statements: tuple[Node, ...]
    codes: tuple[str, ...]
    assigned: tuple[frozenset[str], ...]


def _body(source: Source, function: Function) -> _Body:
    statements = tuple(n for n in function.body.named_children if n.type != "comment")
    return _Body(
        statements,
        tuple(source.code(n) for n in statements),
        tuple(frozenset(_assigned(source, n)) for n in statements),
    )


def _slice(body: _Body, seeds: dict[str, set[Decides]]) -> tuple[list[Deciding], set[str]]:
    """The deciding statements of one function, and the names that they use."""
    wanted = {n: set(what) for n, what in seeds.items()}
    marked: dict[int, set[Decides]] = {}
    for index, code in enumerate(body.codes):
        if _BLOCK_DIM.search(code):
            _mark(marked, wanted, index, code, "block_dim")
        if _TILING_KEY.search(code):
            _mark(marked, wanted, index, code, "tiling_key")
        if _FIELD.search(code):
            _mark(marked, wanted, index, code, "partition")
    for _ in range(MAX_PASSES):
        before = sum(len(v) for v in wanted.values()) + sum(len(v) for v in marked.values())
        for index, assigned in enumerate(body.assigned):
            for name in assigned & wanted.keys():
                for what in tuple(wanted[name]):
                    _mark(marked, wanted, index, body.codes[index], what)
        after = sum(len(v) for v in wanted.values()) + sum(len(v) for v in marked.values())
        if after == before:
            break
    found = [
        Deciding(
            body.statements[i].start_byte,
            body.statements[i].end_byte,
            _labels(body.codes[i], frozenset(what)),
        )
        for i, what in sorted(marked.items())
        if body.statements[i].type != "return_statement"
    ]
    return found, set(wanted) if found else set()


def _mark(
    marked: dict[int, set[Decides]],
    wanted: dict[str, set[Decides]],
    index: int,
    code: str,
    what: Decides,
) -> None:
    marked.setdefault(index, set()).add(what)
    for name in identifiers(code):
        wanted.setdefault(name, set()).add(what)


def _assigned(source: Source, node: Node) -> set[str]:
    """Names that a statement gives a value, by assignment, declaration or reference argument."""
    names: set[str] = set()
    for inner in walk(node):
        if inner.type in ("assignment_expression", "update_expression"):
            left = inner.child_by_field_name("left") or inner.child_by_field_name("argument")
            if left is not None:
                names.add(re.split(r"\.|->", source.code(left))[-1].split("[")[0])
        elif inner.type == "init_declarator":
            left = inner.child_by_field_name("declarator")
            if left is not None:
                names |= identifiers(source.code(left))
        elif inner.type == "declaration":
            left = inner.child_by_field_name("declarator")
            if left is not None and left.type == "identifier":
                names.add(source.code(left))
        elif inner.type == "call_expression" and node.type == "expression_statement":
            arguments = inner.child_by_field_name("arguments")
            if arguments is not None:
                names |= {
                    source.code(a).lstrip("&").split(".")[-1].split("->")[-1]
                    for a in arguments.named_children
                    if a.type in ("identifier", "field_expression", "pointer_expression")
                }
    return names


def _constants(source: Source, names: set[str]) -> list[Deciding]:
    """Constants at file or class level whose names the slice uses."""
    found = []
    inside = [(f.body.start_byte, f.body.end_byte) for f in source.functions]
    for node in walk(source.root):
        if node.type not in ("declaration", "field_declaration", "preproc_def"):
            continue
        if any(a <= node.start_byte < b for a, b in inside):
            continue
        code = source.code(node)
        declared = node.child_by_field_name("name") or next(
            (
                c.child_by_field_name("declarator")
                for c in node.named_children
                if c.type == "init_declarator"
            ),
            node.child_by_field_name("declarator"),
        )
        constant = node.type == "preproc_def" or re.search(r"\bconst(expr)?\b", code)
        if declared is None or not constant or source.code(declared) not in names:
            continue
        end = node.end_byte - (1 if source.text[node.end_byte - 1] == "\n" else 0)
        found.append(Deciding(node.start_byte, end, _labels(code, frozenset({"partition"}))))
    return found


def _labels(code: str, reached: frozenset[Decides]) -> tuple[Decides, ...]:
    """What a statement decides: by what it reaches, sharpened by what it names."""
    labels: list[Decides] = []
    if "tiling_key" in reached and (_TILING_KEY.search(code) or reached == {"tiling_key"}):
        labels.append("tiling_key")
    if _CORES.search(code):
        labels.append("block_dim")
    if _BUFFER.search(code):
        labels.append("buffer_number")
    if _ALIGNMENT.search(code):
        labels.append("alignment")
    if "partition" in reached or not labels:
        labels.append("partition")
    return tuple(labels)


def _outermost(found: list[Deciding]) -> tuple[Deciding, ...]:
    kept: list[Deciding] = []
    for one in sorted(found, key=lambda d: (d.start, -d.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)
