"""Calls that are given how many cores there are, and only answer how many to use."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from tree_sitter import Node

from ci.source.cpp_source import Function, Source, ancestors, below
from ci.tiling.settled import SAID

_BUILT_IN: Final = re.compile(r"(?:std::)?(?:min|max|ceil|floor|abs)(?:<[\w:]+>)?|\w+_cast<[\w:]+>")


def counting_functions(sources: Iterable[Source]) -> frozenset[str]:
    """Names of the functions, without class, of which every body stores in its own variables only,
    and calls such functions only."""
    bodies: dict[str, list[tuple[Source, Function]]] = {}
    for source in sources:
        for function in source.functions:
            bodies.setdefault(function.plain, []).append((source, function))
    found = {
        name: {called for one in those for called in _called(*one)}
        for name, those in bodies.items()
        if all(_stores_nothing(*one) for one in those)
    }
    while refused := [name for name, called in found.items() if not called <= found.keys()]:
        for name in refused:
            del found[name]
    return frozenset(found)


def counting_call(source: Source, node: Node, counting: Collection[str]) -> tuple[str, Node] | None:
    """(left side, statement) where the node is an argument of a call of one of these functions
    whose value the statement stores; None otherwise.

    A limit belongs behind it: what such a function compares with the number of cores would else go
    one way only.
    """
    given = node.parent
    call = given.parent if given is not None and given.type == "argument_list" else None
    if call is None or call.type != "call_expression" or call.parent is None:
        return None
    stored, holder = call.parent, call.parent.parent
    left = stored.child_by_field_name("left") or stored.child_by_field_name("declarator")
    if left is None or left.type not in ("identifier", "field_expression") or holder is None:
        return None
    if holder.type not in ("declaration", "expression_statement"):
        return None
    if re.search(r"\bconst(?:expr)?\b", source.code(holder)):
        return None
    return (source.code(left), holder) if _name(source, call) in counting else None


def only_given(source: Source, name: str, declared: Node) -> Node | None:
    """The one place after its declaration that reads a local variable; None where several do."""
    body = next((up for up in ancestors(declared) if up.type == "compound_statement"), None)
    if body is None or declared.type != "declaration":
        return None
    uses = [n for n in below(body, "identifier") if source.code(n) == name]
    later = [n for n in uses if n.start_byte >= declared.end_byte]
    return later[0] if len(later) == 1 else None


def _name(source: Source, call: Node) -> str:
    """What a call calls, without class and template arguments; with the object of a method."""
    callee = call.child_by_field_name("function")
    name = source.code(callee) if callee is not None else ""
    return re.sub(r"<.*>$", "", name).removeprefix("this->").rpartition("::")[2]


def _called(source: Source, function: Function) -> Iterator[str]:
    for call in below(function.body, "call_expression"):
        callee = call.child_by_field_name("function")
        code = source.code(callee) if callee is not None else ""
        if not _BUILT_IN.fullmatch(code) and not SAID.search(code):
            yield _name(source, call)


def _stores_nothing(source: Source, function: Function) -> bool:
    declarator = function.node.child_by_field_name("declarator")
    if declarator is None or re.search(r"[&*]", source.code(declarator)):
        return False
    if below(function.body, "pointer_expression", "lambda_expression", "new_expression"):
        return False
    own = set(_own(source, function))
    for node in below(function.body, "assignment_expression", "update_expression"):
        left = node.child_by_field_name("left") or node.child_by_field_name("argument")
        if left is None or left.type != "identifier" or source.code(left) not in own:
            return False
    return True


def _own(source: Source, function: Function) -> Iterator[str]:
    """The parameters and the variables of a function."""
    for node in below(function.node, "parameter_declaration", "init_declarator", "declaration"):
        for one in node.children_by_field_name("declarator"):
            if one.type == "identifier":
                yield source.code(one)
