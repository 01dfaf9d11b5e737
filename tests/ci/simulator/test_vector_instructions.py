"""Every row of the instruction table against the machine, with random operands and masks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.reference.vector_rows.element import KEEP_INFINITY, SATURATE_INTEGER, TRUNCATE_CAST
from lab.reference.vector_table import INSTRUCTIONS, NUMPY_TYPES, Form, Instruction
from tests.ci.simulator.vector_unit import FULL, WINDOW, Outcome, State, VectorUnit, addresses

DST, FIRST, SECOND = 0, 4096, 8192
"""Offsets of the operands in the window; each has room for the longest walk drawn below."""

BITS = {name: np.dtype(kind).itemsize * 8 for name, kind in NUMPY_TYPES.items()} | {"int4b_t": 4}

SPECIAL_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 126.5, 127.5, 128.0, -128.5, 255.5, 2047.5,
    2049.0, 32767.5, -32768.5, 65504.0, 65519.0, 65520.0, 65535.9, 65536.0, 1e-8, 6e-8, 3e-5,
    -5.96e-8, 1.1754942e-38, 1e-45, 2147483520.0, 2147483648.0, -2147483648.0, 9.2e18, 9.3e18,
    3.4e38, 88.0, -104.0, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip


def statement(row: Instruction) -> str:
    """The C++ call of a row: n[] is repeat, three block strides, three repeat strides, flag."""
    dst, src = f"({row.dst}*)(ub + n[8])", f"({row.src}*)(ub + {FIRST})"
    two = f"{dst}, {src}, ({row.src}*)(ub + {SECOND})"
    six = "n[1], n[2], n[3], n[4], n[5], n[6]"
    four = "n[1], n[2], n[4], n[5]"
    return {
        Form.BINARY: f"{row.mnemonic}({two}, n[0], {six});",
        Form.BINARY_HALF: f"{row.mnemonic}({two}, n[0], {six}, false);",
        Form.UNARY: f"{row.mnemonic}({dst}, {src}, n[0], {four});",
        Form.SCALAR: f"{row.mnemonic}({dst}, {src}, ({row.src})scalar, n[0], {four});",
        Form.SHIFT: f"{row.mnemonic}({dst}, {src}, n[7], n[0], {four});",
        Form.SHIFT_ROUND: f"{row.mnemonic}({dst}, {src}, n[7], n[0], {four}, n[9]);",
    }[row.form]


@pytest.fixture(scope="module")
def unit() -> Iterator[VectorUnit]:
    unit = VectorUnit({row.name: statement(row) for row in INSTRUCTIONS})
    yield unit
    unit.close()


@dataclass(frozen=True)
class Walk:
    """How an instruction goes over its operands."""

    repeat: int
    counter: int | None
    mask: int
    blocks: tuple[int, int, int]
    repeats: tuple[int, int, int]
    in_place: bool
    seed: int
    distance: int
    rounds: bool
    control: int


MASKS = st.one_of(
    st.just((1 << 128) - 1),
    st.integers(0, 128).map(lambda n: (1 << n) - 1),
    st.integers(0, (1 << 128) - 1),
)
WALKS = st.builds(
    Walk,
    repeat=st.integers(0, 4),
    counter=st.one_of(st.none(), st.none(), st.integers(0, 300)),
    mask=MASKS,
    blocks=st.tuples(st.sampled_from([1, 1, 1, 2, 3]), *[st.sampled_from([1, 1, 0, 2])] * 2),
    repeats=st.tuples(*[st.sampled_from([8, 8, 4, 0, 9, 1])] * 3),
    in_place=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    distance=st.integers(0, 16),
    rounds=st.booleans(),
    control=st.sets(st.sampled_from([KEEP_INFINITY, SATURATE_INTEGER, TRUNCATE_CAST])).map(
        lambda bits: sum(1 << bit for bit in bits)
    ),
)


def draw_lanes(dtype: str, count: int, random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Random elements, a third of them special values."""
    kind = NUMPY_TYPES[dtype]
    special = random.random(count) < 0.3
    if dtype in ("half", "float", "bfloat16_t"):
        scale = random.choice([1.0, 100.0, 40000.0, 3e9])
        with np.errstate(over="ignore"):
            values = (random.standard_normal(count) * scale).astype(np.float32)
            values = np.where(special, random.choice(SPECIAL_FLOATS, count), values)
            if dtype == "bfloat16_t":
                return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
            return values.astype(kind)
    info = np.iinfo(kind)
    values = random.integers(info.min, info.max, count, dtype=kind, endpoint=True)
    small = random.integers(max(info.min, -300), min(info.max, 300), count).astype(kind)
    edges = random.choice(np.array([info.min, info.max, 0, 1], dtype=kind), count)
    if info.bits >= 32:  # halfway between two float32 numbers
        power = random.integers(25, info.bits - 1, count)
        ties = (1 << power) + random.choice([1, 3], count) * (1 << (power - 24))
        edges = np.where(random.random(count) < 0.7, ties * random.choice([1, -1], count), edges)
        edges = edges.astype(kind)
    return np.where(special, edges, np.where(random.random(count) < 0.5, small, values))


def fill(dtype: str, size: int, random: np.random.Generator) -> bytes:
    if dtype == "int4b_t":
        return random.bytes(size)
    count = size // np.dtype(NUMPY_TYPES[dtype]).itemsize
    return draw_lanes(dtype, count, random).tobytes()


def active_lanes(walk: Walk, width: int) -> list[np.ndarray[Any, Any]]:
    """Active lanes of each iteration, worked out from the documentation of the mask modes."""
    lanes = np.arange(width)
    if walk.counter is not None:
        return [lanes[: walk.counter - start] for start in range(0, walk.counter, width)]
    chosen = np.array([(walk.mask >> i & 1) != 0 for i in range(width)])
    return [lanes[chosen] for _ in range(walk.repeat)]


def read(ub: np.ndarray[Any, Any], dtype: str, where: Any, lanes: Any) -> Any:
    if dtype == "int4b_t":
        byte = ub[where]
        nibble = np.where(lanes % 2 == 0, byte & 15, byte >> 4).astype(np.int8)
        return np.where(nibble > 7, nibble - 16, nibble).astype(np.int8)
    size = np.dtype(NUMPY_TYPES[dtype]).itemsize
    raw = np.stack([ub[where + i] for i in range(size)], axis=-1)
    return np.ascontiguousarray(raw).view(NUMPY_TYPES[dtype])[..., 0]


def write(ub: np.ndarray[Any, Any], dtype: str, where: Any, lanes: Any, values: Any) -> None:
    if dtype == "int4b_t":
        for at, lane, value in zip(where, lanes, values, strict=True):
            shift = 4 * (int(lane) % 2)
            ub[at] = (int(ub[at]) & ~(15 << shift) & 255) | (int(value) & 15) << shift
        return
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    for i in range(raw.shape[1]):
        ub[where + i] = raw[:, i]


def expected(row: Instruction, walk: Walk, state: State, dst: int, scalar: float) -> Any:
    """The window after the instruction, from the row's numpy meaning."""
    ub = state.ub.copy()
    sizes = {name: BITS[name] / 8 for name in (row.dst, row.src)}
    width = int(256 / max(sizes.values()))
    sources = 2 if row.form in (Form.BINARY, Form.BINARY_HALF) else 1
    for r, lanes in enumerate(active_lanes(walk, width)):
        if len(lanes) == 0:
            continue
        operands = []
        for k in range(sources):
            where = addresses((FIRST, SECOND)[k], sizes[row.src], lanes, r,
                              walk.blocks[1 + k], walk.repeats[1 + k])  # fmt: skip
            operands.append(read(ub, row.src, where, lanes))
        to = addresses(dst, sizes[row.dst], lanes, r, walk.blocks[0], walk.repeats[0])
        if row.reads_dst:
            operands.append(read(ub, row.dst, to, lanes))
        if row.form is Form.SCALAR:
            operands.append(NUMPY_TYPES[row.src](scalar))
        if row.form in (Form.SHIFT, Form.SHIFT_ROUND):
            operands.append(walk.distance)
        if row.form is Form.SHIFT_ROUND:
            operands.append(walk.rounds)
        write(ub, row.dst, to, lanes, row.under(state.control)(*operands))
    return ub


def same(actual: Any, wanted: Any, row: Instruction) -> Any:
    """Element by element: equal, both NaN, both zero, or within the row's units in the last
    place."""
    if row.dst not in ("half", "float", "bfloat16_t"):
        return actual == wanted
    unsigned = np.uint32 if row.dst == "float" else np.uint16
    magnitude = unsigned(0x7FFFFFFF if row.dst == "float" else 0x7FFF)
    infinity = {"half": 0x7C00, "float": 0x7F800000, "bfloat16_t": 0x7F80}[row.dst]
    a, b = actual.view(unsigned), wanted.view(unsigned)
    nan = ((a & magnitude) > infinity) & ((b & magnitude) > infinity)
    zero = ((a & magnitude) == 0) & ((b & magnitude) == 0)
    close = (a == b) | nan | zero
    if row.ulps:
        distance = np.abs(a.astype(np.int64) - b.astype(np.int64))
        close |= (distance <= row.ulps) & ((a & magnitude) <= infinity)
    return close


def run(unit: VectorUnit, row: Instruction, walk: Walk, state: State, dst: int, scalar: float,
        ) -> Outcome:  # fmt: skip
    numbers = [walk.repeat, *walk.blocks, *walk.repeats, walk.distance, dst, int(walk.rounds)]
    return unit.run(row.name, state, numbers, scalar)


@pytest.mark.parametrize("row", INSTRUCTIONS, ids=lambda row: row.name)
@settings(max_examples=12, derandomize=True, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(walk=WALKS)
def test_a_row_computes_its_meaning(unit: VectorUnit, row: Instruction, walk: Walk) -> None:
    random = np.random.default_rng(walk.seed)
    if row.dst == "int4b_t" or row.src == "int4b_t":
        # Elements of half a byte are masked in pairs.
        pairs = walk.mask & int("01" * 64, 2)
        counter = None if walk.counter is None else walk.counter & ~1
        walk = Walk(**{**vars(walk), "mask": pairs | pairs << 1, "counter": counter})
    in_place = walk.in_place and BITS[row.dst] == BITS[row.src]
    dst = FIRST if in_place else DST
    if in_place:
        # Overlapping strides would make the result depend on more than the documentation says.
        walk = Walk(**{**vars(walk), "blocks": (1, 1, walk.blocks[2]),
                       "repeats": (8, 8, walk.repeats[2])})  # fmt: skip
    parts = {
        DST: fill(row.dst, 4096, random),
        FIRST: fill(row.src, 4096, random),
        SECOND: fill(row.src, 8192, random),
    }
    ub = np.frombuffer(b"".join(parts.values()), dtype=np.uint8).copy()
    assert len(ub) == WINDOW
    scalar = float(draw_lanes(row.src, 1, random)[0]) if row.form is Form.SCALAR else 0.0
    state = State(
        ub, low=walk.mask & FULL, high=walk.mask >> 64, counter=walk.counter is not None,
        control=walk.control,
    )  # fmt: skip
    if walk.counter is not None:
        state.low = walk.counter
    outcome = run(unit, row, walk, state, dst, scalar)
    wanted = expected(row, walk, state, dst, scalar)

    kind = NUMPY_TYPES[row.dst]
    region = slice(dst, dst + 4096)
    actual, want = outcome.ub[region].view(kind), wanted[region].view(kind)
    wrong = np.flatnonzero(~same(actual, want, row))
    assert len(wrong) == 0, (
        f"element {wrong[0]} is {actual[wrong[0]]!r}, not {want[wrong[0]]!r}; scalar {scalar}"
    )
    changed = outcome.ub != ub
    changed[region] = False
    assert not changed.any(), "bytes outside the destination changed"
    check_declaration(unit, row, walk, state, dst, scalar, outcome, random)


def check_declaration(
    unit: VectorUnit, row: Instruction, walk: Walk, state: State, dst: int, scalar: float,
    outcome: Outcome, random: np.random.Generator,
) -> None:  # fmt: skip
    """What the instruction declared to touch must cover what it touched: the checks for bounds,
    initialisation and races see nothing else."""
    written = outcome.ub != state.ub
    assert not (written & ~outcome.declared(write=True)).any(), "wrote what it did not declare"
    noise = np.frombuffer(random.bytes(WINDOW), dtype=np.uint8)
    elsewhere = ~(outcome.declared(write=False) | outcome.declared(write=True))
    disturbed = State(**{**vars(state), "ub": np.where(elsewhere, noise, state.ub)})
    again = run(unit, row, walk, disturbed, dst, scalar)
    touched = outcome.declared(write=True)
    assert (again.ub[touched] == outcome.ub[touched]).all(), "read what it did not declare"
