"""The documentation page of the vector unit, written from the instruction table."""

from __future__ import annotations

from itertools import groupby

from ci.simulator.vector_table import INSTRUCTIONS, Instruction

_TYPES = {
    "half": "f16", "float": "f32", "bfloat16_t": "bf16", "int4b_t": "s4", "int8_t": "s8",
    "uint8_t": "u8", "int16_t": "s16", "uint16_t": "u16", "int32_t": "s32", "uint32_t": "u32",
    "int64_t": "s64",
}  # fmt: skip

_HEAD = """# Vector instructions

What each instruction of the simulated vector unit computes. The element-by-element ones stand in
one table, `ci/simulator/vector_table.py`, whose numpy meanings the tests hold against the machine
with random operands; this page is generated from it.

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

| instruction | types | result |
|---|---|---|
"""

_TAIL = """
## The others

| instruction | result |
|---|---|
| vcadd | the sum of an iteration's active lanes as a binary tree over neighbours, each node \
rounded to the element type; in accumulating mode the total of all iterations goes to ACC_VAL and \
memory is left alone |
| vcmax, vcmin | the extreme of an iteration with its lowest index; the extreme over all \
iterations goes to MAX_MIN_CNT with its index over all lanes; a NaN wins |
| vcgadd, vcgmax, vcgmin | one result a 32-byte block; blocks without an active lane keep theirs |
| vcpadd | one sum a pair of neighbours |
| vcmpv, vcmpvs | one bit a lane, packed; the mask is ignored |
| vcmp | one bit a lane into CMPMASK; inactive lanes keep theirs |
| vsel | src0 where the bit is set, else the alternative: mode 0 takes its bits from CMPMASK, \
mode 1 from memory with CMPMASK's first element as the alternative, mode 2 from the address \
that CMPMASK holds |
| vector_dup, vcopy | the scalar, or the source, in every active lane |
| vbrcb | eight elements an iteration, each filling a block |
| vgather, vgatherb | elements (blocks) at byte offsets from a base |
| vreducev2 | the elements that a pattern or a bit table keeps, one after the other; RSVD_CNT \
counts them |
| scatter_vnchwconv | sixteen blocks, rows to columns; with a single iteration the strides are \
added to the first addresses already |
| vtranspose | a 16 by 16 matrix of 16-bit elements |
| v4dtrans | NCHW to NHWC and back |
| vbitsort | 32 scores and indices an iteration as (score, index) pairs, descending and stable |
| vmrgsort4 | up to four sorted lists of pairs into one; the earlier list wins among equals; \
VMS4_SR counts what was taken of each |
| vconv_deq, vconv_deqs162b8, vconv_vdeqs162b8 | conversions with the scale (and offset) of \
DEQSCALE, rounded to nearest even |

Where Huawei's public documentation is silent the choice made is told as an assumption at the top \
of the source file, `ci/simulator/machine/vector_*.cpp`. Two of them matter most. The reciprocal \
instructions vrec and vrsqrt give estimates: the documentation says that their errors exceed \
1/1000 for half and 1/10000 for float, so the machine keeps eight fraction bits, and a kernel \
that needs more fails here as it would on the chip. Additions and products of integers wrap.
"""


def page() -> str:
    """The page's Markdown."""
    rows = []
    for _, group in groupby(sorted(INSTRUCTIONS, key=_key), key=_key):
        members = list(group)
        types = ", ".join(f"{_TYPES[row.dst]} ← {_TYPES[row.src]}" for row in members)
        rows.append(f"| {members[0].mnemonic} | {types} | {_escaped(members[0].formula)} |")
    return _HEAD + "\n".join(rows) + "\n" + _TAIL


def _key(row: Instruction) -> tuple[str, str]:
    return row.mnemonic, row.formula


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
