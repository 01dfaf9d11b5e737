"""A candidate may err as the unmodified operator does, on large and on small outputs."""

import numpy as np
import pytest

from ci.judge.accuracy import Accuracy, Usual, accuracy_of, less_accurate, usual

STREAM = np.random.default_rng(7)


def judged(
    dtype: str, now: np.ndarray, before: np.ndarray, golden: np.ndarray, scale: float = 1.0
) -> str:
    """Whether `now` is refused against `before`; both are rounded into the dtype."""

    def accuracy(values: np.ndarray) -> Accuracy:
        rounded = values.astype(dtype).astype(np.float64)
        return accuracy_of("y", dtype, rounded, golden.astype(np.float64), scale)

    return less_accurate(accuracy(now), accuracy(before), Usual())


def sums(rows: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row sums in float32: in order, in pairs, and right."""
    x = STREAM.uniform(-1, 1, (rows, length)).astype(np.float32)
    return np.cumsum(x, axis=1)[:, -1], x.sum(axis=1), x.astype(np.float64).sum(axis=1)


def test_errors_are_counted_in_units_in_the_last_place_of_the_right_value() -> None:
    golden = np.array([1.0, 2.0, 0.0, 1e-40])
    actual = np.array([1 + 2**-23, 2 - 2**-22, 0.0, 0.0])
    found = accuracy_of("y", "float32", actual, golden)
    assert {k: w.ulps for k, w in found.binades.items()} == {0: 1.0, 1: 1.0, -126: 0.0}
    assert found.binades[1].place == (1,)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("wrong", [0.5, 0.0, 1.01])
def test_small_outputs_are_held_to_their_own_size(dtype: str, wrong: float) -> None:
    golden = np.concatenate([STREAM.uniform(1e-4, 2e-4, 500), STREAM.uniform(1, 2, 500)])
    now = golden.copy()
    now[:500] *= wrong
    assert "output y" in judged(dtype, now, golden, golden)
    assert not judged(dtype, golden, golden, golden)


def test_single_small_outputs_that_are_lost_are_seen_among_many_large_ones() -> None:
    golden = np.concatenate([np.full(3, 1e-4), STREAM.uniform(0.5, 1, 5000)])
    now = golden.copy()
    now[1] = 0
    assert "at [1] is 0" in judged("float16", now, golden, golden)


@pytest.mark.parametrize("rows", [1, 2, 5, 40, 1000])
def test_another_order_of_summation_is_honest(rows: int) -> None:
    def measured(found: np.ndarray, right: np.ndarray) -> Accuracy:
        return accuracy_of("y", "float32", found.astype(np.float64), right, 1.0)

    in_order, _, right = sums(64, 1000)
    elsewhere = usual([measured(in_order, right)])
    for _ in range(min(400, 20_000 // rows)):
        in_order, in_pairs, right = sums(rows, 1000)
        now, then = measured(in_pairs, right), measured(in_order, right)
        assert not less_accurate(now, then, elsewhere)


def test_sums_in_half_precision_are_not() -> None:
    x = STREAM.uniform(0, 1, (200, 512)).astype(np.float32)
    halves = np.cumsum(x.astype(np.float16), axis=1, dtype=np.float16)[:, -1]
    assert judged("float32", halves, x.sum(axis=1), x.astype(np.float64).sum(axis=1))


def test_few_spoilt_elements_do_not_excuse_an_error_of_all() -> None:
    golden = STREAM.uniform(1, 2, 1000)
    before, now = golden.copy(), golden.copy()
    before[:10] += 1e-3
    now += 1e-4
    assert "a tenth of the" in judged("float32", now, before, golden)


def test_what_is_left_of_a_difference_is_no_error_where_the_right_value_is_zero() -> None:
    golden = np.array([1e-17, 0.0])
    exact = np.zeros(2)
    assert not judged("float32", np.array([6e-8, -6e-8]), exact, golden)
    assert judged("float32", np.array([1e-3, 0.0]), exact, golden)


def spiked_difference() -> tuple[np.ndarray, np.ndarray]:
    """Terms of a sum of two, of which a few are large and nearly cancel."""
    x, y = STREAM.uniform(-1, 1, (2, 4000))
    x[::400] = STREAM.uniform(16, 32, 10)
    y[::400] = -x[::400] + STREAM.uniform(-0.05, 0.05, 10)
    return x, y


def test_what_cancels_may_lose_in_another_order_of_operations() -> None:
    x, y = spiked_difference()
    right = 0.7 * x + 0.7 * y
    now = (0.7 * x).astype(np.float32).astype(np.float64) + 0.7 * y
    before = 0.7 * x + (0.7 * y).astype(np.float32)
    before[::400] = right[::400]  # exact by luck
    sway = 2.0**-24 * (np.abs(0.7 * x) + np.abs(0.7 * y))

    def measured(found: np.ndarray, sway: np.ndarray | None = None) -> Accuracy:
        return accuracy_of("y", "float32", found, right, 32.0, sway)

    assert less_accurate(measured(now), measured(before), Usual())
    assert not less_accurate(measured(now, sway), measured(before), Usual())
    coarse = now + 2.0**-9 * np.abs(x)
    assert less_accurate(measured(coarse, sway), measured(before), Usual())


def test_what_sways_everywhere_is_no_excuse() -> None:
    x = STREAM.uniform(-80, 80, 4000)
    right, sway = np.exp(x), 2.0**-24 * np.abs(x) * np.exp(x)
    now = np.exp(x * (1 + 2.0**-24))
    assert less_accurate(
        accuracy_of("y", "float32", now, right, 80.0, sway),
        accuracy_of("y", "float32", right, right, 80.0),
        Usual(),
    )


def test_a_zero_keeps_its_sign_where_the_original_keeps_it() -> None:
    golden = np.array([1.0, -0.0, 0.0, np.inf, -0.0])
    turned = np.array([1.0, -0.0, 0.0, np.inf, 0.0])
    found = judged("float32", turned, golden, golden)
    assert "y at [4] is a zero of the other sign" in found
    assert not judged("float32", turned, -golden, golden), "the original turns some, too"
    assert not judged("float32", golden, golden, golden)


def test_elements_that_are_not_finite_are_left_to_the_comparison() -> None:
    golden = np.array([np.nan, np.inf, 1.0])
    assert not judged("float32", np.array([0.0, 3.0, 1.0]), golden, golden)
    assert accuracy_of("y", "float32", golden[:2], golden[:2]) == Accuracy("y")
