"""Small faults planted into an operator's sources: what a hurried or a dishonest author leaves out.

A mutation is only text; whether it is wrong is shown by whoever runs it. Those of the definition
are wrong by construction: what callers were promised is no longer true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, RootModel
from tree_sitter import Node

from ci.model.frozen import Frozen
from ci.model.yaml_model import read_file
from ci.source.cpp_source import LOOPS, Edit, Source, walk
from lab.bench.faults import faults
from rules.api import load_api


class Mutation(NamedTuple):
    """One fault in one source."""

    kind: str
    """Class, as in the corpus: a sizes, b values, c order, d memory, g host."""
    what: str
    text: str
    """The whole source with the fault."""
    promised: bool = False
    """Whether it breaks the definition, which no launch shows."""


class _Pattern(Frozen):
    """A replacement by regular expression; the file explains the words."""

    kind: str = Field(alias="class")
    what: str
    find: str
    put: str
    where: Literal["host", "kernel", ""] = Field(default="", alias="in")
    numbers: tuple[int, ...] = (0,)
    promised: bool = False


@cache
def _patterns() -> tuple[_Pattern, ...]:
    path = Path(__file__).with_suffix(".yaml")
    return read_file(RootModel[tuple[_Pattern, ...]], path).root


def host_mutations(text: str) -> Iterator[Mutation]:
    """Faults of tiling, inference and definition."""
    source = Source(text)
    yield from _matches(source, "host")
    yield from _choices(source)


def kernel_mutations(text: str) -> Iterator[Mutation]:
    """Faults of a kernel source."""
    source = Source(text)
    yield from _matches(source, "kernel")
    yield from _choices(source)
    yield from _loops(source)
    yield from _early_outs(source)
    yield from _calls(source)
    for fault in faults(text):
        kind = "d" if fault.kind == "buffer too short" else "c"
        yield Mutation(kind, f"{fault.kind}: {fault.words}", fault.text)


def _matches(source: Source, where: str) -> Iterator[Mutation]:
    """Each pattern at each of its places."""
    for one, number in ((p, n) for p in _patterns() if p.where in ("", where) for n in p.numbers):
        put, told = (words.replace("{n}", str(number)) for words in (one.put, one.what))
        for found in re.finditer(one.find, source.shadow):
            edit = Edit(found.start(), found.end(), found.expand(put))
            what = f"{told}: {_words(source.text[found.start() : found.end()])}"
            yield Mutation(one.kind, what, source.apply([edit]), one.promised)


def _choices(source: Source) -> Iterator[Mutation]:
    """Either side of each `a ? b : c` taken always: a tail as long as a tile, above all."""
    for node in walk(source.root):
        if node.type != "conditional_expression":
            continue
        for side in ("consequence", "alternative"):
            kept = node.child_by_field_name(side)
            if kept is not None:
                what = f"always {source.of(kept)} of {_words(source.of(node))}"
                yield Mutation("a", what, source.apply([_instead(node, source.of(kept))]))


def _loops(source: Source) -> Iterator[Mutation]:
    """A loop that ends one turn early."""
    for node in walk(source.root):
        condition = node.child_by_field_name("condition") if node.type in LOOPS else None
        if condition is None or condition.type != "binary_expression":
            continue
        left, right = (condition.child_by_field_name(side) for side in ("left", "right"))
        if (
            left is not None
            and right is not None
            and f"{source.of(left)} < " in source.of(condition)
        ):
            new = f"{source.of(left)} + 1 < {source.of(right)}"
            what = f"one turn less: {_words(source.of(condition))}"
            yield Mutation("a", what, source.apply([_instead(condition, new)]))


def _early_outs(source: Source) -> Iterator[Mutation]:
    """Nothing is done for one value of what the tiling says."""
    fields = re.findall(r"\b(\w+) = (?:tiling->|t\.)\w+;", source.shadow)
    for function in source.functions:
        if function.name != "Process":
            continue
        at = function.body.start_byte + 1
        for name in dict.fromkeys(fields):
            for test in ("== 0", "== 1", "> 4096"):
                edit = Edit(
                    at,
                    at,
                    f"\n        if (this->{name} {test}) {{\n            return;\n        }}",
                )
                yield Mutation("a", f"does nothing where {name} {test}", source.apply([edit]))


def _calls(source: Source) -> Iterator[Mutation]:
    """A vector call left out, on fewer elements, or one of its kin in its place."""
    api = load_api()
    for call in source.calls:
        name = call.name.rpartition("::")[2]
        family, statement = api.calls.get(name), call.statement
        if family is None or statement is None or family.pipes[0] != "V":
            continue
        words = _words(source.of(statement))
        yield Mutation("b", f"left out: {words}", source.apply([_instead(statement, ";")]))
        called = call.node.child_by_field_name("function")
        kin = next((n for n in family.names if n != name), None)
        if called is not None and kin is not None and called.type == "identifier":
            yield Mutation("b", f"{kin} in place of {words}", source.apply([_instead(called, kin)]))
        arguments = call.node.child_by_field_name("arguments")
        if arguments is None or not family.counts(call.arguments):
            continue
        count, words = arguments.named_children[-1], call.arguments[-1]
        for less in (
            f"({words}) - 1",
            f"({words}) / 64 * 64",
            f"({words}) > 4096 ? 4096 : ({words})",
        ):
            what = f"{name} on {_words(less)} elements"
            yield Mutation("a", what, source.apply([_instead(count, less)]))


def _instead(node: Node, new: str) -> Edit:
    return Edit(node.start_byte, node.end_byte, new)


def _words(text: str) -> str:
    return " ".join(text.split())[:80]
