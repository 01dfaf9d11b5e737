import warnings

import numpy as np
import pytest

from ci.model.dtypes import find_dtype, from_bfloat16, to_bfloat16


@pytest.mark.parametrize(
    "name", ["float32", "fp32", "float", "DT_FLOAT", "ge::DT_FLOAT", "Float32"]
)
def test_usual_spellings_mean_the_same_dtype(name: str) -> None:
    found = find_dtype(name)
    assert found is not None and found.name == "float32"


def test_unknown_names_are_none() -> None:
    assert find_dtype("float33") is None


def test_bfloat16_rounds_to_nearest_even() -> None:
    # 1 + 2^-8 lies half-way between 1 and 1 + 2^-7: to the even mantissa; a bit more goes up.
    values = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -1 - 2**-8], np.float32)
    assert from_bfloat16(to_bfloat16(values)).tolist() == [1, 1 + 2**-6, 1 + 2**-7, -1]


def test_bfloat16_keeps_infinities_and_nans() -> None:
    bits = to_bfloat16(np.array([np.inf, -np.inf, np.nan, 3.4e38], np.float32))
    back = from_bfloat16(bits)
    assert back[0] == np.inf and back[1] == -np.inf and np.isnan(back[2])
    assert back[3] == np.inf  # beyond the largest bfloat16 by more than half a step
    assert np.isnan(from_bfloat16(to_bfloat16(np.uint32(0x7F800001).view(np.float32))))


def test_every_bfloat16_survives_the_round_trip() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = from_bfloat16(bits)
    finite = ~np.isnan(values)
    assert np.array_equal(to_bfloat16(values[finite]), bits[finite])


@pytest.mark.parametrize(
    ("name", "limits"),
    [("int4", (-8, 7)), ("int2", (-2, 1)), ("uint1", (0, 1)), ("uint8", (0, 255))],
)
def test_an_integer_of_few_bits_has_the_limits_of_its_bits(
    name: str, limits: tuple[int, int]
) -> None:
    found = find_dtype(name)
    assert found is not None and found.limits == limits


def test_what_float32_cannot_hold_is_an_infinity_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bits = to_bfloat16(np.array([1e39, -1e300]))
    assert from_bfloat16(bits).tolist() == [np.inf, -np.inf]
