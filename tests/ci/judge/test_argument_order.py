"""Which argument lists depend on the order in which their arguments are evaluated."""

from __future__ import annotations

import pytest

from ci.judge.argument_order import open_lists
from ci.judge.guard import guard
from ci.source.cpp_tokens import tokens
from ci.testing.scale_shift import OPERATOR, with_statement


def lists(source: str) -> list[int]:
    return [one.line for one in open_lists([list(tokens(source))])[0]]


@pytest.mark.parametrize(
    "use",
    [
        "Set(i++, i++);",
        "Set(i++, i);",
        "Set(Next(), Next());",
        "Set(Twice(), 2 * Next());",
        "Set(take(), take());",
        "Set(queue.DeQue<float>(), queue.DeQue<float>());",
        "Set(a = 1, b = a);",
        "a = Next() - Next();",
        "a = (take() + 2) * take();",
        "a = i++ + i;",
        "if (take() == take()) { a = 1; }",
    ],
)
def test_a_list_whose_arguments_act_on_each_other_is_found(use: str) -> None:
    source = (
        "struct It { int n; int Next() { return n++; } "
        "int Twice() { int a = Next(); return a + Next(); } };\n"
        "void f() { int i = 0, a, b; auto take = [&]() { return count_ += 1; }; " + use + " }"
    )
    assert lists(source) == [2]


@pytest.mark.parametrize(
    "use",
    [
        "Set(Plus(1, 2), Plus(i, 2));",
        "Set(i++, 3);",
        "for (int k = 0, n = 2; k < n; k++) { Set(k, n); }",
        "Set(x.Get<float>(), y.GetValue(0));",
        "Pair p{Next(), Next()};",
        "Set(i == 0, i + 1 == 4);",
        "i = Next() + 2 * j; j = Next();",
        "*to++ = *from++ + j;",
        "for (int k = 0; k + 1 < i; k++) { j += k; }",
        "i = Next() << Next();",
        "i = j && Next() || Next();",
        "if (++this->i >= this->j) { i = Next(); } j = 2 * Next();",
    ],
)
def test_a_list_of_any_order_is_let_be(use: str) -> None:
    source = (
        "int Next() { return count_++; }\n"
        "int Plus(int a, int b = 0) { int sum = a; sum += b; a = 0; return sum; }\n"
        f"void f(int i = 0, int j = 0) {{ {use} }}"
    )
    assert lists(source) == []


def test_a_candidate_that_depends_on_the_order_is_refused() -> None:
    candidate = with_statement(
        "uint32_t n = 0; auto next = [&]() { return n++; }; coreLength_ += Max(next(), next());"
    )
    refusal = guard(OPERATOR, candidate.files)
    assert refusal is not None and refusal.evidence == "order of arguments"
    assert guard(OPERATOR, {}) is None


def test_a_macro_hides_nothing() -> None:
    source = "int Next() { return n++; }\n#define TAKE Next()\nvoid f() { Set(TAKE, TAKE); }"
    assert lists(source) == [3]
