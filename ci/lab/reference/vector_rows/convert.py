"""Conversions, with every rounding mode, and arithmetic that converts its result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ci.lab.reference import rounding
from ci.lab.reference.rounding import Round
from ci.lab.reference.vector_rows.element import (
    NUMPY_TYPES,
    TRUNCATE_CAST,
    Array,
    Form,
    Instruction,
    Meaning,
    arithmetic,
    then_relu,
)


def _to_integer(dst: str, src: str, mode: Round, keep_low_bits: bool = False) -> Meaning:
    low, high = (-8, 7) if dst == "int4b_t" else _limits(dst)

    def meaning(x: Array) -> Array:
        wide = rounding.from_bfloat16(x) if src == "bfloat16_t" else x.astype(np.float32)
        whole = rounding.integral(wide, mode)
        if keep_low_bits:
            return rounding.low_bits(whole, low, high, NUMPY_TYPES[dst])
        return rounding.to_integer(whole, low, high, NUMPY_TYPES[dst])

    return meaning


def _limits(dtype: str) -> tuple[int, int]:
    info = np.iinfo(np.dtype(NUMPY_TYPES[dtype]))
    return int(info.min), int(info.max)


def _exact(dst: str) -> Meaning:
    return lambda x: x.astype(NUMPY_TYPES[dst])


def _clip(dst: str) -> Meaning:
    low, high = _limits(dst)
    return lambda x: np.clip(x, low, high).astype(NUMPY_TYPES[dst])


_ROUNDING_MODES = (Round.EVEN, Round.FLOOR, Round.CEILING, Round.AWAY, Round.ZERO)


def _conversions() -> Iterator[Instruction]:
    def row(
        name: str,
        dst: str,
        src: str,
        meaning: Meaning,
        formula: str,
        low_bits: Meaning | None = None,
    ) -> Instruction:
        modes = {} if low_bits is None else {TRUNCATE_CAST: low_bits}
        return Instruction(f"vconv_{name}", Form.UNARY, dst, src, meaning, formula, modes=modes)

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
            low_bits = _to_integer(dst, src, mode, keep_low_bits=True)
            formula = f"{words}; saturates, NaN gives 0"
            yield row(pair + mode.value, dst, src, meaning, formula, low_bits)
            if mode is Round.EVEN and pair in ("f162s8", "f162u8", "f162s4"):
                yield row(pair, dst, src, meaning, formula, low_bits)
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
    for pair, dst, src in (("s322s16", "int16_t", "int32_t"), ("s642s32", "int32_t", "int64_t")):
        yield row(pair, dst, src, _clip(dst), "saturates", _exact(dst))


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
            result = then_relu(arithmetic(operation), src)
            low_bits = {TRUNCATE_CAST: _composed(result, _converted(dst, src, True))}
            yield Instruction(
                f"{mnemonic}_{pair}", Form.BINARY_HALF, dst, src,
                _composed(result, _converted(dst, src)),
                f"max(src0 {sign} src1, 0), converted to nearest even",
                modes={} if dst == "half" else low_bits,
            )  # fmt: skip
    for pair, dst in (("f162s8", "int8_t"), ("f162u8", "uint8_t")):
        product = arithmetic(np.multiply)("half")
        yield Instruction(
            f"vmulconv_{pair}", Form.BINARY, dst, "half",
            _composed(product, _converted(dst, "half")), "src0 * src1, converted to nearest even",
            modes={TRUNCATE_CAST: _composed(product, _converted(dst, "half", True))},
        )  # fmt: skip


def _converted(dst: str, src: str, keep_low_bits: bool = False) -> Meaning:
    if dst == "half":
        return partial(rounding.to_half, mode=Round.EVEN)
    if src == "int16_t":
        return _exact(dst) if keep_low_bits else _clip(dst)
    return _to_integer(dst, src, Round.EVEN, keep_low_bits)


def _composed(first: Meaning, second: Meaning) -> Meaning:
    return lambda *operands: second(first(*operands))


def rows() -> Iterator[Instruction]:
    """Every conversion."""
    yield from _conversions()
    yield from _fused_conversions()
