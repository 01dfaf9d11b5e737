"""What the vector unit's instructions compute: the rows of `vector.toml` with a meaning in numpy.

A meaning is in `vector_rows/` under the row's name. Tests draw random operands for every row
and compare the machine (`machine/vector_*.cpp`) with it; the page `docs/vector-instructions.md` is
generated from it (`vector_page.py`). How an instruction walks over its operands (masks, repeats,
strides) is common to all of them and is on that page once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from lab.reference.rounding import Round
from lab.reference.vector_rows import arithmetic, move, reduce, scale, select, sort, window
from lab.reference.vector_rows.convert import conversion
from lab.reference.vector_rows.element import NUMPY_TYPES, SHORT, Form, Instruction
from lab.reference.vector_rows.window import Whole

__all__ = ["INSTRUCTIONS", "NUMPY_TYPES", "WHOLE", "Form", "Instruction", "Whole"]

_TABLE: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("vector.toml").read_text(encoding="utf-8")
)
_MEANINGS: Final = (
    reduce.MEANINGS | select.MEANINGS | move.MEANINGS | sort.MEANINGS | scale.MEANINGS
)
_OPERANDS: Final = window.OPERANDS | move.OPERANDS | sort.OPERANDS | scale.OPERANDS
_LONG: Final = {short: name for name, short in SHORT.items()}


def _elements() -> Iterator[Instruction]:
    for entry in _TABLE["element"]:
        rest = {k: entry[k] for k in ("assumption", "reads_dst", "ulps") if k in entry}
        for (mnemonic, formula), types in product(entry["formula"].items(), entry["types"]):
            dst, _, src = types.partition(" <- ")
            src = src or dst
            meaning, modes = arithmetic.meaning(mnemonic, dst, src)
            form = Form(entry["form"])
            yield Instruction(mnemonic, form, dst, src, meaning, formula, modes=modes, **rest)


def _conversions() -> Iterator[Instruction]:
    for entry in _TABLE["conversion"]:
        for pair, letter in product(entry["pairs"], entry.get("modes", [""])):
            types = re.fullmatch(r"([a-z]+\d+)2([a-z]+\d+)", pair)
            assert types is not None, pair
            src, dst = (_LONG[short] for short in types.groups())
            mode = Round(letter or Round.EVEN.value)
            meaning, modes = conversion(dst, src, mode)
            formula = entry["formula"].format(mode=mode.name.lower())
            yield Instruction(
                f"vconv_{pair}{letter}", Form.UNARY, dst, src, meaning, formula, modes=modes,
                assumption=entry.get("assumption", ""),
            )  # fmt: skip


def _whole() -> Iterator[Whole]:
    for entry in _TABLE["whole"]:
        words = entry.get("words", {"": ""})
        for dtype, (key, word) in product(entry["types"], words.items()):
            bits = np.dtype(NUMPY_TYPES[dtype]).itemsize * 8
            told = {"key": key, "word": word, "type": dtype, "bits": bits}
            yield Whole(
                mnemonic=entry["mnemonic"].format(**told),
                dtype=dtype,
                call=entry["call"].format(**told, **window.pointers(dtype)),
                numbers=tuple(map(tuple, entry["numbers"])),
                meaning=_MEANINGS[entry["mnemonic"]](dtype, key),
                formula=entry["formula"].format(**told),
                prepare=_OPERANDS[entry.get("operands", "numbers")](dtype),
                assumption=entry.get("assumption", ""),
                variant=entry.get("variant", "").format(**told),
            )


INSTRUCTIONS: Final = (*_elements(), *_conversions())
"""Every element-by-element instruction, each overload a row."""

WHOLE: Final = tuple(_whole())
"""Every other instruction of the vector unit, each overload a row."""
