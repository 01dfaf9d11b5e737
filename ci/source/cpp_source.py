"""C++ sources with AscendC words: parse, find functions, statements, loops and calls, edit.

tree-sitter-cpp does not know `__aicore__` and its kin. `shadow` blanks such words, comments,
`AscendC::` and non-ASCII characters by text of the same length, so that an index into the shadow
is an index into the source. An ERROR node is no reason to refuse a file: what parses is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from ci.source.cpp_text import blanked, closing, split_arguments, without_comments

# Words that the AscendC compiler understands and a C++ grammar does not: names between two
# underscores on either side are the compiler's, and but for a few they are attributes.
_ATTRIBUTE_WORDS = re.compile(
    r"\[\s*aicore\s*\]|\[\[[\w\s:,()]*\]\]"
    r"|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)"
    r"|\b__(?!func__|typeof__|alignof__|asm__|extension__|builtin_)[a-z][a-z0-9_]*?"
    r"__\b(?:\s*\([^()]*\))?"
)
_LAUNCH = re.compile(r"<<<[^;{}]*?>>>")
# The arguments for which a call operator is specialized.
_SPECIALIZED = re.compile(r"(?<=\boperator\(\))\s*<[^<>;{}]*>(?=\s*\()")
_DEPENDENT = re.compile(r"(?<=[.>])\s*template\b(?=\s+\w)")
_CORE_TEST = re.compile(r"\bASCEND_IS_AI([CV])\b")
_NAMESPACE = re.compile(r"\bAscendC\s*::\s*")
_NAMESPACE_BEFORE = re.compile(r"\bAscendC\s*::\s*$")
_CHECK = re.compile(r"\b[A-Z][A-Z0-9_]*[ \t]*(?=\()")
_RETURN = re.compile(r"\breturn\b")
_NEXT_STATEMENT = re.compile(r"\s+[\w}#]")
_NAMESPACE_REACH = 24  # `AscendC`, two colons and some spaces

_LANGUAGE = Language(tree_sitter_cpp.language())

LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")


def shadow(text: str) -> str:
    """`text` for the parser: same length, ASCII, comments and AscendC words blanked."""
    text = without_comments(text)
    for words in (_ATTRIBUTE_WORDS, _LAUNCH, _NAMESPACE, _DEPENDENT, _SPECIALIZED):
        text = words.sub(blanked, text)
    text = _without_checks(_CORE_TEST.sub(r"(ASCEND_AI\1_)", text))
    return "".join(c if c < "\x80" else "_" for c in text)


def _without_checks(text: str) -> str:
    """`text` with what a checking macro does on failure blanked, and `;` where one lacks it.

    `OP_CHECK(a < LEAST, Log("…"), return false)` is no C++ before the preprocessor: a `return`
    among arguments led the parser out of the function, and with it went the rest of the file.
    """
    parts, done = [], 0
    for use in _CHECK.finditer(text):
        if use.start() < done:
            continue
        end = closing(text, use.end())
        inside = text[use.end() + 1 : end]
        if end < 0 or not _RETURN.search(inside):
            continue
        kept, *rest = split_arguments(inside)
        if _RETURN.search(kept):
            continue
        at = use.end() + 1 + inside.index(kept) + len(kept)
        parts += [text[done:at], re.sub(r"[^\n]", " ", text[at:end]), ")"]
        done = end + 1
        if _NEXT_STATEMENT.match(text, done):
            parts.append(";")
            done += 1
    return "".join((*parts, text[done:]))


@dataclass(frozen=True)
class Edit:
    """Replace `text[start:end]` by `new`."""

    start: int
    end: int
    new: str


class _Invocation:
    """What calls of functions and of methods have in common."""

    node: Node

    @property
    def statement(self) -> Node | None:
        """The expression statement that is just this call; None inside a larger expression."""
        parent = self.node.parent
        return parent if parent is not None and parent.type == "expression_statement" else None


@dataclass(frozen=True)
class Call(_Invocation):
    """A call of a free function: AscendC API calls above all. Indices are into the source."""

    name: str
    template: str
    """Template arguments with the angle brackets, '' if none."""
    arguments: tuple[str, ...]
    start: int
    end: int
    node: Node


@dataclass(frozen=True)
class Method(_Invocation):
    """A call of a method: `object.name<template>(arguments)`, indices into the source."""

    object: str
    name: str
    template: str
    arguments: tuple[str, ...]
    argument_nodes: tuple[Node, ...]
    start: int
    end: int
    node: Node


@dataclass(frozen=True)
class Function:
    """A function definition with its body."""

    name: str
    node: Node
    body: Node

    @property
    def plain(self) -> str:
        """The name without class: CopyIn of `Kernel<T>::CopyIn`."""
        return self.name.rpartition("::")[2]


class Source:
    """One parsed C++ source text. Immutable; `apply` gives the changed text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.shadow = shadow(text)
        self._tree = Parser(_LANGUAGE).parse(self.shadow.encode("ascii"))

    @property
    def root(self) -> Node:
        """The translation unit."""
        return self._tree.root_node

    def of(self, node: Node) -> str:
        """The source text of a node, with comments, attribute words and a leading `AscendC::`."""
        return self.text[self.begin(node.start_byte) : node.end_byte]

    def begin(self, index: int) -> int:
        """Where the name at an index begins when `AscendC::` is before it."""
        found = _NAMESPACE_BEFORE.search(self.text, max(0, index - _NAMESPACE_REACH), index)
        return found.start() if found else index

    def code(self, node: Node) -> str:
        """The shadow text of a node with spaces squeezed: equal for equal code."""
        return squeeze(self.shadow[node.start_byte : node.end_byte])

    @cached_property
    def errors(self) -> int:
        """How many ERROR or missing nodes the grammar left."""
        found, left = 0, [self.root]
        while left:
            node = left.pop()
            found += node.is_error or node.is_missing
            left.extend(child for child in node.children if child.has_error)
        return found

    @cached_property
    def blocks(self) -> tuple[Node, ...]:
        """All `{ … }` blocks and cases, outer before inner."""
        return tuple(below(self.root, "compound_statement", "case_statement"))

    @cached_property
    def statement_calls(self) -> dict[int, Call]:
        """The calls that are statements of their own, by where the statement starts."""
        return {c.statement.start_byte: c for c in self.calls if c.statement is not None}

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All function definitions, methods included, in source order."""
        found = []
        for node in below(self.root, "function_definition"):
            body = node.child_by_field_name("body")
            name = _declared_name(node.child_by_field_name("declarator"))
            if body is not None and name is not None:
                found.append(Function(self.code(name), node, body))
        return tuple(found)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """All calls of plain or qualified names (not methods), in source order."""
        found = []
        for node in below(self.root, "call_expression"):
            called = node.child_by_field_name("function")
            arguments = node.child_by_field_name("arguments")
            if called is None or arguments is None:
                continue
            template = ""
            name = called
            if called.type == "template_function":
                inner = called.child_by_field_name("name")
                types = called.child_by_field_name("arguments")
                if inner is None or types is None:
                    continue
                name, template = inner, self.of(types)
            if name.type not in ("identifier", "qualified_identifier"):
                continue
            texts = tuple(self.of(a).strip() for a in arguments.named_children)
            found.append(
                Call(self.code(name), template, texts, node.start_byte, node.end_byte, node)
            )
        return tuple(found)

    @cached_property
    def methods(self) -> tuple[Method, ...]:
        """All calls of methods, in source order."""
        found = []
        for node in below(self.root, "call_expression"):
            called = node.child_by_field_name("function")
            arguments = node.child_by_field_name("arguments")
            if called is None or arguments is None or called.type != "field_expression":
                continue
            of = called.child_by_field_name("argument")
            name = called.child_by_field_name("field")
            if of is None or name is None:
                continue
            nodes = tuple(arguments.named_children)
            bare, _, template = self.code(name).partition("<")
            found.append(
                Method(
                    self.code(of).removeprefix("this->"),
                    bare,
                    "<" + template if template else "",
                    tuple(self.of(a).strip() for a in nodes),
                    nodes,
                    node.start_byte,
                    node.end_byte,
                    node,
                )
            )
        return tuple(found)

    def calls_in(self, node: Node) -> list[Call]:
        """The calls within a node's text."""
        return [c for c in self.calls if c.start >= node.start_byte and c.end <= node.end_byte]

    def function_at(self, index: int) -> Function | None:
        """The innermost function definition around an index."""
        around = [f for f in self.functions if f.body.start_byte <= index < f.body.end_byte]
        return min(around, key=lambda f: f.body.end_byte - f.body.start_byte, default=None)

    def line(self, index: int) -> int:
        """1-based line of an index."""
        return self.text.count("\n", 0, index) + 1

    def line_start(self, line: int) -> int:
        """Index of the first character of a 1-based line that is not white space."""
        index = 0
        for _ in range(line - 1):
            index = self.text.index("\n", index) + 1
        return index + len(self.text[index:]) - len(self.text[index:].lstrip(" \t"))

    def indent(self, index: int) -> str:
        """The white space that begins the line of an index."""
        begin = self.text.rfind("\n", 0, index) + 1
        found = re.match(r"[ \t]*", self.text[begin:index])
        return found.group() if found else ""

    def apply(self, edits: Iterable[Edit]) -> str:
        """The text with non-overlapping edits made; raises ValueError when two overlap."""
        parts, done = [], 0
        for edit in sorted(edits, key=lambda e: (e.start, e.end)):
            if edit.start < done:
                raise ValueError("Two edits of a rewrite overlap.")
            parts += [self.text[done : edit.start], edit.new]
            done = edit.end
        return "".join((*parts, self.text[done:]))

    def removal(self, start: int, end: int) -> Edit:
        """Delete a statement; with its line when nothing else is on it."""
        begin = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", end)
        stop = len(self.text) if stop < 0 else stop + 1
        if not self.text[begin:start].strip() and not self.shadow[end:stop].strip():
            return Edit(begin, stop, "")
        return Edit(start, end, "")


@lru_cache(maxsize=512)
def parse(text: str) -> Source:
    """`Source(text)`, remembered: the same texts are looked at many times in a search."""
    return Source(text)


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in source order."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(top.children))


def below(node: Node, *kinds: str) -> list[Node]:
    """The nodes of some kinds in what `walk` gives, many times faster."""
    found = QueryCursor(_query(kinds)).captures(node).get("one", [])
    return sorted(found, key=lambda one: (one.start_byte, -one.end_byte))


@lru_cache(maxsize=64)
def _query(kinds: tuple[str, ...]) -> Query:
    return Query(_LANGUAGE, f"[{' '.join(f'({kind})' for kind in kinds)}] @one")


def ancestors(node: Node) -> Iterator[Node]:
    """Parents from the nearest to the root."""
    up = node.parent
    while up is not None:
        yield up
        up = up.parent


def squeeze(code: str) -> str:
    """Code without spaces that carry no meaning, for comparing."""
    code = re.sub(r"\s+", " ", code).strip()
    return re.sub(r"(?<![\w]) | (?![\w])", "", code)


def identifiers(code: str) -> frozenset[str]:
    """The identifiers in a piece of code, member names included."""
    return frozenset(re.findall(r"[A-Za-z_]\w*", code))


def root_name(expression: str) -> str:
    """The variable that a tensor expression denotes: x of `x[i * n]`, `this->x`, `x.Reinterp()`."""
    found = re.match(r"(?:\(\s*)*(?:this\s*->\s*)?([A-Za-z_]\w*)", expression.strip())
    return found.group(1) if found else expression.strip()


def _declared_name(declarator: Node | None) -> Node | None:
    while declarator is not None:
        if declarator.type in (
            "identifier",
            "field_identifier",
            "qualified_identifier",
            "destructor_name",
            "operator_name",
        ):
            return declarator
        declarator = declarator.child_by_field_name("declarator") or next(
            (c for c in declarator.named_children if c.type.endswith("declarator")), None
        )
    return None


def constants(source: Source) -> Iterator[tuple[Node, Node, Node]]:
    """(definition, name, value) of each `#define` with a value and each initialised constant."""
    for node in walk(source.root):
        if node.type == "preproc_def":
            name = node.child_by_field_name("name")
        elif node.type == "init_declarator" and node.parent is not None:
            if not re.search(r"\bconst(expr)?\b", source.code(node.parent)):
                continue
            name = node.child_by_field_name("declarator")
        else:
            continue
        value = node.child_by_field_name("value")
        if name is not None and value is not None:
            yield node, name, value
