"""Scalars of global memory are read under the first copy instead of before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.functions import called_in
from ci.proposer.motifs.transforms.loops import declared_names
from ci.proposer.motifs.transforms.nodes import before, nodes, without
from ci.source.cpp_source import Edit, Function, Source, ancestors, identifiers, walk
from rules.api import load_api

MOST_READERS = 4
"""Functions that read the scalar again: with more of them the change is no longer a small one."""

_CLASSES = ("class_specifier", "struct_specifier")
_POINTED = re.compile(
    r"^\*\s*\(?\s*(?:\(\s*(?P<cast>__gm__\s+[\w:]+\s*\*)\s*\)"
    r"|reinterpret_cast<\s*(?P<type>__gm__\s+[\w:]+\s*\*)\s*>)\s*\(?\s*(?P<name>\w+)[\s)]*$"
)
_VALUE = re.compile(r"\b(?:this->)?(\w+)\.GetValue\(\d+\)")


@dataclass(frozen=True)
class _Read:
    """`field = a scalar of global memory;` in a function that prepares."""

    statement: Node
    left: str
    field: str
    value: Node


def late_scalar_read(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Members that one method sets from global memory are set where other methods use them.

    There the copies of the first tile are on their way already. A pointer that only the first
    method knows is kept in a member of its own. One site a method.
    """
    for function in source.functions:
        fields = _fields(source, _class_of(source, function))
        edits: list[Edit] = []
        taken: list[_Read] = []
        for read in _reads(source, function, fields):
            more = _late(source, function, read, fields.get(read.field))
            if more:
                taken.append(read)
                edits += more
        if taken:
            note = ", ".join(read.field for read in taken[:3])
            others = tuple(read.statement.start_byte for read in taken[1:])
            start = taken[0].statement.start_byte
            yield Match(start, tuple(_joined(edits)), note=note, others=others)


def _late(source: Source, function: Function, read: _Read, declared: Node | None) -> list[Edit]:
    """The edits that move one read to where its member is used; [] when it cannot be moved."""
    kind = _class_of(source, function)
    users = [
        (other, place)
        for other in source.functions
        if other.node != function.node
        and _class_of(source, other) == kind
        and (place := _first_use(source, other, read.field)) is not None
    ]
    if not 0 < len(users) <= MOST_READERS:
        return []
    if called_in(source, function.body) & {user.plain for user, _ in users}:
        return []
    again = _moved(source, function, read, declared)
    if again is None:
        return []
    text, edits = again
    return edits + [before(source, place, text) for _, place in users]


def _joined(edits: list[Edit]) -> Iterator[Edit]:
    """The edits with what is inserted at one place in one of them, in order."""
    texts: dict[tuple[int, int], str] = {}
    for edit in edits:
        place = (edit.start, edit.end)
        texts[place] = texts.get(place, "") + edit.new
    return (Edit(start, end, text) for (start, end), text in texts.items())


def _class_of(source: Source, function: Function) -> str:
    """The class of a method, defined inside it or outside; '' for a free function."""
    if "::" in function.name:
        return function.name.rpartition("::")[0].partition("<")[0]
    holder = next((up for up in ancestors(function.node) if up.type in _CLASSES), None)
    name = holder.child_by_field_name("name") if holder is not None else None
    return source.code(name) if name is not None else ""


def _fields(source: Source, kind: str) -> dict[str, Node]:
    """The data members of a class and where each is declared."""
    found: dict[str, Node] = {}
    for holder in nodes(source, *_CLASSES):
        name, body = holder.child_by_field_name("name"), holder.child_by_field_name("body")
        if not kind or name is None or body is None or source.code(name) != kind:
            continue
        for node in body.named_children:
            if node.type == "field_declaration":
                for declared in node.children_by_field_name("declarator"):
                    if declared.type == "field_identifier":
                        found[source.code(declared)] = node
    return found


def _reads(source: Source, function: Function, fields: Mapping[str, Node]) -> Iterator[_Read]:
    """The reads of one scalar each that a method always makes, or always for some types."""
    for inner in walk(function.body):
        statement = inner.parent
        if inner.type != "assignment_expression" or statement is None:
            continue
        if statement.type != "expression_statement" or not _always(source, function, statement):
            continue
        left, value = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        operator = inner.child_by_field_name("operator")
        if left is None or value is None or operator is None or operator.type != "=":
            continue
        name = source.code(left)
        field = name.removeprefix("this->")
        member = field in fields or (name != field and field.isidentifier())
        if member and len(_uses(source, function, field)) == 1:
            yield _Read(statement, source.of(left), field, value)


def _always(source: Source, function: Function, statement: Node) -> bool:
    """Whether nothing but types decides that a statement of a function runs."""
    for up in ancestors(statement):
        if up == function.body:
            return True
        if (
            up.type == "if_statement"
            and "if constexpr" not in source.shadow[up.start_byte : up.start_byte + 14]
        ):
            return False
        if up.type not in ("compound_statement", "else_clause", "if_statement"):
            return False
    return False


def _moved(
    source: Source, function: Function, read: _Read, declared: Node | None
) -> tuple[str, list[Edit]] | None:
    """The statement that reads where the member is used, and the edits that leave it to that."""
    code = source.code(read.value)
    pointed = _POINTED.match(source.of(read.value))
    if pointed:
        kept = f"{read.field}Place"
        known = pointed["name"] in _own(source, function)
        if declared is None or kept in source.shadow or not known:
            return None
        kind = re.sub(r"\s*\*$", "*", pointed["cast"] or pointed["type"])
        setting = f"this->{kept} = reinterpret_cast<{kind}>({pointed['name']});"
        return f"{read.left} = *this->{kept};", [
            Edit(source.begin(read.statement.start_byte), read.statement.end_byte, setting),
            before(source, declared, f"{kind} {kept};"),
        ]
    tensors = _VALUE.findall(code)
    if len(tensors) != 1 or not _in_global_memory(source, tensors[0]):
        return None
    if identifiers(code) & _own(source, function):
        return None
    return source.of(read.statement), [without(source, read.statement)]


def _in_global_memory(source: Source, tensor: str) -> bool:
    """Whether a tensor is declared so, or is declared elsewhere and called so."""
    declared = re.search(rf"\b(Global|Local)Tensor\s*<[^;{{}}]*>\s*&?\s*{tensor}\b", source.shadow)
    return declared[1] == "Global" if declared else bool(re.search(r"gm|global", tensor, re.I))


def _own(source: Source, function: Function) -> set[str]:
    """A function's parameters and local names."""
    names = set(declared_names(source, function.body))
    declarator = function.node.child_by_field_name("declarator")
    for node in walk(declarator) if declarator is not None else ():
        name = node.child_by_field_name("declarator")
        if node.type == "parameter_declaration" and name is not None:
            names |= identifiers(source.code(name))
    return names


def _uses(source: Source, function: Function, field: str) -> list[int]:
    """Where a function names a member; by `this->` alone when something of its own has the name."""
    own = field in _own(source, function)
    form = rf"\bthis\s*->\s*{field}\b" if own else rf"(?<![.\w]){field}\b"
    body = source.shadow[function.body.start_byte : function.body.end_byte]
    return [function.body.start_byte + m.start() for m in re.finditer(form, body)]


def _first_use(source: Source, function: Function, field: str) -> Node | None:
    """The statement before which the member is set, in the block that holds all its uses.

    The first one that computes: a scalar that is waited for between two vector instructions lets
    the vector unit run dry.
    """
    uses = _uses(source, function, field)
    if not uses:
        return None
    block = function.body
    while inner := next((n for n in walk(block) if n != block and _holds(n, uses)), None):
        block = inner
    api = load_api()
    for node in block.named_children:
        calls = (api.calls.get(call.name) for call in source.calls_in(node))
        if node.end_byte > uses[0] or any(family and family.pipes[0] == "V" for family in calls):
            return node
    return None


def _holds(node: Node, uses: list[int]) -> bool:
    inside = node.start_byte <= uses[0] and uses[-1] < node.end_byte
    return inside and node.type == "compound_statement"
