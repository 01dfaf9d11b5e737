from __future__ import annotations

import pytest

from ci.simulator.stepped_text import stepped_texts

FILE = "op_kernel/a.h"


def _made(text: str, original: str = "") -> str:
    made = stepped_texts({FILE: text}, {FILE: original}.get)[FILE]
    return made.split(f'#line 1 "{FILE}"\n')[-1]


@pytest.mark.parametrize("sign", ["/", "%", ">>", "&", "*"])
def test_a_step_gets_an_object_and_lines_keep_their_numbers(sign: str) -> None:
    made = _made(f"int f(int a)\n{{\n    return a {sign} 3;\n}}\n")
    assert made.split("\n")[2] == f"    return a {sign} WatchedStep() {sign} 3;"


def test_only_lines_that_the_original_has_not_are_stepped() -> None:
    before = "int f(int a)\n{\n    return a / 3;\n}\n"
    after = before.replace("{\n", "{\n    a = a >> 2;\n")
    made = _made(after, before)
    assert "a >> WatchedStep() >> 2" in made and "a / 3;" in made
    assert _made(before, before) == before


def test_quotients_around_a_changed_line_are_stepped_where_that_is_asked_for() -> None:
    other = "int g(int a)\n{\n    return a / 5;\n}\n"
    before = f"int f(int a)\n{{\n    a = a % 7;\n    return (a >> 1) / 3;\n}}\n{other}"
    after = before.replace("{\n", "{\n    a = a + 2;\n", 1)
    made = stepped_texts({FILE: after}, {FILE: before}.get, around=True)[FILE]
    assert "a % WatchedStep() % 7" in made and "(a >> 1) / WatchedStep() / 3" in made
    assert other in made
    assert stepped_texts({FILE: after}, {FILE: before}.get)[FILE] == after


def test_the_file_is_named_as_the_compiler_is_told_to() -> None:
    made = stepped_texts({FILE: "int f(int a) { return a / 3; }"}, {}.get, "/")[FILE]
    assert made.split("\n")[-2] == f'#line 1 "/{FILE}"'


def test_an_assignment_is_written_out() -> None:
    made = _made("void f(int a, int b) { a >>= b + 1; }\n")
    assert "a = a >> WatchedStep() >> ( b + 1);" in made


def test_places_of_arrays_that_are_filled_are_seen() -> None:
    made = _made("constexpr float S[2] = {1, 0};\nfloat f(int a, float* t) { return S[a] + t[a]; }")
    assert "S[watched_place(S, a)] + t[a]" in made


def test_rounding_to_a_whole_number_is_seen() -> None:
    made = _made("int f(float a) { return static_cast<int>(a) + static_cast<float>(a); }")
    assert "static_cast<int>(watched_cut(a)) + static_cast<float>(a)" in made


@pytest.mark.parametrize(
    "text", ["void f(int& a, int* b) { g(&a, *b); }", "X<Y<int>> a;", "// a / b", 's = "a / b";']
)
def test_what_is_no_step_stays_as_it_is(text: str) -> None:
    assert _made(text) == text
