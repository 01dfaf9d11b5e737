"""Sources as they are built to be checked: numbers that lose what does not fit tell of it.

Casts, initial values, assignments, products and sums get an object of ours next to their operator
(`field.h` says what each does). Nothing else changes, so lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from ci.source.cpp_source import Edit, Source, ancestors, below, parse

_TYPE = r"(?:std::)?(?P<{0}>u?int(?:8|16|32)_t)"
_KEPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"
      |'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*"""
    rf"|\bstatic_cast\s*<\s*{_TYPE.format('type')}\s*>(?=\s*\()"
    rf"|(?<=[=,(\[{{+*/%<>?:&|-])(?P<gap>\s*)\(\s*{_TYPE.format('plain')}\s*\)(?=\s*[\w(])",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_NARROW = re.compile(
    r"(?:std::)?u?int(?:8|16|32)_t|(?:unsigned |signed )?(?:int|short|char)|unsigned|float|double"
)
_FLOAT = re.compile(r"(?:static_cast\s*<\s*)?(?P<kind>float|double)(?:\s*>)?")
_FIXED = re.compile(r"(?:std::)?u?int(?:8|16|32)_t")
_BEFORE = 80
"""Characters before a function that may say that it is the kernel."""

_LOOPS = ("for_statement", "while_statement", "do_statement")

_LOSING = (
    "init_declarator",
    "return_statement",
    "binary_expression",
    "assignment_expression",
    "call_expression",
    "cast_expression",
    *_LOOPS,
)
"""What may keep less than it is given."""

_CHANGES = {"+=": "Grown", "-=": "Shrunk", "*=": "Scaled", "/=": "Scaled"}
"""What looks on in the kernel where a variable is changed."""

_PLAIN = ("identifier", "field_expression", "subscript_expression")
"""What may be named twice."""

_CONSTANT = ("number_literal", "char_literal", "null", "initializer_list", "lambda_expression")
"""Right sides that are left alone."""


@dataclass(frozen=True)
class _Side:
    """What the objects of a side are called."""

    namespace: str
    checked: tuple[str, ...]
    """Operators between numbers of 32 bits that are checked."""
    names: bool = False
    """Whether an object takes the name of what keeps the number."""
    given: bool = False
    """Whether parameters of functions see what they are given."""

    def cut(self, kind: str, name: str) -> str:
        plain = name.isprintable() and not {*name} & {*'\\"'}
        said = f'"{name if plain else "a number"}"'
        return f" ::{self.namespace}::Cut<{kind}>({said if self.names else ''}) ="


_KERNEL = _Side("AscendC", ("*", "+", "-", "/"))
_KERNEL_GIVEN = _Side("AscendC", ("*", "+", "-", "/"), given=True)
_HOST = _Side("optiling", ("*", "/"), names=True)
"""The compiler's own checks see the host side's sums and products that have signs. Sums without
signs are mostly meant to wrap: a difference is added."""


def cast_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """The kernel's texts by path with their casts replaced; lines keep their numbers."""
    return {
        file: _KEPT.sub(_checked, text) if file.startswith("op_kernel/") else text
        for file, text in texts.items()
    }


def host_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts with what the host side keeps in narrow integers checked."""
    return {
        file: _computed(text, _HOST) if file.startswith("op_host/") else text
        for file, text in texts.items()
    }


def computed_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """The same, with what is computed and assigned in functions checked as well."""
    return cast_texts(
        {
            file: _computed(text, _KERNEL) if file.startswith("op_kernel/") else text
            for file, text in texts.items()
        }
    )


def checked_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """The same, with what the kernel's own functions are given checked as well."""
    return cast_texts(
        {
            file: _computed(text, _KERNEL_GIVEN) if file.startswith("op_kernel/") else text
            for file, text in texts.items()
        }
    )


def _checked(found: re.Match[str]) -> str:
    if found["type"]:
        return f"::AscendC::cut<{found['type']}>"
    if found["plain"]:
        return f"{found['gap']}::AscendC::Cut<{found['plain']}>() ->*"
    return found.group()


@lru_cache(maxsize=256)
def _computed(text: str, side: _Side) -> str:
    source = parse(text)
    edits = [
        edit
        for function in source.functions
        if not any(up.type == "function_definition" for up in ancestors(function.node))
        for node in below(function.body, *_LOSING)
        if not _is_directive(source, node)
        for edit in _edits(source, node, side)
    ]
    return source.apply([*edits, *(_given(source) if side.given else ())])


def _given(source: Source) -> Iterator[Edit]:
    """Parameters that are narrow integers become objects that see what they are given.

    A definition gets variables of the parameters' names and types in front.
    """
    for node in below(source.root, "function_declarator"):
        whole = node.parent
        if whole is None:
            continue
        entry = "__global__" in source.text[max(0, whole.start_byte - _BEFORE) : node.start_byte]
        names = node.child_by_field_name("parameters")
        if names is None or entry or whole.child_by_field_name("type") is None or whole.has_error:
            continue  # a constructor, which may begin with its members, or the kernel itself
        body = whole.child_by_field_name("body")
        taken = []
        for one in names.named_children:
            kind, name = (one.child_by_field_name(word) for word in ("type", "declarator"))
            if kind is None or not _FIXED.fullmatch(source.code(kind)):
                continue
            if name is not None and name.type != "identifier":
                continue
            yield Edit(kind.start_byte, kind.end_byte, f"::AscendC::Given<{source.code(kind)}>")
            if name is not None and body is not None:
                yield _behind(name, "_given")
                const = any(part.type == "type_qualifier" for part in one.children)
                kept, word = f"{'const ' * const}{source.code(kind)}", source.code(name)
                taken.append(f" [[maybe_unused]] {kept} {word} = {word}_given;")
        if body is not None and taken:
            yield Edit(body.start_byte + 1, body.start_byte + 1, "".join(taken))


def _is_directive(source: Source, node: Node) -> bool:
    """Whether the node is in a line for the preprocessor."""
    line = source.text.rfind("\n", 0, node.start_byte) + 1
    return source.text[line : node.start_byte].lstrip().startswith("#")


def _edits(source: Source, node: Node, side: _Side) -> Iterator[Edit]:
    left, right, sign = (node.child_by_field_name(w) for w in ("left", "right", "operator"))
    if node.type == "init_declarator":
        yield from _initial(source, node, side)
    elif node.type == "return_statement":
        yield from _returned(source, node, side)
    elif node.type in _LOOPS:
        yield from _counted(source, node, side)
    elif node.type in ("call_expression", "cast_expression"):
        yield from _cast_to_float(source, node, side)
    elif left is None or right is None or sign is None or node.has_error:
        return
    elif node.type == "binary_expression" and source.code(sign) in side.checked:
        # `Type * name;` and `Type<a> * name` are declarations that the grammar may take for more.
        whole = node.parent is not None and node.parent.type == "expression_statement"
        if not whole and left.type != "template_function" and right.type != "string_literal":
            yield _behind(sign, f" ::{side.namespace}::Checked() {source.code(sign)}")
    elif node.type == "assignment_expression" and (
        right.type not in _CONSTANT
        or (right.type == "number_literal" and source.code(sign) in ("+=", "-="))
    ):
        name = source.code(left)
        if left.type in _PLAIN and source.code(sign) in _CHANGES and side is not _HOST:
            yield _behind(sign, f" ::AscendC::{_CHANGES[source.code(sign)]}({name}) =")
        elif left.type in _PLAIN and source.code(sign) == "=":
            yield _behind(sign, side.cut(f"::std::decay_t<decltype({name})>", name))


def _initial(source: Source, node: Node, side: _Side) -> Iterator[Edit]:
    """`uint8_t n = x`; what has brackets or braces is left alone."""
    name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
    kind = node.parent.child_by_field_name("type") if node.parent is not None else None
    if name is None or value is None or kind is None or name.type != "identifier":
        return
    sign = next((child for child in node.children if child.type == "="), None)
    if sign is None or value.type in _CONSTANT or not _NARROW.fullmatch(source.code(kind)):
        return
    said = source.code(name)
    yield _behind(sign, side.cut(f"::std::decay_t<decltype({said})>", said))


def _counted(source: Source, node: Node, side: _Side) -> Iterator[Edit]:
    """`for (…; i < n; i++)`, `while (i < n) { i++; }`: such a counter that begins again never ends.

    One that counts down tells where it goes below zero.
    """
    condition = node.child_by_field_name("condition")
    if side is _HOST or condition is None:
        return
    for update in _updates(node):
        name, sign = update.child_by_field_name("argument"), update.child_by_field_name("operator")
        if name is None or sign is None or name.type != "identifier":
            continue
        if re.search(rf"\b{source.code(name)}\b", source.code(condition)):
            seen = "counted" if source.code(sign) == "++" else "counted_down"
            start = update.start_byte
            yield Edit(start, start, f"::AscendC::{seen}({source.code(name)}), ")


def _updates(loop: Node) -> Iterator[Node]:
    """The `i++` of a loop: the update of a `for`, the statements of another one's own body."""
    if loop.type == "for_statement":
        places = [loop.child_by_field_name("update")]
    else:
        body = loop.child_by_field_name("body")
        statements = [] if body is None else [body, *body.named_children]
        places = [
            s.named_children[0]
            for s in statements
            if s.type == "expression_statement" and s.named_children
        ]
    yield from (one for one in places if one is not None and one.type == "update_expression")


def _cast_to_float(source: Source, node: Node, side: _Side) -> Iterator[Edit]:
    """`float(x / y)`, `(float)(x / y)`, `static_cast<float>(x / y)`: a quotient that is cast."""
    kind = node.child_by_field_name("function") or node.child_by_field_name("type")
    value = node.child_by_field_name("arguments") or node.child_by_field_name("value")
    found = kind is not None and _FLOAT.fullmatch(source.code(kind))
    if value is None or not found or len(value.named_children) != 1:
        return
    inner = value.named_children[0]
    sign = inner.child_by_field_name("operator")
    if inner.type == "binary_expression" and sign is not None and source.code(sign) == "/":
        yield Edit(inner.start_byte, inner.start_byte, f"{side.cut(found['kind'], 'a number')} ")


def _returned(source: Source, node: Node, side: _Side) -> Iterator[Edit]:
    """`return x;` of a function of a narrow type."""
    kinds = ("function_definition", "lambda_expression")
    around = next((up for up in ancestors(node) if up.type in kinds), None)
    if around is None or not node.named_children or node.named_children[0].type in _CONSTANT:
        return
    kind, head = (around.child_by_field_name(name) for name in ("type", "declarator"))
    if kind is None or head is None or head.type != "function_declarator":
        return
    if _NARROW.fullmatch(source.code(kind)):
        yield _behind(node.children[0], side.cut(source.code(kind), "a result"))


def _behind(sign: Node, words: str) -> Edit:
    return Edit(sign.end_byte, sign.end_byte, words)
