"""Element-by-element calls of the kernel API in all their forms, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ci.simulator.ascendc_harness import AscendCHarness

COUNT = 300  # whole repeats and a rest for every element size

RANDOM = np.random.default_rng(5)
X = RANDOM.uniform(-4, 4, COUNT).astype(np.float32)
Y = RANDOM.uniform(0.5, 4, COUNT).astype(np.float32)

Array = np.ndarray[Any, Any]

FILL = f"Duplicate(d, 1.5f, {COUNT}); PipeBarrier<PIPE_V>(); "

FLOAT_CALLS: dict[str, Any] = {
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
    f"Rsqrt(d, y, {COUNT});": 1 / np.sqrt(Y),
    f"Reciprocal(d, y, {COUNT});": 1 / Y,
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


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> AscendCHarness:
    return AscendCHarness(tmp_path_factory.mktemp("ascendc"))


def test_calls_with_a_count_agree_with_numpy(kernels: AscendCHarness) -> None:
    rows = kernels.rows(list(FLOAT_CALLS), [X, Y], COUNT, np.float32, "x:float y:float", "float")
    for call, row, wanted in zip(FLOAT_CALLS, rows, FLOAT_CALLS.values(), strict=True):
        # The instructions behind these two are documented as approximations.
        rough = call.startswith(("Rsqrt", "Reciprocal"))
        np.testing.assert_allclose(
            row, wanted, rtol=4e-3 if rough else 2e-6, atol=2e-6, err_msg=call
        )


def test_masks_choose_lanes_and_strides_choose_blocks(kernels: AscendCHarness) -> None:
    fill = "Duplicate(d, 0.0f, 256); PipeBarrier<PIPE_V>(); "
    calls = [
        fill + "Add(d, x, y, 40, 4, BinaryRepeatParams());",
        fill + "uint64_t m[2] = {0xf0f0, 0}; Add(d, x, y, m, 4, BinaryRepeatParams());",
        # Every second block of x, packed: 4 blocks of 8 in a repeat, repeats 8 apart.
        fill + "Adds(d, x, 1.0f, 32, 4, UnaryRepeatParams(1, 2, 4, 8));",
        fill + "Muls(d, x, 2.0f, 64, 4, {1, 1, 8, 0});",
        fill + "Duplicate(d, 7.0f, 8, 4, 1, 8);",
        fill + "Copy(d, x, 64, 2, CopyRepeatParams(1, 1, 8, 16));",
        fill + "Brcb(d, x, 4, BrcbRepeatParams(1, 8));",
    ]
    inputs = [X[:256], Y[:256]]
    rows = kernels.rows(calls, inputs, 256, np.float32, "x:float y:float", "float")
    lane = np.arange(256) % 64
    both = X[:256] + Y[:256]
    np.testing.assert_array_equal(rows[0], np.where(lane < 40, both, 0))
    chosen = (0xF0F0 >> np.minimum(lane, 63)) & (lane < 16)
    np.testing.assert_array_equal(rows[1], np.where(chosen & 1, both, 0))
    blocks = X[:256].reshape(4, 8, 8)
    np.testing.assert_array_equal(rows[2][:128], (blocks[:, ::2] + 1).reshape(-1)[:128])
    np.testing.assert_array_equal(rows[3], np.tile(X[:64] * 2, 4))
    np.testing.assert_array_equal(rows[4], np.where(lane < 8, 7, 0))
    np.testing.assert_array_equal(rows[5][:128], np.concatenate([X[:64], X[128:192]]))
    np.testing.assert_array_equal(rows[6], np.repeat(X[:32], 8))


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
    rows = kernels.rows(list(calls), [a, b], 160, np.int16, "x:int16_t y:int16_t", "int16_t")
    for call, row, wanted in zip(calls, rows, calls.values(), strict=True):
        np.testing.assert_array_equal(row, wanted.astype(np.int16), err_msg=call)


def test_casts_change_width_in_both_directions(kernels: AscendCHarness) -> None:
    values = np.round(RANDOM.uniform(-100, 100, 288) * 4) / 4
    halves = values.astype(np.float16)
    body = """
__aicore__ inline void kernel(GM_ADDR* a) {
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
}"""
    likes = [np.zeros(288, t) for t in (np.float32, np.int32, np.float16, np.float32)]
    ran = kernels.run(body, [halves], likes, auto_sync=True)
    assert ran.outcome == "ok", ran.report
    floats, integers, through_bytes, through_brain = ran.outputs
    np.testing.assert_array_equal(floats, halves.astype(np.float32))
    np.testing.assert_array_equal(integers, np.rint(values))
    np.testing.assert_array_equal(through_bytes, np.trunc(values))
    np.testing.assert_allclose(through_brain, values, rtol=2**-8)


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
    }
    rows = kernels.rows(list(calls), [x, y], 256, np.float32, "x:float y:float", "float", prepare)
    for call, row, wanted in zip(calls, rows, calls.values(), strict=True):
        np.testing.assert_array_equal(row, wanted.astype(np.float32), err_msg=call)
