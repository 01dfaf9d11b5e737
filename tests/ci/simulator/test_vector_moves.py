"""Comparison, selection, gathers, compaction, transposes, sorting and dequantisation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.ci.simulator.vector_unit import (
    WINDOW,
    Outcome,
    State,
    VectorUnit,
    addresses,
)

DST, A, B, EXTRA = 0, 4096, 8192, 12288
TYPES = {"half": np.float16, "float": np.float32, "int32_t": np.int32}
WORDS = {"uint16_t": np.uint16, "uint32_t": np.uint32}
COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
SEEDS = range(6)
COMPARED = [(mode, dtype) for mode in COMPARISONS for dtype in ("half", "float")]
COMPARED.append(("eq", "int32_t"))


def at(dtype: str, offset: int) -> str:
    return f"({dtype}*)(ub + {offset})"


def calls() -> dict[str, str]:
    made = {}
    for mode in COMPARISONS:
        for dtype in (dtype for name, dtype in COMPARED if name == mode):
            pair = f"{at(dtype, A)}, {at(dtype, B)}, n[0], 1, n[1], n[2], 8, n[3], n[4]"
            made[f"vcmpv_{mode} {dtype}"] = f"vcmpv_{mode}(ub + {DST}, {pair});"
            made[f"vcmpvs_{mode} {dtype}"] = (
                f"vcmpvs_{mode}(ub + {DST}, {at(dtype, A)}, ({dtype})scalar, n[0], 1, n[1], 8,"
                " n[3]);"
            )
            if dtype != "int32_t":
                made[f"vcmp_{mode} {dtype}"] = f"vcmp_{mode}({pair});"
    for dtype in ("half", "float"):
        strides = "n[0], 1, n[1], n[2], 8, n[3], n[4]"
        made[f"vsel0 {dtype}"] = (
            f"vsel({at(dtype, DST)}, {at(dtype, A)}, {at(dtype, B)}, {strides});"
        )
        made[f"vsel1 {dtype}"] = (
            f"vsel({at(dtype, DST)}, {at(dtype, A)}, {at('uint8_t', EXTRA)}, {strides}, 1);"
        )
        made[f"vsel2 {dtype}"] = (
            f"state.compare_mask[0] = (uint32_t)(uint64_t)(ub + {EXTRA});"
            f"vsel({at(dtype, DST)}, {at(dtype, A)}, {at(dtype, B)}, {strides}, 2);"
        )
        made[f"vbitsort {dtype}"] = (
            f"vbitsort({at(dtype, DST)}, {at(dtype, A)}, {at('uint32_t', B)}, n[0]);"
        )
        made[f"vmrgsort4 {dtype}"] = (
            f"{dtype}* lists[4]; for (int i = 0; i < 4; i++) lists[i] = ({dtype}*)(ub + n[i]);"
            f"vmrgsort4({at(dtype, DST)}, lists, n[4], n[5]);"
        )
    for dtype in WORDS:
        base = f"(uint32_t)(uint64_t)(ub + {B})"
        made[f"vgather {dtype}"] = (
            f"vgather({at(dtype, DST)}, {at('uint32_t', A)}, {base}, n[1], n[0]);"
        )
        made[f"vgatherb {dtype}"] = (
            f"vgatherb({at(dtype, DST)}, {at('uint32_t', A)}, {base}, n[1], n[2], n[0]);"
        )
        made[f"vreducev2 {dtype}"] = (
            f"vreducev2({at(dtype, DST)}, {at(dtype, A)}, {at(dtype, EXTRA)}, n[0], n[1], n[2],"
            " n[3], n[4]);"
        )
        made[f"vbrcb {dtype}"] = f"vbrcb({at(dtype, DST)}, {at(dtype, A)}, n[1], n[2], n[0]);"
        made[f"vcopy {dtype}"] = (
            f"vcopy({at(dtype, DST)}, {at(dtype, A)}, n[0], n[1], n[2], n[3], n[4]);"
        )
        made[f"vector_dup {dtype}"] = (
            f"vector_dup({at(dtype, DST)}, ({dtype})n[5], n[0], n[1], 1, n[3], 0);"
        )
    for width in (8, 16, 32):
        flags = ", n[4], n[5]" if width == 8 else ""
        made[f"scatter_vnchwconv_b{width}"] = (
            "uint64_t d[16], s[16]; for (int i = 0; i < 16; i++) {"
            f" d[i] = (uint64_t)(ub + {DST} + i * n[3] * 32); s[i] = (uint64_t)(ub + {B} + i * 64);"
            "} set_va_reg_sb(VA0, d); set_va_reg_sb(VA1, d + 8); set_va_reg_sb(VA2, s);"
            "set_va_reg_sb(VA3, s + 8);"
            f"scatter_vnchwconv_b{width}(VA0, VA2, n[0], n[1], n[2]{flags});"
        )
    made["vtranspose"] = f"vtranspose({at('uint16_t', DST)}, {at('uint16_t', A)});"
    made["v4dtrans"] = (
        f"v4dtrans({at('uint32_t', DST)}, {at('uint32_t', A)}, n[0], n[1], n[2] != 0);"
    )
    made["cmpmask"] = f"set_cmpmask(ub + {A}); get_cmpmask(ub + {DST});"
    made["vconv_deq"] = (
        "set_deqscale((half)scalar);"
        f"vconv_deq({at('half', DST)}, {at('int32_t', A)}, 1, 1, 1, 4, 8);"
    )
    for kind in ("int8_t", "uint8_t"):
        for half in "lh":
            operands = f"{at(kind, DST)}, {at('int16_t', A)}"
            made[f"deq {kind} {half}"] = (
                f"set_deqscale((uint64_t)n[0]); vconv_deqs162b8{half}({operands}, 1, 1, 1, 8, 8);"
            )
            made[f"vdeq {kind} {half}"] = (
                f"set_deqscale((uint64_t)(ub + {B}) >> 5);"
                f"vconv_vdeqs162b8{half}({operands}, 1, 1, 1, 8, 8);"
            )
    made["control"] = (
        "set_ctrl(sbitset1(get_ctrl(), 56)); ub[0] = state.mask.counter;"
        "set_mask_norm(); ub[1] = get_ctrl() >> 56 & 1;"
        "set_mask_count(); ub[2] = get_ctrl() >> 56 & 1;"
        "set_ctrl(sbitset0(get_ctrl(), 56)); ub[3] = state.mask.counter;"
    )
    return made


@pytest.fixture(scope="module")
def unit() -> Iterator[VectorUnit]:
    unit = VectorUnit(calls())
    yield unit
    unit.close()


def random_state(seed: int, dtype: str = "float") -> tuple[Any, State]:
    """A generator and a window whose operands A and B hold small numbers with many equals."""
    random = np.random.default_rng(seed)
    ub = random.integers(0, 256, WINDOW, dtype=np.uint8)
    kind = TYPES.get(dtype, np.float32)
    values = random.integers(-4, 5, 8192 // np.dtype(kind).itemsize).astype(kind)
    if dtype != "int32_t":
        values[random.random(len(values)) < 0.05] = np.nan
    ub[A : A + 8192] = values.view(np.uint8)
    return random, State(ub)


def lanes(ub: Any, kind: Any, base: int, count: int, r: int, block: int, stride: int) -> Any:
    size = np.dtype(kind).itemsize
    where = addresses(base, size, range(count), r, block, stride)
    raw = np.stack([ub[where + i] for i in range(size)], 1)
    return np.ascontiguousarray(raw).view(kind)[:, 0]


def covered(state: State, outcome: Outcome) -> None:
    changed = outcome.ub != state.ub
    assert not (changed & ~outcome.declared(write=True)).any()


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


def pairs(scores: Any, indices: Any) -> Any:
    """(score, index) structures of 8 bytes."""
    made = np.zeros((len(scores), 8), dtype=np.uint8)
    size = scores.dtype.itemsize
    made[:, :size] = np.ascontiguousarray(scores).view(np.uint8).reshape(-1, size)
    made[:, 4:] = np.ascontiguousarray(indices.astype(np.uint32)).view(np.uint8).reshape(-1, 4)
    return made


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["half", "float"])
def test_a_sort_is_descending_and_stable(unit: VectorUnit, dtype: str, seed: int) -> None:
    random, state = random_state(seed, dtype)
    kind = TYPES[dtype]
    scores = random.integers(-20, 20, 96).astype(kind)
    index = random.integers(0, 2**32, 96, dtype=np.uint32)
    state.ub[A : A + scores.nbytes] = scores.view(np.uint8)
    state.ub[B : B + index.nbytes] = index.view(np.uint8)
    outcome = unit.run(f"vbitsort {dtype}", state, [3])
    for r in range(3):
        part = slice(r * 32, (r + 1) * 32)
        order = np.argsort(-scores[part].astype(np.float64), kind="stable")
        wanted = pairs(scores[part][order], index[part][order])
        assert (outcome.ub[r * 256 : (r + 1) * 256] == wanted.ravel()).all()
    covered(state, outcome)


@pytest.mark.parametrize("suspend", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["half", "float"])
def test_a_merge_prefers_the_earlier_list_and_counts_what_it_took(
    unit: VectorUnit, dtype: str, seed: int, suspend: bool
) -> None:
    random, state = random_state(seed, dtype)
    valid = [2, 3, 4][seed % 3]
    length = [int(x) for x in random.integers(1, 60, 4)]
    lists = []
    for number in range(4):
        scores = np.sort(random.integers(-9, 9, length[number]))[::-1].astype(TYPES[dtype])
        lists.append(pairs(scores, np.arange(length[number]) + 1000 * number))
        base = A + number * 1024
        state.ub[base : base + lists[-1].size] = lists[-1].ravel()
    bits = (1 << valid) - 1
    lengths = sum(n << 16 * i for i, n in enumerate(length))
    config = 1 | bits << 8 | int(suspend) << 12
    lengths = lengths - (1 << 64) if lengths >> 63 else lengths
    numbers = [A + i * 1024 for i in range(4)] + [lengths, config]
    outcome = unit.run(f"vmrgsort4 {dtype}", state, numbers)
    taken, merged = [0] * valid, []
    while True:
        open_lists = [i for i in range(valid) if taken[i] < length[i]]
        if not open_lists or (suspend and len(open_lists) < valid):
            break
        heads = [lists[i][taken[i]][: 2 if dtype == "half" else 4].view(TYPES[dtype])[0]
                 for i in open_lists]  # fmt: skip
        best = open_lists[int(np.argmax(heads))]
        merged.append(lists[best][taken[best]])
        taken[best] += 1
    flat = np.concatenate(merged)
    wanted = state.ub.copy()
    wanted[: len(flat)] = flat
    assert (outcome.ub == wanted).all()
    assert outcome.merged == sum(n << 16 * i for i, n in enumerate(taken))
    covered(state, outcome)


def test_merging_repeats_over_neighbouring_groups(unit: VectorUnit) -> None:
    _, state = random_state(1)
    scores = np.arange(64, dtype=np.float32).reshape(8, 8)[:, ::-1]
    for i, row in enumerate(scores):
        state.ub[A + i * 64 : A + (i + 1) * 64] = pairs(row, np.arange(8)).ravel()
    numbers = [A + i * 64 for i in range(4)] + [0x0008000800080008, 2 | 15 << 8]
    outcome = unit.run("vmrgsort4 float", state, numbers)
    merged = outcome.ub[:512].view(np.float32)[0::2]
    assert (merged == np.concatenate([np.arange(31, -1, -1), np.arange(63, 31, -1)])).all()


def test_the_compare_mask_travels_through_its_register(unit: VectorUnit) -> None:
    _, state = random_state(4)
    outcome = unit.run("cmpmask", state)
    assert (outcome.ub[:16] == state.ub[A : A + 16]).all()
    covered(state, outcome)


def test_scaling_an_integer_to_half_does_not_overflow_on_the_way(unit: VectorUnit) -> None:
    _, state = random_state(4)
    values = np.array([2**31 - 1, -(2**31), 12345678, 100, -7] + [0] * 59, dtype=np.int32)
    state.ub[A : A + 256] = values.view(np.uint8)
    outcome = unit.run("vconv_deq", state, scalar=2.0**-17)
    wanted = (values.astype(np.float32) * np.float32(2.0**-17)).astype(np.float16)
    assert (outcome.ub[:128].view(np.float16) == wanted).all()


@pytest.mark.parametrize("half", "lh")
@pytest.mark.parametrize("kind", ["int8_t", "uint8_t"])
def test_dequantising_fills_half_of_each_block(unit: VectorUnit, kind: str, half: str) -> None:
    random, state = random_state(8)
    source = random.integers(-(2**15), 2**15, 128).astype(np.int16)
    state.ub[A : A + 256] = source.view(np.uint8)
    scales = random.uniform(0.001, 0.01, 16).astype(np.float32)
    scales = (scales.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    offsets = random.integers(-256, 256, 16)
    configs = [
        int(scale.view(np.uint32)) | (int(offset) & 0x1FF) << 37 | (kind == "int8_t") << 46
        for scale, offset in zip(scales, offsets, strict=True)
    ]
    state.ub[B : B + 128] = np.array(configs, dtype=np.uint64).view(np.uint8)
    low, high = (-128, 127) if kind == "int8_t" else (0, 255)
    for name, scale, offset in (
        ("deq", np.full(16, scales[0]), np.full(16, offsets[0])),
        ("vdeq", scales, offsets),
    ):
        outcome = unit.run(f"{name} {kind} {half}", state, [configs[0]])
        exact = source.reshape(8, 16).astype(np.float32) * scale + offset.astype(np.float32)
        result = np.clip(np.rint(exact), low, high).astype(np.int64)
        wanted = state.ub[:256].reshape(8, 2, 16).copy()
        wanted[:, 1 if half == "h" else 0] = result.astype(np.uint8)
        assert (outcome.ub[:256] == wanted.ravel()).all()
        covered(state, outcome)


def test_counter_mode_is_a_bit_of_the_control_register(unit: VectorUnit) -> None:
    _, state = random_state(0)
    assert unit.run("control", state).ub[:4].tolist() == [1, 0, 1, 0]
