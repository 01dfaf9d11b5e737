"""What loops, helpers and constants of an op definition come to."""

from __future__ import annotations

import pytest

from ci.source.written_out import Known, open_name, written_out

NOTHING = Known("")


def test_a_loop_over_an_unknown_list_stays_as_it_is_and_leaves_a_name_open() -> None:
    body = "for (auto n : named()) { this->Input(n); }"
    assert written_out(body, NOTHING) == body
    assert open_name(body) == "Input(n)"


def test_a_loop_in_a_loop_is_written_out() -> None:
    body = 'for (auto a : {"x", "y"}) for (auto b : {"1", "2"}) { Use(a, b); }'
    found = written_out(body, NOTHING)
    assert [found.count(f'Use("{a}", "{b}")') for a in "xy" for b in "12"] == [1, 1, 1, 1]


def test_the_bodys_own_list_goes_before_that_of_a_header() -> None:
    body = 'const char* N[] = {"mine"}; for (auto n : N) { Input(n); } Output(OTHER[1]);'
    found = written_out(body, Known('N[] = {"foreign"}; OTHER[2] = {"a", "b"};'))
    assert 'Input("mine")' in found and 'Output("b")' in found and not open_name(found)


@pytest.mark.parametrize(
    "body",
    [
        "for (auto n : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {" * 40 + "Input(n);" + "}" * 40,
        "auto f = [&]() { g(); g(); Input(n); }; auto g = [&]() { f(); f(); Input(n); }; f();",
        "Input(n, " * 5_000,
        'for (auto n : {"a"}) { Input(n); ' * 5_000,
    ],
)
def test_what_would_be_written_out_without_end_is_left(body: str) -> None:
    assert len(written_out(body, NOTHING)) < 20_000_000
