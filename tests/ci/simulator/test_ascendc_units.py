"""Normalisations, padding, logic reductions and converting sums, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.ci.simulator.ascendc_harness import AscendCHarness

RANDOM = np.random.default_rng(52)
FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float16])


def close(dtype: Any) -> dict[str, float]:
    return {"rtol": 1e-4, "atol": 2e-5} if dtype is np.float32 else {"rtol": 4e-3, "atol": 4e-3}


def kind_of(dtype: Any) -> str:
    return "float" if dtype is np.float32 else "half"


def values(*shape: int, dtype: Any) -> Any:
    return RANDOM.uniform(-2, 2, shape).astype(dtype)


def outputs(
    kernels: AscendCHarness, call: str, inputs: dict[str, Any], sizes: dict[str, int], dtype: Any
) -> list[Any]:
    """The tensors of these sizes that one call fills, each the output of a launch of its own."""
    kind = kind_of(dtype)
    more = "".join(f"auto {name} = desk.empty<{kind}>({size});" for name, size in sizes.items())
    calls = [f"{call} PipeBarrier<PIPE_ALL>(); Adds(d, {name}, {kind}(0), {size});"
             for name, size in sizes.items()]  # fmt: skip
    rows = kernels.rows(calls, inputs, max(sizes.values()), dtype, more)
    return [row[:size].astype(np.float64) for row, size in zip(rows, sizes.values(), strict=True)]


@FLOATS
def test_a_sum_is_normalised_row_by_row(kernels: AscendCHarness, dtype: Any) -> None:
    x, g = values(6, 48, dtype=dtype), values(6, 48, dtype=dtype)
    gamma, beta = values(48, dtype=dtype), values(48, dtype=dtype)
    call = (
        f"DeepNorm(y, m, r, x, g, b, s, {kind_of(dtype)}(0.5f), {kind_of(dtype)}(1e-3f),"
        " DeepNormTiling{2, 3, 48, 48});"
    )
    inputs = {"x": x, "g": g, "b": beta, "s": gamma}
    y, mean, variance = outputs(kernels, call, inputs, {"y": 288, "m": 6, "r": 6}, dtype)
    whole = x.astype(np.float64) * 0.5 + g
    spread = 1 / np.sqrt(whole.var(1) + 1e-3)
    wanted = (whole - whole.mean(1)[:, None]) * spread[:, None] * gamma + beta
    np.testing.assert_allclose(y.reshape(6, 48), wanted, **close(dtype))
    np.testing.assert_allclose(mean, whole.mean(1), **close(dtype))
    np.testing.assert_allclose(variance, whole.var(1), **close(dtype))


@FLOATS
def test_lanes_are_normalised_over_the_batch(kernels: AscendCHarness, dtype: Any) -> None:
    x, gamma, beta = values(5, 96, dtype=dtype), values(16, dtype=dtype), values(16, dtype=dtype)
    call = f"BatchNorm(y, m, v, x, s, b, {kind_of(dtype)}(1e-3f), BatchNormTiling{{5, 96}});"
    inputs = {"x": x, "s": gamma, "b": beta}
    y, mean, variance = outputs(kernels, call, inputs, {"y": 480, "m": 96, "v": 96}, dtype)
    wide = x.astype(np.float64)
    wanted = (wide - wide.mean(0)) / np.sqrt(wide.var(0) + 1e-3)
    wanted = wanted * gamma[:5, None] + beta[:5, None]
    np.testing.assert_allclose(y.reshape(5, 96), wanted, **close(dtype))
    np.testing.assert_allclose(mean, wide.mean(0), **close(dtype))
    np.testing.assert_allclose(variance, wide.var(0), **close(dtype))


@FLOATS
def test_groups_of_channels_are_normalised(kernels: AscendCHarness, dtype: Any) -> None:
    x = values(2, 6, 32, dtype=dtype)
    gamma, beta = values(16, dtype=dtype), values(16, dtype=dtype)
    tiling = "GroupNormTiling{2, 6, 32, 3, 2}"
    call = f"GroupNorm(y, m, v, x, s, b, {kind_of(dtype)}(1e-3f), {tiling});"
    inputs = {"x": x, "s": gamma, "b": beta}
    y, mean, variance = outputs(kernels, call, inputs, {"y": 384, "m": 6, "v": 6}, dtype)
    groups = x.astype(np.float64).reshape(6, 64)
    wanted = (groups - groups.mean(1)[:, None]) / np.sqrt(groups.var(1) + 1e-3)[:, None]
    wanted = wanted.reshape(2, 6, 32) * gamma[:6, None] + beta[:6, None]
    np.testing.assert_allclose(y.reshape(2, 6, 32), wanted, **close(dtype))
    np.testing.assert_allclose(mean, groups.mean(1), **close(dtype))
    np.testing.assert_allclose(variance, groups.var(1), **close(dtype))


@FLOATS
def test_the_gradients_of_a_normalisation_are_those_of_its_formula(
    kernels: AscendCHarness, dtype: Any
) -> None:
    dy, x, gamma = (values(*s, dtype=dtype) for s in ((4, 48), (4, 48), (48,)))
    wide, slope = x.astype(np.float64), dy.astype(np.float64) * gamma
    mean, variance = np.zeros(16, dtype), np.zeros(16, dtype)
    mean[:4], variance[:4] = wide.mean(1), wide.var(1)
    call = (
        f"LayerNormGrad(p, f, g, x, v, m, s, {kind_of(dtype)}(1e-3f),"
        " LayerNormGradTiling{2, 2, 48, 48});"
    )
    inputs = {"g": dy, "x": x, "v": variance, "m": mean, "s": gamma}
    found, scaled = outputs(kernels, call, inputs, {"p": 192, "f": 192}, dtype)
    inverse = (variance[:4].astype(np.float64) + 1e-3)[:, None] ** -0.5
    centred = wide - mean[:4, None].astype(np.float64)
    of_variance = (-0.5 * slope * centred * inverse**3).sum(1, keepdims=True)
    of_mean = (-slope * inverse).sum(1, keepdims=True)
    of_mean += of_variance / 48 * (-2 * centred).sum(1, keepdims=True)
    wanted = slope * inverse + of_variance * 2 / 48 * centred + of_mean / 48
    np.testing.assert_allclose(found.reshape(4, 48), wanted, **close(dtype))
    np.testing.assert_allclose(scaled.reshape(4, 48), centred * inverse, **close(dtype))
    call = "LayerNormGradBeta(p, f, r, g, LayerNormGradBetaTiling{2, 2, 48, 48});"
    of_gamma, of_beta = outputs(kernels, call, {"r": x, "g": dy}, {"p": 48, "f": 48}, dtype)
    np.testing.assert_allclose(of_gamma, (wide * dy).sum(0), **close(dtype))
    np.testing.assert_allclose(of_beta, dy.astype(np.float64).sum(0), **close(dtype))


@FLOATS
def test_rows_are_normalised_by_given_moments_in_the_space_of_the_host(
    kernels: AscendCHarness, dtype: Any
) -> None:
    x, gamma, beta = values(5, 112, dtype=dtype), values(112, dtype=dtype), values(112, dtype=dtype)
    mean = values(8, dtype=np.float32)
    variance = np.abs(values(8, dtype=np.float32))
    kind = kind_of(dtype)
    space = 2 if dtype is np.float32 else 4
    more = f"auto r = desk.empty<float>(8); auto w = desk.empty<uint8_t>({space * 104 * 4});"
    call = (
        f"Normalize<{kind}, {kind}>(d, r, m, v, x, s, b, w, 1e-3f, NormalizePara{{5, 100, 112}});"
    )
    inputs = {"m": mean, "v": variance, "x": x, "s": gamma, "b": beta}
    found = kernels.rows([call], inputs, 560, dtype, more)[0].reshape(5, 112)[:, :100]
    inverse = 1 / np.sqrt(variance[:5].astype(np.float64) + 1e-3)
    wide = x[:, :100].astype(np.float64)
    wanted = (wide - mean[:5, None]) * inverse[:, None] * gamma[:100] + beta[:100]
    np.testing.assert_allclose(found, wanted, **close(dtype))


def test_running_moments_end_as_one_mean_and_one_variance(kernels: AscendCHarness) -> None:
    x = RANDOM.uniform(-2, 2, (7, 136))
    sizes = np.where(np.arange(136) < 100, 7, 6).astype(np.int32)
    lanes = [x[:n, lane] for lane, n in enumerate(sizes)]
    mean = np.array([lane.mean() for lane in lanes], np.float32)
    squares = np.array([lane.var() * lane.size for lane in lanes], np.float32)
    every = np.concatenate(lanes)
    inputs = {"m": mean, "q": squares, "c": sizes}
    more = "auto o = desk.empty<float>(8); auto w = desk.empty<uint8_t>(1024);"
    more += "static constexpr WelfordFinalizeConfig CORRECTED{true};"
    shape = (
        f"WelfordFinalizePara p{{7, 136, 7, 100, 6, 36, 1.0f / 136, 1.0f / {every.size}, 0.5f}};"
    )
    calls = {
        f"{shape} WelfordFinalize(d, o, m, q, w, p);": every.mean(),
        f"{shape} WelfordFinalize(o, d, m, q, w, p);": every.var(),
        f"{shape} WelfordFinalize(o, d, m, q, c, p);": every.var(),
        f"{shape} WelfordFinalize<false, CORRECTED>(o, d, m, q, c, w, p);": every.var()
        * every.size
        / 2,
    }
    kernels.agree({call: np.array([v]) for call, v in calls.items()}, inputs, more=more, rtol=1e-4)
    even = "WelfordFinalizePara p{7, 128, 0, 128, 0, 0, 1.0f / 128, 1.0f / 896, 0};"
    x = RANDOM.uniform(-2, 2, (7, 128))
    inputs = {"m": x.mean(0).astype(np.float32), "q": (x.var(0) * 7).astype(np.float32)}
    calls = {f"{even} WelfordFinalize(d, o, m, q, w, p);": x.mean(),
             f"{even} WelfordFinalize(o, d, m, q, w, p);": x.var()}  # fmt: skip
    kernels.agree({call: np.array([v]) for call, v in calls.items()}, inputs, more=more, rtol=1e-4)


@FLOATS
def test_the_decimal_logarithm_of_softmax(kernels: AscendCHarness, dtype: Any) -> None:
    x = values(5, 80, dtype=dtype)
    call = "LogSoftMax(y, s, m, x, w, LogSoftMaxTiling{}, SoftMaxShapeInfo{5, 80, 5, 75});"
    block = 8 if dtype is np.float32 else 16
    call = f"auto w = desk.empty<uint8_t>(2048); {call}"
    sizes = {"y": 400, "s": 5 * block, "m": 5 * block}
    y, total, high = (
        outputs(kernels, call, {"x": x}, {name: size, **sizes}, dtype)[0]
        for name, size in sizes.items()
    )
    wide = x[:, :75].astype(np.float64)
    wanted = special.log_softmax(wide, axis=1) / np.log(10)
    np.testing.assert_allclose(y.reshape(5, 80)[:, :75], wanted, **close(dtype))
    largest = wide.max(1, keepdims=True)
    np.testing.assert_allclose(high.reshape(5, block), np.repeat(largest, block, 1), rtol=1e-3)
    sums = np.exp(wide - largest).sum(1, keepdims=True)
    np.testing.assert_allclose(total.reshape(5, block), np.repeat(sums, block, 1), rtol=1e-3)


@FLOATS
def test_the_second_fast_gelu_is_a_parabola_between_its_ends(
    kernels: AscendCHarness, dtype: Any
) -> None:
    x = np.concatenate([values(200, dtype=dtype) * 3, [0, 2.6, -2.6, 9, -9, 1e-3]]).astype(dtype)
    wide = x.astype(np.float64)
    sign = (wide + 1e-12) / np.abs(wide + 1e-12)
    part = -0.1444 * (np.minimum(np.abs(wide * 0.70710678), 1.769) - 1.769) ** 2 + 0.5
    calls = {f"FasterGeluV2(d, x, {x.size});": wide * (sign * part + 0.5)}
    kernels.agree(calls, {"x": x}, dtype, **close(dtype))


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
@pytest.mark.parametrize(("rows", "columns"), [(3, 40), (7, 200), (1, 5)])
def test_zeros_and_ones_are_reduced_by_logic(
    kernels: AscendCHarness, dtype: Any, rows: int, columns: int
) -> None:
    block = 32 // np.dtype(dtype).itemsize
    pitch = -(-columns // block) * block
    kind = "float" if dtype is np.float32 else "uint8_t"
    for chance in (0.05, 0.95):
        x = np.zeros((rows, pitch), dtype)
        x[:, :columns] = RANDOM.random((rows, columns)) < chance
        seen = x[:, :columns].astype(bool)
        shape = f"const uint32_t shape[] = {{{rows}, {columns}}};"
        wanted = {
            f"{shape} Reduce{name}<{kind}, Pattern::Reduce::{pattern}>(d, x, shape, true);":
            reduce(seen, axis=axis).astype(dtype)
            for name, reduce in (("All", np.all), ("Any", np.any))
            for pattern, axis in (("AR", 1), ("RA", 0))
        }  # fmt: skip
        for call, like in wanted.items():
            kernels.agree({call: like}, {"x": x}, dtype)


def test_the_sum_of_exclusive_ors_saturates(kernels: AscendCHarness) -> None:
    small, other = (RANDOM.integers(-5, 90, 300).astype(np.int16) for _ in range(2))
    large = np.full(300, 30000, np.int16)
    calls = {
        "ReduceXorSum(d, x, y, 300);": np.array([(small ^ other).sum()]),
        "ReduceXorSum(d, x, y, w, 77);": np.array([(small ^ other)[:77].sum()]),
        "ReduceXorSum(d, z, z0, 300);": np.array([32767]),
        "ReduceXorSum(d, z, n, 300);": np.array([-32768]),
    }
    inputs = {"x": small, "y": other, "z": large, "z0": large * 0, "n": np.full(300, -1, np.int16)}
    more = "auto w = desk.empty<uint8_t>(512);"
    for call, like in calls.items():
        kernels.agree({call: like}, inputs, np.int16, more)


@pytest.mark.few(4)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int16])
@pytest.mark.parametrize(("width", "left", "right"), [(15, 0, 1), (13, 2, 1), (9, 0, 3), (3, 1, 0)])
def test_rows_get_columns_on_both_sides(
    kernels: AscendCHarness, dtype: Any, width: int, left: int, right: int
) -> None:
    block = 32 // np.dtype(dtype).itemsize
    pitch = -(-width // block) * block
    if left + width + right > pitch:
        right = pitch - width - left
    x = RANDOM.integers(-50, 50, (8, width)).astype(dtype)
    call = f"Pad(d, x, PadParams{{{left}, {right}, 7}}, PadTiling{{8, {width}, {width}}});"
    rows = kernels.rows([call], {"x": x}, 8 * pitch, dtype)[0].reshape(8, pitch)
    wanted = np.pad(x, ((0, 0), (left, right)), constant_values=7)
    np.testing.assert_array_equal(rows[:, : left + width + right], wanted)


def test_what_follows_in_whole_blocks_is_filled_and_taken_away(kernels: AscendCHarness) -> None:
    x = RANDOM.uniform(-9, 9, (300, 16)).astype(np.float16)
    filled = x.copy()
    filled[:, 13:] = -3
    calls = {
        "Pad(d, x, PadParams{0, 3, -3}, PadTiling{300, 16, 13});": filled,
        "UnPad(d, x, UnPadParams{0, 5}, UnPadTiling{300, 16});": x[:, :11],
    }
    for call, like in calls.items():
        kernels.agree({call: like}, {"x": x}, np.float16)


@pytest.mark.parametrize(
    ("source", "result", "low"),
    [(np.float16, np.int8, -128), (np.int16, np.int8, -128), (np.float32, np.float16, None)],
)
def test_sums_and_differences_are_cut_off_and_converted(
    kernels: AscendCHarness, source: Any, result: Any, low: int | None
) -> None:
    x, y = (RANDOM.integers(-90, 90, 300).astype(source) for _ in range(2))
    to = "int8_t" if result is np.int8 else "half"

    def cut(values: Any) -> Any:
        wide = np.maximum(values.astype(np.float64), 0)
        return np.minimum(wide, 127) if low is not None else wide

    calls = {f"AddReluCast<{to}>(d, x, y, 300);": cut(x + y),
             f"SubReluCast<{to}>(d, x, y, 300);": cut(x - y)}  # fmt: skip
    kernels.agree(calls, {"x": x, "y": y}, result)


def test_sums_get_their_scale_and_are_cut_off(kernels: AscendCHarness) -> None:
    x, y = (RANDOM.integers(-900, 900, 3000).astype(np.int32) for _ in range(2))
    scale = "SetDeqScale(half(0.5f));"
    strides = "BinaryRepeatParams{1, 1, 1, 4, 8, 8}"
    whole = np.maximum((x + y) * 0.5, 0)
    calls = {
        f"{scale} AddDeqRelu(d, x, y, 2999);": whole[:2999],
        f"{scale} AddDeqRelu(d, x, y, 64, 40, {strides});": whole[: 40 * 64],
        f"{scale} CastDequant<half, int32_t>(d, x, 300);": x[:300] * 0.5,
    }
    for call, like in calls.items():
        kernels.agree({call: like}, {"x": x, "y": y}, np.float16)


def test_each_place_of_a_block_has_its_own_scale(kernels: AscendCHarness) -> None:
    x = RANDOM.integers(-60, 60, 128).astype(np.int16)
    scales = np.arange(16) % 4 * 0.5 + 0.5
    offsets = np.arange(16) - 8
    more = (
        "VdeqInfo info; for (uint32_t i = 0; i < 16; ++i) {"
        " info.vdeqScale[i] = float(i % 4) * 0.5f + 0.5f; info.vdeqOffset[i] = int16_t(i) - 8;"
        " info.vdeqSignMode[i] = true; } auto table = desk.empty<uint64_t>(16);"
        "Duplicate(d.ReinterpretCast<int16_t>(), int16_t(0), 128); PipeBarrier<PIPE_ALL>();"
    )
    call = (
        "SetDeqScale(table, info);"
        "CastDequant<int8_t, int16_t, true, false>(d, x, 128); PipeBarrier<PIPE_ALL>();"
    )
    rows = kernels.rows([call], {"x": x}, 256, np.int8, more)[0].reshape(8, 32)[:, :16]
    wanted = np.clip(np.rint(x.reshape(8, 16) * scales + offsets), -128, 127)
    np.testing.assert_array_equal(rows, wanted)


def test_bits_are_counted_by_the_newer_names(kernels: AscendCHarness) -> None:
    call = (
        "d.SetValue(0, int32_t(GetSFFValue<1>(40))); d.SetValue(1, int32_t(GetBitCount<0>(7)));"
        "d.SetValue(2, int32_t(CountLeadingZero(1)));"
    )
    kernels.agree({call: np.array([3, 61, 63])}, {"x": np.zeros(8, np.int32)}, np.int32)
