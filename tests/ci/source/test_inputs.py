import numpy as np
import pytest

from ci.model.dtypes import BY_NAME, from_bfloat16, unpack
from ci.model.errors import InputError
from ci.model.workload import Distribution, TensorCase, WorkloadCase
from ci.source.inputs import draw_inputs


def case(*inputs: TensorCase | tuple[TensorCase, ...], name: str = "c") -> WorkloadCase:
    return WorkloadCase(name=name, inputs=inputs)


def one(spec: TensorCase, seed: int = 1) -> np.ndarray:
    (drawn,) = draw_inputs(case(spec), seed)
    assert isinstance(drawn, np.ndarray)
    return drawn


def test_draws_depend_on_seed_case_and_place_only() -> None:
    x = TensorCase(shape=(64,), dtype="float32")
    first, second = draw_inputs(case(x, x), 1)
    again = draw_inputs(case(x, x), 1)
    assert np.array_equal(first, again[0]) and np.array_equal(second, again[1])
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, draw_inputs(case(x), 2)[0])
    assert not np.array_equal(first, draw_inputs(case(x, name="d"), 1)[0])


@pytest.mark.parametrize("dtype", sorted(n for n, d in BY_NAME.items() if d.bytes >= 1))
def test_every_dtype_is_drawn_with_its_own_bytes(dtype: str) -> None:
    drawn = one(TensorCase(shape=(3, 5), dtype=dtype, range=(0, 7)))
    assert drawn.shape == (3, 5)
    assert drawn.nbytes == 15 * BY_NAME[dtype].bytes


def test_integer_ranges_include_both_ends() -> None:
    drawn = one(TensorCase(shape=(4000,), dtype="int8", range=(-3, 2)))
    assert set(drawn.tolist()) == {-3, -2, -1, 0, 1, 2}


def test_bfloat16_is_drawn_as_bits_within_the_range() -> None:
    drawn = one(TensorCase(shape=(1000,), dtype="bfloat16", range=(2, 4)))
    assert drawn.dtype == np.uint16
    assert from_bfloat16(drawn).min() >= 2 and from_bfloat16(drawn).max() <= 4


def test_given_values_are_kept_and_one_value_fills() -> None:
    assert one(TensorCase(shape=(2, 2), dtype="int32", values=(1, 2, 3, 4))).tolist() == [
        [1, 2],
        [3, 4],
    ]
    assert one(TensorCase(shape=(3,), dtype="float16", values=(0.5,))).tolist() == [0.5] * 3
    with pytest.raises(InputError, match="needs 3 values"):
        one(TensorCase(shape=(3,), dtype="float16", values=(1, 2)))


def test_distributions_keep_their_promise() -> None:
    permuted = one(TensorCase(shape=(50,), dtype="int32", distribution="permutation"))
    assert sorted(permuted.tolist()) == list(range(50))
    counted = one(TensorCase(shape=(2, 3), dtype="int64", range=(1, 3), distribution="counted"))
    assert counted.tolist() == [[0, 1, 2], [3, 0, 1]]
    ordered = one(TensorCase(shape=(4, 50), dtype="float32", distribution="sorted"))
    assert (np.diff(ordered, axis=-1) >= 0).all()
    normal = one(TensorCase(shape=(5000,), dtype="float32", range=(0, 6), distribution="normal"))
    assert 2.9 < normal.mean() < 3.1 and 0.9 < normal.std() < 1.1


def test_lists_and_absent_inputs_keep_their_places() -> None:
    x = TensorCase(shape=(2,), dtype="float32")
    absent = TensorCase(shape=(0,), dtype="float32", present=False)
    listed, missing = draw_inputs(case((x, x), absent), 1)
    assert isinstance(listed, list) and len(listed) == 2
    assert missing is None


def test_a_range_without_a_value_of_the_dtype_is_refused() -> None:
    with pytest.raises(InputError, match="holds no value of dtype uint8"):
        one(TensorCase(shape=(2,), dtype="uint8", range=(-5, -1)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("distribution", ["special", "infinite", "tiny"])
def test_odd_numbers_are_few_and_leave_most_rows_ordinary(
    dtype: str, distribution: Distribution
) -> None:
    spec = TensorCase(shape=(40, 100), dtype=dtype, distribution=distribution)
    (drawn,) = draw_inputs(WorkloadCase(name="x", inputs=(spec,)), 1)
    assert isinstance(drawn, np.ndarray)
    wide = (drawn.astype(np.uint32) << 16).view(np.float32) if dtype == "bfloat16" else drawn
    values = wide.astype(np.float64)
    assert np.isnan(values).any() == (distribution == "special")
    assert np.isposinf(values).any() == np.isneginf(values).any() == (distribution != "tiny")
    assert np.signbit(values[values == 0]).any() == (distribution != "infinite")
    assert np.isfinite(values).all(axis=1).sum() >= 30


def test_rows_can_be_constant_or_have_one_large_value() -> None:
    spec = TensorCase(shape=(40, 100), dtype="float32", range=(-1, 1))
    rows, spikes = (
        draw_inputs(
            WorkloadCase(name="x", inputs=(spec.model_copy(update={"distribution": kind}),)), 1
        )[0]
        for kind in ("constant_rows", "spiked")
    )
    assert isinstance(rows, np.ndarray) and isinstance(spikes, np.ndarray)
    assert (rows == rows[:, :1]).all() and np.unique(rows).size == 40
    assert (np.abs(spikes) > 1).sum(axis=1).max() == 1 and np.abs(spikes).max() > 10


def test_every_second_element_can_be_a_tie_of_rounding() -> None:
    spec = TensorCase(shape=(4, 10), dtype="float16", range=(-7, 7), distribution="ties")
    (drawn,) = draw_inputs(WorkloadCase(name="x", inputs=(spec,)), 1)
    assert isinstance(drawn, np.ndarray)
    ties = np.mod(drawn, 1) == 0.5
    assert ties[:, 1::2].sum() >= 15 and not ties[:, ::2].all()
    assert np.abs(drawn).max() <= 7


def given(dtype: str, *values: int | float | complex, shape: tuple[int, ...] = ()) -> list[object]:
    spec = TensorCase(shape=shape or (len(values),), dtype=dtype, values=values)
    (drawn,) = draw_inputs(WorkloadCase(name="c", inputs=(spec,)), 1)
    assert isinstance(drawn, np.ndarray)
    return list(drawn.tolist())


def test_given_values_are_as_exact_as_they_are_written() -> None:
    assert given("int64", 9007199254740993, -(2**63), 2**70) == [
        9007199254740993, -(2**63), 2**63 - 1
    ]  # fmt: skip
    assert given("uint64", 2**64 - 1, -3) == [2**64 - 1, 0]
    assert given("int32", 2.5, 7) == [2, 7]
    assert given("complex64", 1 + 2j, 3) == [1 + 2j, 3]
    assert given("float64", 0.1, 3) == [0.1, 3]
    with pytest.raises(InputError, match="Complex values are given for an input of dtype float32"):
        given("float32", 1j)


def test_elements_that_share_a_byte_are_drawn_from_their_range() -> None:
    assert given("int4", 1, -8, 7, 99) == [0x81, 0x77]
    assert given("uint1", 1, 0, 0, 1, 1, shape=(5,)) == [0b11001]
    for dtype, low, high, found in (
        ("int4", -3, 5, set(range(-3, 6))),
        ("int4", -100, 100, set(range(-8, 8))),
        ("int2", 0, 1, {0, 1}),
    ):
        spec = TensorCase(shape=(40, 25), dtype=dtype, range=(low, high))
        (drawn,) = draw_inputs(WorkloadCase(name="c", inputs=(spec,)), 1)
        assert isinstance(drawn, np.ndarray) and drawn.dtype == np.uint8
        assert drawn.size == 1000 * BY_NAME[dtype].bits // 8
        assert set(unpack(drawn, BY_NAME[dtype]).tolist()) == found
