"""Loops that do nothing but move single elements of global memory whose indices go up by one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from ci.proposer.motifs.transforms.nodes import nodes
from ci.source.cpp_source import LOOPS, Source, identifiers
from ci.source.cpp_text import split_arguments

_TURN = re.compile(r"^(?:(\w+)\+\+|\+\+(\w+)|(\w+)\+=1)$")
_READ = re.compile(r"^(?:this->)?(\w+)\.GetValue\((.*)\)$", re.DOTALL)
_CAST = re.compile(r"^(?:static_cast<([\w:]+)>|\(([\w:]+)\))(?=[\w(])")
_ORDER = re.compile(r"^(.+?)(<=|>=|<|>)(.+)$", re.DOTALL)


@dataclass(frozen=True)
class Move:
    """What one `SetValue` of a loop does in all turns."""

    kind: str
    """'copy' or 'fill'."""
    target: str
    to: str
    """Index of the first element written."""
    origin: str
    """The tensor read, or the value filled in."""
    start: str
    """Index of the first element read; '' of a fill."""
    type: str


@dataclass(frozen=True)
class ElementLoop:
    """A loop that does nothing but move single elements whose indices go up by one a turn."""

    node: Node
    moves: tuple[Move, ...]
    counts: tuple[str, ...]
    """How often it turns: the least of these, and at least 0."""
    counters: tuple[str, ...]
    """What it counts up and leaves behind."""


def element_loops(source: Source) -> list[ElementLoop]:
    """All such loops of a file, outer before inner."""
    types = global_types(source)
    found = (_loop(source, node, types) for node in nodes(source, *LOOPS))
    return [loop for loop in found if loop is not None]


@lru_cache(maxsize=256)
def global_types(source: Source) -> dict[str, str]:
    """The element type of each tensor in global memory; '' when two are declared differently."""
    found: dict[str, str] = {}
    for kind, names in re.findall(r"\bGlobalTensor\s*<([^<>;]+)>\s*&?\s*([\w\s,]+)", source.shadow):
        for name in re.findall(r"\w+", names):
            kind = kind.strip()
            found[name] = kind if found.get(name, kind) == kind else ""
    return found


def _loop(source: Source, node: Node, types: Mapping[str, str]) -> ElementLoop | None:
    body = node.child_by_field_name("body")
    if node.type not in ("for_statement", "while_statement") or body is None:
        return None
    braced = body.type == "compound_statement"
    statements = [s for s in (body.named_children if braced else [body]) if s.type != "comment"]
    steps = [_step(source.code(s).removesuffix(";")) for s in statements]
    turns = sum(step is not None for step in steps)
    if turns and None in steps[len(steps) - turns :]:
        return None  # an element is moved behind a step
    counters = [step for step in steps if step is not None]
    first: dict[str, str] = {}
    if node.type == "for_statement":
        update = node.child_by_field_name("update")
        parts = split_arguments(source.code(update)) if update is not None else []
        counters += [_step(part.strip()) or "" for part in parts]
        start = node.child_by_field_name("initializer")
        if start is not None:
            named = re.match(r"^(?:\w+[ :]+)+(\w+)=([^,;\\]+);?$", source.code(start))
            if start.type != "declaration" or named is None:
                return None
            first[named[1]] = named[2]
    if not counters or "" in counters or len(set(counters)) < len(counters):
        return None
    condition = _condition(source, node)
    counts = [_count(source, node, term, counters) for term in condition.split("&&")]
    moves = _moves(source, statements[: len(steps) - turns], counters, types)
    if not moves or None in counts or set(first) - set(counters):
        return None

    def begin(code: str) -> str:
        for name, value in first.items():
            code = re.sub(rf"(?<![\w.>])(?<!->){name}\b", f"({value})", code)
        return code

    return ElementLoop(
        node,
        tuple(Move(m.kind, m.target, begin(m.to), m.origin, begin(m.start), m.type) for m in moves),
        tuple(begin(count) for count in counts if count is not None),
        tuple(c for c in counters if c not in first),
    )


def _step(code: str) -> str | None:
    """The name that a statement counts up by one; None when it does something else."""
    found = _TURN.match(code.replace(" ", ""))
    return next(filter(None, found.groups())) if found else None


def _condition(source: Source, node: Node) -> str:
    inner = node.child_by_field_name("condition")
    code = source.code(inner) if inner is not None else ""
    return code[1:-1] if code.startswith("(") and _closes_last(code) else code


def _rises(code: str, counters: list[str]) -> bool:
    """Whether an expression is one of the counters plus what does not change in the loop."""
    code = code.strip()
    while code.startswith("(") and code.endswith(")") and _closes_last(code):
        code = code[1:-1]
    terms = [t for plus in split_arguments(code, "+") for t in split_arguments(plus, "-")[:1]]
    less = [t for plus in split_arguments(code, "+") for t in split_arguments(plus, "-")[1:]]
    named = [t.strip() for t in terms if identifiers(t) & set(counters)]
    return (
        len(named) == 1
        and named[0] in counters
        and not any(identifiers(t) & set(counters) for t in less)
        and _still(code)
    )


def _closes_last(code: str) -> bool:
    depth = 0
    for place, letter in enumerate(code):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(code) - 1
    return False


def _still(code: str) -> bool:
    """Whether code calls and sets nothing: its value is the same in all turns."""
    bare = re.sub(r"\bstatic_cast<[\w:]+>", "", code)
    return not re.search(r"\w\(|\+\+|--|\?|(?<![<>=!])=(?!=)", bare)


def _count(source: Source, node: Node, term: str, counters: list[str]) -> str | None:
    """How many turns a condition leaves, as an expression; None when it cannot be said."""
    found = _ORDER.match(term.strip().replace("->", "\0"))
    if found is None:
        return None
    left, order, right = (part.replace("\0", "->") for part in found.groups())
    if right[0] in "<>" or "||" in term or term.count("(") != term.count(")"):
        return None
    if order in (">", ">="):
        left, right = right, left
    if not _rises(left, counters) or identifiers(right) & set(counters) or not _still(right):
        return None
    function = source.function_at(node.start_byte)
    text = source.shadow[function.node.start_byte : node.end_byte] if function else ""
    if "-" in left.replace("->", "") and any(_unsigned(text, n) for n in identifiers(left)):
        return None  # below zero it would be a large number
    more = " + 1" if order.endswith("=") else ""
    return f"(static_cast<int64_t>({right}) - static_cast<int64_t>({left}){more})"


def _unsigned(text: str, name: str) -> bool:
    pattern = rf"\b(?:unsigned(?: int)?|uint\d+_t|size_t)\s+(?:[\w\s=,]*[\s,])?{name}\b"
    return re.search(pattern, text) is not None


def _moves(
    source: Source, statements: list[Node], counters: list[str], types: Mapping[str, str]
) -> list[Move]:
    """What the statements before the steps do; [] when one does anything else."""
    values: dict[str, str] = {}
    moves: list[Move] = []
    for statement in statements:
        code = source.code(statement)
        taken = re.match(r"^(?:const )?([\w:]+) (\w+)=(.+);$", code, re.DOTALL)
        if taken and statement.type == "declaration":
            values[taken[2]] = taken[3] if taken[1] == "auto" else f"({taken[1]}){taken[3]}"
            continue
        method = next((m for m in source.methods if m.statement == statement), None)
        if method is None or method.name != "SetValue" or len(method.arguments) != 2:
            return []
        to, given = (source.code(a) for a in method.argument_nodes)
        value = values.get(given, given)
        if identifiers(value) & set(values):
            return []
        move = _move(method.object, to, value, counters, types)
        if move is None:
            return []
        moves.append(move)
    targets = [move.target for move in moves]
    mixed = set(targets) & {m.origin for m in moves if m.kind == "copy"}
    return [] if mixed or len(set(targets)) < len(targets) else moves


def _move(
    target: str, to: str, value: str, counters: list[str], types: Mapping[str, str]
) -> Move | None:
    kind = types.get(target, "")
    if not kind or not _rises(to, counters):
        return None
    bare = value
    while cast := _CAST.match(bare):
        if (cast[1] or cast[2]) != kind and "GetValue" in bare:
            return None  # the value is converted on its way
        bare = bare[cast.end() :]
        if bare.startswith("(") and _closes_last(bare):
            bare = bare[1:-1]
    if read := _READ.match(bare):
        if types.get(read[1]) != kind or not _rises(read[2], counters):
            return None
        return Move("copy", target, to, read[1], read[2], kind)
    if identifiers(value) & set(counters) or not _still(bare) or "[" in bare:
        return None
    value = bare if re.fullmatch(r"[\w.]+", bare) else value
    return Move("fill", target, to, value, "", kind)
