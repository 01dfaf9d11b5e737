"""What a rewrite leaves without a use: local tensors and buffers that nobody takes any more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from ci.source.cpp_source import Edit, Source, parse, root_name, walk

_TAKEN = re.compile(r"^[\w.\->]+\.(?:Get|GetWithOffset)<[^()]*>\([^()]*\)$")
_CLASSES = ("class_specifier", "struct_specifier")


def tidied(before: str, after: str, others: Iterable[str] = ()) -> str:
    """`after` without the tensors and buffers whose last use a rewrite of `before` took.

    Buffers whose name is in one of the other texts stay: a derived class may use them.
    """
    elsewhere = tuple(others)
    held = parse(before)
    while True:
        source = parse(after)
        edits = [
            *_untaken(held, source),
            *(e for name, e in _unused_buffers(held, source) if not _named(name, elsewhere)),
        ]
        if not edits:
            return after
        after = source.apply(edits)


def _untaken(before: Source, source: Source) -> Iterator[Edit]:
    """Declarations of tensors in buffers that nothing names any more."""
    for node in walk(source.root):
        if node.type != "declaration" or len(node.named_children) != 2:
            continue
        declared = node.named_children[1]
        name = declared.child_by_field_name("declarator")
        value = declared.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier":
            continue
        function = source.function_at(node.start_byte)
        if function is None or not _TAKEN.match(source.code(value)):
            continue
        word = source.code(name)
        body = source.shadow[function.body.start_byte : function.body.end_byte]
        if _count(word, body) == 1 and _was_used(before, function.name, word):
            yield _without(source, node)


def _was_used(before: Source, function: str, word: str) -> bool:
    bodies = (f.body for f in before.functions if f.name == function)
    return any(_count(word, before.shadow[b.start_byte : b.end_byte]) > 1 for b in bodies)


def _unused_buffers(before: Source, source: Source) -> Iterator[tuple[str, Edit]]:
    """(name, edit) of the members that only `InitBuffer` names, and of their `InitBuffer`."""
    inits = [m for m in source.methods if m.name == "InitBuffer" and m.arguments and m.statement]
    for node in walk(source.root):
        if node.type != "field_declaration" or not source.code(node).startswith("TBuf<"):
            continue
        declared = node.children_by_field_name("declarator")
        own = _class_around(node)
        if len(declared) != 1 or own is None:
            continue
        word = source.code(declared[0])
        made = [
            m for m in inits if root_name(m.arguments[0]) == word and _class_around(m.node) == own
        ]
        if _count(word, _seen_by(source, own)) != len(made) + 1 or not made:
            continue
        if _count(word, before.shadow) > _count(word, source.shadow):
            yield word, _without(source, node)
            for one in made:
                assert one.statement is not None
                yield word, _without(source, one.statement)


def _without(source: Source, node: Node) -> Edit:
    return source.removal(source.begin(node.start_byte), node.end_byte)


def _class_around(node: Node) -> Node | None:
    up = node.parent
    while up is not None and up.type not in _CLASSES:
        up = up.parent
    return up


def _seen_by(source: Source, own: Node) -> str:
    """The class and all that lies in no class, where its methods may be defined."""
    parts, done = [], 0
    for node in walk(source.root):
        if node.type in _CLASSES and node != own and node.start_byte >= done:
            parts.append(source.shadow[done : node.start_byte])
            done = node.end_byte
    return "".join([*parts, source.shadow[done:]])


def _count(word: str, text: str) -> int:
    return len(re.findall(rf"\b{re.escape(word)}\b", text))


def _named(word: str, texts: Iterable[str]) -> bool:
    return any(_count(word, text) for text in texts)
