"""From which size on a change makes no difference."""

import pytest

from ci.judge.sizes import other_sizes


@pytest.mark.parametrize(
    ("timed", "unchanged_from"),
    [
        ([(10, 3.0, 1.0), (100, 2.0, 2.0), (1000, 9.0, 9.05)], 100),
        ([(10, 2.0, 2.0), (100, 3.0, 2.0)], None),
        ([(100, 2.0, 2.0), (10, 2.0, 2.0)], 10),
        ([(100, 3.0, 2.0), (100, 2.0, 2.0), (101, 2.0, 2.0)], 101),
    ],
)
def test_a_size_counts_as_unchanged_when_no_larger_case_differs(
    timed: list[tuple[int, float, float]], unchanged_from: int | None
) -> None:
    found = other_sizes((f"{size}", size, before, after) for size, before, after in timed)
    assert found.unchanged_from == unchanged_from
    assert (found.least, found.most) == (min(t[0] for t in timed), max(t[0] for t in timed))


def test_the_worst_and_the_best_ratio_are_told() -> None:
    found = other_sizes([("small", 10, 3.0, 1.0), ("1x100 float16", 100, 2.0, 2.5)])
    assert (found.slowest, found.fastest) == (0.8, 3.0)
    assert found.slowest_case == "1x100 float16"
