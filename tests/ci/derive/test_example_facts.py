from __future__ import annotations

import pytest

from ci.derive.example_facts import length, shape_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8 * 16", 128),
        ("rows * (heads + 2)", 24),
        ("(rows + heads + 1) / heads", 2),
        ("2UL * rows % 5", 3),
        ("rows / 0", None),
        ("rows - 9", None),
        ("rows * unknown", None),
        ("loop", None),
        ("f(rows)", None),
        ("1.5", None),
        ("(rows - 9) / 2", None),
        pytest.param("-" * 200_000 + "1", None, id="deep"),
    ],
)
def test_a_length_is_what_whole_numbers_and_names_come_to(text: str, expected: int | None) -> None:
    assert length(text, {"rows": "4", "heads": "rows", "loop": "loop"}) == expected


def test_a_shape_is_read_only_where_each_of_its_lengths_is_one() -> None:
    assert shape_of("2, b * (1 + 2)", {"b": "5"}) == (2, 15)
    assert shape_of("2, -1", {}) is None


def test_names_that_stand_for_many_names_each_are_worked_out_once() -> None:
    values = {f"n{at}": "+".join([f"n{at + 1}"] * 60) for at in range(6)} | {"n6": "1"}
    assert length("n0", values) == 60**6
