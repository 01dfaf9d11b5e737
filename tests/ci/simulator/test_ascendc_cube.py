"""Loads of the cube core's API that go downwards, or that kernels call by an inner name."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ci.simulator.ascendc_harness import AscendCHarness
from tests.ci.simulator.test_cube_sparse import fractals, kept_of

PRODUCT = """
    LocalTensor<half> a1(TPosition::A1, 0, 768), b1(TPosition::B1, 8192, 768);
    LocalTensor<half> a2(TPosition::A2, 0, 768), b2(TPosition::B2, 0, 768);
    LocalTensor<float> c(TPosition::CO1, 0, 256);
    const Nd2NzParams whole(1, 16, 48, 0, 48, 16, 1, 0);
    DataCopy(a1, global<half>(a[0]), whole);
    DataCopy(b1, global<half>(a[1]), whole);
    PipeBarrier<PIPE_ALL>();
    %s
    LoadData(b2, b1, LoadData2DParams(0, 3, 1, 0, 0, false, 0));
    PipeBarrier<PIPE_ALL>();
    MmadParams product;
    product.m = 16; product.n = 16; product.k = 48;
    Mmad(c, a2, b2, product);
    PipeBarrier<PIPE_ALL>();
    FixpipeParamsV220 out;
    out.nSize = 16; out.mSize = 16; out.srcStride = 16; out.dstStride = 16;
    Fixpipe<float, float, CFG_ROW_MAJOR>(global<float>(a[2]), c, out);
    PipeBarrier<PIPE_ALL>();
"""


def product(kernels: AscendCHarness, load: str, squares: np.ndarray) -> np.ndarray:
    """The sum of what `load` leaves of three squares in L0A, the second twice, the third four
    times."""
    factors = np.concatenate([np.eye(16) * n for n in (1, 2, 4)], axis=1).astype(np.float16)
    inputs = [np.concatenate(list(squares), axis=1), factors]
    out = [np.zeros((16, 16), np.float32)]
    return kernels.ok(PRODUCT % load, inputs, out, cores=(1, 0)).outputs[0]


@pytest.mark.parametrize(
    "placed",
    [
        "t.InitBuffer({at}, {count}); place = uint8_t(TPosition::{pos});",
        "place = uint8_t(TPosition::{pos}); t.InitBuffer({at}, {count});",
        "place = uint8_t(TPosition::VECIN); t.InitBuffer({at}, {count});"
        " place = uint8_t(TPosition::{pos});",
    ],
)
def test_a_tensor_lies_in_the_memory_of_the_position_that_it_is_given_before_or_after(
    kernels: AscendCHarness, placed: str
) -> None:
    squares = np.random.default_rng(7).integers(-9, 9, (3, 16, 16)).astype(np.float16)
    texts = [
        f"LocalTensor<{dtype}> {name}; {{ auto& t = {name}; "
        "auto& place = t.address_.logicPos; " + placed.format(at=at, count=count, pos=pos) + " }"
        for name, dtype, pos, at, count in (
            ("a1", "half", "A1", 0, 768),
            ("b1", "half", "B1", 8192, 768),
            ("a2", "half", "A2", 0, 768),
            ("b2", "half", "B2", 0, 768),
            ("c", "float", "CO1", 0, 256),
        )
    ]
    declared, rest = PRODUCT.split("    const Nd2NzParams", 1)
    assert declared.count("LocalTensor<") == 3
    statements = "\n".join(texts) + "\n    const Nd2NzParams" + rest
    load = "LoadData(a2, a1, LoadData2DParams(0, 3, 1, 0, 0, false, 0));"
    inputs = [np.concatenate(list(squares), axis=1), np.tile(np.eye(16, dtype=np.float16), 3)]
    out = [np.zeros((16, 16), np.float32)]
    found = kernels.ok(statements % load, inputs, out, cores=(1, 0)).outputs[0]
    np.testing.assert_array_equal(found, squares.astype(np.float32).sum(axis=0))


@pytest.mark.parametrize(("start", "mode", "order"), [(0, 0, (0, 1, 2)), (2, 1, (2, 1, 0))])
def test_squares_are_turned_upwards_or_downwards(
    kernels: AscendCHarness, start: int, mode: int, order: tuple[int, ...]
) -> None:
    squares = np.random.default_rng(5).integers(-9, 9, (3, 16, 16)).astype(np.float16)
    load = f"LoadDataWithTranspose(a2, a1, LoadData2dTransposeParams({start}, 3, 1, 0, 0, {mode}));"
    wanted = sum(
        squares[at].T.astype(np.float32) * n for at, n in zip(order, (1, 2, 4), strict=True)
    )
    np.testing.assert_array_equal(product(kernels, load, squares), wanted)


def test_a_packed_image_load_has_an_inner_name(kernels: AscendCHarness) -> None:
    squares = np.random.default_rng(6).integers(-9, 9, (3, 16, 16)).astype(np.float16)
    load = """
    const uint8_t none[4] = {0, 0, 0, 0};
    SetFmatrix(1, 16, none, FmatrixMode::FMATRIX_LEFT);
    SetLoadDataPaddingValue(half(0));
    LoadDataImpl(a2, a1, LoadData3DParamsV2Pro(48, false, false, false, false, false,
                 48 | 16ull << 16, 0x10101010101));"""
    wanted = sum(s.astype(np.float32) * n for s, n in zip(squares, (1, 2, 4), strict=True))
    np.testing.assert_array_equal(product(kernels, load, squares), wanted)


def test_a_load_from_l1_that_would_go_downwards_is_refused(kernels: AscendCHarness) -> None:
    load = "LoadData(a2, a1, LoadData2DParams(2, 3, 1, 0, 0, false, 1));"
    inputs = [np.zeros((16, 48), np.float16)] * 2
    out = [np.zeros((16, 16), np.float32)]
    said = kernels.fails("launch_error", PRODUCT % load, inputs, out, cores=(1, 0))
    assert "addrMode" in said


SPARSE = """
    LocalTensor<int8_t> a1(TPosition::A1, 0, 16 * 64), b1(TPosition::B1, 0x20000, 16 * 32);
    LocalTensor<uint8_t> which(TPosition::B1, 0x30000, 16 * 8);
    LocalTensor<int8_t> a2(TPosition::A2, 0, 16 * 64), b2(TPosition::B2, 0, 16 * 32);
    LocalTensor<int32_t> c(TPosition::CO1, 0, 256);
    DataCopy(a1, global<int8_t>(a[0]), 16 * 64);
    DataCopy(b1, global<int8_t>(a[1]), 16 * 32);
    DataCopy(which, global<uint8_t>(a[2]), 16 * 8);
    PipeBarrier<PIPE_ALL>();
    LoadData(a2, a1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
    LoadDataWithSparse(b2, b1, which, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    PipeBarrier<PIPE_ALL>();
    MmadParams product;
    product.m = 16; product.n = 16; product.k = 64;
    MmadWithSparse(c, a2, b2, product);
    PipeBarrier<PIPE_ALL>();
    FixpipeParamsV220 out;
    out.nSize = 16; out.mSize = 16; out.srcStride = 16; out.dstStride = 16;
    Fixpipe<int32_t, int32_t, CFG_ROW_MAJOR>(global<int32_t>(a[3]), c, out);
    PipeBarrier<PIPE_ALL>();
"""


def test_two_of_four_values_and_their_places_make_a_sparse_product(kernels: AscendCHarness) -> None:
    draw = np.random.default_rng(7)
    a = draw.integers(-128, 128, (16, 64)).astype(np.int8)
    b = draw.integers(-128, 128, (64, 16)).astype(np.int8)
    for group in range(0, 64, 4):
        b[group + draw.permutation(4)[:2]] = 0
    values, indices = kept_of(b)
    bits = sum(indices[:, part::4].astype(np.uint8) << 2 * part for part in range(4))
    inputs = [fractals(a, 16, 32), fractals(values, 16, 32), fractals(np.asarray(bits), 16, 8)]
    wanted = a.astype(np.int32) @ b
    found = kernels.ok(SPARSE, inputs, [np.zeros((16, 16), np.int32)], cores=(1, 0)).outputs[0]
    np.testing.assert_array_equal(found, wanted)


BY_COLUMN = """
    LocalTensor<int8_t> a1(TPosition::A1, 0, 16 * 32), b1(TPosition::B1, 0x20000, 16 * 32);
    LocalTensor<uint64_t> scales(TPosition::A1, 0x30000, 16);
    LocalTensor<int8_t> a2(TPosition::A2, 0, 16 * 32), b2(TPosition::B2, 0, 16 * 32);
    LocalTensor<int32_t> c(TPosition::CO1, 0, 256);
    LocalTensor<half> l1(TPosition::A1, 0x40000, 256);
    DataCopy(a1, global<int8_t>(a[0]), 16 * 32);
    DataCopy(b1, global<int8_t>(a[1]), 16 * 32);
    DataCopy(scales, global<uint64_t>(a[2]), 16);
    PipeBarrier<PIPE_ALL>();
    LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(b2, b1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    PipeBarrier<PIPE_ALL>();
    MmadParams product;
    product.m = 16; product.n = 16; product.k = 32;
    Mmad(c, a2, b2, product);
    PipeBarrier<PIPE_ALL>();
    FixpipeParams<int32_t> out(1, 32, 0, 16);
    out.quantParams = {QuantMode_t::VDEQF16};
    Fixpipe(l1, c, scales, out);
    out.nz2ndParams = {true, 1, 0, 0, 16};
    Fixpipe(global<half>(a[3]), c, scales, out);
    PipeBarrier<PIPE_ALL>();
"""


def test_the_older_form_of_a_fixpipe_takes_a_scale_for_each_column(kernels: AscendCHarness) -> None:
    draw = np.random.default_rng(8)
    a, b = (draw.integers(-9, 9, (16, 32)).astype(np.int8) for _ in range(2))
    scales = draw.choice([0.5, 1, 2], 16).astype(np.float32)
    inputs = [fractals(a, 16, 32), fractals(b, 16, 32), scales.view(np.uint32).astype(np.uint64)]
    out = [np.zeros((16, 16), np.float16)]
    found = kernels.ok(BY_COLUMN, inputs, out, cores=(1, 0)).outputs[0]
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.T.astype(np.float32) * scales)
