"""Sorting and merging, conversions with a scale, and the registers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.ci.simulator.vector_calls import (
    SEEDS,
    TYPES,
    A,
    B,
    calls,
    covered,
    random_state,
)
from tests.ci.simulator.vector_unit import VectorUnit


@pytest.fixture(scope="module")
def unit() -> Iterator[VectorUnit]:
    unit = VectorUnit(calls())
    yield unit
    unit.close()


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
