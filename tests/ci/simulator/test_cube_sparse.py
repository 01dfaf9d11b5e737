"""Products with 4:2 sparse right-hand sides, 4-bit image to column, L1 to L0C, watched UB."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.ci.simulator.machine_harness import MachineHarness

Array = npt.NDArray[Any]

SPARSE = """
    auto at = [](uint64_t place) { return (int8_t*)place; };
    copy_gm_to_cbuf(at(0), a[0], 0, 1, ROWS_OF_A, 0, 0, PAD_NONE);
    copy_gm_to_cbuf(at(0x20000), a[1], 0, 1, FRACTALS * 16, 0, 0, PAD_NONE);
    copy_gm_to_cbuf(at(0x30000), a[2], 0, 1, FRACTALS * 4, 0, 0, PAD_NONE);
    order(PIPE_MTE2, PIPE_MTE1);
    load_cbuf_to_ca(at(0), at(0), 0, ROWS_OF_A / 16, 1, 0, 0, false, inc);
    // In two parts, to see that values and indices move on alike.
    load_cbuf_to_cb_sp(at(0), at(0x20000 | 0x30000ull << 32), 0, 1);
    if (FRACTALS > 1)
        load_cbuf_to_cb_sp(at(512), at(0x20000 | 0x30000ull << 32), 1, FRACTALS - 1);
    order(PIPE_MTE1, PIPE_M);
    for (int turn = 0; turn < TURNS; ++turn) {
        mad_sp((int32_t*)0, at(0), at(0), M, K, N, 0, false, turn == 0);
        pipe_barrier(PIPE_M);
    }
    order(PIPE_M, PIPE_FIX);
    set_nd_para(1);
    copy_matrix_cc_to_gm((int32_t*)a[3], (int32_t*)0, 0, N, M, N, ROWS, 0, NoQuant, 0, false, true);
"""


def up(value: int, by: int) -> int:
    return -(-value // by)


def fractals(values: Array, rows: int, columns: int) -> Array:
    """Fractals of 16 × columns, row by row, zeros behind the edges."""
    padded = np.zeros((up(rows, 16) * 16, up(values.shape[1], columns) * columns), values.dtype)
    padded[: values.shape[0], : values.shape[1]] = values
    return padded.reshape(padded.shape[0] // 16, 16, -1, columns).transpose(0, 2, 1, 3)


def kept_of(b: Array) -> tuple[Array, Array]:
    """By column of b: two values of each four along k, and the two indices that tell which."""
    groups = b.T.reshape(b.shape[1], -1, 4)
    values = np.zeros((*groups.shape[:2], 2), np.int8)
    indices = np.zeros((*groups.shape[:2], 2), np.uint8)
    for place in np.ndindex(groups.shape[:2]):
        where = np.flatnonzero(groups[place])
        if len(where) == 2:
            values[place] = groups[place][where]
            indices[place] = where[0], where[1] - 1
        elif len(where) == 1 and where[0] == 3:
            values[place], indices[place] = (0, groups[place][3]), (0, 2)
        elif len(where) == 1:
            values[place], indices[place] = (groups[place][where[0]], 0), (where[0], 0)
    return values.reshape(b.shape[1], -1), indices.reshape(b.shape[1], -1)


@pytest.mark.parametrize(
    ("m", "k", "n", "turns"), [(16, 64, 16, 1), (33, 128, 40, 1), (7, 192, 16, 2), (20, 40, 17, 1)]
)
def test_sparse_products_equal_those_of_the_whole_matrix(
    harness: MachineHarness, m: int, k: int, n: int, turns: int
) -> None:
    rng = np.random.default_rng([m, k, n])
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    b = rng.integers(-128, 128, (k, n)).astype(np.int8)
    for column in range(n):
        for group in range(0, k, 4):
            zeros = rng.permutation(4)[: rng.integers(2, 5)]
            b[group + zeros, column] = 0
    values, indices = kept_of(b)
    bits = sum(indices[:, part::4].astype(np.uint8) << 2 * part for part in range(4))
    # L0B counts k first, then columns.
    in_b = fractals(values, n, 32).transpose(1, 0, 2, 3)
    in_index = fractals(np.asarray(bits, np.uint8), n, 8).transpose(1, 0, 2, 3)
    in_a = fractals(a, m, 32)
    words = {
        "ROWS_OF_A": in_a.nbytes // 32, "FRACTALS": in_b.nbytes // 512, "TURNS": turns,
        "M": m, "K": k, "N": n, "ROWS": up(m, 16) * 16,
    }  # fmt: skip
    inputs = [np.ascontiguousarray(x) for x in (in_a, in_b, in_index)]
    harness.equals(SPARSE, inputs, [turns * (a.astype(np.int32) @ b)], cores=(1, 0), define=words)


def test_four_bit_images_become_columns(harness: MachineHarness) -> None:
    body = """
        copy_gm_to_cbuf((void*)0, a[0], 0, 1, 40, 0, 0, PAD_NONE);
        copy_gm_to_cbuf((void*)0x8000, a[1], 0, 1, 64, 0, 0, PAD_NONE);
        order(PIPE_MTE2, PIPE_MTE1);
        set_fmatrix(5 | 4ull << 16 | 1ull << 32 | 1ull << 40 | 1ull << 48 | 1ull << 56);
        set_padding(0);
        img2colv2_cbuf_to_ca_s4((void*)0, (void*)0, 128 * 9, 20, 0, 0, 1, 1, 3, 3, 1, 1, false,
                                false, false, false, 128);
        load_cbuf_to_cb_s4((void*)0, (void*)0x8000, 0, 18, 0, 0, 0, false, inc);
        order(PIPE_MTE1, PIPE_M);
        mad_s4((int32_t*)0, (void*)0, (void*)0, 20, 128 * 9, 16, 0, false, false, true);
        order(PIPE_M, PIPE_FIX);
        set_nd_para(1);
        copy_matrix_cc_to_gm((int32_t*)a[2], (int32_t*)0, 0, 16, 20, 16, 32, 0, NoQuant, 0, false,
                             true);
    """
    rng = np.random.default_rng(3)
    height, width = 4, 5
    image = rng.integers(-8, 8, (2, height, width, 64)).astype(np.int8)
    packed = (image[..., 0::2] & 15 | image[..., 1::2] << 4).astype(np.int8)
    weight = rng.integers(-8, 8, (16, 64)).astype(np.int8)  # the same for each of the 18 fractals
    packed_weight = np.zeros(64 * 32, np.int8)
    packed_weight[:512] = (weight[:, 0::2] & 15 | weight[:, 1::2] << 4).astype(np.int8).ravel()
    padded = np.pad(image.astype(np.int32), ((0, 0), (1, 1), (1, 1), (0, 0)))
    expected = np.zeros((height, width, 16), np.int32)
    for y, x in np.ndindex(3, 3):
        expected += padded[:, y : y + height, x : x + width].sum(axis=0) @ weight.T.astype(np.int32)
    harness.equals(body, [packed, packed_weight], [expected.reshape(20, 16)], cores=(1, 0))


def test_sums_start_from_what_comes_from_l1(harness: MachineHarness) -> None:
    body = """
        copy_gm_to_cbuf((void*)0, a[0], 0, 1, 96, 0, 0, PAD_NONE);
        order(PIPE_MTE2, PIPE_MTE1);
        copy_matrix_cbuf_to_cc((float*)0, (float*)0, 2, 32, 32, 0);
        order(PIPE_MTE1, PIPE_FIX);
        set_nd_para(1);
        copy_matrix_cc_to_gm((float*)a[1], (float*)0, 0, 32, 16, 32, 16, 0, NoQuant, 0, false,
                             true);
    """
    values = np.arange(3 * 256, dtype=np.float32).reshape(3, 16, 16)
    harness.equals(body, [values], [np.hstack([values[0], values[2]])], cores=(1, 0))


VECTOR_WRITE, COPY_READ = 28, 27


@pytest.mark.parametrize(
    ("bit", "low", "high", "on", "outcome"),
    [
        (VECTOR_WRITE, 15, 16, 1, "memory_error"),
        (VECTOR_WRITE, 16, 30, 1, "ok"),  # the first block named is not among them
        (VECTOR_WRITE, 0, 15, 1, "memory_error"),
        (VECTOR_WRITE, 0, 7, 1, "ok"),
        (VECTOR_WRITE, 15, 16, 0, "ok"),
        (COPY_READ, 15, 16, 1, "ok"),
        (COPY_READ, 8, 9, 1, "memory_error"),
    ],
)
def test_a_watched_part_of_ub_stops_who_touches_it(
    harness: MachineHarness, bit: int, low: int, high: int, on: int, outcome: str
) -> None:
    body = f"""
        set_data_exp_2({low}ull << 48 | {high}ull << 32 | 1ull << {bit} | {on});
        set_vector_mask(~0ull, ~0ull);
        vector_dup(ub<float>(0x120), 1.0f, 1, 1, 1, 8, 0);  // blocks 9 to 16
        order(PIPE_V, PIPE_MTE3);
        copy_ubuf_to_gm(a[0], ub<float>(0x120), 0, 1, 2, 0, 0);
    """
    done = harness.run(body, [], [np.zeros(64, np.float32)])
    assert done.outcome == outcome, done.message
