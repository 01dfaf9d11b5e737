"""Branches of a candidate whose other way is shown by the text: guards of a loop's first round.

Who loads ahead writes `if (0 < n) { load(0); }` before a loop `for (i = 0; i < n; i++)`. Where no
input makes `n` zero, no case takes the other way. It needs none: with no round the guard does
nothing, the loop does nothing, and all around them is the original's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ci.source.cpp_source import Function, Source, below, identifiers, parse, squeeze
from ci.source.cpp_text import without_comments

_PURE = re.compile(r"[\w.\s>\[\]+*-]+")
"""A bound that can be asked twice: no call, no assignment, no division."""

_STEPS = re.compile(r"(\w+)\+\+|\+\+(\w+)|(\w+)\+=1")


def loop_guards(before: str, after: str) -> frozenset[int]:
    """Lines of `after` with such a guard, from 1.

    `before` is the original's text of the source. What follows the loop must call nothing that the
    candidate changed.
    """
    old, new = parse(before), parse(after)
    names = [one.name for one in old.functions]
    known = {one.name: one for one in old.functions if names.count(one.name) == 1}
    changed = {
        one.plain
        for one in new.functions
        if one.name not in known or _code(old, known[one.name].node) != _code(new, one.node)
    }
    found = set()
    for function in new.functions:
        original = known.get(function.name)
        if original is None:
            continue
        others = changed - {function.plain}
        for guard in below(function.body, "if_statement"):
            if _is_guard(new, function, guard, old, original, others):
                found.add(new.line(guard.start_byte))
    return frozenset(found)


def _is_guard(
    new: Source,
    function: Function,
    guard: Node,
    old: Source,
    original: Function,
    changed: set[str],
) -> bool:
    bound = _bound(new, guard)
    if not bound:
        return False
    loop = next(
        (loop for loop in _loops(new, function, bound) if loop.start_byte >= guard.end_byte), None
    )
    if loop is None:
        return False
    body = loop.child_by_field_name("body")
    assert body is not None
    if identifiers(new.shadow[body.end_byte : function.node.end_byte]) & changed:
        return False
    left = _without(new, function, guard, body)
    for one in _loops(old, original, bound):
        inner = one.child_by_field_name("body")
        if inner is not None and _without(old, original, None, inner) == left:
            return _first_round(new, guard, old, one)
    return False


def _bound(source: Source, guard: Node) -> str:
    """The n of `if (0 < n) {…}` without an else; '' of any other statement."""
    condition = guard.child_by_field_name("condition")
    if condition is None or guard.child_by_field_name("alternative") is not None:
        return ""
    text = source.code(condition).strip("()")
    bound = text.removeprefix("0<") if text.startswith("0<") else text.removesuffix(">0")
    return bound if bound != text and _PURE.fullmatch(bound) else ""


def _loops(source: Source, function: Function, bound: str) -> Iterator[Node]:
    """The loops of a function that count from 0 to below a bound by ones."""
    for loop in below(function.body, "for_statement"):
        name = _counter(source, loop)
        condition = loop.child_by_field_name("condition")
        if name and condition is not None and source.code(condition) == f"{name}<{bound}":
            yield loop


def _counter(source: Source, loop: Node) -> str:
    """The variable that a loop counts up by ones from 0; '' of any other."""
    start, step = loop.child_by_field_name("initializer"), loop.child_by_field_name("update")
    if start is None or step is None or loop.child_by_field_name("body") is None:
        return ""
    found = _STEPS.fullmatch(source.code(step))
    name = next(filter(None, found.groups()), "") if found else ""
    return name if re.search(rf"\b{name}=0;?$", source.code(start)) else ""


def _first_round(new: Source, guard: Node, old: Source, loop: Node) -> bool:
    """Whether all that a guard does is in the loop's body of before, for its first round."""
    body, inner = loop.child_by_field_name("body"), guard.child_by_field_name("consequence")
    assert body is not None and inner is not None
    name = _counter(old, loop)
    rounds = {re.sub(rf"\b{name}\b", "0", old.code(one)) for one in body.named_children}
    statements = inner.named_children if inner.type == "compound_statement" else [inner]
    return bool(statements) and all(new.code(one) in rounds for one in statements)


def _without(source: Source, function: Function, guard: Node | None, body: Node) -> str:
    """The code of a function without a guard and without a loop's body."""
    return _code(source, function.node, *([] if guard is None else [guard]), body)


def _code(source: Source, node: Node, *without: Node) -> str:
    """The code of a node without some in it, which are in order; words that the parser does not
    know are kept."""
    text, start, parts = without_comments(source.text), node.start_byte, list[str]()
    for gone in without:
        parts.append(text[start : gone.start_byte])
        start = gone.end_byte
    return squeeze("".join((*parts, text[start : node.end_byte])))
