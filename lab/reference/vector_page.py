"""The documentation page of the vector unit, written from the instruction table."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from lab.reference.vector_rows.element import SHORT
from lab.reference.vector_rows.window import Whole
from lab.reference.vector_table import INSTRUCTIONS, WHOLE, Instruction


def page() -> str:
    """The page's Markdown."""
    element = []
    for (mnemonic, *told), group in groupby(sorted(INSTRUCTIONS, key=_key), key=_key):
        types = ", ".join(f"{SHORT[row.dst]} ← {SHORT[row.src]}" for row in group)
        element.append((mnemonic, types, *told))
    whole = []
    for (mnemonic, variant, *told), rows in groupby(sorted(WHOLE, key=_whole_key), key=_whole_key):
        whole.append((mnemonic + variant, ", ".join(SHORT[row.dtype] for row in rows), *told))
    jinja = Environment(  # noqa: S701  (Markdown, from our own table)
        loader=FileSystemLoader(Path(__file__).parent), keep_trailing_newline=True
    )
    return jinja.get_template("vector_page.md.j2").render(element=element, whole=whole)


def _key(row: Instruction) -> tuple[str, str, str]:
    return row.mnemonic, row.formula, row.assumption


def _whole_key(row: Whole) -> tuple[str, str, str, str]:
    return row.mnemonic, row.variant, row.formula, row.assumption
