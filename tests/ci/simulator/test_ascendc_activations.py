"""Activations, softmax in parts, quantisation and running sums of the kernel API, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.ci.simulator.ascendc_harness import AscendCHarness

COUNT = 300
RANDOM = np.random.default_rng(11)
A = np.concatenate([RANDOM.uniform(-6, 6, COUNT - 4), [0, 1e-3, -1e-3, 5]]).astype(np.float32)
B = RANDOM.uniform(0.5, 4, COUNT).astype(np.float32) * np.where(RANDOM.random(COUNT) < 0.5, 1, -1)
B = B.astype(np.float32)
ROWS, PITCH, COLUMNS = 5, 80, 75


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def swish(x: Any, beta: float = 1.0) -> Any:
    return x * special.expit(beta * x)


# call: reference
FUNCTIONS: dict[str, Any] = {
    "Acosh(d, p, {n});": lambda a, b: np.arccosh(np.abs(a) + 1),
    "Asinh(d, x, {n});": lambda a, b: np.arcsinh(a),
    "Atanh(d, u, {n});": lambda a, b: np.arctanh(a / 8),
    "Gelu(d, x, {n});": lambda a, b: gelu(a),
    "Gelu(d, x, work, {n});": lambda a, b: gelu(a),
    "FasterGelu(d, x, {n});": lambda a, b: swish(a, 1.702),
    "Swish(d, x, {n}, T(1.5f));": lambda a, b: swish(a, 1.5),
    "ClampMax(d, x, T(1.0f), {n});": lambda a, b: np.minimum(a, 1),
    "ClampMin(d, x, work, T(1.0f), {n});": lambda a, b: np.maximum(a, 1),
    "GeGLU(d, x, y, {n});": lambda a, b: a * gelu(b),
    "GeGLU(d, x, y, work, {n});": lambda a, b: a * gelu(b),
    "SwiGLU(d, x, y, 1.0f, work, {n});": lambda a, b: a * swish(b),
    "ReGlu(d, x, y, {n});": lambda a, b: a * np.maximum(b, 0),
    "Fmod(d, x, y, work, {n});": lambda a, b: np.fmod(a, b),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_activations_of_one_and_two_tensors(kernels: AscendCHarness, dtype: Any) -> None:
    kind = "float" if dtype is np.float32 else "half"
    a, b = A.astype(dtype), B.astype(dtype)
    inputs = {"x": a, "y": b, "p": (np.abs(a) + 1).astype(dtype), "u": (a / 8).astype(dtype)}
    prepare = f"using T = {kind}; auto work = desk.empty<uint8_t>(3072);"
    operands = a.astype(np.float64), b.astype(np.float64)
    wanted = {call.format(n=COUNT): f(*operands) for call, f in FUNCTIONS.items()}
    relative, absolute = (2e-5, 2e-6) if dtype is np.float32 else (3e-3, 3e-3)
    kernels.agree(wanted, inputs, dtype, prepare, rtol=relative, atol=absolute)


def test_exclusive_or_and_arange_of_16_bit_integers(kernels: AscendCHarness) -> None:
    x, y = (RANDOM.integers(-(2**15), 2**15, COUNT).astype(np.int16) for _ in range(2))
    calls = {
        f"Xor(d, x, y, {COUNT});": x ^ y,
        f"Xor(d, x, y, work, {COUNT});": x ^ y,
        f"Arange(d, int16_t(-3), int16_t(2), {COUNT});": np.arange(COUNT) * 2 - 3,
    }
    kernels.agree(calls, {"x": x, "y": y}, np.int16, "auto work = desk.empty<uint8_t>(96);")


SHAPE = f"SoftMaxTiling t{{}}; const SoftMaxShapeInfo s{{{ROWS}, {PITCH}, {ROWS}, {COLUMNS}}};"
BLOCKS = """
auto sum = desk.empty<float>(64); auto max = desk.empty<float>(64);
auto old_sum = desk.empty<float>(64); auto old_max = desk.empty<float>(64);
auto factor = desk.empty<{kind}>(128);
"""


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_softmax_in_parts_equals_softmax_of_the_whole(kernels: AscendCHarness, dtype: Any) -> None:
    kind = "float" if dtype is np.float32 else "half"
    x, y = (RANDOM.uniform(-3, 3, (ROWS, PITCH)).astype(dtype) for _ in range(2))
    first = f"SoftmaxFlashV2<{kind}>(d, old_sum, old_max, x, factor, old_sum, old_max, t, s);"
    second = f"SoftmaxFlashV2<{kind}, true>(d, sum, max, y, factor, old_sum, old_max, t, s);"
    simple = f"{first} {second} SimpleSoftMax<{kind}>(d, sum, max, y, t, s);"
    old = f"SoftmaxFlash<{kind}>(d, old_sum, old_max, x, factor, old_sum, old_max, t, false, s);"
    newer = f"SoftmaxFlash<{kind}>(d, sum, max, y, factor, old_sum, old_max, t, true, s);"
    calls = [f"{SHAPE} {first}", f"{SHAPE} {first} {second}", f"{SHAPE} {simple}",
             f"{SHAPE} {old}", f"{SHAPE} {old} {newer}"]  # fmt: skip
    more = BLOCKS.format(kind=kind)
    rows = kernels.rows(calls, {"x": x, "y": y}, ROWS * PITCH, dtype, more)
    shown = [row.reshape(ROWS, PITCH)[:, :COLUMNS] for row in rows]
    xs, ys = (v[:, :COLUMNS].astype(np.float64) for v in (x, y))
    both = np.concatenate([xs, ys], axis=1)
    whole = special.softmax(both, axis=1)
    tolerance = (
        {"rtol": 1e-5, "atol": 1e-6} if dtype is np.float32 else {"rtol": 2e-3, "atol": 1e-3}
    )
    wanted = (
        np.exp(xs - xs.max(1, keepdims=True)), np.exp(ys - both.max(1, keepdims=True)),
        whole[:, COLUMNS:], special.softmax(xs, axis=1), whole[:, COLUMNS:],
    )  # fmt: skip
    np.testing.assert_allclose(shown, wanted, **tolerance)


def test_softmax_leaves_sums_and_maxima_in_halves_where_it_is_asked_to(
    kernels: AscendCHarness,
) -> None:
    x = RANDOM.uniform(-3, 3, (ROWS, PITCH)).astype(np.float16)
    whole = "SoftMax<half>(d, low, top, x, t, s);"
    part = f"{whole} Duplicate(d, half(0), {ROWS * PITCH}); PipeBarrier<PIPE_V>();"
    calls = [f"{SHAPE} {whole}", f"{SHAPE} {part} Adds(d, low, half(0), {ROWS * 16});",
             f"{SHAPE} {part} Adds(d, top, half(0), {ROWS * 16});"]  # fmt: skip
    blocks = "auto low = desk.empty<half>(128); auto top = desk.empty<half>(128);"
    rows = kernels.rows(calls, {"x": x}, ROWS * PITCH, np.float16, blocks)
    xs = x[:, :COLUMNS].astype(np.float64)
    largest = xs.max(1, keepdims=True)
    shown, sums, maxima = rows[0].reshape(ROWS, PITCH)[:, :COLUMNS], rows[1], rows[2]
    np.testing.assert_allclose(shown, special.softmax(xs, axis=1), rtol=2e-3, atol=1e-3)
    total = np.exp(xs - largest).sum(1, keepdims=True)
    for found, wanted in ((sums, total), (maxima, largest)):
        blocks_of = found[: ROWS * 16].reshape(ROWS, 16)
        np.testing.assert_allclose(blocks_of, np.repeat(wanted, 16, axis=1), rtol=2e-3)


def test_the_gradient_of_softmax_and_its_front(kernels: AscendCHarness) -> None:
    g, y = (RANDOM.uniform(-1, 1, (ROWS, PITCH)).astype(np.float32) for _ in range(2))
    calls = [f"{SHAPE} SoftmaxGrad(d, g, y, t, false, s);",
             f"{SHAPE} SoftmaxGradFront(d, g, y, t, s);"]  # fmt: skip
    rows = kernels.rows(calls, {"g": g, "y": y}, ROWS * PITCH)
    gs, ys = (v[:, :COLUMNS].astype(np.float64) for v in (g, y))
    front = (gs * ys).sum(1, keepdims=True)
    shown = rows[0].reshape(ROWS, PITCH)[:, :COLUMNS]
    np.testing.assert_allclose(shown, (gs - front) * ys, rtol=1e-4, atol=1e-5)
    blocks = rows[1][: ROWS * 8].reshape(ROWS, 8)
    np.testing.assert_allclose(blocks, np.tile(front, (1, 8)), rtol=1e-4, atol=1e-5)


def test_quantising_rounds_to_even_and_saturates(kernels: AscendCHarness) -> None:
    x = np.concatenate([RANDOM.uniform(-90, 90, 252), [0.5, 1.5, 2.5, -300]]).astype(np.float32)
    calls = {
        "AscendQuant<float>(d, x, 2.0f, 1.0f, 256);": 2 * x + 1,
        "AscendQuant<float>(d, x, work, 1.0f, 0.0f, 256);": x,
    }
    wanted = {
        call: np.clip(np.rint(scaled.astype(np.float16)), -128, 127)
        for call, scaled in calls.items()
    }
    kernels.agree(wanted, {"x": x}, np.int8, "auto work = desk.empty<uint8_t>(1024);")


def test_dequantising_takes_one_scale_or_one_a_column(kernels: AscendCHarness) -> None:
    x = RANDOM.integers(-1000, 1000, (4, 24)).astype(np.int32)
    scales = RANDOM.uniform(0.1, 2, 24).astype(np.float32)
    packed = np.zeros(24, np.uint64)
    packed[:] = scales.view(np.uint32)
    inputs = {"x": x, "s": scales, "w": packed}
    calls = {
        "AscendDequant<float, float>(d, x, 0.5f, DequantParams{4, 24, 24});": x * 0.5,
        "AscendDequant<float, uint64_t>(d, x, w, DequantParams{4, 24, 24});": x * scales,
        "AscendDequant<float, float>(d, x, s, DequantParams{1, 96, 24});": x * scales,
    }
    kernels.agree(calls, inputs, rtol=1e-6)
    part = "AscendDequant<float, float>(d, x, s, DequantParams{4, 24, 20});"
    shown = kernels.rows([part], inputs, 96)[0].reshape(4, 24)
    np.testing.assert_allclose(shown[:, :20], (x * scales)[:, :20], rtol=1e-6)


def test_dequantising_to_half_fills_whole_blocks(kernels: AscendCHarness) -> None:
    x = RANDOM.integers(-100, 100, (3, 24)).astype(np.int32)
    call = "AscendDequant<half, float>(d, x, 0.25f, DequantParams{3, 24, 24});"
    rows = kernels.rows([call], {"x": x}, 96, np.float16)
    np.testing.assert_allclose(rows[0].reshape(3, 32)[:, :24], x * 0.25, rtol=1e-3)


def test_dropout_by_bytes_and_by_bits(kernels: AscendCHarness) -> None:
    x = RANDOM.uniform(-2, 2, (4, 64)).astype(np.float32)
    bits = RANDOM.integers(0, 256, (4, 32)).astype(np.uint8)
    kept = np.unpackbits(bits[:, :8], axis=1, bitorder="little").astype(bool)
    mask = kept.astype(np.uint8)
    info = "DropOutShapeInfo i; i.firstAxis = 4; i.srcLastAxis = 64; i.maskLastAxis ="
    calls = (f"{info} 64; DropOut<float>(d, x, m, 0.8f, i);",
             f"{info} 32; DropOut<float>(d, x, b, 0.8f, i);")  # fmt: skip
    wanted = np.where(kept, x, 0) / np.float32(0.8)
    kernels.agree(dict.fromkeys(calls, wanted), {"x": x, "m": mask, "b": bits}, rtol=1e-6)


def test_running_moments_and_sums(kernels: AscendCHarness) -> None:
    x = RANDOM.uniform(-2, 2, (3, 64)).astype(np.float32)
    update = " ".join(
        f"p.nRec = 1.0f / {i + 1}; "
        f"WelfordUpdate<float, float>(mean, var, mean, var, x[{64 * i}], p);"
        for i in range(3)
    )
    start = "Duplicate(mean, 0.0f, 64); Duplicate(var, 0.0f, 64); PipeBarrier<PIPE_V>();"
    start += " WelfordUpdateParam p; p.abComputeLength = 64;"
    copy = "DataCopy(d, {}, 64); PipeBarrier<PIPE_V>();"
    means = {
        f"{start} {update} {copy.format('mean')}": x.mean(0),
        "CumSum<float, ROWS_FIRST>(d, last, x, CumSumInfo{3, 64});": x.cumsum(0),
    }
    others = {
        f"{start} {update} {copy.format('var')}": x.var(0) * 3,
        "CumSum<float, LAST_AXIS>(d, last, x, CumSumInfo{3, 64});": x.cumsum(1),
    }
    prepare = """
    static constexpr CumSumConfig ROWS_FIRST{false, false, true};
    static constexpr CumSumConfig LAST_AXIS{true, false, false};
    auto mean = desk.empty<float>(64); auto var = desk.empty<float>(64);
    auto last = desk.empty<float>(64);
    """
    kernels.agree(means, {"x": x}, more=prepare, rtol=1e-5, atol=1e-6)
    kernels.agree(others, {"x": x}, more=prepare, rtol=1e-4, atol=1e-5)
