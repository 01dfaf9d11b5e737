"""What the vector unit's element-by-element instructions compute, as one table.

Each row names an instruction with its element types and gives its meaning in numpy. Tests draw
random operands for every row and compare the machine (`machine/vector_*.cpp`) with it; the page
`docs/vector-instructions.md` is generated from it (`vector_page.py`). How an instruction walks over
its operands (masks, repeats, strides) is common to all of them and is told on that page once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ci.lab.reference.vector_rows import convert, move, reduce, scale, select, sort
from ci.lab.reference.vector_rows.element import (
    FLOATS,
    NUMBERS,
    NUMPY_TYPES,
    SATURATE_INTEGER,
    Array,
    Form,
    Instruction,
    Meaning,
    arithmetic,
    clipped,
    relu,
    then_relu,
)
from ci.lab.reference.vector_rows.window import Whole

__all__ = ["INSTRUCTIONS", "NUMPY_TYPES", "WHOLE", "Form", "Instruction", "Whole"]


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


def _saturating(operation: Callable[..., Array], dtype: str) -> dict[int, Meaning]:
    if dtype in FLOATS or operation not in (np.add, np.subtract, np.multiply):
        return {}
    return {SATURATE_INTEGER: clipped(operation)(dtype)}


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
                mnemonic, Form.BINARY, dtype, dtype, arithmetic(operation)(dtype), formula,
                modes=_saturating(operation, dtype),
            )  # fmt: skip
    for mnemonic, operation, sign in (("vaddrelu", np.add, "+"), ("vsubrelu", np.subtract, "-")):
        for dtype in ("half", "float", "int16_t"):
            integer = dtype == "int16_t"
            yield Instruction(
                mnemonic, Form.BINARY, dtype, dtype,
                then_relu(arithmetic(operation), dtype), f"max(src0 {sign} src1, 0)",
                modes={SATURATE_INTEGER: then_relu(clipped(operation), dtype)} if integer else {},
            )  # fmt: skip


def _multiply_adds() -> Iterator[Instruction]:
    pairs = (("half", "half"), ("float", "float"), ("float", "half"))
    for dst, src in pairs:
        yield Instruction(
            "vmla", Form.BINARY, dst, src, arithmetic(lambda a, b, d: a * b + d)(dst),
            "src0 * src1 + dst, fused", reads_dst=True, ulps=1,
        )  # fmt: skip
        yield Instruction(
            "vaxpy", Form.SCALAR, dst, src, arithmetic(lambda a, d, s: a * s + d)(dst),
            "src * scalar + dst, fused", reads_dst=True, ulps=1,
        )  # fmt: skip
    for dtype in FLOATS:
        fused = arithmetic(lambda a, b, d: a * d + b)
        yield Instruction(
            "vmadd", Form.BINARY, dtype, dtype, fused(dtype), "src0 * dst + src1, fused",
            reads_dst=True, ulps=1,
        )  # fmt: skip
        yield Instruction(
            "vmaddrelu", Form.BINARY, dtype, dtype, then_relu(fused, dtype),
            "max(src0 * dst + src1, 0), fused", reads_dst=True, ulps=1,
        )  # fmt: skip


def _one_source() -> Iterator[Instruction]:
    rows: list[tuple[str, Callable[..., Array], str, int]] = [
        ("vabs", np.abs, "|src|", 0),
        ("vrelu", relu, "max(src, 0)", 0),
        ("vexp", np.exp, "e to the power of src", 1),
        ("vln", np.log, "natural logarithm of src", 1),
        ("vsqrt", np.sqrt, "square root of src", 0),
    ]
    for mnemonic, operation, formula, ulps in rows:
        for dtype in FLOATS:
            yield Instruction(
                mnemonic, Form.UNARY, dtype, dtype, arithmetic(operation)(dtype), formula,
                ulps=ulps,
            )  # fmt: skip
    yield Instruction(
        "vrelu", Form.UNARY, "int32_t", "int32_t", arithmetic(relu)("int32_t"), "max(src, 0)"
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
                mnemonic, Form.SCALAR, dtype, dtype, arithmetic(operation)(dtype), formula,
                modes=_saturating(operation, dtype),
            )  # fmt: skip
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


INSTRUCTIONS: tuple[Instruction, ...] = (
    *_two_sources(),
    *_multiply_adds(),
    *_one_source(),
    *_with_scalar(),
    *convert.rows(),
)
"""Every element-by-element instruction, each overload a row."""

WHOLE: tuple[Whole, ...] = (
    *reduce.rows(),
    *select.rows(),
    *move.rows(),
    *sort.rows(),
    *scale.rows(),
)
"""Every other instruction of the vector unit, each overload a row."""
