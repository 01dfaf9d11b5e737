"""Element-by-element calls of the kernel API in all their forms, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ci.simulator.ascendc_harness import AscendCHarness

COUNT = 300  # whole repeats and a rest for every element size

RANDOM = np.random.default_rng(5)
X = RANDOM.uniform(-4, 4, COUNT).astype(np.float32)
Y = RANDOM.uniform(0.5, 4, COUNT).astype(np.float32)

FILL = f"Duplicate(d, 1.5f, {COUNT}); PipeBarrier<PIPE_V>(); "

# As kernels take calls for arguments, with a count of leading elements for the mask.
POINTED = (
    "void (*call)(const LocalTensor<float>&, const LocalTensor<float>&, const LocalTensor<float>&,"
    " uint64_t, const uint8_t, const BinaryRepeatParams&) = Div<float>;"
    " call(d, x, y, 64, 4, BinaryRepeatParams(1, 1, 1, 8, 8, 8));"
)

FLOAT_CALLS: dict[str, Any] = {
    FILL + POINTED: np.where(np.arange(COUNT) < 256, X / Y, 1.5),
    f"Add(d, x, y, {COUNT});": X + Y,
    f"Sub(d, x, y, {COUNT});": X - Y,
    f"Mul(d, x, y, {COUNT});": X * Y,
    f"Div(d, x, y, {COUNT});": X / Y,
    f"Max(d, x, y, {COUNT});": np.maximum(X, Y),
    f"Min(d, x, y, {COUNT});": np.minimum(X, Y),
    f"Abs(d, x, {COUNT});": np.abs(X),
    f"Relu(d, x, {COUNT});": np.maximum(X, 0),
    f"Exp(d, x, {COUNT});": np.exp(X),
    f"Ln(d, y, {COUNT});": np.log(Y),
    f"Sqrt(d, y, {COUNT});": np.sqrt(Y),
    f"Adds(d, x, 2.5f, {COUNT});": X + np.float32(2.5),
    f"Muls(d, x, -3.0f, {COUNT});": X * -3,
    f"Maxs(d, x, 0.25f, {COUNT});": np.maximum(X, 0.25),
    f"Mins(d, x, 0.25f, {COUNT});": np.minimum(X, 0.25),
    f"LeakyRelu(d, x, 0.1f, {COUNT});": np.where(X > 0, X, X * np.float32(0.1)),
    f"{FILL}Axpy(d, x, 2.0f, {COUNT});": 1.5 + 2 * X,
    f"{FILL}MulAddDst(d, x, y, {COUNT});": 1.5 + X * Y,
    f"{FILL}FusedMulAdd(d, x, y, {COUNT});": 1.5 * X + Y,
    "d = x + y;": X + Y,
    "d = x - y;": X - Y,
    "d = x * y;": X * Y,
    "d = x / y;": X / Y,
    f"Cast(d, x, RoundMode::CAST_FLOOR, {COUNT});": np.floor(X),
    f"Cast(d, x, RoundMode::CAST_ROUND, {COUNT});": np.sign(X) * np.floor(np.abs(X) + 0.5),
}


def test_calls_with_a_count_agree_with_numpy(kernels: AscendCHarness) -> None:
    kernels.agree(FLOAT_CALLS, {"x": X, "y": Y}, rtol=2e-6, atol=2e-6)


def test_approximate_calls_are_near_numpy(kernels: AscendCHarness) -> None:
    calls = {f"Rsqrt(d, y, {COUNT});": 1 / np.sqrt(Y), f"Reciprocal(d, y, {COUNT});": 1 / Y}
    kernels.agree(calls, {"y": Y}, rtol=4e-3, atol=2e-6)


def test_masks_choose_lanes_and_strides_choose_blocks(kernels: AscendCHarness) -> None:
    lane = np.arange(256) % 64
    both = X[:256] + Y[:256]
    chosen = (0xF0F0 >> np.minimum(lane, 63)) & (lane < 16)
    blocks = X[:256].reshape(4, 8, 8)
    calls = {
        "Add(d, x, y, 40, 4, BinaryRepeatParams());": np.where(lane < 40, both, 0),
        "uint64_t m[2] = {0xf0f0, 0}; Add(d, x, y, m, 4, BinaryRepeatParams());": np.where(
            chosen & 1, both, 0
        ),
        # Every second block of x, packed: 4 blocks of 8 in a repeat, repeats 8 apart.
        "Adds(d, x, 1.0f, 32, 4, UnaryRepeatParams(1, 2, 4, 8));": blocks[:, ::2] + 1,
        "Muls(d, x, 2.0f, 64, 4, {1, 1, 8, 0});": np.tile(X[:64] * 2, 4),
        "Duplicate(d, 7.0f, 8, 4, 1, 8);": np.where(lane < 8, 7, 0),
        "Copy(d, x, 64, 2, CopyRepeatParams(1, 1, 8, 16));": np.r_[X[:64], X[128:192]],
        "Brcb(d, x, 4, BrcbRepeatParams(1, 8));": np.repeat(X[:32], 8),
    }
    fill = "Duplicate(d, 0.0f, 256); PipeBarrier<PIPE_V>(); "
    filled = {fill + call: wanted for call, wanted in calls.items()}
    kernels.agree(filled, {"x": X[:256], "y": Y[:256]})


def test_integers_shift_and_combine_bits(kernels: AscendCHarness) -> None:
    a = RANDOM.integers(-1000, 1000, 160).astype(np.int16)
    b = RANDOM.integers(-1000, 1000, 160).astype(np.int16)
    calls = {
        "And(d, x, y, 160);": a & b,
        "Or(d, x, y, 160);": a | b,
        "Not(d, x, 160);": ~a,
        "ShiftLeft(d, x, int16_t(3), 160);": a << 3,
        "ShiftRight(d, x, int16_t(2), 160);": a >> 2,
        "Add(d, x, y, 160);": a + b,
        "Mul(d, x, y, 160);": a * b,
        "Maxs(d, x, int16_t(5), 160);": np.maximum(a, 5),
    }
    kernels.agree(calls, {"x": a, "y": b}, np.int16)


def test_casts_change_width_in_both_directions(kernels: AscendCHarness) -> None:
    values = np.round(RANDOM.uniform(-100, 100, 288) * 4) / 4
    halves = values.astype(np.float16)
    body = """
    Desk desk;
    auto h = desk.take<half>(a[0], 288);
    auto f = desk.empty<float>(288);
    auto b = desk.empty<bfloat16_t>(288);
    auto i = desk.empty<int32_t>(288);
    auto c = desk.empty<int8_t>(288);
    auto h2 = desk.empty<half>(288);
    auto f2 = desk.empty<float>(288);
    Cast(f, h, RoundMode::CAST_NONE, 288);
    PipeBarrier<PIPE_V>();
    Cast(i, f, RoundMode::CAST_RINT, 288);
    Cast(b, f, RoundMode::CAST_RINT, 288);
    Cast(c, h, RoundMode::CAST_TRUNC, 288);
    PipeBarrier<PIPE_V>();
    Cast(h2, c, RoundMode::CAST_NONE, 288);
    Cast(f2, b, RoundMode::CAST_NONE, 288);
    desk.give(a[1], 0, f, 288);
    desk.give(a[2], 0, i, 288);
    desk.give(a[3], 0, h2, 288);
    desk.give(a[4], 0, f2, 288);
"""
    likes = [np.zeros(288, t) for t in (np.float32, np.int32, np.float16, np.float32)]
    ran = kernels.ok(body, [halves], likes, auto_sync=True)
    wanted = (halves, np.rint(values), np.trunc(values))
    for found, like in zip(ran.outputs, wanted, strict=False):
        np.testing.assert_array_equal(found, like)
    np.testing.assert_allclose(ran.outputs[3], values, rtol=2**-8)


def test_comparisons_and_selections_in_all_modes(kernels: AscendCHarness) -> None:
    x, y = X[:256], Y[:256]
    prepare = "auto bits = desk.empty<uint8_t>(64);"
    greater = "Compare(bits, x, y, CMPMODE::GT, 256); PipeBarrier<PIPE_V>(); "
    calls = {
        greater + "Select(d, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 256);": np.where(
            x > y, x, y
        ),
        greater + "Select(d, bits, x, 9.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 256);": np.where(
            x > y, x, 9
        ),
        "CompareScalar(bits, x, 1.0f, CMPMODE::LE, 256); PipeBarrier<PIPE_V>(); "
        "Select(d, bits, x, 9.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 256);": np.where(x <= 1, x, 9),
        "bits = x >= y; PipeBarrier<PIPE_V>(); "
        "Select(d, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64, 4, "
        "BinaryRepeatParams());": np.where(x >= y, x, y),
        # The same 64 bits for every repeat.
        greater + "Select(d, bits, x, y, SELMODE::VSEL_CMPMASK_SPR, 64, 4, "
        "BinaryRepeatParams());": np.where(np.tile(x[:64] > y[:64], 4), x, y),
        # Without a mask of its own it sets that which it is given all the same.
        greater + "Select<float, uint8_t, false>(d, bits, x, 9.0f, "
        "SELMODE::VSEL_TENSOR_SCALAR_MODE, 64, 4, BinaryRepeatParams());": np.where(x > y, x, 9),
        # The scalar is in the register already.
        greater + "Select(d, bits, x, 7.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64, 4, "
        "BinaryRepeatParams()); PipeBarrier<PIPE_V>(); "
        "Select(d, bits, x, 4, BinaryRepeatParams());": np.where(x > y, x, 7),
    }
    kernels.agree(calls, {"x": x, "y": y}, more=prepare)
