"""Outputs are judged element by element, and the evidence names the worst one."""

import numpy as np
import pytest

from ci.judge.compare_outputs import accuracies, compare_arrays, compare_outputs
from ci.model.dtypes import BY_NAME, pack
from ci.model.workload import Tolerance
from ci.source.inputs import store
from rules.tolerances import default_tolerances

EXACT = Tolerance(relative=0, absolute=0)


def close(dtype: str) -> Tolerance:
    return default_tolerances()[dtype]


def bits(values: list[float]) -> np.ndarray:
    """bfloat16 bits of values that it holds exactly."""
    return (np.array(values, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)


def test_equal_arrays_agree_with_error_zero() -> None:
    a = np.linspace(-3, 3, 1000, dtype=np.float32)
    found = compare_arrays("z", "float32", a, a.copy(), close("float32"))
    assert found.agrees
    assert (found.elements, found.worst_error) == (1000, 0.0)


def test_the_worst_element_is_named_with_both_values() -> None:
    golden = np.ones((4, 5), dtype=np.float32)
    actual = golden.copy()
    actual[1, 2] = 1.01
    actual[2, 3] = 7.5
    found = compare_arrays("z", "float32", actual, golden, close("float32"))
    assert "2 of 20" in found.message
    assert "[2, 3]: got 7.5, golden 1" in found.message
    assert "[1, 2] got 1.01" in found.details
    assert "between flat index 7 and 13" in found.details


@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
def test_one_step_past_the_tolerance_disagrees(dtype: str) -> None:
    tolerance = close(dtype)
    golden = np.full(8, 2.0)
    allowed = tolerance.absolute + 2.0 * tolerance.relative
    within, beyond = golden + 0.9 * allowed, golden + 1.1 * allowed
    assert compare_arrays("z", dtype, within, golden, tolerance).agrees
    assert not compare_arrays("z", dtype, beyond, golden, tolerance).agrees


def test_nan_and_infinities_must_stand_in_the_same_places() -> None:
    golden = np.array([1, np.nan, np.inf, -np.inf], dtype=np.float16)
    assert compare_arrays("z", "float16", golden.copy(), golden, close("float16")).agrees
    for place, value in [(1, 1.0), (2, -np.inf), (2, 65504.0), (0, np.nan), (3, np.nan)]:
        actual = golden.copy()
        actual[place] = value
        found = compare_arrays("z", "float16", actual, golden, close("float16"))
        assert f"worst at [{place}]" in found.message, value


@pytest.mark.parametrize(
    ("dtype", "right", "overflown"),
    [("float16", 300, True), ("float16", 65504, False), ("float32", 300, False)],
)
def test_half_precision_that_overflows_is_no_rounding(
    dtype: str, right: float, overflown: bool
) -> None:
    golden = np.array([1, right], np.dtype(dtype))
    found = compare_arrays("z", dtype, np.array([1, np.inf], golden.dtype), golden, close(dtype))
    assert not found.agrees and found.overflown is overflown


def test_a_misplaced_nan_is_never_an_outlier() -> None:
    golden = np.zeros(1000, dtype=np.float32)
    actual = golden.copy()
    actual[3] = np.nan
    lenient = Tolerance(relative=1e-3, absolute=1e-3, outliers=0.5)
    assert not compare_arrays("z", "float32", actual, golden, lenient).agrees


def test_outliers_are_forgiven_up_to_their_share() -> None:
    golden = np.ones(100, dtype=np.float32)
    actual = golden.copy()
    actual[:2] = 1.5
    some = Tolerance(relative=1e-3, absolute=1e-3, outliers=0.02)
    assert compare_arrays("z", "float32", actual, golden, some).agrees
    actual[2] = 1.5
    assert not compare_arrays("z", "float32", actual, golden, some).agrees


def test_integers_are_exact_even_where_float64_rounds() -> None:
    golden = np.array([2**60, 5], dtype=np.int64)
    actual = golden + np.array([1, 0])
    found = compare_arrays("z", "int64", actual, golden, close("int64"))
    assert f"got {2**60 + 1}, golden {2**60}" in found.message


def test_unsigned_integers_do_not_wrap_in_the_difference() -> None:
    golden = np.array([0, 255], dtype=np.uint8)
    one_off = Tolerance(relative=0, absolute=1)
    assert compare_arrays("z", "uint8", np.array([1, 254], np.uint8), golden, one_off).agrees
    assert not compare_arrays("z", "uint8", np.array([255, 255], np.uint8), golden, one_off).agrees


def test_bfloat16_bits_are_compared_as_values() -> None:
    golden = bits([1.0, -2.0, 0.0])
    found = compare_arrays("z", "bfloat16", bits([1.0, 2.0, 0.0]), golden, close("bfloat16"))
    assert "worst at [1]: got 2, golden -2" in found.message
    minus_zero = bits([1.0, -2.0, -0.0])
    assert compare_arrays("z", "bfloat16", minus_zero, golden, close("bfloat16")).agrees


def test_uint16_is_not_taken_for_bfloat16() -> None:
    golden = np.array([0x3F80], dtype=np.uint16)
    found = compare_arrays("z", "uint16", golden + 1, golden, EXACT)
    assert "golden 16256" in found.message


def test_complex_values_are_compared_by_component() -> None:
    golden = np.array([1 + 2j], dtype=np.complex64)
    wrong = np.array([1 + 3j], dtype=np.complex64)
    assert compare_arrays("z", "complex64", golden.copy(), golden, close("complex64")).agrees
    found = compare_arrays("z", "complex64", wrong, golden, close("complex64"))
    assert "worst at [0, 1]" in found.message


def test_empty_tensors_agree_and_shapes_must_match() -> None:
    empty = np.zeros((0, 3), dtype=np.float32)
    assert compare_arrays("z", "float32", empty, empty, EXACT).agrees
    assert "shape" in compare_arrays("z", "float32", np.zeros(3), np.zeros(4), EXACT).message


def test_all_outputs_and_lists_count_and_the_first_wrong_one_speaks() -> None:
    ones = np.ones(4, dtype=np.float32)
    found = compare_outputs(
        [ones, [ones, ones * 2], None],
        [ones, [ones, ones], None],
        ["y", "parts", "absent"],
        ["float32"] * 3,
        {},
    )
    assert found.elements == 12
    assert found.message.startswith("output parts[1] (float32) is wrong in 4 of 4")


def test_a_workload_overrides_the_tolerance_of_a_dtype() -> None:
    a, b = [np.array([1.0])], [np.array([1.05])]
    loose = {"float32": Tolerance(relative=0.1, absolute=0)}
    assert not compare_outputs(a, b, ["z"], ["float32"], {}).agrees  # type: ignore[arg-type]
    assert compare_outputs(a, b, ["z"], ["float32"], loose).agrees  # type: ignore[arg-type]


def test_int4_is_compared_by_element_and_with_the_tolerance_of_its_name() -> None:
    int4 = BY_NAME["int4"]
    golden, actual = pack(np.array([1, -8, 7, 2]), int4), pack(np.array([1, -8, 6, 2]), int4)
    found = compare_arrays("z", "int4", actual, golden, EXACT)
    assert "1 of 4" in found.message and "[2]: got 6, golden 7" in found.message
    assert compare_arrays("z", "int4", actual, golden, Tolerance(absolute=1)).agrees


@pytest.mark.parametrize("tolerance", [None, Tolerance(relative=1e-3, absolute=1e-3)])
@pytest.mark.parametrize("dtype", sorted(d.name for d in BY_NAME.values() if d.bits >= 8))
def test_a_wrong_scalar_output_is_told_and_a_right_one_agrees(
    dtype: str, tolerance: Tolerance | None
) -> None:
    right, wrong = (store(np.asarray(number), BY_NAME[dtype]) for number in (0.0, 1.0))
    given = {dtype: tolerance} if tolerance else {}
    assert right.shape == wrong.shape == ()
    assert compare_outputs([right], [right.copy()], ["y"], [dtype], given).agrees
    found = compare_outputs([wrong], [right], ["y"], [dtype], given)
    assert "is wrong in 1 of" in found.message and found.worst_error > 1
    assert accuracies([wrong], [right], ["y"], [dtype], 1.0, [[right]]) is not None
