"""Mathematical functions of the kernel API, against numpy and scipy in double precision."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.ci.simulator.ascendc_harness import AscendCHarness

COUNT = 500
RANDOM = np.random.default_rng(7)
WIDE = np.concatenate([RANDOM.uniform(-30, 30, COUNT - 6), [0, 1, -1, 1e-4, -1e-4, 10]])
X = WIDE.astype(np.float32)
UNIT = np.clip(X / 30, -1, 1).astype(np.float32)
POSITIVE = np.abs(X) + np.float32(0.1)

# name: (input, reference, relative, absolute)
FUNCTIONS: dict[str, Any] = {
    "Log": (POSITIVE, np.log, 1e-6, 1e-6),
    "Log2": (POSITIVE, np.log2, 1e-6, 1e-6),
    "Log10": (POSITIVE, np.log10, 1e-6, 1e-6),
    "Floor": (X, np.floor, 0, 0),
    "Ceil": (X, np.ceil, 0, 0),
    "Round": (X, np.rint, 0, 0),
    "Trunc": (X, np.trunc, 0, 0),
    "Frac": (X, lambda x: x - np.trunc(x), 0, 1e-6),
    "Sign": (X, np.sign, 0, 0),
    "Sigmoid": (X, special.expit, 1e-5, 1e-7),
    "Silu": (X, lambda x: x * special.expit(x), 1e-5, 1e-6),
    "Tanh": (X, np.tanh, 1e-5, 2e-7),
    "Sinh": (X, np.sinh, 1e-5, 1e-6),
    "Cosh": (X, np.cosh, 1e-5, 1e-6),
    "Sin": (X, np.sin, 1e-5, 1e-6),
    "Cos": (X, np.cos, 1e-5, 1e-6),
    "Tan": (X, np.tan, 1e-4, 1e-6),
    "Atan": (X, np.arctan, 1e-6, 1e-7),
    "Asin": (UNIT, np.arcsin, 2e-6, 1e-7),
    "Acos": (UNIT, np.arccos, 2e-6, 1e-6),
    "Erf": (X, special.erf, 1e-6, 1e-7),
    "Erfc": (X, special.erfc, 1e-5, 2e-7),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_functions_of_one_argument(kernels: AscendCHarness, dtype: Any) -> None:
    kind = "float" if dtype is np.float32 else "half"
    names = {id(X): "x", id(UNIT): "u", id(POSITIVE): "p"}
    calls = [f"{name}(d, {names[id(v[0])]}, {COUNT});" for name, v in FUNCTIONS.items()]
    # The same with a buffer for temporaries that makes several passes necessary, in place.
    calls += [
        f"Muls(d, {names[id(v[0])]}, {kind}(1), {COUNT}); PipeBarrier<PIPE_V>(); "
        f"{name}(d, d, work, {COUNT});"
        for name, v in FUNCTIONS.items()
        if name not in ("Log", "Log10", "Silu")  # these take no buffer
    ]
    inputs = {"x": X.astype(dtype), "u": UNIT.astype(dtype), "p": POSITIVE.astype(dtype)}
    rows = kernels.rows(calls, inputs, COUNT, dtype, "auto work = desk.empty<uint8_t>(3072);")
    for number, call in enumerate(calls):
        name = re.findall(r"(\w+)\(d, ", call)[-1]
        source, reference, relative, absolute = FUNCTIONS[name]
        if dtype is np.float16:
            relative, absolute = max(relative, 2e-3), max(absolute, 1e-3)
        with np.errstate(over="ignore"):
            wanted = reference(source.astype(dtype).astype(np.float64)).astype(dtype)
        np.testing.assert_allclose(rows[number], wanted, relative, absolute, err_msg=call)


def test_power_of_tensors_and_scalars(kernels: AscendCHarness) -> None:
    base = RANDOM.uniform(-5, 5, 200).astype(np.float32)
    base[:4] = [0, 2, -2, 1]
    whole = RANDOM.integers(-3, 4, 200).astype(np.float32)
    whole[0] = 2
    calls = {
        "Power(d, x, y, 200);": base.astype(np.float64) ** whole,
        "Power(d, x, 3.0f, 200);": base.astype(np.float64) ** 3,
        "Power(d, x, 0.0f, 200);": np.ones(200),
        "Power(d, 2.5f, x, 200);": 2.5 ** base.astype(np.float64),
        "Power(d, x, 0.5f, 200);": np.sqrt(np.where(base < 0, np.nan, base).astype(np.float64)),
    }
    kernels.agree(calls, {"x": base, "y": whole}, rtol=1e-5, atol=1e-6)


def test_broadcast_sum_mean_and_softmax(kernels: AscendCHarness) -> None:
    row = RANDOM.uniform(-1, 1, 80).astype(np.float32)
    matrix = RANDOM.uniform(-3, 3, (10, 80)).astype(np.float32)
    prepare = "const uint32_t all[] = {10, 80}, row[] = {1, 80}, column[] = {10, 1}, one[] = {1};"
    inputs = {"r": row, "m": matrix}
    broadcasts = {
        "BroadCast<float, 2, 0>(d, r, all, row);": np.tile(row, (10, 1)),
        "BroadCast<float, 2, 1>(d, r, all, column);": np.tile(row[:10, None], (1, 80)),
        "const uint32_t flat[] = {800}; BroadCast<float, 1, 0>(d, r, flat, one);": np.full(
            800, row[0]
        ),
    }
    kernels.agree(broadcasts, inputs, more=prepare)
    sums = {
        "Sum(d, m, SumParams{10, 80, 75});": matrix[:, :75].sum(1),
        "Sum(d, m, SumParams{10, 80, 50});": matrix[:, :50].sum(1),
        "Mean(d, m, MeanParams{10, 80, 80});": matrix.mean(1),
    }
    kernels.agree(sums, inputs, rtol=1e-4, atol=1e-5)
    call = "SoftMaxTiling tiling{}; SoftMax<float>(d, m, tiling, SoftMaxShapeInfo{10, 80, 10, 75});"
    shown = kernels.rows([call], inputs, 800)[0].reshape(10, 80)[:, :75]
    np.testing.assert_allclose(shown, special.softmax(matrix[:, :75], axis=1), rtol=1e-5)


@pytest.mark.parametrize("columns", [8, 32, 80, 640])
def test_a_softmax_takes_the_space_that_the_library_names_for_a_row(
    kernels: AscendCHarness, columns: int
) -> None:
    """Its least space for floats: those of a row, a block and a repeat more."""
    matrix = RANDOM.uniform(-3, 3, (2, columns)).astype(np.float32)
    wanted = special.softmax(matrix, axis=1)
    least = 4 * (columns + 8 + 64)
    space = f"SoftMaxTiling t{{}}; auto w = desk.empty<uint8_t>({least});"
    shape = f"SoftMaxShapeInfo{{2, {columns}, 2, {columns}}}"
    sums = "auto sum = desk.empty<float>(16), top = desk.empty<float>(16);"
    calls = [
        f"{space} SoftMax<float>(d, m, w, t, {shape});",
        f"{space} {sums} SoftmaxFlash<float>(d, sum, top, m, sum, sum, top, w, t, false, {shape});",
    ]
    for shown in kernels.rows(calls, {"m": matrix}, 2 * columns):
        np.testing.assert_allclose(shown.reshape(2, columns), wanted, rtol=1e-5)
