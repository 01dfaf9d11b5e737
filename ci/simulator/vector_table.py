"""What the vector unit's element-by-element instructions compute, as one table.

Each row names an instruction with its element types and gives its meaning in numpy. Tests draw
random operands for every row and compare the machine (`machine/vector_*.cpp`) with it; the page
`docs/vector-instructions.md` is generated from it (`vector_page.py`). How an instruction walks over
its operands (masks, repeats, strides) is common to all of them and is told on that page once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ci.simulator import rounding
from ci.simulator.rounding import Round

Array = npt.NDArray[Any]
Meaning = Callable[..., Array]

NUMPY_TYPES: dict[str, type[np.generic]] = {
    "half": np.float16,
    "bfloat16_t": np.uint16,
    "float": np.float32,
    "int8_t": np.int8,
    "uint8_t": np.uint8,
    "int16_t": np.int16,
    "uint16_t": np.uint16,
    "int32_t": np.int32,
    "uint32_t": np.uint32,
    "int64_t": np.int64,
    "int4b_t": np.int8,
}
"""Element types by their C++ name. bfloat16 appears as its bits, 4-bit integers unpacked."""

FLOATS = ("half", "float")
NUMBERS = ("half", "float", "int16_t", "int32_t")


class Form(Enum):
    """The argument list of an instruction."""

    BINARY = "binary"
    """(dst, src0, src1, repeat, three block strides, three repeat strides)"""
    BINARY_HALF = "binary, upper half"
    """as BINARY, and a flag that selects the half of the destination block"""
    UNARY = "unary"
    """(dst, src, repeat, two block strides, two repeat strides)"""
    SCALAR = "scalar"
    """as UNARY, with a scalar of the source's type after src"""
    SHIFT = "shift"
    """as UNARY, with a distance after src"""
    SHIFT_ROUND = "shift, round"
    """as SHIFT, and a flag that switches rounding on"""


@dataclass(frozen=True)
class Instruction:
    """One overload of an element-by-element instruction."""

    mnemonic: str
    form: Form
    dst: str
    """C++ element type of the destination."""
    src: str
    """C++ element type of the sources."""
    meaning: Meaning
    """From source lanes (then the destination's old lanes when `reads_dst`, then scalars) to
    result lanes."""
    formula: str
    """The meaning in words or symbols, for the documentation."""
    reads_dst: bool = False
    ulps: int = 0
    """Units in the last place by which the machine may differ (libm, fused rounding)."""

    @property
    def name(self) -> str:
        """Unique in the table."""
        return f"{self.mnemonic}({self.dst}, {self.src})"


def _arithmetic(operation: Callable[..., Array]) -> Callable[[str], Meaning]:
    """`operation` in float64 for floats, rounded once; wrapping for integers."""

    def make(dtype: str) -> Meaning:
        element = NUMPY_TYPES[dtype]
        wide = np.float64 if dtype in FLOATS else np.int64

        def meaning(*operands: Any) -> Array:
            with np.errstate(all="ignore"):
                result = operation(*(np.asarray(x).astype(wide) for x in operands))
                return np.asarray(result).astype(element)

        return meaning

    return make


def _relu(x: Array) -> Array:
    return np.where(x < 0, 0, x)


def _then_relu(make: Callable[[str], Meaning], dtype: str) -> Meaning:
    meaning = make(dtype)
    return lambda *operands: _relu(meaning(*operands)).astype(NUMPY_TYPES[dtype])


def _estimate(x: Array) -> Array:
    """A reciprocal estimate: 8 fraction bits, nearest even."""
    single = np.asarray(x, dtype=np.float32)
    mantissa, exponent = np.frexp(single)
    with np.errstate(all="ignore"):
        kept = np.ldexp(np.rint(mantissa * np.float32(512)), exponent - 9)
    return np.where(np.isfinite(single), kept, single)


def _reciprocal(dtype: str, root: bool) -> Meaning:
    def meaning(x: Array) -> Array:
        with np.errstate(all="ignore"):
            wide = x.astype(np.float32)
            base = np.sqrt(wide) if root else wide
            return _estimate(np.float32(1) / base).astype(NUMPY_TYPES[dtype])

    return meaning


def _maximum(a: Array, b: Array) -> Array:
    return np.maximum(a, b)


def _minimum(a: Array, b: Array) -> Array:
    return np.minimum(a, b)


def _leaky(x: Array, slope: Array) -> Array:
    return np.where(x >= 0, x, x * slope)


def _shift_left(dtype: str) -> Meaning:
    element = NUMPY_TYPES[dtype]
    width = np.dtype(element).itemsize * 8

    def meaning(x: Array, distance: int) -> Array:
        signed = np.issubdtype(element, np.signedinteger)
        result = []
        for value in x.tolist():
            bits = value & ((1 << width) - 1)
            moved = (bits << distance) & ((1 << width) - 1)
            if signed:
                sign = 1 << (width - 1)
                moved = (moved & ~sign) | (bits & sign)
                moved = moved - (1 << width) if moved & sign else moved
            result.append(moved)
        return np.array(result, dtype=element)

    return meaning


def _shift_right(dtype: str) -> Meaning:
    element = NUMPY_TYPES[dtype]

    def meaning(x: Array, distance: int, round_: bool) -> Array:
        signed = np.issubdtype(element, np.signedinteger)
        result = []
        for value in x.tolist():
            moved = value >> distance
            if round_ and signed and distance > 0:
                moved += value >> (distance - 1) & 1
            result.append(moved)
        return np.array(result, dtype=element)

    return meaning


def _to_integer(dst: str, src: str, mode: Round) -> Meaning:
    low, high = (-8, 7) if dst == "int4b_t" else _limits(dst)

    def meaning(x: Array) -> Array:
        wide = rounding.from_bfloat16(x) if src == "bfloat16_t" else x.astype(np.float32)
        return rounding.to_integer(rounding.integral(wide, mode), low, high, NUMPY_TYPES[dst])

    return meaning


def _limits(dtype: str) -> tuple[int, int]:
    info = np.iinfo(np.dtype(NUMPY_TYPES[dtype]))
    return int(info.min), int(info.max)


def _exact(dst: str) -> Meaning:
    return lambda x: x.astype(NUMPY_TYPES[dst])


def _clip(dst: str) -> Meaning:
    low, high = _limits(dst)
    return lambda x: np.clip(x, low, high).astype(NUMPY_TYPES[dst])


def _two_sources() -> Iterator[Instruction]:
    rows: list[tuple[str, tuple[str, ...], Callable[..., Array], str]] = [
        ("vadd", NUMBERS, np.add, "src0 + src1"),
        ("vsub", NUMBERS, np.subtract, "src0 - src1"),
        ("vmul", NUMBERS, np.multiply, "src0 * src1"),
        ("vmax", NUMBERS, _maximum, "the larger; NaN wins"),
        ("vmin", NUMBERS, _minimum, "the smaller; NaN wins"),
        ("vdiv", FLOATS, np.divide, "src0 / src1"),
        ("vand", ("int16_t", "uint16_t"), np.bitwise_and, "src0 & src1"),
        ("vor", ("int16_t", "uint16_t"), np.bitwise_or, "src0 | src1"),
    ]
    for mnemonic, dtypes, operation, formula in rows:
        for dtype in dtypes:
            yield Instruction(
                mnemonic, Form.BINARY, dtype, dtype, _arithmetic(operation)(dtype), formula
            )
    for mnemonic, operation, sign in (("vaddrelu", np.add, "+"), ("vsubrelu", np.subtract, "-")):
        for dtype in ("half", "float", "int16_t"):
            yield Instruction(
                mnemonic, Form.BINARY, dtype, dtype,
                _then_relu(_arithmetic(operation), dtype), f"max(src0 {sign} src1, 0)",
            )  # fmt: skip


def _multiply_adds() -> Iterator[Instruction]:
    pairs = (("half", "half"), ("float", "float"), ("float", "half"))
    for dst, src in pairs:
        yield Instruction(
            "vmla", Form.BINARY, dst, src, _arithmetic(lambda a, b, d: a * b + d)(dst),
            "src0 * src1 + dst, fused", reads_dst=True, ulps=1,
        )  # fmt: skip
        yield Instruction(
            "vaxpy", Form.SCALAR, dst, src, _arithmetic(lambda a, d, s: a * s + d)(dst),
            "src * scalar + dst, fused", reads_dst=True, ulps=1,
        )  # fmt: skip
    for dtype in FLOATS:
        fused = _arithmetic(lambda a, b, d: a * d + b)
        yield Instruction(
            "vmadd", Form.BINARY, dtype, dtype, fused(dtype), "src0 * dst + src1, fused",
            reads_dst=True, ulps=1,
        )  # fmt: skip
        yield Instruction(
            "vmaddrelu", Form.BINARY, dtype, dtype, _then_relu(fused, dtype),
            "max(src0 * dst + src1, 0), fused", reads_dst=True, ulps=1,
        )  # fmt: skip


def _one_source() -> Iterator[Instruction]:
    rows: list[tuple[str, Callable[..., Array], str, int]] = [
        ("vabs", np.abs, "|src|", 0),
        ("vrelu", _relu, "max(src, 0)", 0),
        ("vexp", np.exp, "e to the power of src", 1),
        ("vln", np.log, "natural logarithm of src", 1),
        ("vsqrt", np.sqrt, "square root of src", 0),
    ]
    for mnemonic, operation, formula, ulps in rows:
        for dtype in FLOATS:
            yield Instruction(
                mnemonic, Form.UNARY, dtype, dtype, _arithmetic(operation)(dtype), formula,
                ulps=ulps,
            )  # fmt: skip
    yield Instruction(
        "vrelu", Form.UNARY, "int32_t", "int32_t", _arithmetic(_relu)("int32_t"), "max(src, 0)"
    )
    for dtype in FLOATS:
        yield Instruction(
            "vrec", Form.UNARY, dtype, dtype, _reciprocal(dtype, root=False),
            "estimate of 1 / src, 8 fraction bits",
        )  # fmt: skip
        yield Instruction(
            "vrsqrt", Form.UNARY, dtype, dtype, _reciprocal(dtype, root=True),
            "estimate of 1 / square root of src, 8 fraction bits",
        )  # fmt: skip
    for dtype in ("int16_t", "uint16_t"):
        yield Instruction("vnot", Form.UNARY, dtype, dtype, np.invert, "~src")


def _with_scalar() -> Iterator[Instruction]:
    rows: list[tuple[str, tuple[str, ...], Callable[..., Array], str]] = [
        ("vadds", NUMBERS, np.add, "src + scalar"),
        ("vmuls", NUMBERS, np.multiply, "src * scalar"),
        ("vmaxs", NUMBERS, _maximum, "the larger of src and scalar; NaN wins"),
        ("vmins", NUMBERS, _minimum, "the smaller of src and scalar; NaN wins"),
        ("vlrelu", FLOATS, _leaky, "src, times scalar when negative"),
    ]
    for mnemonic, dtypes, operation, formula in rows:
        for dtype in dtypes:
            yield Instruction(
                mnemonic, Form.SCALAR, dtype, dtype, _arithmetic(operation)(dtype), formula
            )
    for dtype in ("uint16_t", "int16_t", "uint32_t", "int32_t"):
        yield Instruction(
            "vshl", Form.SHIFT, dtype, dtype, _shift_left(dtype),
            "src << distance; a signed element keeps its sign bit",
        )  # fmt: skip
        yield Instruction(
            "vshr", Form.SHIFT_ROUND, dtype, dtype, _shift_right(dtype),
            "src >> distance, arithmetic when signed; rounding adds the last bit shifted out "
            "(signed only)",
        )  # fmt: skip


_ROUNDING_MODES = (Round.EVEN, Round.FLOOR, Round.CEILING, Round.AWAY, Round.ZERO)


def _conversions() -> Iterator[Instruction]:
    def row(name: str, dst: str, src: str, meaning: Meaning, formula: str) -> Instruction:
        return Instruction(f"vconv_{name}", Form.UNARY, dst, src, meaning, formula)

    for mode in _ROUNDING_MODES:
        words = f"rounded: {mode.name.lower()}"
        for pair, dst, src in (
            ("f322s64", "int64_t", "float"),
            ("f322s32", "int32_t", "float"),
            ("f322s16", "int16_t", "float"),
            ("bf162s32", "int32_t", "bfloat16_t"),
            ("f162s32", "int32_t", "half"),
            ("f162s16", "int16_t", "half"),
            ("f162s8", "int8_t", "half"),
            ("f162u8", "uint8_t", "half"),
            ("f162s4", "int4b_t", "half"),
        ):
            meaning = _to_integer(dst, src, mode)
            yield row(pair + mode.value, dst, src, meaning, f"{words}; saturates, NaN gives 0")
            if mode is Round.EVEN and pair in ("f162s8", "f162u8", "f162s4"):
                yield row(pair, dst, src, meaning, f"{words}; saturates, NaN gives 0")
        yield row(
            f"f322f32{mode.value}", "float", "float", partial(rounding.integral, mode=mode),
            f"to a whole number, {words}",
        )  # fmt: skip
        yield row(
            f"f322bf16{mode.value}", "bfloat16_t", "float",
            partial(rounding.to_bfloat16, mode=mode), words,
        )  # fmt: skip
        half = partial(rounding.to_half, mode=mode)
        single = partial(rounding.to_float, mode=mode)
        yield row(f"f322f16{mode.value}", "half", "float", half, words)
        yield row(f"s162f16{mode.value}", "half", "int16_t", half, words)
        yield row(f"s322f32{mode.value}", "float", "int32_t", single, words)
        yield row(f"s642f32{mode.value}", "float", "int64_t", single, words)
        if mode is Round.EVEN:
            yield row("f322f16", "half", "float", half, words)
            yield row("s162f16", "half", "int16_t", half, words)
            yield row("s322f32", "float", "int32_t", single, words)
    odd = partial(rounding.to_half, mode=Round.ODD)
    yield row("f322f16o", "half", "float", odd, "rounded: odd (inexact results get an odd bit)")
    yield row("bf162f32", "float", "bfloat16_t", rounding.from_bfloat16, "exact")
    for pair, dst, src in (
        ("f162f32", "float", "half"),
        ("s42f16", "half", "int4b_t"),
        ("s82f16", "half", "int8_t"),
        ("u82f16", "half", "uint8_t"),
        ("s162f32", "float", "int16_t"),
        ("s322s64", "int64_t", "int32_t"),
    ):
        yield row(pair, dst, src, _exact(dst), "exact")
    yield row("s322s16", "int16_t", "int32_t", _clip("int16_t"), "saturates")
    yield row("s642s32", "int32_t", "int64_t", _clip("int32_t"), "saturates")


def _fused_conversions() -> Iterator[Instruction]:
    for mnemonic, operation, sign in (
        ("vaddreluconv", np.add, "+"),
        ("vsubreluconv", np.subtract, "-"),
    ):
        for pair, dst, src in (
            ("f162s8", "int8_t", "half"),
            ("f322f16", "half", "float"),
            ("s162s8", "int8_t", "int16_t"),
        ):
            arithmetic = _then_relu(_arithmetic(operation), src)
            yield Instruction(
                f"{mnemonic}_{pair}", Form.BINARY_HALF, dst, src,
                _composed(arithmetic, _converted(dst, src)),
                f"max(src0 {sign} src1, 0), converted to nearest even",
            )  # fmt: skip
    for pair, dst in (("f162s8", "int8_t"), ("f162u8", "uint8_t")):
        yield Instruction(
            f"vmulconv_{pair}", Form.BINARY, dst, "half",
            _composed(_arithmetic(np.multiply)("half"), _converted(dst, "half")),
            "src0 * src1, converted to nearest even",
        )  # fmt: skip


def _converted(dst: str, src: str) -> Meaning:
    if dst == "half":
        return partial(rounding.to_half, mode=Round.EVEN)
    return _clip(dst) if src == "int16_t" else _to_integer(dst, src, Round.EVEN)


def _composed(first: Meaning, second: Meaning) -> Meaning:
    return lambda *operands: second(first(*operands))


INSTRUCTIONS: tuple[Instruction, ...] = (
    *_two_sources(),
    *_multiply_adds(),
    *_one_source(),
    *_with_scalar(),
    *_conversions(),
    *_fused_conversions(),
)
"""Every element-by-element instruction, each overload a row."""
