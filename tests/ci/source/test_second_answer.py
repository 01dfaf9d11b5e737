"""When two answers of a golden function are the same."""

from __future__ import annotations

import numpy as np
import pytest

from ci.source.second_answer import Second, alike

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_the_order_of_sums_makes_no_other_answer_and_a_thousandth_does(dtype: str) -> None:
    one = np.array([1.0, 1000.0, NAN, INF], dtype)
    near = one.copy()
    near[1] *= 1 + np.finfo(dtype).eps
    assert alike(one, one.copy()) and alike([one], [near])
    far = one.copy()
    far[0] += 2.0
    assert not alike(one, far)


@pytest.mark.parametrize(
    "other",
    [
        np.array([1, 3]),
        np.array([1.0, 2.0]),
        np.array([[1, 2]]),
        [np.array([1, 2])],
        np.array([1, 2], np.int32),
    ],
)
def test_another_number_shape_dtype_or_list_is_another_answer(other: object) -> None:
    assert not alike(np.array([1, 2]), other)
    assert not alike(other, np.array([1, 2]))


def test_what_is_no_number_must_stand_at_the_same_place() -> None:
    one = np.array([NAN, 1.0, INF])
    assert not alike(one, np.array([1.0, NAN, INF]))
    assert not alike(one, np.array([NAN, 1.0, -INF]))
    assert alike([one, one], [one.copy(), one.copy()]) and not alike([one], [one, one])


class Process:
    """Stands for a process that is asked nothing here."""

    alive = True

    def close(self) -> None:
        self.alive = False


def test_the_other_process_is_begun_anew_after_one_and_four_and_sixteen_questions() -> None:
    made: list[Process] = []

    def start() -> Process:
        made.append(Process())
        return made[-1]

    second = Second()
    begun = []
    for _ in range(25):
        second.next(start)  # type: ignore[arg-type]
        begun.append(len(made))
    assert begun == [1] + [2] * 4 + [3] * 16 + [4] * 4
    assert [one.alive for one in made] == [False, False, False, True]
    made[-1].alive = False
    second.next(start)  # type: ignore[arg-type]
    assert len(made) == 5
    second.close()
    assert not made[-1].alive
