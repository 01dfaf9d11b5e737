"""Delete a SetFlag that its WaitFlag follows at once: the pipes wait there, needed or not."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Source, walk

_SET = re.compile(r"^(?:SetFlag|set_flag)(<.*>)?\((.*)\);$")
_WAIT = re.compile(r"^(?:WaitFlag|wait_flag)(<.*>)?\((.*)\);$")


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Neighbouring pairs of one event in one block."""
    sites = []
    for block in walk(source.root):
        if block.type != "compound_statement":
            continue
        statements = block.named_children
        for one, two in zip(statements, statements[1:], strict=False):
            if _pair(source, one, two):
                edits = tuple(
                    source.removal(source.begin(s.start_byte), s.end_byte) for s in (one, two)
                )
                note = f"line {source.line(one.start_byte)}"
                sites.append(Match(one.start_byte, edits, note=note))
    return sites


def _pair(source: Source, one: Node, two: Node) -> bool:
    first, second = _SET.match(source.code(one)), _WAIT.match(source.code(two))
    return bool(first and second and first.groups() == second.groups())
