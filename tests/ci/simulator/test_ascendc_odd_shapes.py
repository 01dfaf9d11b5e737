"""Calls with rows of no whole blocks, values that are no numbers, and what is refused of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ci.model.dtypes import BY_NAME
from tests.ci.simulator.ascendc_harness import AscendCHarness

RANDOM = np.random.default_rng(51)
SHAPES = ((16, 40), (5, 33), (3, 40), (1, 100), (300, 7), (17, 129), (16, 32))


def kind_of(dtype: type[np.generic]) -> str:
    return BY_NAME[np.dtype(dtype).name].kernel_type


def broadcast(dtype: type[np.generic], shape: tuple[int, int], space: str = "") -> str:
    rows, columns = shape
    return (
        f"const uint32_t to[] = {{{rows}, {columns}}}, from[] = {{{rows}, 1}};"
        f"BroadCast<{kind_of(dtype)}, 2, 1>(d, x, to, from{space});"
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8])
def test_a_column_is_broadcast_to_rows_of_any_length(kernels: AscendCHarness, dtype: Any) -> None:
    x = RANDOM.integers(0, 100, 320).astype(dtype)
    wanted = {broadcast(dtype, shape): np.tile(x[: shape[0], None], shape[1]) for shape in SHAPES}
    kernels.agree(wanted, {"x": x}, dtype)
    flat = (
        "const uint32_t to[] = {100}, from[] = {1};"
        f"Broadcast<{kind_of(dtype)}, 1, 0>(d, x, to, from);"
    )
    kernels.agree({flat: np.full(100, x[0])}, {"x": x}, dtype)


def test_a_broadcast_works_in_the_least_space_that_the_host_names(kernels: AscendCHarness) -> None:
    x = RANDOM.uniform(-1, 1, 320).astype(np.float16)
    # 16 rows: a block of one value each, and the row in whole blocks behind it.
    call = broadcast(np.float16, (300, 20), ", w")
    more = "auto w = desk.empty<uint8_t>(16 * (32 + 64));"
    kernels.agree({call: np.tile(x[:300, None], 20)}, {"x": x}, np.float16, more)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("const uint32_t to[] = {16, 8}, from[] = {1, 8}; BroadCast<half, 2, 0>(d, x, to, from);",
         "whole 32 bytes"),
        ("const uint32_t to[] = {4, 64}, from[] = {4, 2}; BroadCast<half, 2, 1>(d, x, to, from);",
         "one element"),
        ("const uint32_t to[] = {8, 64}, from[] = {4, 1}; BroadCast<half, 2, 1>(d, x, to, from);",
         "one element"),
        ("const uint32_t to[] = {16, 9}, from[] = {16, 1};"
         "BroadCast<half, 2, 1>(d, x, to, from, d[528].ReinterpretCast<uint8_t>());",
         "GetBroadCastMaxMinTmpSize"),
    ],
)  # fmt: skip
def test_a_broadcast_that_the_documentation_forbids_is_refused(
    kernels: AscendCHarness, call: str, said: str
) -> None:
    body = f"""Desk desk; auto x = desk.take<half>(a[0], 64); auto d = desk.empty<half>(1024);
        {{ {call} }} desk.give(a[1], 0, d, 1024);"""
    tensors = [np.ones(64, np.float16)], [np.zeros(1024, np.float16)]
    assert said in kernels.fails("launch_error", body, *tensors, auto_sync=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_a_matrix_becomes_fractals_on_its_way_to_the_unified_buffer(
    kernels: AscendCHarness, dtype: Any
) -> None:
    rows, columns, pitch, count = 5, 40, 48, 2
    block = 32 // np.dtype(dtype).itemsize
    x = RANDOM.integers(-100, 100, (count, rows, pitch)).astype(dtype)
    across = -(-columns // block)
    gap, size = rows + 1, across * (rows + 1) * block
    wanted = np.zeros((count, across, gap, block), dtype)
    padded = np.zeros((count, rows, across * block), dtype)
    padded[:, :, :columns] = x[:, :, :columns]
    wanted[:, :, :rows] = padded.reshape(count, rows, across, block).transpose(0, 2, 1, 3)
    kind = kind_of(dtype)
    body = f"""Desk desk; auto d = desk.empty<{kind}>({count * size});
        Duplicate(d.ReinterpretCast<int16_t>(), int16_t(0), {count * size} * sizeof({kind}) / 2);
        PipeBarrier<PIPE_ALL>();
        DataCopy(d, global<{kind}>(a[0]), Nd2NzParams({count}, {rows}, {columns},
                 {rows * pitch}, {pitch}, {gap}, 1, {size}));
        desk.give(a[1], 0, d, {count * size});"""
    kernels.equals(body, [x], [wanted.ravel()])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_what_is_no_number_has_no_sign_and_no_inverse_cosine(
    kernels: AscendCHarness, dtype: Any
) -> None:
    x = np.zeros(64, dtype)
    x[:12] = [np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, 0.5, -3e4, 3e4, 6e-5, -6e-5]
    signs = np.sign(x)
    signs[0] = 0
    with np.errstate(invalid="ignore"):
        angles = np.arccosh(x.astype(np.float64))
    calls = {"Sign(d, x, 64);": signs, "Acosh(d, x, 64);": angles}
    kernels.agree(calls, {"x": x}, dtype, rtol=1e-6 if dtype is np.float32 else 2e-3)


def test_a_great_inverse_cosine_is_finite(kernels: AscendCHarness) -> None:
    x = np.array([1e19, 1e30, 1.5e38, 1, 1.0001, 2, -1e30, 7], np.float32)
    with np.errstate(invalid="ignore"):
        angles = np.arccosh(x.astype(np.float64))
    kernels.agree({"Acosh(d, x, 8);": angles}, {"x": x}, rtol=1e-5)


def test_how_many_elements_a_mask_keeps_is_known_without_a_flag(kernels: AscendCHarness) -> None:
    x = np.arange(256, dtype=np.float32)
    body = """Desk desk; auto x = desk.take<float>(a[0], 256); auto d = desk.empty<float>(256);
        uint64_t count = 0;
        GatherMask(d, x, uint8_t(1), true, 256, GatherMaskParams(1, 1, 8, 0), count);
        PipeBarrier<PIPE_V>(); ResetMask();
        Adds(d, d, float(count), int32_t(count)); desk.give(a[1], 0, d, 128);"""
    kernels.equals(body, [x], [x[::2] + 128], auto_sync=False)


@pytest.mark.parametrize("count", [200, 64, 130, 1000])
def test_the_place_of_the_greatest_is_found_without_automatic_synchronisation(
    kernels: AscendCHarness, count: int
) -> None:
    x = RANDOM.permutation(1024).astype(np.float32)
    body = f"""Desk desk; auto x = desk.take<float>(a[0], 1024); auto d = desk.empty<float>(8);
        auto w = desk.empty<float>(256); ReduceMax(d, x, w, {count}, true);
        desk.give(a[1], 0, d, 2);"""
    at = int(x[:count].argmax())
    found = kernels.ok(body, [x], [np.zeros(2, np.float32)]).outputs[0]
    assert found[0] == x[at]
    assert found.view(np.int32)[1] == at


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_fractals_become_rows_on_their_way_to_global_memory(
    kernels: AscendCHarness, dtype: Any
) -> None:
    count, rows, columns, pitch = 2, 5, 32, 40
    x = RANDOM.integers(-100, 100, (count, 2, 8, 16)).astype(dtype)
    wanted = np.zeros((count, rows, pitch), dtype)
    wanted[:, :, :columns] = x[:, :, :rows].transpose(0, 2, 1, 3).reshape(count, rows, columns)
    kind = kind_of(dtype)
    body = f"""Desk desk; auto x = desk.take<{kind}>(a[0], {x.size});
        DataCopy(global<{kind}>(a[1]), x, Nz2NdParamsFull({count}, {rows}, {columns}, 1, 8, {pitch},
                 {rows * pitch}));
        PipeBarrier<PIPE_ALL>();"""
    found = kernels.ok(body, [x], [wanted]).outputs[0]
    np.testing.assert_array_equal(found[:, :, :columns], wanted[:, :, :columns])


def test_a_progression_of_integers_keeps_all_digits(kernels: AscendCHarness) -> None:
    first, step = 2**24 + 1, 33554433
    wanted = (first + step * np.arange(40, dtype=np.int64)).astype(np.int32)
    call = f"ArithProgression(d, {first}, {step}, 40);"
    kernels.agree({call: wanted}, {"x": np.zeros(8, np.int32)}, np.int32)


def test_a_mask_of_bits_may_have_no_padding_between_rows(kernels: AscendCHarness) -> None:
    x = RANDOM.uniform(-2, 2, (4, 64)).astype(np.float32)
    bits = RANDOM.integers(0, 256, (4, 8)).astype(np.uint8)
    kept = np.unpackbits(bits, axis=1, bitorder="little").astype(bool)
    call = (
        "DropOutShapeInfo i; i.firstAxis = 4; i.srcLastAxis = 64; i.maskLastAxis = 8;"
        "DropOut<float, false, DROPOUT_MODE_BIT_ALIGN>(d, x, b, 0.5f, i);"
    )
    kernels.agree({call: np.where(kept, x, 0) * 2}, {"x": x, "b": bits})


def test_a_number_that_no_integer_holds_becomes_the_nearest(kernels: AscendCHarness) -> None:
    x = np.array([3e9, -3e9, np.nan, 2.5, -2.5, 1e6, 0, 7], np.float32)
    call = (
        "for (uint32_t i = 0; i < 8; ++i) d.SetValue(i,"
        " ScalarCast<float, int32_t, RoundMode::CAST_RINT>(x.GetValue(i)));"
    )
    wanted = np.array([2**31 - 1, -(2**31), 0, 2, -2, 10**6, 0, 7], np.int32)
    kernels.agree({call: wanted}, {"x": x}, np.int32)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("columns", [5, 17, 33, 48, 129])
def test_the_product_of_a_row_of_any_length(
    kernels: AscendCHarness, dtype: Any, columns: int
) -> None:
    block = 32 // np.dtype(dtype).itemsize
    pitch = -(-columns // block) * block
    x = np.where(RANDOM.random((3, pitch)) < 0.9, 1, 2).astype(dtype)
    kind = kind_of(dtype)
    call = f"const uint32_t s[] = {{3, {columns}}}; ReduceProd<{kind}, Pattern::Reduce::AR>"
    kernels.agree({f"{call}(d, x, s, true);": x[:, :columns].prod(1)}, {"x": x}, dtype)
