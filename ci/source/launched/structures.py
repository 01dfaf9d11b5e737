"""Plain structures of numbers that a kernel gets at its launch, as a source defines them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tree_sitter import Node

from ci.source.cpp_source import Source, ancestors, below, parse
from ci.source.launched.entry import REAL, WHOLE
from ci.source.op_classes import compiled_text, expanded

_LIBRARY: Final = Path(__file__).parents[2] / "simulator/ascendc/kernel_tiling/kernel_tiling.h"
"""The structures of the toolkit's library that host and kernel share."""
_MOST_NESTED: Final = 4


@dataclass(frozen=True)
class Structure:
    """A plain structure of numbers."""

    name: str
    """The namespaces that it is defined in come first."""
    texts: tuple[str, ...]
    """Its definition in C++ without these, behind those of the structures that it holds."""
    fields: tuple[str, ...]
    """What is no structure; `outer.inner` where it is in one that the structure holds."""


def structure(name: str, texts: Iterable[str]) -> Structure | None:
    """The structure of that name that one of the sources defines, or the toolkit's library; None
    where none does. A name with namespaces is looked for by its last part."""
    sources = (*texts, _LIBRARY.read_text(encoding="utf-8"))
    return _structure(_last(name), sources, _MOST_NESTED)


def _structure(name: str, texts: tuple[str, ...], deep: int) -> Structure | None:
    head = r"\b(?:struct|class)\b(?:\s+\w+(?:\s*\([^;{}]*?\))?)*?"
    defined = re.compile(rf"{head}\s+{re.escape(name)}\b[^;{{}}()]*\{{")
    for text in texts:
        if name not in text or not defined.search(text):
            continue
        source = parse(expanded(compiled_text(text)))
        for node in below(source.root, "struct_specifier", "class_specifier"):
            called, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if called is None or body is None or source.code(called) != name:
                continue
            inner = {
                kind: one
                for kind in (_kinds(source, body) if deep else ())
                if (one := _structure(kind, texts, deep - 1)) is not None
            }
            own = source.of(node) + ";"
            for kind in inner:
                own = re.sub(rf"(?:\b\w+\s*::\s*|::\s*)+{kind}\b", kind, own)
            before = dict.fromkeys(text for one in inner.values() for text in one.texts)
            around = [source.code(one) for one in _namespaces(node)]
            return Structure(
                "::".join((*reversed(around), name)),
                (*before, own),
                tuple(_fields(source, body, inner)),
            )
    return None


def _kinds(source: Source, body: Node) -> Iterator[str]:
    """The types of the fields, by the last part of their names."""
    for one in body.named_children:
        kind = one.child_by_field_name("type") if one.type == "field_declaration" else None
        named = _last(source.code(kind)) if kind is not None else ""
        if named.isidentifier() and not (WHOLE.fullmatch(named) or REAL.fullmatch(named)):
            yield named


def _fields(source: Source, body: Node, inner: dict[str, Structure]) -> Iterator[str]:
    for one in body.named_children:
        kind = one.child_by_field_name("type") if one.type == "field_declaration" else None
        if kind is None or any(source.code(word) == "static" for word in one.named_children):
            continue
        held = inner.get(_last(source.code(kind)))
        for field in below(one, "field_identifier"):
            name, around = source.code(field), field.parent
            if around is None or around.type == "function_declarator":
                continue
            if held is None or around.type != "field_declaration":  # an array, or a pointer
                yield name
            else:
                yield from (f"{name}.{part}" for part in held.fields)


def _last(name: str) -> str:
    return name.rpartition("::")[2].strip()


def _namespaces(node: Node) -> Iterator[Node]:
    """Names of the namespaces around a definition, from the inside."""
    for one in ancestors(node):
        name = one.child_by_field_name("name")
        if one.type == "namespace_definition" and name is not None:
            yield name
