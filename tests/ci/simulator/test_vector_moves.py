"""Comparison, selection, gathers, compaction, broadcast and transposes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.ci.simulator.vector_calls import (
    COMPARED,
    COMPARISONS,
    DST,
    EXTRA,
    SEEDS,
    TYPES,
    WORDS,
    A,
    B,
    calls,
    covered,
    lanes,
    random_state,
)
from tests.ci.simulator.vector_unit import VectorUnit, addresses


@pytest.fixture(scope="module")
def unit() -> Iterator[VectorUnit]:
    unit = VectorUnit(calls())
    yield unit
    unit.close()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("mode", "dtype"), COMPARED)
def test_a_comparison_packs_one_bit_a_lane_and_ignores_the_mask(
    unit: VectorUnit, dtype: str, mode: str, seed: int
) -> None:
    random, state = random_state(seed, dtype)
    kind = TYPES[dtype]
    width = 256 // np.dtype(kind).itemsize
    repeat, block_a, block_b = (int(random.integers(1, 4)), *map(int, random.integers(0, 3, 2)))
    stride_a, stride_b = (int(x) for x in random.choice([8, 0, 9], 2))
    state.low = int(random.integers(0, 2**63))
    numbers = [repeat, block_a, block_b, stride_a, stride_b]
    both = unit.run(f"vcmpv_{mode} {dtype}", state, numbers)
    one = unit.run(f"vcmpvs_{mode} {dtype}", state, numbers, scalar=1.0)
    for r in range(repeat):
        a = lanes(state.ub, kind, A, width, r, block_a, stride_a)
        b = lanes(state.ub, kind, B, width, r, block_b, stride_b)
        row = slice(r * width // 8, (r + 1) * width // 8)
        compare = COMPARISONS[mode]
        assert (both.ub[row] == np.packbits(compare(a, b), bitorder="little")).all()
        assert (one.ub[row] == np.packbits(compare(a, kind(1)), bitorder="little")).all()
    covered(state, both)
    covered(state, one)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", COMPARISONS)
@pytest.mark.parametrize("dtype", ["half", "float"])
def test_a_comparison_into_the_register_obeys_the_mask(
    unit: VectorUnit, dtype: str, mode: str, seed: int
) -> None:
    random, state = random_state(seed, dtype)
    kind = TYPES[dtype]
    width = 256 // np.dtype(kind).itemsize
    state.low, state.high = (int(x) for x in random.integers(0, 2**63, 2))
    state.compare = tuple(int(x) for x in random.integers(0, 2**63, 2))  # type: ignore[assignment]
    outcome = unit.run(f"vcmp_{mode} {dtype}", state, [1, 1, 1, 8, 8])
    a, b = (lanes(state.ub, kind, base, width, 0, 1, 8) for base in (A, B))
    truth = COMPARISONS[mode](a, b)
    mask = state.low | state.high << 64
    old = state.compare[0] | state.compare[1] << 64
    wanted = sum(
        ((int(truth[i]) if i < width and mask >> i & 1 else old >> i & 1) << i) for i in range(128)
    )
    assert outcome.compare[0] | outcome.compare[1] << 64 == wanted


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["half", "float"])
def test_selection_takes_its_bits_from_where_the_mode_says(
    unit: VectorUnit, dtype: str, mode: int, seed: int
) -> None:
    random, state = random_state(seed, dtype)
    kind = TYPES[dtype]
    width = 256 // np.dtype(kind).itemsize
    state.low, state.high = (int(x) for x in random.integers(0, 2**63, 2))
    state.compare = tuple(int(x) for x in random.integers(0, 2**63, 2))  # type: ignore[assignment]
    repeat, block = int(random.integers(1, 4)), int(random.choice([1, 2, 0]))
    outcome = unit.run(f"vsel{mode} {dtype}", state, [repeat, block, 1, 8, 8])
    scalar = np.array(state.compare, dtype=np.uint64).view(kind)[0]
    wanted = state.ub.copy()
    for r in range(repeat):
        a = lanes(state.ub, kind, A, width, r, block, 8)
        b = lanes(state.ub, kind, B, width, r, 1, 8) if mode != 1 else np.full(width, scalar)
        if mode == 0:
            bits = [(state.compare[i // 64] >> i % 64) & 1 for i in range(width)]
        else:
            row = state.ub[EXTRA + r * width // 8 : EXTRA + (r + 1) * width // 8]
            bits = np.unpackbits(row, bitorder="little")
        old = lanes(state.ub, kind, DST, width, r, 1, 8)
        mask = [(state.low if i < 64 else state.high) >> i % 64 & 1 for i in range(width)]
        result = np.where(mask, np.where(bits, a, b), old).astype(kind)
        wanted[r * 256 : (r + 1) * 256] = result.view(np.uint8)
    assert (outcome.ub == wanted).all()
    covered(state, outcome)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("counter", [False, True])
@pytest.mark.parametrize("dtype", WORDS)
def test_a_gather_reads_at_byte_offsets(
    unit: VectorUnit, dtype: str, counter: bool, seed: int
) -> None:
    random, state = random_state(seed)
    kind = WORDS[dtype]
    size = np.dtype(kind).itemsize
    width = 256 // size
    repeat = int(random.integers(1, 4))
    offsets = random.integers(0, 4096 // size, 1024).astype(np.uint32) * size
    state.ub[A : A + 4096] = offsets.view(np.uint8)
    active = [np.arange(width)] * repeat
    if counter:
        count = int(random.integers(1, 3 * width))
        state.counter, state.low = True, count
        active = [np.arange(min(width, count - s)) for s in range(0, count, width)]
    outcome = unit.run(f"vgather {dtype}", state, [repeat, 9])
    wanted = state.ub.copy()
    for r, on in enumerate(active):
        for i in on:
            source = B + int(offsets[r * width + i])
            to = DST + r * 9 * 32 + int(i) * size
            wanted[to : to + size] = state.ub[source : source + size]
    assert (outcome.ub == wanted).all()
    covered(state, outcome)
    reads = outcome.declared(write=False)
    touched = [B + int(offsets[r * width + i]) for r, on in enumerate(active) for i in on]
    assert reads[touched].all()


@pytest.mark.parametrize("block", [0, 1, 2])
@pytest.mark.parametrize("dtype", WORDS)
def test_a_block_gather_takes_a_zero_block_stride_as_one(
    unit: VectorUnit, dtype: str, block: int
) -> None:
    random, state = random_state(3)
    offsets = random.integers(0, 128, 24).astype(np.uint32) * 32
    state.ub[A : A + 96] = offsets.view(np.uint8)
    outcome = unit.run(f"vgatherb {dtype}", state, [3, 17, block])
    wanted = state.ub.copy()
    for b in range(24):
        to = DST + (b // 8 * 17 + b % 8 * max(block, 1)) * 32
        wanted[to : to + 32] = state.ub[B + offsets[b] : B + offsets[b] + 32]
    assert (outcome.ub == wanted).all()
    covered(state, outcome)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("pattern", range(8))
@pytest.mark.parametrize("dtype", WORDS)
def test_compaction_keeps_chosen_elements_and_counts_them(
    unit: VectorUnit, dtype: str, pattern: int, seed: int
) -> None:
    random, state = random_state(seed)
    kind = WORDS[dtype]
    size = np.dtype(kind).itemsize
    repeat, count = int(random.integers(1, 4)), 256 // size
    if seed % 2:
        count = int(random.integers(1, 200))
        state.counter, state.low = True, count
    stride, row = int(random.choice([8, 16])), int(random.choice([0, 1]))
    outcome = unit.run(f"vreducev2 {dtype}", state, [repeat, 1, pattern, stride, row])
    kept = []
    for r in range(repeat):
        source = lanes(state.ub, kind, A, count, r, 1, stride)
        i = np.arange(count)
        if pattern == 0:
            base = EXTRA + r * row * 32
            bits = np.unpackbits(state.ub[base : base + (count + 7) // 8], bitorder="little")
            chosen = bits[:count].astype(bool)
        elif pattern < 3:
            chosen = i % 2 == pattern - 1
        else:
            chosen = i % 4 == pattern - 3 if pattern < 7 else i >= 0
        kept.append(source[chosen])
    result = np.concatenate(kept)
    assert outcome.reduced == len(result)
    wanted = state.ub.copy()
    wanted[: result.nbytes] = result.view(np.uint8)
    assert (outcome.ub == wanted).all()
    covered(state, outcome)


@pytest.mark.parametrize("dtype", WORDS)
def test_a_broadcast_fills_a_block_with_each_element(unit: VectorUnit, dtype: str) -> None:
    _, state = random_state(1)
    kind = WORDS[dtype]
    size = np.dtype(kind).itemsize
    outcome = unit.run(f"vbrcb {dtype}", state, [2, 2, 16])
    wanted = state.ub.copy()
    for i, value in enumerate(state.ub[A : A + 16 * size].view(kind)):
        to = DST + (i // 8 * 16 + i % 8 * 2) * 32
        wanted[to : to + 32] = np.full(32 // size, value, dtype=kind).view(np.uint8)
    assert (outcome.ub == wanted).all()
    covered(state, outcome)


@pytest.mark.parametrize("dtype", WORDS)
def test_fill_and_copy_obey_mask_and_strides(unit: VectorUnit, dtype: str) -> None:
    random, state = random_state(2)
    kind = WORDS[dtype]
    size = np.dtype(kind).itemsize
    state.low = int(random.integers(0, 2**63))
    mask = state.low | state.high << 64
    on = np.array([i for i in range(256 // size) if mask >> i & 1])
    for name in ("vcopy", "vector_dup"):
        outcome = unit.run(f"{name} {dtype}", state, [2, 2, 1, 20, 8, 7])
        wanted = state.ub.copy()
        for r in range(2):
            values = lanes(state.ub, kind, A, 256 // size, r, 1, 8)[on]
            values = values if name == "vcopy" else np.full(len(on), 7, dtype=kind)
            where = addresses(DST, size, on, r, 2, 20)
            for i in range(size):
                wanted[where + i] = values.view(np.uint8).reshape(-1, size)[:, i]
        assert (outcome.ub == wanted).all()
        covered(state, outcome)


@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize("width", [8, 16, 32])
def test_a_block_transpose_turns_rows_into_columns(
    unit: VectorUnit, width: int, repeat: int
) -> None:
    _, state = random_state(5)
    kind = {8: np.uint8, 16: np.uint16, 32: np.uint32}[width]
    per_block = 256 // width
    upper_to, upper_from = 1, 0
    numbers = [repeat, 1, 1, 4, upper_to, upper_from]
    outcome = unit.run(f"scatter_vnchwconv_b{width}", state, numbers)
    wanted = state.ub.copy()
    for r in range(repeat):
        # The documentation: a single iteration starts one stride after the listed addresses.
        shift = 32 * (r if repeat > 1 else 1)
        rows = np.stack(
            [state.ub[B + i * 64 + shift : B + i * 64 + shift + 32].view(kind) for i in range(16)]
        )
        if width == 8:
            rows = rows[:, 16:] if upper_from else rows[:, :16]
        columns = rows.T if width != 32 else rows.T.reshape(16, per_block)
        for i, column in enumerate(columns):
            start = DST + i * 4 * 32 + shift + (16 if width == 8 and upper_to else 0)
            data = np.ascontiguousarray(column).view(np.uint8)
            wanted[start : start + len(data)] = data
    assert (outcome.ub == wanted).all()
    covered(state, outcome)


def test_small_transposes(unit: VectorUnit) -> None:
    _, state = random_state(6)
    square = state.ub[A : A + 512].view(np.uint16).reshape(16, 16)
    outcome = unit.run("vtranspose", state)
    assert (outcome.ub[:512].view(np.uint16).reshape(16, 16) == square.T).all()
    image = state.ub[A : A + 15 * 8 * 4].view(np.uint32)
    to_nhwc = unit.run("v4dtrans", state, [15, 8, 0]).ub[:480].view(np.uint32)
    to_nchw = unit.run("v4dtrans", state, [15, 8, 1]).ub[:480].view(np.uint32)
    assert (to_nhwc.reshape(15, 8) == image.reshape(8, 15).T).all()
    assert (to_nchw.reshape(8, 15) == image.reshape(15, 8).T).all()
