"""Sources as they are built to be watched: a choice made by arithmetic is a comparison, too.

`rest * (1 - (count >> 17))` decides between two values, and no branch shows it. So the operand of a
quotient, a shift, a remainder or a mask of whole numbers is held against the number from which on
the result is another, a product against zero, and an index of an array that the source fills
against each place of it. That is done to what a candidate changed; lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher

from tree_sitter import Node

from ci.source.cpp_source import Edit, Source, below, parse

STEPS_FILE = "/include/c++/steps.h"
"""Where the comparisons of the prelude stand for whoever reads addresses: with the library's, they
belong to the line that calls them. Absolute, or the compilation's folder would come before it."""

_STEPS = ("/", "%", ">>", "&", "*")

_PLAIN = ("identifier", "field_expression")
"""What may be named twice."""

_WHOLE = re.compile(r"(?:std::)?u?int(?:8|16|32|64)_t|unsigned|int|long|size_t|(?:std::)?size_t")

_PRELUDE = f"""\
#ifndef WATCHED_STEPS
#define WATCHED_STEPS
#line 1 "{STEPS_FILE}"
#include <cstddef>
#include <cstdint>
#include <type_traits>
struct WatchedStep {{}};
template <typename T> struct WatchedLeft {{ T value; }};
extern "C" void __sanitizer_cov_trace_switch(uint64_t, void*);
template <typename T, typename U> constexpr bool watched_whole() {{
    return std::is_integral<T>::value && std::is_integral<U>::value;
}}
#define WATCHED_STEPS_OF(OP, OPERAND, LIMIT)                                                    \\
    template <typename T> constexpr inline WatchedLeft<T> operator OP(T value, WatchedStep) {{   \\
        return {{value}};                                                                       \\
    }}                                                                                          \\
    template <typename T, typename U>                                                           \\
    constexpr inline auto operator OP(WatchedLeft<T> left, U b)->decltype(left.value OP b) {{    \\
        const T a = left.value;                                                                 \\
        if constexpr (watched_whole<T, U>()) {{                                                  \\
            if (static_cast<double>(OPERAND) < static_cast<double>(LIMIT)) return a OP b;       \\
        }}                                                                                      \\
        return a OP b;                                                                          \\
    }}
WATCHED_STEPS_OF(/, a, b)
WATCHED_STEPS_OF(%, a, b)
WATCHED_STEPS_OF(>>, a, uint64_t(1) << (b & 63))
WATCHED_STEPS_OF(&, a, uint64_t(b) & (uint64_t(0) - uint64_t(b)))
// What holds of two conditions at once: 1 and more where it does, else the less the more they are.
template <typename T> constexpr inline double watched_both(T result, double a, double b) {{
    const uint64_t bits = static_cast<uint64_t>(result);
    const uint64_t some = (bits | (uint64_t(0) - bits)) >> 63;
    return static_cast<double>(some) * 2 - static_cast<double>(1 - some) * (1.0 + a + b);
}}
WATCHED_STEPS_OF(*, watched_both(a * b, double(a), double(b)), 1)
struct WatchedBoth {{}};
template <typename T> struct WatchedMask {{ T value; }};
template <typename T> constexpr inline WatchedMask<T> operator&(T value, WatchedBoth) {{
    return {{value}};
}}
template <typename T, typename U>
constexpr inline auto operator&(WatchedMask<T> left, U b)->decltype(left.value & b) {{
    const T a = left.value;
    if constexpr (watched_whole<T, U>()) {{
        if (watched_both(a & b, double(a), double(b)) < 1.0) return a & b;
    }}
    return a & b;
}}
template <typename T> constexpr inline T watched_cut(T value) {{
    if constexpr (std::is_floating_point<T>::value) {{
        if (static_cast<double>(value) < 1.0) return value;
    }}
    return value;
}}
template <typename T, size_t N, typename I>
constexpr inline I watched_place(const T (&)[N], I place) {{
    if constexpr (std::is_integral<I>::value && N > 1 && N <= 64) {{
        if (__builtin_is_constant_evaluated()) return place;
        uint64_t cases[2 + N] = {{N, 64}};
        for (size_t i = 0; i < N; ++i) cases[2 + i] = i;
        __sanitizer_cov_trace_switch(uint64_t(place), cases);
    }}
    return place;
}}
template <typename C, typename I> constexpr inline I watched_place(const C&, I place) {{
    return place;
}}
#endif
"""


def stepped_texts(
    texts: Mapping[str, str],
    original: Callable[[str], str | None],
    top: str = "",
    *,
    around: bool = False,
) -> dict[str, str]:
    """The texts by path, with steps compared in lines that the original text of a path has not.

    Compilers name the file of such a text by its path, with `top` before it. `around`: quotients
    and remainders of the functions that hold such lines, too, which tell how long a tile is.
    """
    return {
        file: _stepped(top + file, text, original(file), around) for file, text in texts.items()
    }


def _stepped(name: str, text: str, original: str | None, around: bool) -> str:
    if text == original:
        return text
    source, changed = parse(text), _changed(original or "", text)
    bodies = [one.node for one in source.functions if changed & _lines(source, one.node)]
    edits = [
        edit
        for node, edit in _edits(source)
        if changed & _lines(source, node)
        or (around and _divides(source, node) and any(_holds(body, node) for body in bodies))
    ]
    if not edits:
        return text
    return f'{_PRELUDE}#line 1 "{name}"\n{source.apply(edits)}'


def _changed(before: str, after: str) -> set[int]:
    """Lines of `after` that are not those of `before`, from 1."""
    found = set[int]()
    lines = before.splitlines(), after.splitlines()
    for tag, _, _, first, last in SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
        if tag != "equal":
            found.update(range(first + 1, last + 1))
    return found


def _divides(source: Source, node: Node) -> bool:
    operator = node.child_by_field_name("operator")
    return operator is not None and source.code(operator).removesuffix("=") in ("/", "%")


def _holds(outer: Node, node: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _lines(source: Source, node: Node) -> set[int]:
    return {*range(source.line(node.start_byte), source.line(node.end_byte) + 1)}


def _edits(source: Source) -> Iterator[tuple[Node, Edit]]:
    """Edits, with the nodes that they are of."""
    for node in below(source.root, "binary_expression"):
        operator = node.child_by_field_name("operator")
        if operator is not None and source.code(operator) in _STEPS:
            sign, right = source.code(operator), node.child_by_field_name("right")
            mask = right is not None and right.type == "number_literal"
            name = "WatchedBoth" if sign == "&" and not mask else "WatchedStep"
            made = f"{sign} {name}() {sign}"
            yield node, Edit(operator.start_byte, operator.end_byte, made)
    for node in below(source.root, "assignment_expression"):
        yield from ((node, edit) for edit in _assigned(source, node))
    tables = {source.code(name) for name in _filled(source)}
    for node in below(source.root, "subscript_expression"):
        array = node.child_by_field_name("argument")
        places = node.child_by_field_name("indices")
        if array is not None and places is not None and source.code(array) in tables:
            start, end = places.start_byte + 1, places.end_byte - 1
            yield node, Edit(start, start, f"watched_place({source.code(array)}, ")
            yield node, Edit(end, end, ")")
    for node in below(source.root, "call_expression"):
        yield from ((node, edit) for edit in _cast(source, node))


def _assigned(source: Source, node: Node) -> Iterator[Edit]:
    """`a /= b` as `a = a / (b)`."""
    left, operator, right = (node.child_by_field_name(one) for one in ("left", "operator", "right"))
    if left is None or operator is None or right is None or left.type not in _PLAIN:
        return
    sign = source.code(operator).removesuffix("=")
    if sign not in _STEPS:
        return
    made = f"= {source.of(left)} {sign} WatchedStep() {sign} ("
    yield Edit(operator.start_byte, operator.end_byte, made)
    yield Edit(right.end_byte, right.end_byte, ")")


def _filled(source: Source) -> Iterator[Node]:
    """Names of arrays that are declared with their values."""
    for node in below(source.root, "init_declarator"):
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if name is None or value is None or value.type != "initializer_list":
            continue
        if name.type == "array_declarator" and value.named_child_count:
            inner = name.child_by_field_name("declarator")
            if inner is not None and inner.type == "identifier":
                yield inner


def _cast(source: Source, node: Node) -> Iterator[Edit]:
    """`static_cast<int>(a)`: a number with a fraction is rounded there."""
    called = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if called is None or arguments is None or called.type != "template_function":
        return
    name, types = called.child_by_field_name("name"), called.child_by_field_name("arguments")
    if name is None or types is None or source.code(name) != "static_cast":
        return
    if _WHOLE.fullmatch(source.of(types).strip("<> ")) and arguments.named_child_count == 1:
        yield Edit(arguments.start_byte + 1, arguments.start_byte + 1, "watched_cut(")
        yield Edit(arguments.end_byte - 1, arguments.end_byte - 1, ")")
