"""Draws the input tensors of a workload case, deterministically from (seed, case, input)."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence

import numpy as np

from ci.model.amount import amount
from ci.model.dtypes import BY_NAME, DType, find_dtype, pack, to_bfloat16
from ci.model.errors import InputError
from ci.model.launch import Array, Tensors
from ci.model.workload import TensorCase, WorkloadCase
from ci.source.repeated import PATTERN_BYTES, repeated

MOST_DRAWN = 2**31
"""Most elements of a tensor that are all drawn; of a larger one a part is, and repeats."""

_MOST_SPECIAL = 28
_SPIKE = 30.0
_DECADES = 0.8  # of a dtype, each way, that the magnitudes of rows spread over
_SMALLEST = {
    "float16": 2.0**-14,
    "bfloat16": 2.0**-126,
    "float32": 2.0**-126,
    "float64": 2.0**-1022,
}
"""Smallest normal number of each dtype."""
# A normal draw spans the range at three standard deviations a side, then is clipped to it.
_NORMAL_SIGMAS = 3.0


def draw_inputs(case: WorkloadCase, seed: int, only: Collection[int] | None = None) -> Tensors:
    """The inputs of `case`; the same (seed, case name, input index) gives the same values.

    bfloat16 comes as uint16 bits, an absent optional input as None, a tensor list as a list. Where
    `only` names inputs by their index, the others are None.
    """
    tensors: Tensors = []
    for index, spec in enumerate(case.inputs):
        if only is not None and index not in only:
            tensors.append(None)
        elif isinstance(spec, tuple):
            tensors.append(
                [_draw(one, _stream(seed, case.name, index, k)) for k, one in enumerate(spec)]
            )
        elif spec.present:
            tensors.append(_draw(spec, _stream(seed, case.name, index, 0)))
        else:
            tensors.append(None)
    return tensors


def _stream(seed: int, case: str, index: int, item: int) -> np.random.Generator:
    words = [seed & 0xFFFFFFFFFFFFFFFF, zlib.crc32(case.encode()), index, item]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


def _draw(spec: TensorCase, stream: np.random.Generator) -> Array:
    dtype = BY_NAME.get(spec.dtype) or find_dtype(spec.dtype)
    if dtype is None:
        raise InputError(f"Unknown dtype '{spec.dtype}' of an input; known: {', '.join(BY_NAME)}.")
    count = int(np.prod(spec.shape, dtype=np.int64))
    if count > MOST_DRAWN and dtype.bits >= 8:
        return _patterned(spec, dtype, stream)
    if spec.values is not None:
        given = _given(spec.values, dtype)
        if given.size not in (1, count):
            raise InputError(
                f"An input of shape {list(spec.shape)} needs {amount(count, 'value')} (or"
                " one for all),"
                f" but {given.size} are given."
            )
        return store(np.broadcast_to(given, (count,)).reshape(spec.shape), dtype)
    return _drawn(spec, dtype, count, stream)


def _patterned(spec: TensorCase, dtype: DType, stream: np.random.Generator) -> Array:
    """More elements than can be drawn: those of a pattern, again and again."""
    if spec.distribution == "permutation":
        raise InputError(f"A permutation has at most {MOST_DRAWN} elements.")
    size = np.empty(0, dtype.numpy).itemsize
    few = spec.model_copy(update={"shape": (PATTERN_BYTES // size,)})
    pattern = _draw(few, stream)
    return repeated(pattern, spec.shape)


def _given(values: Sequence[int | float | complex], dtype: DType) -> Array:
    """Given values, as exact as they were written: float64 does not hold large integers."""
    if dtype.is_complex:
        return np.array(values, np.complex128)
    if any(isinstance(v, complex) for v in values):
        raise InputError(f"Complex values are given for an input of dtype {dtype.name}.")
    if not (dtype.is_float or dtype.name == "bool") and all(isinstance(v, int) for v in values):
        low, high = dtype.limits
        wide = np.uint64 if low == 0 else np.int64
        return np.array([min(max(v, low), high) for v in values], wide)  # type: ignore[type-var]
    return np.array(values, np.float64)


def _drawn(spec: TensorCase, dtype: DType, count: int, stream: np.random.Generator) -> Array:
    low, high = spec.range
    if spec.distribution == "permutation":
        return store(stream.permutation(count).reshape(spec.shape), dtype)
    if spec.distribution == "counted":
        numbers = np.arange(count) % (max(0, int(high)) + 1)
        return store(numbers.reshape(spec.shape), dtype)
    if dtype.is_complex:
        parts = stream.uniform(low, high, (2, count))
        return store((parts[0] + 1j * parts[1]).reshape(spec.shape), dtype)
    values: Array
    if spec.distribution == "normal":
        middle, sigma = (low + high) / 2, (high - low) / 2 / _NORMAL_SIGMAS
        values = np.clip(stream.normal(middle, sigma, count), low, high)
    elif dtype.name == "bool":
        values = stream.integers(0, 2, count)
    elif dtype.is_float:
        values = stream.uniform(low, high, count)
        if spec.distribution == "magnitudes":
            rows = count // spec.shape[-1] if spec.shape and spec.shape[-1] else 1
            powers = stream.uniform(-_DECADES, _DECADES, rows) * dtype.decades
            values = (values.reshape(rows, -1) * 10.0 ** powers[:, None]).reshape(-1)
    else:
        least, most = dtype.limits
        first, last = max(int(np.ceil(low)), least), min(int(np.floor(high)), most)
        if first > last:
            raise InputError(f"The range [{low:g}, {high:g}] holds no value of dtype {dtype.name}.")
        held = np.dtype(np.int8) if dtype.bits < 8 else dtype.numpy
        drawn = stream.integers(first, last, count, dtype=held, endpoint=True)
        return store(_shaped(drawn, spec), dtype)
    return _sprinkle(store(_shaped(values, spec), dtype), spec, dtype, stream)


def _sprinkle(drawn: Array, spec: TensorCase, dtype: DType, stream: np.random.Generator) -> Array:
    """Puts what the distribution is named for into a few elements, so few that most rows of a
    tensor, and most elements of a vector, stay ordinary."""
    tiny = _SMALLEST.get(dtype.name, 0.0) / 2
    small = [-0.0, tiny, 0.0, -tiny]
    kinds = {"special": [np.nan, np.inf, -np.inf, *small], "infinite": [np.inf, -np.inf]}
    special = {**kinds, "tiny": small}.get(spec.distribution)
    if special is None or not dtype.is_float or not drawn.size:
        return drawn
    room = drawn.size // drawn.shape[-1] // 4 if drawn.ndim > 1 else drawn.size // 16
    count = min(drawn.size, max(1, room), _MOST_SPECIAL)
    places = stream.choice(drawn.size, count, replace=False)
    drawn.reshape(-1)[places] = store(np.resize(np.array(special), count), dtype)
    return drawn


def _shaped(values: Array, spec: TensorCase) -> Array:
    shaped = values.reshape(spec.shape)
    if not spec.shape or not shaped.size:
        return shaped
    if spec.distribution == "sorted":
        return np.sort(shaped, axis=-1)
    if spec.distribution == "constant_rows":
        return np.broadcast_to(shaped[..., :1], spec.shape).copy()
    if spec.distribution == "spiked":
        one = np.arange(spec.shape[-1]) == spec.shape[-1] // 3
        return np.where(one, shaped * np.array(_SPIKE), shaped)
    if spec.distribution == "ties" and shaped.dtype.kind == "f":
        between = np.floor(shaped) + 0.5
        second = np.arange(spec.shape[-1]) % 2 == 1
        inside = (between >= spec.range[0]) & (between <= spec.range[1])
        return np.where(second & inside, between, shaped)
    return shaped


def store(values: Array, dtype: DType) -> Array:
    """`values` as the bytes of `dtype`: rounded to nearest, integers saturated, NaN to 0.

    The shape stays, also () of a scalar, which `np.ascontiguousarray` would make (1,). Several
    elements that share a byte come as flat bytes.
    """
    if dtype.bits < 8:
        whole = values if values.dtype.kind in "iu" else np.nan_to_num(np.rint(values.real))
        return pack(np.clip(whole, *dtype.limits), dtype)
    if dtype.name == "bfloat16":
        return to_bfloat16(values)
    if dtype.is_complex or dtype.is_float:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(values.astype(dtype.numpy), order="C")
    if dtype.name == "bool":
        return np.asarray(values != 0, order="C")
    if values.dtype.kind in "fc":
        limits = np.iinfo(dtype.numpy)
        whole = np.nan_to_num(np.rint(values.real), nan=0.0, posinf=np.inf, neginf=-np.inf)
        result = np.empty(values.shape, dtype.numpy)
        # float64 cannot hold the ends of the 64-bit ranges, so saturate by comparison.
        result[...] = np.where(
            (whole > float(limits.min)) & (whole < float(limits.max)), whole, 0.0
        ).astype(dtype.numpy)
        result[whole >= float(limits.max)] = limits.max
        result[whole <= float(limits.min)] = limits.min
        return result
    return np.asarray(values.astype(dtype.numpy), order="C")
