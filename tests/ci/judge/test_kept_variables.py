from __future__ import annotations

import pytest

from ci.judge.guard import guard
from ci.judge.kept_variables import kept_variables
from ci.testing.scale_shift import HOST, OPERATOR


@pytest.mark.parametrize(
    "text",
    [
        "void f() { static uint32_t calls = 0; }",
        "uint32_t calls;",
        "namespace { uint32_t calls = 0; }",
        "static std::map<int, int> known;",
        "void f() { static std::vector<int> a(3); }",
        "struct A { static int calls; };",
        "thread_local int calls = 0;",
        "namespace a { int* where{nullptr}; }",
        "static int (*chosen)(int) = nullptr;",
    ],
)
def test_a_variable_that_outlives_a_call_is_found(text: str) -> None:
    assert len(kept_variables(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "static ge::graphStatus Tiling(gert::TilingContext* context) { int a = 0; return a; }",
        "static ge::graphStatus Tiling(gert::TilingContext* context);",
        "static int* next(); static int& first();",
        "static constexpr uint32_t TILE = 4096;",
        "static const std::map<int, int> known = {{1, 2}};",
        "namespace a { constexpr int one = 1; class B { int calls = 0; }; }",
        "extern int other; using A = int; ",
        "void f(int a) { int b = a; for (int i = 0; i < b; i++) { b++; } }",
    ],
)
def test_constants_functions_and_locals_are_none(text: str) -> None:
    assert not kept_variables(text)


def test_another_value_of_one_that_is_there_makes_no_new_one() -> None:
    before, after = (kept_variables(f"static uint32_t blocks = {n};") for n in (8, 16))
    assert [one.text for one in before] == [one.text for one in after]


def test_the_guard_refuses_one_more_in_a_host_source() -> None:
    text = OPERATOR.read(HOST)
    added = text.replace("namespace optiling {", "namespace optiling {\nstatic int calls = 0;", 1)
    assert added != text
    found = guard(OPERATOR, {HOST: added})
    assert found and "from call to call" in found.message
    assert guard(OPERATOR, {HOST: text + "\n"}) is None
