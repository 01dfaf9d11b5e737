"""Every row of the table of copies and cube instructions against the machine: random arguments,
contents of the memories with special values, all of the target compared."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from lab.reference.transfer_rows.base import (
    SIZES,
    WINDOW,
    Memories,
    Memory,
    TransferRow,
    random_bytes,
)
from lab.reference.transfer_table import TRANSFERS
from tests.ci.simulator.machine_harness import MachineHarness
from tests.lab.reference.same import same

DRAWS = 8
NUMBERS = 16
PARTS = 4  # memories that a row names, its target among them
LOCAL: dict[Memory, int] = {
    "UB": 0, "L1": 1, "L0A": 2, "L0B": 3, "L0C": 4, "BIAS": 5, "FIXBUF": 6,
}  # fmt: skip

# Memories are filled and looked at behind the machine's back: it is about one instruction alone.
PRELUDE = f"""
#define ALONE __attribute__((noinline, no_sanitize("thread"), \\
                             optimize("no-tree-loop-distribute-patterns")))
ALONE static void carry(void* to, const void* from, int bytes) {{
    for (int i = 0; i < bytes / 8; ++i) ((long*)to)[i] = ((const long*)from)[i];
}}
ALONE static half half_of(long bits) {{
    half value;
    *(unsigned short*)&value = (unsigned short)bits;
    return value;
}}
static void kernel(u8** a) {{
    long n[{NUMBERS}];
    for (int draw = 0; draw < {DRAWS}; ++draw) {{
        carry(n, a[0] + draw * {8 * (NUMBERS + 1)}, {8 * NUMBERS});
        long row;
        carry(&row, a[0] + draw * {8 * (NUMBERS + 1)} + {8 * NUMBERS}, 8);
        u8* in = a[1] + draw * {PARTS * WINDOW};
        u8* out = a[2] + draw * {WINDOW};
        u8* gm = in;
        u8* ub = (u8*)dav_memory_base(0);
        (void)gm; (void)ub;
        switch (row) {{
CASES
        }}
    }}
}}
"""


def memories_of(row: TransferRow) -> list[Memory]:
    return [*(m for m in row.reads if m != row.writes), row.writes]


def size_of(memory: Memory) -> int:
    return SIZES.get(memory, WINDOW)


def case_of(index: int, row: TransferRow) -> str:
    lines = [f"case {index}: {{"]
    for place, memory in enumerate(memories_of(row)):
        start = f"in + {place * WINDOW}"
        if memory == "GM":
            lines.append(f"gm = {start};")
        elif memory == "OUT":
            lines.append(f"carry(out, {start}, {WINDOW});")
        else:
            base = f"(void*)dav_memory_base({LOCAL[memory]})"
            lines.append(f"carry({base}, {start}, {size_of(memory)});")
    lines += ["pipe_barrier(PIPE_ALL);", row.call, "pipe_barrier(PIPE_ALL);"]
    if row.writes != "OUT":
        base = f"(void*)dav_memory_base({LOCAL[row.writes]})"
        lines.append(f"carry(out, {base}, {size_of(row.writes)});")
    return "\n".join([*lines, "} break;"])


def body(core: str) -> str:
    rows = [(i, row) for i, row in enumerate(TRANSFERS) if row.core == core]
    return PRELUDE.replace("CASES", "\n".join(case_of(i, row) for i, row in rows))


def contents(row: TransferRow, random: np.random.Generator) -> Memories:
    fills = {m: row.fills.get(m, random_bytes) for m in memories_of(row)}
    return {m: np.asarray(fill(random, size_of(m))).copy() for m, fill in fills.items()}


@pytest.mark.parametrize("row", TRANSFERS, ids=lambda row: row.name)
def test_a_row_does_what_it_means(harness: MachineHarness, row: TransferRow) -> None:
    random = np.random.default_rng(zlib.crc32(row.name.encode()))
    numbers = np.zeros((DRAWS, NUMBERS + 1), np.int64)
    held = np.zeros((DRAWS, PARTS, WINDOW), np.uint8)
    wanted = []
    altered = 0
    for draw in range(DRAWS):
        drawn = row.draw(random)
        memory = contents(row, random)
        numbers[draw, : len(drawn)] = drawn
        numbers[draw, NUMBERS] = TRANSFERS.index(row)
        for place, name in enumerate(memories_of(row)):
            held[draw, place, : size_of(name)] = memory[name]
        before = memory[row.writes].copy()
        row.meaning(memory, drawn)
        altered += int((memory[row.writes] != before).sum())
        wanted.append(memory[row.writes])
    assert altered > 256, "the row means next to nothing"
    done = harness.run(
        body(row.core), [numbers, held], [np.zeros((DRAWS, WINDOW), np.uint8)], auto_sync=True,
        cores=(1, 0) if row.core == "cube" else (0, 1),
    )  # fmt: skip
    assert done.outcome == "ok", done.report["message"]
    for draw in range(DRAWS):
        found = done.outputs[0][draw][: size_of(row.writes)]
        wrong = np.flatnonzero(~same(found, wanted[draw], row.element))
        assert len(wrong) == 0, (
            f"with {numbers[draw, :-1].tolist()} byte {wrong[0]} is {found[wrong[0]]}, "
            f"not {wanted[draw][wrong[0]]} ({len(wrong)} differ)"
        )


def test_every_row_has_its_own_name() -> None:
    assert len({row.name for row in TRANSFERS}) == len(TRANSFERS)
