"""Products on the cube core against numpy: shapes, types, paths into L0, conversions after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci.model.dtypes import from_bfloat16, to_bfloat16
from tests.ci.simulator.cube_harness import Operands, Product, run
from tests.ci.simulator.machine_harness import MachineHarness

Array = npt.NDArray[Any]

EXAMPLES = settings(
    max_examples=5,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

HF32 = 1 << 46
"""Bit of the control register by which fp32 operands are rounded."""

QUANTISE = {"DEQF16": 11, "VDEQF16": 10, "REQ8": 9, "VREQ8": 8, "QF322B8": 24, "VQF322B8": 23}
F322F16, F322BF16 = 1, 16


def draw(rng: np.random.Generator, element: str, shape: tuple[int, int]) -> Array:
    if element == "int8_t":
        return rng.integers(-128, 128, shape).astype(np.int8)
    values = rng.uniform(-2, 2, shape)
    if element == "bfloat16_t":
        return to_bfloat16(values)
    return values.astype(np.float16 if element == "half" else np.float32)


def exact(element: str, a: Array, b: Array) -> Array:
    if element == "bfloat16_t":
        a, b = from_bfloat16(a), from_bfloat16(b)
    return a.astype(np.float64) @ b.astype(np.float64)


def operands_of(case: Product, seed: int) -> Operands:
    rng = np.random.default_rng(seed)
    total: type[np.generic] = np.int32 if case.element == "int8_t" else np.float32
    bias = rng.uniform(-9, 9, (case.n + 15) // 16 * 16).astype(total)
    return Operands(
        draw(rng, case.element, (case.m, case.k)), draw(rng, case.element, (case.k, case.n)), bias
    )


PATHS = {
    "half": ((0, 0), (1, 1), (2, 2), (3, 3), (1, 2), (2, 0)),
    "bfloat16_t": ((0, 1), (2, 3)),
    "float": ((0, 0), (1, 1), (2, 1), (2, 0)),
    "int8_t": ((0, 0), (3, 3), (1, 3)),
}
"""(path of A, path of B) by element type, see the kernel of cube_harness."""


@pytest.mark.parametrize(
    ("element", "paths"), [(e, p) for e, listed in PATHS.items() for p in listed]
)
@EXAMPLES
@given(
    m=st.integers(1, 70),
    k=st.integers(1, 192),  # with 80 columns of floats just what L0A and L0B hold
    n=st.integers(1, 80),
    steps=st.integers(1, 3),
    bias=st.booleans(),
    seed=st.integers(0, 1 << 20),
)
def test_products_equal_numpy_on_every_path(
    harness: MachineHarness,
    element: str,
    paths: tuple[int, int],
    m: int,
    k: int,
    n: int,
    steps: int,
    bias: bool,
    seed: int,
) -> None:
    total = "int32_t" if element == "int8_t" else "float"
    case = Product(
        m, k, n, *paths, bias=bias, steps=steps, element=element, total=total, result=total
    )
    operands = operands_of(case, seed)
    like = np.zeros((m, n), np.int32 if element == "int8_t" else np.float32)
    found = run(harness, case, operands, like)
    expected = exact(element, operands.a, operands.b) + (operands.bias[:n] if bias else 0)
    if element == "int8_t":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=0, atol=(k + 2) * 4 * k * 2.0**-24 + 1e-6)


def scalar_parameter(scale: float, offset: int, signed: bool) -> np.uint64:
    bits = int(np.float32(scale).view(np.uint32)) & ~0x1FFF
    return np.uint64(bits | (offset & 0x1FF) << 37 | int(signed) << 46)


def to_eight_bits(values: Array, words: Array, relu: bool) -> Array:
    bits = (words & np.uint64(0xFFFFE000)).astype(np.uint32)
    scale = bits.view(np.float32).astype(np.float32)
    offset = (words >> np.uint64(37)).astype(np.int64) & 0x1FF
    offset = np.where(offset > 255, offset - 512, offset)
    signed = (words >> np.uint64(46)).astype(np.int64) & 1
    wide = values.astype(np.float32) * scale
    wide = np.where((values < 0) & relu, 0, wide)
    nine = np.rint(np.clip(wide, -256, 255)).astype(np.int64) + offset
    low, high = np.where(signed == 1, -128, 0), np.where(signed == 1, 127, 255)
    return np.asarray(np.clip(nine, low, high))


@pytest.mark.parametrize("name", QUANTISE)
@EXAMPLES
@given(
    m=st.integers(1, 40),
    n=st.integers(1, 4),
    relu=st.booleans(),
    signed=st.booleans(),
    seed=st.integers(0, 1 << 20),
)
def test_quantisation_follows_its_parameter(
    harness: MachineHarness, name: str, m: int, n: int, relu: bool, signed: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns, k = 16 * n, 48
    from_float = name.endswith("QF322B8")
    element, total = ("half", "float") if from_float else ("int8_t", "int32_t")
    to_half = name.endswith("DEQF16")
    result = "half" if to_half else "int8_t" if signed else "uint8_t"
    case = Product(
        m, k, columns, quantize=QUANTISE[name], relu=relu, element=element, total=total,
        result=result,
    )  # fmt: skip
    operands = operands_of(case, seed)
    if from_float:  # small whole numbers: sums are exact, so rounding is the only question
        operands.a, operands.b = np.round(operands.a), np.round(operands.b)
    scales = rng.uniform(0.001, 2.0, columns)
    words = np.array(
        [scalar_parameter(s, int(rng.integers(-100, 100)), signed) for s in scales], np.uint64
    )
    if not name.startswith("V"):
        words[:] = words[0]
    operands.parameters = np.resize(words, (columns + 15) // 16 * 16)
    values = exact(element, operands.a, operands.b)
    if to_half:
        scale = (words & np.uint64(0xFFFFE000)).astype(np.uint32).view(np.float32)
        wide = np.where((values < 0) & relu, 0, values.astype(np.float32) * scale)
        expected: Array = np.clip(wide, -65504, 65504).astype(np.float16)
    else:
        expected = to_eight_bits(values, words, relu)
    kinds: dict[str, type[np.generic]] = {
        "half": np.float16, "int8_t": np.int8, "uint8_t": np.uint8,
    }  # fmt: skip
    found = run(harness, case, operands, np.zeros((m, columns), kinds[result]))
    np.testing.assert_array_equal(found, expected.astype(kinds[result]))


@pytest.mark.parametrize(
    ("result", "mode", "rounded"),
    [
        ("half", F322F16, lambda x: x.astype(np.float16)),
        ("bfloat16_t", F322BF16, to_bfloat16),
    ],
)
def test_casts_round_to_nearest_even_and_keep_what_is_not_finite(
    harness: MachineHarness, result: str, mode: int, rounded: Callable[[Array], Array]
) -> None:
    # A diagonal of ones lets the fixpipe meet the values themselves.
    values = np.resize(
        np.array([1 + 2**-11, 1 + 3 * 2**-11, 65519, 65520, -70000, 1e-8, np.inf, np.nan]), (16, 16)
    ).astype(np.float32)
    case = Product(16, 16, 16, quantize=mode, element="float", result=result)
    ones = np.eye(16, dtype=np.float32)
    finite = np.where(np.isfinite(values), values, 0)
    found = run(harness, case, Operands(ones, finite), np.zeros((16, 16), rounded(values).dtype))
    np.testing.assert_array_equal(found, rounded(finite))
    # With infinities and NaN a whole row becomes NaN through 0 · inf, except in columns without.
    special = np.full((16, 16), 1.0, np.float32)
    special[:, 0] = np.inf
    found = run(harness, case, Operands(np.ones((16, 16), np.float32), special),
                np.zeros((16, 16), rounded(values).dtype))  # fmt: skip
    np.testing.assert_array_equal(found, rounded(np.ones((16, 16), np.float32) @ special))


def test_hf32_rounds_operands_to_eleven_bits(harness: MachineHarness) -> None:
    rng = np.random.default_rng(3)
    a = rng.uniform(-2, 2, (16, 32)).astype(np.float32)
    b = rng.uniform(-2, 2, (32, 16)).astype(np.float32)
    case = Product(16, 32, 16, element="float", control=HF32)
    found = run(harness, case, Operands(a, b), np.zeros((16, 16), np.float32))

    def cut(x: Array) -> Array:
        bits = x.view(np.uint32).astype(np.uint64)
        kept = (bits + 0x7FF + (bits >> 12 & 1)) & ~np.uint64(0xFFF)
        return kept.astype(np.uint32).view(np.float32)

    np.testing.assert_allclose(found, exact("float", cut(a), cut(b)), rtol=0, atol=1e-5)
    assert np.abs(found - exact("float", a, b)).max() > 1e-5


def nz(values: Array, columns: int) -> Array:
    """Fractal columns of `columns` elements, one after the other, rows up to 16."""
    m, n = values.shape
    padded = np.zeros(((m + 15) // 16 * 16, (n + columns - 1) // columns * columns), values.dtype)
    padded[:m, :n] = values
    return padded.reshape(padded.shape[0], -1, columns).transpose(1, 0, 2)


@pytest.mark.parametrize(("split", "columns"), [(False, 16), (True, 8)])
def test_fractals_leave_as_they_lie_or_split_in_two(
    harness: MachineHarness, split: bool, columns: int
) -> None:
    rng = np.random.default_rng(5)
    m, n = 20, 32
    case = Product(m, 16, n, row_major=False, split=split)
    operands = operands_of(case, 7)
    operands.a, operands.b = np.round(operands.a), rng.integers(-3, 4, (16, n)).astype(np.float16)
    like = np.zeros((n // columns, 32, columns), np.float32)
    found = run(harness, case, operands, like)
    expected = nz(exact("half", operands.a, operands.b).astype(np.float32), columns)
    np.testing.assert_array_equal(found[:, :m], expected[:, :m])


def test_eight_bit_results_merge_two_fractals(harness: MachineHarness) -> None:
    case = Product(16, 32, 64, quantize=QUANTISE["REQ8"], row_major=False, element="int8_t",
                   total="int32_t", result="int8_t")  # fmt: skip
    operands = operands_of(case, 11)
    word = scalar_parameter(0.01, 3, True)
    operands.parameters = np.full(16, word, np.uint64)
    found = run(harness, case, operands, np.zeros((2, 16, 32), np.int8))
    values = exact("int8_t", operands.a, operands.b)
    expected = to_eight_bits(values, np.full(64, word, np.uint64), False).astype(np.int8)
    np.testing.assert_array_equal(found, nz(expected, 32))
