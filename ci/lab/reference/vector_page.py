"""The documentation page of the vector unit, written from the instruction table."""

from __future__ import annotations

from itertools import groupby

from ci.lab.reference.vector_rows.window import Whole
from ci.lab.reference.vector_table import INSTRUCTIONS, WHOLE, Instruction

_TYPES = {
    "half": "f16", "float": "f32", "bfloat16_t": "bf16", "int4b_t": "s4", "int8_t": "s8",
    "uint8_t": "u8", "int16_t": "s16", "uint16_t": "u16", "int32_t": "s32", "uint32_t": "u32",
    "int64_t": "s64",
}  # fmt: skip

_HEAD = """# Vector instructions

What each instruction of the simulated vector unit computes. All of them stand in one table,
`ci/lab/reference/vector_table.py`, with their meaning in numpy. Tests draw operands, shapes, masks,
strides, modes and special values for every row and compare the machine with it; this page is
generated from it. *Assumption* tells what no public document says.

## How an instruction walks over its operands

- An iteration (repeat) covers 256 bytes of the widest operand type: 128 lanes of 16 bits, 64 of 32.
- Operands are addressed in blocks of 32 bytes. The block stride is the distance between the
  blocks of an iteration, the repeat stride that between the same blocks of two iterations; 0 stays
  on the spot.
- In normal mode the 128-bit mask chooses the lanes of every iteration, and the instruction says
  how many iterations there are. In counter mode the mask register holds the number of elements,
  and the iterations follow from it.
- Inactive lanes keep what the destination held. Blocks without an active lane are not touched.
- Within an iteration all sources are read before anything is written; iterations run in order.
- half is computed in binary32 and rounded to nearest even once. Infinity and NaN are kept unless
  CTRL[48] is cleared, which saturates half and bfloat16 results and turns NaN into 0.
- Integer arithmetic wraps unless CTRL[53] is set; conversions to integers saturate unless CTRL[59]
  is set, and NaN becomes 0.

## Element by element

Types are written destination ← sources. Fused results and those of the mathematical functions may
differ from the correctly rounded value by one unit in the last place.

| instruction | types | result | assumption |
|---|---|---|---|
"""

_MIDDLE = """
## The others

| instruction | types | result | assumption |
|---|---|---|---|
"""

_TAIL = """
## Assumptions

Where Huawei's public documentation is silent the choice made stands in the tables' last column, and
at the top of the source file, `ci/simulator/machine/vector_*.cpp`. Two of them matter most. The
reciprocal instructions vrec and vrsqrt give estimates: the documentation says that their errors
exceed 1/1000 for half and 1/10000 for float, so the machine keeps eight fraction bits, and a kernel
that needs more fails here as it would on the chip. Additions and products of integers wrap.
"""


def page() -> str:
    """The page's Markdown."""
    element = []
    for _, group in groupby(sorted(INSTRUCTIONS, key=_key), key=_key):
        members = list(group)
        types = ", ".join(f"{_TYPES[row.dst]} ← {_TYPES[row.src]}" for row in members)
        element.append(_line(members[0].mnemonic, types, members[0].formula, members[0].assumption))
    whole = []
    for _, others in groupby(sorted(WHOLE, key=_whole_key), key=_whole_key):
        rows = list(others)
        types = ", ".join(_TYPES[row.dtype] for row in rows)
        whole.append(_line(rows[0].mnemonic + rows[0].variant, types, rows[0].formula,
                           rows[0].assumption))  # fmt: skip
    return _HEAD + "".join(element) + _MIDDLE + "".join(whole) + _TAIL


def _key(row: Instruction) -> tuple[str, str, str]:
    return row.mnemonic, row.formula, row.assumption


def _whole_key(row: Whole) -> tuple[str, str, str]:
    return row.mnemonic, row.variant, row.formula


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
