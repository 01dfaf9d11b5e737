"""Matrix products, and the fixpipe that takes their results out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from lab.reference import rounding
from lab.reference.rounding import Round
from lab.reference.transfer_rows.base import (
    Array,
    Draw,
    Fill,
    Meaning,
    Memories,
    Memory,
    TransferRow,
    pick,
    span,
    up,
)
from lab.reference.vector_rows.element import NUMPY_TYPES

KEEP, ZERO, BIAS = range(3)
"""What a product is added to."""


def _read(memory: Memories, name: Memory, dtype: str, vector: bool = False) -> Array:
    """A memory's elements, in a type that holds sums."""
    if dtype == "s4":
        halves = np.stack([memory[name] << 4, memory[name]], axis=-1).view(np.int8) >> 4
        return halves.reshape(-1).astype(np.int64)
    raw = memory[name].view(NUMPY_TYPES[dtype])
    if dtype == "bfloat16_t":
        return rounding.from_bfloat16(raw).astype(np.float64)
    return raw.astype(np.int64 if dtype == "int8_t" else np.float64)


def _product(dtype: str) -> Meaning:
    """A·B added to C, to 0 or to the bias; n: m, k, n, what C starts from."""
    c0 = {"half": 16, "bfloat16_t": 16, "float": 8, "int8_t": 32, "s4": 64}[dtype]
    sum_type = np.float32 if dtype in ("half", "bfloat16_t", "float") else np.int32

    def meaning(memory: Memories, n: Sequence[int]) -> None:
        m, k, columns = n[:3]
        deep, panels, padded = up(k, c0) * c0, up(columns, 16), up(m, 16) * 16
        flat = _read(memory, "L0A", dtype)
        if m == 1:  # a plain row
            a = flat[:k].reshape(1, k)
        else:
            fractals = flat[: padded * deep].reshape(padded // 16, deep // c0, 16, c0)
            a = fractals.transpose(0, 2, 1, 3).reshape(padded, deep)[:m, :k]
        flat = _read(memory, "L0B", dtype)[: deep * panels * 16]
        b = flat.reshape(deep // c0, panels * 16, c0).transpose(0, 2, 1).reshape(deep, -1)
        with np.errstate(invalid="ignore"):
            product = a @ b[:k, :columns]
        c = memory["L0C"][: panels * padded * 64].view(sum_type).reshape(panels, padded, 16)
        if n[3] == ZERO:
            c[:, :m] = 0
        elif n[3] == BIAS:
            bias = memory["BIAS"][: panels * 64].view(sum_type)
            c[:, :m] = bias.reshape(panels, 1, 16)
        for column in range(columns):
            place = c[column // 16, :m, column % 16]
            place[:] = (place + product[:, column]).astype(sum_type)

    return meaning


def _small_floats(dtype: str) -> Fill:
    """Whole numbers, whose sums are exact in any order; now and then infinity or NaN."""

    def fill(random: np.random.Generator, size: int) -> npt.NDArray[np.uint8]:
        values = random.integers(-8, 9, size // 2).astype(np.float32)
        if random.random() < 0.3:
            special = random.choice(np.array([np.inf, -np.inf, np.nan], np.float32), 2)
            values[random.integers(0, 200, 2)] = special
        if dtype == "float":
            return values[: size // 4].view(np.uint8)
        if dtype == "bfloat16_t":
            return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
        return values.astype(np.float16).view(np.uint8)

    return fill


def _sizes(whole_panels: bool) -> Draw:
    def draw(random: np.random.Generator) -> list[int]:
        columns = 16 * span(random, 1, 3) if whole_panels else span(random, 1, 40)
        return [pick(random, 1, 16, span(random, 2, 40)), span(random, 1, 80), columns,
                pick(random, KEEP, ZERO, BIAS)]  # fmt: skip

    return draw


def _product_rows() -> Iterator[TransferRow]:
    for dtype in ("half", "bfloat16_t", "float", "int8_t", "s4"):
        total = "int32_t" if dtype in ("int8_t", "s4") else "float"
        floats = total == "float"
        operands, name = (f"({dtype}*)0", "mad") if dtype != "s4" else ("(void*)0", "mad_s4")
        bias = "" if dtype == "s4" else "(uint64_t)0, "
        fills: dict[Memory, Fill] = {}
        if floats:
            fills = {"L0A": _small_floats(dtype), "L0B": _small_floats(dtype)}
            fills |= {"L0C": _small_floats("float"), "BIAS": _small_floats("float")}
        yield TransferRow(
            name, dtype, "cube", ("L0A", "L0B", "BIAS"), "L0C",
            f"{name}(({total}*)0, {operands}, {operands}, {bias}n[0], n[1], n[2], 0, false, "
            f"n[3] == {BIAS}, n[3] == {ZERO});",
            _sizes(floats), _product(dtype), fills, total,
        )  # fmt: skip


def _scaled(values: Array, words: Array, relu: int) -> Array:
    """Times the scale of each column's parameter, in binary32; negative values 0 when asked."""
    scales = (words & np.uint64(0xFFFFE000)).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        wide = values.astype(np.float32) * scales
    return np.where((values < 0) & bool(relu), np.float32(0), wide)


def _to_bytes(values: Array, words: Array, relu: int, result: str) -> Array:
    wide = np.nan_to_num(_scaled(values, words, relu), nan=0.0, posinf=1e9, neginf=-1e9)
    offsets = (words >> np.uint64(37) & np.uint64(511)).astype(np.int64)
    nine = np.clip(np.rint(wide), -256, 255) + np.where(offsets > 255, offsets - 512, offsets)
    low, high = (-128, 127) if result == "int8_t" else (0, 255)
    kept: Array = np.clip(nine, low, high).astype(np.int64)
    return kept.astype(NUMPY_TYPES[result])


def _to_half(values: Array, words: Array, relu: int, result: str) -> Array:
    return np.clip(_scaled(values, words, relu), -65504, 65504).astype(np.float16)


def _cast(values: Array, words: Array, relu: int, result: str) -> Array:
    kept = np.where((values < 0) & bool(relu), np.zeros_like(values), values)
    if result == "bfloat16_t":
        return rounding.to_bfloat16(kept, Round.EVEN)
    with np.errstate(over="ignore"):
        return kept.astype(NUMPY_TYPES[result])


_CONVERSIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "NoQuant": ("float", ("float",)),
    "F322F16": ("float", ("half",)),
    "F322BF16": ("float", ("bfloat16_t",)),
    "QF322B8_PRE": ("float", ("int8_t", "uint8_t")),
    "VQF322B8_PRE": ("float", ("int8_t", "uint8_t")),
    "DEQF16": ("int32_t", ("half",)),
    "VDEQF16": ("int32_t", ("half",)),
    "REQ8": ("int32_t", ("int8_t", "uint8_t")),
    "VREQ8": ("int32_t", ("int8_t", "uint8_t")),
}
"""Types from and to, by mode."""


def _out(mode: str, result: str, target: Memory) -> Meaning:
    """n: n, m, the target's and the source's stride, ReLU, split channels, row-major, parameter."""
    source, _ = _CONVERSIONS[mode]
    convert = _to_bytes if result.endswith("int8_t") else _to_half if "DEQ" in mode else _cast
    size = np.dtype(NUMPY_TYPES[result]).itemsize

    def meaning(memory: Memories, n: Sequence[int]) -> None:
        panels = up(n[0], 16)
        c = memory["L0C"][: panels * n[3] * 64].view(NUMPY_TYPES[source]).reshape(panels, n[3], 16)
        values = c[:, : n[1]].transpose(1, 0, 2).reshape(n[1], panels * 16)
        words = np.full(panels * 16, n[7], np.int64).view(np.uint64)
        if mode.startswith("V"):
            words = memory["FIXBUF"].view(np.uint64)[np.minimum(np.arange(panels * 16), n[0] - 1)]
        results = convert(values, words, n[4], result)
        place = memory[target].view(NUMPY_TYPES[result])
        if n[6]:
            for row in range(n[1]):
                place[row * n[2] : row * n[2] + n[0]] = results[row, : n[0]]
            return
        group = 32 if size == 1 else 8 if size == 4 and n[5] else 16
        lines = up(n[0], group)
        wide = np.zeros((n[1], max(lines * group, results.shape[1])), results.dtype)
        wide[:, : results.shape[1]] = results
        for line in range(lines):
            start = line * n[2] * 32 // size
            piece = wide[:, line * group : (line + 1) * group]
            place[start : start + piece.size] = piece.reshape(-1)

    return meaning


def _out_numbers(result: str, to_l1: bool) -> Draw:
    size = np.dtype(NUMPY_TYPES[result]).itemsize

    def draw(random: np.random.Generator) -> list[int]:
        # Rows in L1 start and end at whole blocks.
        row_major = int(random.random() < 0.5 and not to_l1)
        columns = span(random, 1, 40)
        rows = span(random, 1, 40)
        split = int(size == 4 and not row_major and random.random() < 0.5)
        group = 32 if size == 1 else 8 if split else 16
        stride = columns + pick(random, 0, 5) if row_major else rows * group * size // 32
        return [columns, rows, stride, up(rows, 16) * 16 + pick(random, 0, 16),
                span(random, 0, 1), split, row_major, _word(random, result)]  # fmt: skip

    return draw


def _word(random: np.random.Generator, result: str) -> int:
    """A quantisation parameter: scale, offset, sign."""
    scale = np.array([random.choice([1.0, 0.0013, 0.25, 3.5])], np.float32)
    bits = int(scale.view(np.uint32)[0]) & ~0x1FFF
    return bits | span(random, 0, 511) << 37 | int(result == "int8_t") << 46


def _words(result: str) -> Fill:
    def fill(random: np.random.Generator, size: int) -> npt.NDArray[np.uint8]:
        words = [_word(random, result) for _ in range(size // 8)]
        return np.array(words, np.uint64).view(np.uint8)

    return fill


def _results(dtype: str) -> Fill:
    """Sums of all sizes; of floats some that are not finite."""

    def fill(random: np.random.Generator, size: int) -> npt.NDArray[np.uint8]:
        if dtype == "int32_t":
            spread = random.choice([100, 30000, 2**31 - 1])
            return random.integers(-spread, spread, size // 4).astype(np.int32).view(np.uint8)
        values = random.standard_normal(size // 4) * random.choice([1.0, 100.0, 60000.0])
        special = np.array([np.inf, -np.inf, np.nan, -0.0, 1e-40, 65519.9, 65520.0, 3.4e38])
        chosen = random.choice(special, size // 4)
        mixed = np.where(random.random(size // 4) < 0.1, chosen, values)
        return mixed.astype(np.float32).view(np.uint8)

    return fill


def _fixpipe_rows() -> Iterator[TransferRow]:
    targets: tuple[tuple[str, Memory, str], ...] = (("gm", "OUT", "out"), ("cbuf", "L1", "0"))
    for word, target, address in targets:
        for mode, (source, results) in _CONVERSIONS.items():
            for result in results:
                by_column = mode.startswith("V")
                fills: dict[Memory, Fill] = {"L0C": _results(source), "FIXBUF": _words(result)}
                yield TransferRow(
                    f"copy_matrix_cc_to_{word}", f"{mode} {result}", "cube",
                    ("L0C", "FIXBUF") if by_column else ("L0C",), target,
                    f"set_nd_para(1); set_fpc(0); set_quant_pre(n[7]); copy_matrix_cc_to_{word}("
                    f"({result}*){address}, ({source}*)0, 0, n[0], n[1], n[2], n[3], 0, {mode}, "
                    "n[4], n[5], n[6]);",
                    _out_numbers(result, target == "L1"), _out(mode, result, target),
                    fills, result,
                )  # fmt: skip


def rows() -> Iterator[TransferRow]:
    """Products and the fixpipe."""
    yield from _product_rows()
    yield from _fixpipe_rows()
