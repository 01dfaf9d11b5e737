"""Library calls that attention and expert kernels make: TopK, transposition, de-quantisation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from tests.ci.simulator.ascendc_harness import AscendCHarness

RANDOM = np.random.default_rng(11)


@pytest.mark.parametrize("kind", ["float", "half"])
def test_topk_gives_the_first_of_each_row_and_their_indices(
    kernels: AscendCHarness, kind: str
) -> None:
    rows, n, inner, k = 3, 90, 96, 5
    dtype = np.float32 if kind == "float" else np.float16
    pitch = 8 if kind == "float" else 16
    x = np.stack([RANDOM.permutation(inner) for _ in range(rows)]).astype(dtype)
    high, low = x.copy(), x.copy()
    high[:, n:], low[:, n:] = -1, inner  # padding that never counts
    index = np.arange(inner, dtype=np.int32) + 7
    prepare = (
        f"LocalTensor<bool> none; TopkTiling t; TopKInfo info{{{rows}, {inner}, {n}}};"
        f"auto at = desk.empty<int32_t>({rows * 8}); auto work = desk.empty<uint8_t>(4096);"
    )
    calls = [
        f"TopK<{kind}, true>(d, at, x, i, none, work, {k}, t, info);",
        f"TopK<{kind}>(d, at, low, i, none, work, {k}, t, info, false);",
        f"TopK<{kind}>(d, at, x, i, none, {k}, t, info);",
    ]
    inputs = {"x": high, "low": low, "i": index}
    values = kernels.rows(calls, inputs, rows * pitch, dtype, prepare)
    for call, wanted in zip(values, (high, -low, high), strict=True):
        got = call.reshape(rows, pitch)[:, :k]
        np.testing.assert_array_equal(np.abs(got), np.abs(-np.sort(-wanted, axis=1)[:, :k]))
    calls = [call.replace("(d, at", "(v, d") for call in calls]
    prepare = prepare.replace("auto at = desk.empty<int32_t>", f"auto v = desk.empty<{kind}>")
    prepare = prepare.replace(f"({rows * 8})", f"({rows * pitch})")
    places = kernels.rows(calls, inputs, rows * 8, np.int32, prepare)
    for call, wanted, first in zip(places, (high, -low, high), (7, 0, 0), strict=True):
        order = np.argsort(-wanted, axis=1)[:, :k] + first
        np.testing.assert_array_equal(call.reshape(rows, 8)[:, :k], order)


def test_topk_of_rows_of_32_leaves_no_gap_and_marks_finished_rows(kernels: AscendCHarness) -> None:
    rows, k = 4, 6
    x = np.stack([RANDOM.permutation(32) for _ in range(rows)]).astype(np.float32)
    done = np.array([0, 1, 0, 1] + [0] * 28, np.uint8)
    prepare = (
        f"LocalTensor<bool> none; TopkTiling t; TopKInfo info{{{rows}, 32, 30}};"
        "LocalTensor<int32_t> no; auto v = desk.empty<float>(64);"
    )
    small = (
        f"TopK<float, false, false, false, TopKMode::TOPK_NSMALL>(v, d, x, no, none, {k}, t, info);"
    )
    marked = f"TopK<float, false, true>(v, d, x, no, f.ReinterpretCast<bool>(), {k}, t, info);"
    inputs = {"x": x, "f": done}
    got = kernels.rows([small, marked], inputs, rows * 8, np.int32, prepare)
    order = np.argsort(-x, axis=1)[:, :k]
    np.testing.assert_array_equal(got[0][: rows * k], order.ravel())
    assert (got[1].reshape(rows, 8)[1::2] == 30).all()
    np.testing.assert_array_equal(got[1].reshape(rows, 8)[::2, :k], order[::2])
    values = small.replace("(v, d, x", "(d, v, x")
    prepare = prepare.replace("desk.empty<float>", "desk.empty<int32_t>")
    got = kernels.rows([values], inputs, rows * k, np.float32, prepare)
    np.testing.assert_array_equal(got[0], -np.sort(-x, axis=1)[:, :k].ravel())


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_matrix_is_transposed(kernels: AscendCHarness, dtype: type) -> None:
    matrix = np.arange(48 * 32).reshape(48, 32).astype(dtype)
    flat = matrix[:16]
    tiling = "ConfusionTransposeTiling t{}; t.param1 ="
    kind = "TransposeType::TRANSPOSE_ND2ND_ONLY"
    calls = [f"{tiling} 48; t.param2 = 32; Transpose(d, m, {kind}, t);"]
    assert (kernels.rows(calls, {"m": matrix}, matrix.size, dtype)[0] == matrix.T.ravel()).all()
    calls = [f"{tiling} 16; t.param2 = 32; ConfusionTranspose(d, m, {kind}, t);"]
    assert (kernels.rows(calls, {"m": flat}, flat.size, dtype)[0] == flat.T.ravel()).all()


def test_integers_get_their_scale_back_by_column_by_row_and_by_tensor(
    kernels: AscendCHarness,
) -> None:
    x = RANDOM.integers(-100, 100, (8, 64)).astype(np.int8)
    scale = RANDOM.integers(1, 9, (2, 64)).astype(np.float16) / 8
    shift = RANDOM.integers(-9, 9, (2, 64)).astype(np.float16)
    wide, s, o = (one.astype(np.float64) for one in (x, scale, shift))
    grouped = (wide + o.repeat(4, 0)) * s.repeat(4, 0)
    turned = (wide + o.ravel()[:16].reshape(8, 2).repeat(32, 1)) * s.ravel()[:16].reshape(
        8, 2
    ).repeat(32, 1)
    calls = {
        "AscendAntiQuant<int8_t, half, false>(d, x, o, s, 8, {2, 64, 2, 64});": grouped,
        "AscendAntiQuant<int8_t, half, false>(d, x, s, w, 8, {0, 0, 2, 64});": wide
        * s.repeat(4, 0),
        "AscendAntiQuant<int8_t, half, true>(d, x, o, s, 64, {8, 2, 8, 2});": turned,
        "AscendAntiQuant<int8_t, half, false>(d, x, half(3), half(0.5), 8);": (wide + 3) / 2,
    }
    inputs = {"x": x, "s": scale, "o": shift}
    rows = kernels.rows(list(calls), inputs, 512, np.float16, "auto w = desk.empty<uint8_t>(2048);")
    for got, (call, wanted) in zip(rows, calls.items(), strict=True):
        np.testing.assert_allclose(got, wanted.ravel(), rtol=2e-3, err_msg=call)


def test_a_bfloat16_is_computed_in_single_precision(kernels: AscendCHarness) -> None:
    x = RANDOM.integers(-100, 100, (4, 32)).astype(np.int8)
    scale = RANDOM.integers(1, 9, 32).astype(np.float32) / 4
    make = (
        "auto b = desk.empty<bfloat16_t>(32); auto r = desk.empty<bfloat16_t>(128);"
        "auto w = desk.empty<uint8_t>(512);"
    )
    call = (
        "Cast(b, s, RoundMode::CAST_RINT, 32); PipeBarrier<PIPE_V>();"
        "AscendAntiQuant<int8_t, bfloat16_t, false>(r, x, b, w, 4, {0, 0, 1, 32});"
        "Cast(d, r, RoundMode::CAST_NONE, 128);"
    )
    got = kernels.rows([call], {"x": x, "s": scale}, 128, np.float32, make)[0]
    np.testing.assert_allclose(got, (x * scale).ravel(), rtol=8e-3)


def test_flash_softmax_keeps_one_element_a_row_where_it_is_asked_to(
    kernels: AscendCHarness,
) -> None:
    x, y = RANDOM.uniform(-3, 3, (2, 16, 64)).astype(np.float32)
    more = (
        "constexpr static SoftmaxConfig one = {true, 0, 0,"
        " SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC};"
        "auto low = desk.empty<float>(16), top = desk.empty<float>(16);"
        "auto sum = desk.empty<float>(16), max = desk.empty<float>(16);"
        "auto f = desk.empty<float>(16), r = desk.empty<float>(1024);"
        "const SoftMaxShapeInfo s{16, 64, 16, 64};"
        "const SoftMaxTiling t = SoftMaxFlashV2TilingFunc(s, 4, 4, 4096);"
    )
    call = (
        "SoftmaxFlashV2<float, false, false, false, false, one>(r, low, top, x, f, low, top, t);"
        "SoftmaxFlashV2<float, true, false, false, false, one>(r, sum, max, y, f, low, top, t);"
        "Adds(d, {name}, 0.0f, 16);"
    )
    names = ("sum", "max", "f")
    rows = kernels.rows([call.replace("{name}", n) for n in names], {"x": x, "y": y}, 16, more=more)
    both = np.concatenate([x, y], axis=1)
    np.testing.assert_allclose(rows[1], both.max(1), rtol=1e-6)
    np.testing.assert_allclose(rows[0], np.exp(both - both.max(1)[:, None]).sum(1), rtol=1e-5)
    np.testing.assert_allclose(rows[2], np.exp(x.max(1) - both.max(1)), rtol=1e-5)


def test_rows_without_a_valid_maximum_are_replaced(kernels: AscendCHarness) -> None:
    x = special.softmax(RANDOM.uniform(-1, 1, (4, 16)), axis=1).astype(np.float32)
    high = np.repeat([1.0, -3e38, 2.0, 1.0], 8).astype(np.float32)
    bits = int(high.view(np.uint32)[8])
    call = (
        "Adds(d, x, 0.0f, 64); PipeBarrier<PIPE_V>();"
        f"AdjustSoftMaxRes<float, float>(d, m, {bits}u, 0.25f, SoftMaxShapeInfo{{4, 16, 4, 16}});"
    )
    got = kernels.rows([call], {"x": x, "m": high}, 64)[0].reshape(4, 16)
    assert (got[1] == 0.25).all()
    np.testing.assert_array_equal(got[[0, 2, 3]], x[[0, 2, 3]])


def test_a_buffers_address_and_a_copied_part_of_a_tiling_are_the_devices(
    kernels: AscendCHarness,
) -> None:
    x = np.arange(8, dtype=np.float32)
    call = (
        "uint64_t part[2]; const uint64_t from[2] = {3, 4};"
        "copy_data_align64((uint8_t*)part, (const uint8_t*)from, 16);"
        "TBuf<TPosition::VECCALC> one, two;"
        "desk.pipe.InitBuffer(one, 64); desk.pipe.InitBuffer(two, 64);"
        "const auto low = one.Get<float>(), high = two.Get<float>();"
        "const TBuffAddr place = one.GetBufferAddr(low.GetBufferHandle());"
        "LocalTensor<float> again; again.SetAddr(place);"
        "const bool same = again.GetPhyAddr() == low.GetPhyAddr() &&"
        " two.GetBufferAddr(high.GetBufferHandle()) -"
        " one.GetBufferAddr(low.GetBufferHandle()) =="
        " uint64_t(high.GetPhyAddr()) - uint64_t(low.GetPhyAddr());"
        "Adds(d, x, float(part[0] + part[1]) + (same ? 0.0f : 100.0f), 8);"
    )
    np.testing.assert_array_equal(kernels.rows([call], {"x": x}, 8)[0], x + 7)
