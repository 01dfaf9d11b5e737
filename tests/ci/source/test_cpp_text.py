"""Sources of a stranger are read where tokens are: none takes hours, or all of the memory."""

from __future__ import annotations

import pytest

from ci.source.cpp_text import expand, function_macros, global_functions, without_comments
from ci.source.op_classes import compiled_text, expanded, op_classes

LONG = 400_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('a // b "c\nd', "a        \nd"),
        ('"a // b" /* c\nd */ e', '"a // b"     \n     e'),
        ("'\"' // '", "'\"'     "),
        ("1'000 // '", "1'000     "),
        ('R"x(a // )" b)x" // c', 'R"x(a // )" b)x"     '),
        ('R"x(a // b', 'R"x(a     '),
        ("don't do // this\n'//'", "don't do        \n'//'"),
        ('"open // a \\" /* b */ c', '"open                  '),
        ('"a\\\n// b" // c', '"a\\\n// b"     '),
        ("// a \\\nb\nc /*", "      \n \nc   "),
    ],
)
def test_comments_are_blanked_and_literals_stay(text: str, shown: str) -> None:
    assert without_comments(text) == shown and len(text) == len(shown)


@pytest.mark.parametrize(
    "mark", ['\\"', "\\'", 'R"(', '"', "'", "/*", "//", '"/**/\\"', "#if 0\n", 'R"a(R"b(']
)
def test_what_is_opened_ever_so_often_and_never_closed_is_read_once(mark: str) -> None:
    """A text that were read anew from each mark would take hours, and all threads with it."""
    text = mark * (LONG // len(mark))
    assert len(compiled_text(text)) <= len(text)


@pytest.mark.parametrize(
    "head",
    ["__global__ ", "__global__ void a(", "__global__ void __attribute__((", "__global__ x "],
)
def test_an_entrys_head_holds_no_other_head(head: str) -> None:
    text = head * (LONG // len(head)) + "\n__global__ __aicore__ void k(int a, int b) {}"
    assert [one[:2] for one in global_functions(text)] == [("k", ("int a", "int b"))]


@pytest.mark.parametrize(
    ("head", "marks"),
    [
        ("__global__ __mix__(1, 2) void", "__mix__(1, 2)"),
        (
            "__schedmode__(1) __vector__ __global__ __aicore__ void",
            "__schedmode__(1) __vector__ __aicore__",
        ),
        ("template <int N> __mix__(1, N) __global__ void __attribute__((cold))", "__mix__(1, N)"),
        ("int a; __global__ void", ""),
    ],
)
def test_words_around_the_mark_of_an_entry_belong_to_it(head: str, marks: str) -> None:
    (found,) = global_functions(f"{head} k(int a) {{}}")
    assert (found.name, found.parameters) == ("k", ("int a",))
    assert " ".join(found.marks.split()) == marks


@pytest.mark.parametrize("words", ["__a__ ", "__global__ __a__(x) ", "__global__ (", "__a__(x) "])
def test_words_around_many_marks_are_read_once(words: str) -> None:
    assert global_functions(words * (LONG // len(words))) == []


@pytest.mark.parametrize("bomb", ["#define A(x) A(x x)\n", "#define A(x) B(x x)\n#define B A\n"])
def test_a_macro_that_doubles_what_it_is_given_does_not_fill_the_memory(bomb: str) -> None:
    made = expand("A(a)" * 40, function_macros(bomb))
    assert len(made) < 3_000_000
    assert expanded("#define A(x) x x\nA(b)").split() == ["b", "b"]


def test_classes_that_do_not_close_end_where_the_next_begins() -> None:
    one = "class A : public OpDef { int a;\n"
    found = op_classes(one * 5_000)
    assert len(found) == 5_000 and sum(len(body) for _, body in found) < 5_000 * len(one)
    assert op_classes("int a;") == []
    good = 'class A : public ops::OpDef { void f() { "}"; } };\nclass B : public OpDef { int b; };'
    assert op_classes(good) == [("A", '{ void f() { "}"; } '), ("B", "{ int b; ")]


@pytest.mark.parametrize(
    "text",
    [
        'extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y) {}',
        "#define ENTRY __global__ \\\n    __aicore__ void\nENTRY scale(GM_ADDR x, GM_ADDR y) {}",
        "#define ENTRY(f) __global__ __aicore__ void f(GM_ADDR x, GM_ADDR y)\nENTRY(scale) {}",
        "extern __global__ void other(GM_ADDR x);\n__global__ void scale(GM_ADDR x, GM_ADDR y)\n{}",
    ],
)
def test_a_kernel_is_found_whatever_its_head_is_written_by(text: str) -> None:
    assert [one[:2] for one in global_functions(text)] == [("scale", ("GM_ADDR x", "GM_ADDR y"))]
