"""Reductions, gathers, layout changes and sorting of the kernel API, against numpy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.ci.simulator.ascendc_harness import AscendCHarness

RANDOM = np.random.default_rng(6)


def unique(count: int) -> np.ndarray[Any, Any]:
    """Shuffled numbers without ties, so that the place of an extreme is one."""
    return (RANDOM.permutation(count) - count / 2).astype(np.float32)


def test_reductions_of_whole_tensors_give_value_and_place(kernels: AscendCHarness) -> None:
    for count in (5, 64, 1000, 4160):
        x = unique(count)
        prepare = f"auto work = desk.empty<float>({count + 256});"
        calls = [
            f"ReduceSum(d, x, work, {count});",
            f"ReduceMax(d, x, work, {count}, true);",
            f"ReduceMin(d, x, work, {count}, true);",
            f"ReduceMax(d, x, work, {count});",
        ]
        filled = [f"Duplicate(d, -1.0f, 8); PipeBarrier<PIPE_V>(); {call}" for call in calls]
        rows = kernels.rows(filled, {"x": x}, 8, more=prepare)
        np.testing.assert_allclose(rows[0][0], x.sum(), rtol=1e-5, atol=1e-3)
        assert rows[1][0] == x.max()
        assert rows[1].view(np.uint32)[1] == x.argmax()
        assert rows[2][0] == x.min()
        assert rows[2].view(np.uint32)[1] == x.argmin()
        assert rows[3][0] == x.max()


@pytest.mark.parametrize(("rows", "columns"), [(5, 20), (3, 200)])
def test_reductions_of_a_matrix_along_either_axis(
    kernels: AscendCHarness, rows: int, columns: int
) -> None:
    pitch = (columns + 7) // 8 * 8  # a row fills whole blocks; what is behind it must not count
    matrix = RANDOM.uniform(0.5, 1.5, (rows, pitch)).astype(np.float32)
    matrix[:, columns:] = 1e6
    prepare = (
        f"uint32_t shape[] = {{{rows}, {columns}}}; auto space = desk.empty<uint8_t>(1024);"
        f"Duplicate(d, 0.0f, {pitch}); PipeBarrier<PIPE_V>();"
    )
    names = ["Sum", "Max", "Min", "Mean", "Prod"]
    calls = [
        f"Reduce{name}<float, Pattern::Reduce::{axis}>(d, x, {scratch}shape, true);"
        for name in names
        for axis, scratch in (("AR", "space, "), ("RA", ""))
    ]
    found = kernels.rows(calls, {"x": matrix}, pitch, more=prepare)
    counted = matrix[:, :columns].astype(np.float64)
    for i, name in enumerate(names):
        expected = getattr(np, name.lower())
        np.testing.assert_allclose(found[2 * i][:rows], expected(counted, axis=1), rtol=1e-5)
        np.testing.assert_allclose(found[2 * i + 1][:columns], expected(counted, axis=0), rtol=1e-5)


@pytest.mark.parametrize(("kind", "dtype", "rtol"), [("float", "f4", 1e-5), ("half", "f2", 4e-3)])
def test_normalisations_of_rows(
    kernels: AscendCHarness, kind: str, dtype: str, rtol: float
) -> None:
    rows, pitch, columns = 3, 112, 100  # a row fills whole blocks; what is behind it must not count
    x = RANDOM.normal(1, 2, (rows, pitch)).astype(dtype)
    gamma, beta = (RANDOM.uniform(0.5, 1.5, pitch).astype(dtype) for _ in range(2))
    shape = f"{{1, {rows}, {pitch}, {columns}}}"
    moments = "m, v, x, g, b"
    prepare = (
        f"LayerNormTiling tiling{shape}; RmsNormTiling rms{shape};"
        "LayerNormSeparateTiling apart{};"
        f"LayerNormPara para{{{rows}, {columns}, {pitch}}};"
        f"auto m = desk.empty<{kind}>(16); auto v = desk.empty<{kind}>(16);"
        "auto fm = desk.empty<float>(16); auto fr = desk.empty<float>(16);"
        "auto space = desk.empty<uint8_t>(4096);"
        f"Duplicate(d, {kind}(0), {rows * pitch}); PipeBarrier<PIPE_ALL>();"
    )
    calls = [
        f"LayerNorm(d, {moments}, space, {kind}(0.001f), tiling);",
        "LayerNorm(d, fm, fr, x, g, b, 0.001f, space, para, apart);",
        f"RmsNorm(d, x, g, {kind}(0.001f), rms);",
        f"LayerNorm(d, {moments}, {kind}(0.001f), tiling); PipeBarrier<PIPE_ALL>();"
        "for (int i = 0; i < 3; ++i) {"
        " d.SetValue(i, m.GetValue(i)); d.SetValue(3 + i, v.GetValue(i)); }",
    ]
    inputs = {"x": x, "g": gamma, "b": beta}
    found = kernels.rows(calls, inputs, rows * pitch, dtype, prepare)
    counted, scale, shift = (a[..., :columns].astype(np.float64) for a in (x, gamma, beta))
    mean, variance = counted.mean(1, keepdims=True), counted.var(1, keepdims=True)
    expected = (counted - mean) / np.sqrt(variance + 1e-3) * scale + shift
    for row in found[:2]:
        got = row.reshape(rows, pitch)[:, :columns]
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)
    expected = counted / np.sqrt((counted**2).mean(1, keepdims=True) + 1e-3) * scale
    got = found[2].reshape(rows, pitch)[:, :columns]
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)
    moments_found = np.concatenate([mean.ravel(), variance.ravel()])
    np.testing.assert_allclose(found[3][:6], moments_found, rtol=rtol, atol=rtol)


def test_reductions_by_repeat_block_and_pair(kernels: AscendCHarness) -> None:
    x = unique(512)
    prepare = "auto work = desk.empty<float>(64); Duplicate(d, 0.0f, 64); PipeBarrier<PIPE_V>();"
    calls = [
        "WholeReduceSum(d, x, 64, 8, 1, 1, 8);",
        "WholeReduceMax(d, x, 64, 8, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);",
        "WholeReduceMin(d, x, 64, 8, 1, 1, 8, ReduceOrder::ORDER_ONLY_INDEX);",
        "BlockReduceSum(d, x, 8, 64, 1, 1, 8);",
        "BlockReduceMax(d, x, 8, 64, 1, 1, 8);",
        "PairReduceSum(d, x, 1, 64, 1, 1, 8);",
        "RepeatReduceSum(d, x, 8, 64, 1, 1, 1, 8);",
        "ReduceSum(d, x, work, 64, 8, 8);",
        "ReduceMax(d, x, work, 32, 8, 8, true);",
    ]
    rows = kernels.rows(calls, {"x": x}, 64, more=prepare)
    repeats = x.reshape(8, 64)
    np.testing.assert_allclose(rows[0][:8], repeats.sum(1), rtol=1e-5, atol=1e-3)
    np.testing.assert_array_equal(rows[1][:8], repeats.max(1))
    np.testing.assert_array_equal(rows[2].view(np.uint32)[:8], repeats.argmin(1))
    np.testing.assert_allclose(rows[3], x.reshape(64, 8).sum(1), rtol=1e-5, atol=1e-3)
    np.testing.assert_array_equal(rows[4], x.reshape(64, 8).max(1))
    np.testing.assert_allclose(rows[5][:32], x[:64].reshape(32, 2).sum(1))
    np.testing.assert_allclose(rows[6][:8], repeats.sum(1), rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(rows[7][0], x.sum(), rtol=1e-5, atol=1e-3)
    first_lanes = np.where(np.arange(512) % 64 < 32, x, -np.inf)
    assert rows[8][0] == first_lanes.max()
    assert rows[8].view(np.uint32)[1] == first_lanes.argmax()


def test_the_newer_names_of_these_do_the_same(kernels: AscendCHarness) -> None:
    x = unique(512)
    value = "ReduceOrder::ORDER_ONLY_VALUE"
    same = {
        "WholeReduceSum(d, x, 64, 8, 1, 1, 8);": "Repeat<SUM, F, F>(d, x, 64, 8, 1, 1, 8);",
        "WholeReduceMax(d, x, 64, 8, 1, 1, 8);": "Repeat<MAX, F, F>(d, x, 64, 8, 1, 1, 8);",
        f"WholeReduceMin(d, x, 32, 8, 1, 1, 8, {value});": "Repeat<MIN, F, F>"
        f"(d, x, 32, 8, 1, 1, 8, {value});",
        "BlockReduceSum(d, x, 8, 64, 1, 1, 8);": "DataBlock<SUM, F, F>(d, x, 64, 8, 1, 1, 8);",
        "BlockReduceMax(d, x, 4, 64, 2, 1, 8);": "DataBlock<MAX, F, F>(d, x, 64, 4, 2, 1, 8);",
        "BlockReduceMin(d, x, 8, 64, 1, 1, 8);": "uint64_t all[] = {~0ull, 0};"
        " DataBlock<MIN, F, F>(d, x, all, 8, 1, 1, 8);",
        "PairReduceSum(d, x, 1, 64, 1, 1, 8);": "SetVectorMask<F>(0, ~0ull);"
        " PairElem<SUM, F, F, false>(d, x, MASK_PLACEHOLDER, 1, 1, 1, 8);",
    }
    newer = [re.sub(r"(Repeat|DataBlock|PairElem)<", r"Reduce\1<", call) for call in same.values()]
    prepare = (
        "using F = float; constexpr auto SUM = ReduceType::SUM;"
        "constexpr auto MAX = ReduceType::MAX, MIN = ReduceType::MIN;"
    )
    calls = [f"Duplicate(d, 0.0f, 64); PipeBarrier<PIPE_V>(); {call}" for call in [*same, *newer]]
    rows = kernels.rows(calls, {"x": x}, 64, more=prepare)
    for before, after in zip(rows[: len(same)], rows[len(same) :], strict=True):
        assert before.any()
        np.testing.assert_array_equal(before.view(np.uint32), after.view(np.uint32))


def test_gather_takes_byte_offsets_and_masks_pack_what_they_pick(kernels: AscendCHarness) -> None:
    x = unique(256)
    order = RANDOM.permutation(256)[:100].astype(np.uint32)
    keep = RANDOM.random(256) < 0.4
    bits = np.packbits(keep, bitorder="little").view(np.uint32)
    packed = np.zeros(256)
    packed[: keep.sum()], packed[255] = x[keep], keep.sum()
    by_bits = (
        "Duplicate(d, 0.0f, 256); PipeBarrier<PIPE_V>(); uint64_t kept; "
        "GatherMask(d, x, bits, true, 256, GatherMaskParams(1, 1, 8, 1), kept); "
        "PipeBarrier<PIPE_ALL>(); d.SetValue(255, float(kept));"
    )
    odd = "uint64_t kept; GatherMask(d, x, 1, true, 256, GatherMaskParams(1, 1, 8, 0), kept);"
    calls = {
        "Gather(d, x, offsets, 0, 100);": x[order],
        by_bits: packed,
        odd: x[::2],
        "CreateVecIndex(d, 3.0f, 150);": 3 + np.arange(150),
        "ArithProgression(d, 1.0f, 0.5f, 200);": 1 + 0.5 * np.arange(200),
    }
    kernels.agree(calls, {"x": x, "offsets": order * 4, "bits": bits})


def test_sixteen_address_lists_transpose(kernels: AscendCHarness) -> None:
    x = np.arange(256, dtype=np.int16)
    body = """
    Desk desk;
    auto x = desk.take<int16_t>(a[0], 256);
    auto d = desk.empty<int16_t>(256);
    LocalTensor<int16_t> from[16], to[16];
    for (int i = 0; i < 16; ++i) { from[i] = x[i * 16]; to[i] = d[i * 16]; }
    TransDataTo5HD<int16_t>(to, from, TransDataTo5HDParams(false, false, 1, 0, 0));
    desk.give(a[1], 0, d, 256);
    Transpose(d, x);
    desk.give(a[1], 1, d, 256);
"""
    kernels.equals(body, [x], [np.array([x.reshape(16, 16).T] * 2)], auto_sync=True)


@pytest.mark.parametrize("groups", [1, 3, 9])
def test_sort_orders_values_with_their_indices(kernels: AscendCHarness, groups: int) -> None:
    count = 32 * groups
    x = unique(count)
    index = np.arange(count, dtype=np.uint32)
    body = f"""
    Desk desk;
    auto x = desk.take<float>(a[0], {count});
    auto index = desk.take<uint32_t>(a[1], {count});
    auto sorted = desk.empty<float>({2 * count});
    auto work = desk.empty<float>({2 * count});
    auto values = desk.empty<float>({count});
    auto places = desk.empty<uint32_t>({count});
    LocalTensor<float> packed;
    Concat(packed, x, work, {groups});
    Sort<float, true>(sorted, packed, index, work, {groups});
    PipeBarrier<PIPE_V>();
    Extract(values, places, sorted, {groups});
    desk.give(a[2], 0, values, {count});
    desk.give(a[3], 0, places, {count});
"""
    sorted_ = np.argsort(-x)
    kernels.equals(body, [x, index], [x[sorted_], sorted_.astype(np.uint32)], auto_sync=True)
