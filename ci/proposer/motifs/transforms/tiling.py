"""Sizes of tiles and numbers of cores, where the code itself decides them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.nodes import nodes, without
from ci.source.cpp_source import Edit, Source, constants, identifiers, walk

LINE_BLOCKS = 16
"""32-byte blocks in the 512 bytes that global memory delivers best."""
LEAST = 16  # below this a constant counts something else than the elements of a tile

_UB = re.compile(r"ub|tile|part", re.I)
_BLOCK = re.compile(r"block_?size|block_?bytes?|byte_?block|^32$|one_?block", re.I)
_SIZES = re.compile(
    r"tile|chunk|slice|batch|rows?|per_?(?:loop|time|iter|copy)|once|unroll"
    r"|(?:max|copy|proc|process|calc|data|block|step|ub)_?\w*(?:len|length|num|count|elem|size)",
    re.I,
)
_NOT_SIZES = re.compile(
    r"buf(?:fer)?_?num|align|byte|block_?size|dtype|type|mask|repeat|shift|index|dim|key|core|"
    r"stride|per_?block|mode|flag|event|float|half|int",
    re.I,
)
_VALUE = re.compile(r"^(\d+)([uUlL]*)$")
_CORES = re.compile(r"core|block_?dim|aiv|num_?blocks", re.I)
_DEVICE = re.compile(r"GetCoreMemSize\(|GetCoreNum\w*\(|GetPlatformInfo\(|DataType\w*\(")
_ONE = re.compile(r"^\{?([\w.\->]+)=1[uUlL]*;\}?$")


def align_tile(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Round the tile down to whole 512-byte lines of global memory.

    Sites are declarations of a number of 32-byte blocks that fit a part of UB. A tile of less than
    a line stays as it is, unless no shape decides how large it is: then it is one of the shares of
    UB that the device and the dtype leave, and a guard would never go the other way.
    """
    for node in nodes(source, "init_declarator"):
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if name is None or node.parent is None or value is None:
            continue
        if value.type != "binary_expression" or re.search(r"\bconst\b", source.code(node.parent)):
            continue
        operation, right = value.child_by_field_name("operator"), value.child_by_field_name("right")
        left = value.child_by_field_name("left")
        if operation is None or operation.type != "/" or right is None or left is None:
            continue
        word = source.code(name)
        if not _BLOCK.search(source.code(right)) or not _UB.search(word):
            continue
        if "ub" not in source.code(left).lower() and "ub" not in word.lower():
            continue
        place = node.parent.end_byte
        rounded = f"{word} -= {word} % {LINE_BLOCKS};"
        guarded = rf"\s*(?:if \({word} >= {LINE_BLOCKS}\) \{{\s*)?{re.escape(rounded)}"
        if re.match(guarded, source.shadow[place:]):
            continue
        indent = "\n" + source.indent(node.parent.start_byte)
        text = indent + rounded
        if not _of_no_shape(source, value):
            text = f"{indent}if ({word} >= {LINE_BLOCKS}) {{{indent}    {rounded}{indent}}}"
        yield Match(place, (Edit(place, place, text),), note=word)


def _of_no_shape(source: Source, value: Node) -> bool:
    """Whether an expression hangs on what the function computes of the device, of dtypes and of
    constants alone; False where a name comes from elsewhere."""
    function = source.function_at(value.start_byte)
    if function is None:
        return False
    given = dict[str, set[str]]()
    for one in walk(function.body):
        if one.start_byte >= value.start_byte:
            break
        for name, code in _given(source, one):
            given.setdefault(name, set()).add(code)
    fixed = {source.code(name) for _, name, _ in constants(source)}
    left, known = set(_names(source.code(value))), set[str]()
    while left:
        name = left.pop()
        if name in known or name in fixed:
            continue
        codes = [code for code in given.get(name, ()) if not _DEVICE.search(code)]
        if name not in given or any("->" in code for code in codes):
            return False  # the context's, by its pointer, is of the shapes or the attributes
        known.add(name)
        left |= {n for code in codes for n in _names(code)}
    return True


def _given(source: Source, node: Node) -> Iterator[tuple[str, str]]:
    """(name, code) of what a node gives a value: by assignment, or as an argument of a call that
    asks the device or a dtype."""
    if node.type in ("init_declarator", "assignment_expression"):
        name = node.child_by_field_name("declarator") or node.child_by_field_name("left")
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if name is not None and value is not None:
            yield source.code(name), source.code(value)
    elif node.type == "call_expression" and (arguments := node.child_by_field_name("arguments")):
        for one in arguments.named_children:
            if one.type == "identifier" and _DEVICE.search(code := source.code(node)):
                yield source.code(one), code


def _names(code: str) -> frozenset[str]:
    """Names of the variables in an expression: no types, no functions, and no enumerators."""
    plain = re.sub(r"static_cast<[^<>]*>|\(u?int\d*_t\)|(?:\w+\s*::\s*)+\w+|\b\w+(?=\()", "", code)
    return identifiers(plain)


def scale_constant(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Integer constants with a sizing name; `numerator` / `denominator` give the factor."""
    numerator, denominator = int(str(parameters["numerator"])), int(str(parameters["denominator"]))
    for node, name, value in constants(source):
        word, found = source.code(name), _VALUE.match(source.code(value).strip())
        if not found or not _SIZES.search(word) or _NOT_SIZES.search(word):
            continue
        old = int(found.group(1))
        new = old * numerator // denominator
        if old >= LEAST and new >= LEAST:
            start = source.shadow.index(found.group(1), value.start_byte)
            edit = Edit(start, start + len(found.group(1)), str(new))
            yield Match(node.start_byte, (edit,), note=f"{word} {old} → {new}")


def spread_small_inputs(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """`if (it fits one tile) cores = 1; else …` becomes the else branch, of one core at least.

    With `most`, a number of cores, what fits one tile gets no more than that. The branch that is
    left may come to no core at all for an empty input, which the other one caught.
    """
    most = str(parameters.get("most", ""))
    for node in nodes(source, "if_statement", "conditional_expression"):
        then = node.child_by_field_name("consequence")
        other = node.child_by_field_name("alternative")
        if then is None or not _about_size(source, node):
            continue
        if node.type == "if_statement":
            site = _statement(source, node, then, other, most)
        else:
            site = _expression(source, node, then, other, most)
        if site is not None:
            yield site


def _statement(
    source: Source, node: Node, then: Node, other: Node | None, most: str
) -> Match | None:
    one = _ONE.match(source.code(then))
    if one is None or not _CORES.search(one.group(1)):
        return None
    if one.group(1) + "==" in source.code(node)[:80]:
        return None
    limit = _limit(source, node, one.group(1), most) if most else ""
    if most and not limit:
        return None
    if other is None:
        edit = Edit(node.start_byte, node.end_byte, limit) if limit else without(source, node)
        return Match(node.start_byte, (edit,), note=one.group(1))
    body = other.named_children[0] if other.type == "else_clause" else other
    if body.type == "if_statement":
        return None
    if body.type == "compound_statement" and len(body.named_children) == 1:
        body = body.named_children[0]
    indent = "\n" + source.indent(node.start_byte)
    least = f"if ({one.group(1)} < 1) {{{indent}    {one.group(1)} = 1;{indent}}}"
    text = indent.join(filter(None, (source.of(body), limit, least)))
    edit = Edit(node.start_byte, node.end_byte, text)
    return Match(node.start_byte, (edit,), note=one.group(1))


def _limit(source: Source, node: Node, cores: str, most: str) -> str:
    """The statement that holds a small input to so many cores; '' where it cannot be said."""
    condition = node.child_by_field_name("condition")
    if condition is None or cores in source.code(condition):
        return ""
    indent = "\n" + source.indent(node.start_byte)
    small = source.of(condition)  # with its parentheses
    return f"if ({small} && {cores} > {most}) {{{indent}    {cores} = {most};{indent}}}"


def _expression(
    source: Source, node: Node, then: Node, other: Node | None, most: str
) -> Match | None:
    if other is None or source.code(then) not in ("1", "1U"):
        return None
    holder = node.parent
    while holder is not None and holder.type in ("parenthesized_expression", "cast_expression"):
        holder = holder.parent
    if holder is None or not _CORES.search(source.code(holder).split("=")[0]):
        return None
    cores = source.of(other)
    text = f"({cores}) < 1 ? 1 : ({cores})"
    condition = node.child_by_field_name("condition")
    if most and condition is not None:
        text = f"({source.of(condition)}) && ({cores}) > {most} ? {most} : {text}"
    return Match(node.start_byte, (Edit(node.start_byte, node.end_byte, text),))


def _about_size(source: Source, node: Node) -> bool:
    """Whether the condition compares amounts, not whether a count is zero."""
    condition = node.child_by_field_name("condition")
    code = source.code(condition) if condition is not None else ""
    return bool(re.search(r"[<>]=?", code)) and not re.search(r"[<>]=?[01]\)?$", code)
