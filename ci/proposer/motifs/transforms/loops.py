"""Counting loops and the linear index expressions inside them, for the loop transforms."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from ci.proposer.motifs.sequence import clean
from ci.source.cpp_source import Source, identifiers, root_name, squeeze, walk
from ci.source.cpp_text import split_arguments
from rules.api import load_api

_HEAD = re.compile(r"^(?:[\w:]+ )?(\w+)=(.+);\1<(.+);(?:\1\+\+|\+\+\1|\1\+=1)$")


@dataclass(frozen=True)
class CountingLoop:
    """`for (T i = 0; i < count; i++) { … }`"""

    node: Node
    index: str
    count: str
    body: Node

    @property
    def statements(self) -> list[Node]:
        """The statements of the body."""
        return self.body.named_children


def counting_loops(source: Source) -> list[CountingLoop]:
    """All loops that count from 0 by 1 and have a braced body."""
    found = []
    for node in walk(source.root):
        if node.type != "for_statement":
            continue
        body = node.child_by_field_name("body")
        if body is None or body.type != "compound_statement":
            continue
        opening = source.shadow.index("(", node.start_byte)
        closing = source.shadow.rfind(")", opening, body.start_byte)
        head = _HEAD.match(squeeze(source.shadow[opening + 1 : closing]))
        if head is None or head.group(2) not in ("0", "0U", "0u"):
            continue
        condition = node.child_by_field_name("condition")
        right = condition.child_by_field_name("right") if condition is not None else None
        if right is not None:
            found.append(CountingLoop(node, head.group(1), source.of(right), body))
    return found


@dataclass(frozen=True)
class Slice:
    """A tensor expression `tensor[base + index * stride]`."""

    tensor: str
    base: str
    stride: str
    """'' when the expression does not depend on the loop index."""

    @property
    def whole(self) -> str:
        """The expression at index 0."""
        return f"{self.tensor}[{self.base}]" if self.base else self.tensor


def slice_of(text: str, index: str) -> Slice | None:
    """Take a tensor argument apart; None when it depends on the index in another way."""
    text = text.strip()
    if index not in identifiers(text):
        return Slice(text, "", "")
    found = re.match(r"^([\w.\->]+)\s*\[(.*)\]$", text, re.DOTALL)
    if not found or index in identifiers(found.group(1)):
        return None
    stride, base = "", []
    for term in split_arguments(found.group(2), "+"):
        if index not in identifiers(term):
            base.append(term)
            continue
        factor = _factor(term, index)
        if factor is None or stride:
            return None
        stride = factor
    return Slice(found.group(1), " + ".join(base), stride)


def _factor(term: str, index: str) -> str | None:
    """`n` of `i * n` or `n * i`; '1' of `i`."""
    code = term.strip()
    if code == index:
        return "1"
    for pattern in (rf"^{index}\s*\*\s*(.+)$", rf"^(.+?)\s*\*\s*{index}$"):
        found = re.match(pattern, code, re.DOTALL)
        if found and index not in identifiers(found.group(1)):
            factor = found.group(1).strip()
            return factor if re.fullmatch(r"[\w.\->]+|\(.*\)", factor) else None
    return None


def same(one: str, two: str) -> bool:
    """Whether two expressions are the same text but for spaces."""
    return clean(one).removeprefix("this->") == clean(two).removeprefix("this->")


def written_names(source: Source, node: Node) -> set[str]:
    """Names that a stretch of code assigns, declares, or passes to a call that writes them."""
    names: set[str] = set()
    for inner in walk(node):
        if inner.type in ("assignment_expression", "update_expression"):
            left = inner.child_by_field_name("left") or inner.child_by_field_name("argument")
            if left is not None:
                names.add(root_name(source.code(left)))
        elif inner.type in ("init_declarator", "declaration"):
            left = inner.child_by_field_name("declarator")
            if left is not None:
                names |= identifiers(source.code(left).split("(")[0])
        elif inner.type == "call_expression":
            arguments = inner.child_by_field_name("arguments")
            called = inner.child_by_field_name("function")
            if arguments is not None and called is not None:
                given = [source.code(a) for a in arguments.named_children]
                name = source.code(called).partition("<")[0]
                names |= {root_name(a) for a in load_api().written(name, given)}
    return names


def assigned_names(source: Source, node: Node) -> frozenset[str]:
    """Names that a stretch of code assigns to or counts up; those that it declares are none."""
    names: set[str] = set()
    for inner in walk(node):
        if inner.type in ("assignment_expression", "update_expression"):
            left = inner.child_by_field_name("left") or inner.child_by_field_name("argument")
            if left is not None:
                names.add(root_name(source.code(left)))
    return frozenset(names)


def declared_names(source: Source, node: Node) -> frozenset[str]:
    """Names of the variables and parameters that a stretch of code declares."""
    names: set[str] = set()
    for inner in walk(node):
        if inner.type in ("declaration", "parameter_declaration", "optional_parameter_declaration"):
            for left in inner.children_by_field_name("declarator"):
                code = source.code(left).split("=")[0].split("{")[0].split("(")[0]
                names |= identifiers(code.split("[")[0])
    return frozenset(names)
