"""Reductions of the vector unit: sums as binary trees, extremes with their index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.ci.simulator.vector_unit import FULL, WINDOW, Outcome, State, VectorUnit, addresses

DST, SRC = 0, 4096
TYPES = {"half": np.float16, "float": np.float32}
ORDERS = ("VALUE_INDEX", "INDEX_VALUE", "ONLY_VALUE", "ONLY_INDEX")


def calls() -> dict[str, str]:
    """n[] is repeat, destination stride, block stride, repeat stride, last argument."""
    made = {}
    for dtype in TYPES:
        plain = f"({dtype}*)(ub + {DST}), ({dtype}*)(ub + {SRC}), n[0], n[1], n[2], n[3]"
        made[f"vcadd {dtype}"] = f"vcadd({plain}, n[4] != 0);"
        for name in ("vcmax", "vcmin"):
            made[f"{name} {dtype}"] = f"{name}({plain}, (Order_t)n[4]);"
        for name in ("vcgadd", "vcgmax", "vcgmin", "vcpadd"):
            made[f"{name} {dtype}"] = f"{name}({plain});"
    return made


@pytest.fixture(scope="module")
def unit() -> Iterator[VectorUnit]:
    unit = VectorUnit(calls())
    yield unit
    unit.close()


def tree(values: Any) -> Any:
    """Neighbours are added first; every sum is rounded to the element type."""
    with np.errstate(all="ignore"):
        while len(values) > 1:
            values = values[0::2] + values[1::2]
    return values[0]


class Case:
    """A random reduction: lanes of every iteration, and the state it starts from."""

    def __init__(self, dtype: str, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.kind = TYPES[dtype]
        self.size = np.dtype(self.kind).itemsize
        self.width = 256 // self.size
        self.repeat = int(random.integers(1, 5))
        self.dst_stride = int(random.integers(0, 4))
        self.block = int(random.choice([1, 1, 2]))
        self.stride = int(random.choice([8, 8, 0, 9]))
        values = (random.standard_normal(6144) * random.choice([1, 100])).astype(self.kind)
        # Equal values show which index wins.
        values = np.where(random.random(6144) < 0.4, np.round(values), values)
        values = (values + 0.0).astype(self.kind)  # no negative zeros: which one wins is open
        ub = random.integers(0, 255, WINDOW, dtype=np.uint8)
        ub[SRC : SRC + 6144 * self.size] = values[:6144].view(np.uint8)[: WINDOW - SRC]
        mask = int(random.choice([(1 << 128) - 1, int(random.integers(1, 2**60)), (1 << 37) - 1]))
        self.state = State(ub, low=mask & FULL, high=mask >> 64)
        self.active = [np.array([(mask >> i & 1) == 1 for i in range(self.width)])] * self.repeat
        if random.random() < 0.4:
            count = int(random.integers(1, 4 * self.width))
            self.state = State(ub, low=count, counter=True)
            lanes = np.arange(self.width)
            self.active = [lanes < count - s for s in range(0, count, self.width)]

    def lanes(self, r: int) -> Any:
        """All lanes of an iteration; inactive ones have no meaning."""
        at = addresses(SRC, self.size, range(self.width), r, self.block, self.stride)
        raw = np.stack([self.state.ub[np.minimum(at, WINDOW - 4) + i] for i in range(self.size)], 1)
        return np.ascontiguousarray(raw).view(self.kind)[:, 0]

    def run(self, unit: VectorUnit, call: str, last: int = 0) -> Outcome:
        return unit.run(
            call, self.state, [self.repeat, self.dst_stride, self.block, self.stride, last]
        )

    def check(self, outcome: Outcome, writes: list[tuple[int, bytes]]) -> None:
        """The window changed by exactly these writes, in order, all of them declared."""
        wanted = self.state.ub.copy()
        for offset, data in writes:
            wanted[offset : offset + len(data)] = np.frombuffer(data, dtype=np.uint8)
        assert (outcome.ub == wanted).all()
        changed = outcome.ub != self.state.ub
        assert not (changed & ~outcome.declared(write=True)).any()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dtype", TYPES)
def test_a_sum_adds_the_active_lanes_as_a_tree(unit: VectorUnit, dtype: str, seed: int) -> None:
    case = Case(dtype, seed)
    writes = []
    for r, active in enumerate(case.active):
        total = tree(np.where(active, case.lanes(r), case.kind(0)))
        writes.append((DST + r * case.dst_stride * case.size, total.tobytes()))
    case.check(case.run(unit, f"vcadd {dtype}"), writes)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dtype", TYPES)
def test_an_accumulating_sum_ends_in_its_register(unit: VectorUnit, dtype: str, seed: int) -> None:
    case = Case(dtype, seed)
    total = None
    for r, active in enumerate(case.active):
        part = tree(np.where(active, case.lanes(r), case.kind(0)))
        total = part if total is None else total + part
    assert total is not None
    outcome = case.run(unit, f"vcadd {dtype}", last=1)
    case.check(outcome, [])
    assert outcome.accumulated.to_bytes(8, "little")[: case.size] == total.tobytes()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("order", range(4), ids=ORDERS)
@pytest.mark.parametrize("name", ["vcmax", "vcmin"])
@pytest.mark.parametrize("dtype", TYPES)
def test_an_extreme_comes_with_its_lowest_index(
    unit: VectorUnit, dtype: str, name: str, order: int, seed: int
) -> None:
    case = Case(dtype, seed)
    pick = np.argmax if name == "vcmax" else np.argmin
    lost = case.kind("-inf" if name == "vcmax" else "inf")
    index_kind = np.uint16 if case.size == 2 else np.uint32
    writes, winners = [], []
    unit_bytes = (2 * case.size, 2 * case.size, case.size, 4)[order]
    for r, active in enumerate(case.active):
        lanes = np.where(active, case.lanes(r), lost)
        index = int(pick(lanes))
        value, number = lanes[index].tobytes(), index_kind(index).tobytes()
        data = (value + number, number + value, value, np.uint32(index).tobytes())[order]
        writes.append((DST + r * case.dst_stride * unit_bytes, data))
        winners.append((lanes[index], r * case.width + index))
    outcome = case.run(unit, f"{name} {dtype}", last=order)
    case.check(outcome, writes)
    values = np.array([value for value, _ in winners])
    value, index = winners[int(pick(values))]
    assert outcome.max_min >> 32 == index
    assert outcome.max_min.to_bytes(8, "little")[: case.size] == value.tobytes()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ["vcgadd", "vcgmax", "vcgmin", "vcpadd"])
@pytest.mark.parametrize("dtype", TYPES)
def test_a_group_without_active_lanes_keeps_its_result(
    unit: VectorUnit, dtype: str, name: str, seed: int
) -> None:
    case = Case(dtype, seed)
    group = 2 if name == "vcpadd" else 32 // case.size
    results = case.width // group
    writes = []
    for r, active in enumerate(case.active):
        lanes = case.lanes(r)
        for g in range(results):
            part, on = lanes[g * group : (g + 1) * group], active[g * group : (g + 1) * group]
            if not on.any():
                continue
            if name in ("vcgadd", "vcpadd"):
                result = tree(np.where(on, part, case.kind(0)))
            else:
                result = part[on].max() if name == "vcgmax" else part[on].min()
            offset = (r * case.dst_stride * results + g) * case.size
            writes.append((DST + offset, result.tobytes()))
    case.check(case.run(unit, f"{name} {dtype}"), writes)


def test_saturating_mode_clamps_every_node_of_a_half_sum(unit: VectorUnit) -> None:
    ub = np.zeros(WINDOW, dtype=np.uint8)
    lanes = np.array([60000, 60000, -30000, 100] + [0] * 12, dtype=np.float16)
    ub[SRC : SRC + 32] = lanes.view(np.uint8)
    numbers = [1, 1, 1, 8]
    saturated = unit.run("vcgadd half", State(ub, low=0xFFFF, high=0, control=0), numbers)
    plain = unit.run("vcgadd half", State(ub, low=0xFFFF, high=0), numbers)
    wanted = np.float16(65504) + (np.float16(-30000) + np.float16(100))
    assert saturated.ub[:2].view(np.float16)[0] == wanted
    assert plain.ub[:2].view(np.float16)[0] == np.inf


def test_a_nan_wins_an_extreme(unit: VectorUnit) -> None:
    ub = np.zeros(WINDOW, dtype=np.uint8)
    lanes = np.arange(64, dtype=np.float32)
    lanes[[17, 30]] = np.nan
    ub[SRC : SRC + 256] = lanes.view(np.uint8)
    for name in ("vcmax float", "vcmin float"):
        outcome = unit.run(name, State(ub), [1, 1, 1, 8, 0])
        assert np.isnan(outcome.ub[:4].view(np.float32)[0])
        assert outcome.ub[4:8].view(np.uint32)[0] == 17
