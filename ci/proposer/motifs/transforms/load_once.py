"""A step that gives the same in every turn: before the loop once, or (rewind) in every turn."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.loops import written_names
from ci.source.cpp_source import LOOPS, Edit, Source, identifiers, walk
from rules.api import load_api

_STEP = re.compile(r"^(?:this->)?([A-Z]\w*)\(([\w, ]*)\);$")
_TURN = re.compile(r"copy|out|compute|process|row|tile|step|next|store|write|save|free|calc", re.I)


def hoist(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """The first statement of a loop's body when it calls a step of the kernel's own by names that
    no turn changes, and its name does not say that it works on a turn's data."""
    sites = []
    for loop, body in _loops(source):
        first = body.named_children[0]
        step = _step(source, first)
        if step is None or len(body.named_children) < 2 or _TURN.search(step[0]):
            continue
        if identifiers(step[1]) & written_names(source, loop):
            continue
        text = source.of(first) + "\n" + source.indent(loop.start_byte)
        edits = (
            Edit(loop.start_byte, loop.start_byte, text),
            source.removal(first.start_byte, first.end_byte),
        )
        sites.append(Match(loop.start_byte, edits, note=step[0]))
    return sites


def sink(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Rewind: the step right before a loop moves into it."""
    sites = []
    for loop, body in _loops(source):
        before = loop.prev_named_sibling
        step = _step(source, before) if before is not None else None
        if before is None or step is None:
            continue
        first = body.named_children[0]
        place = source.begin(first.start_byte)
        text = source.of(before) + "\n" + source.indent(first.start_byte)
        edits = (source.removal(before.start_byte, before.end_byte), Edit(place, place, text))
        sites.append(Match(before.start_byte, edits, note=step[0]))
    return sites


def _loops(source: Source) -> list[tuple[Node, Node]]:
    """Loops with a braced body that holds statements."""
    found = []
    for node in walk(source.root):
        body = node.child_by_field_name("body") if node.type in LOOPS else None
        if body is not None and body.type == "compound_statement" and body.named_children:
            found.append((node, body))
    return found


def _step(source: Source, node: Node) -> tuple[str, str] | None:
    """(name, arguments) of a statement that calls a function of the kernel's own."""
    found = _STEP.match(source.code(node))
    if found is None or found.group(1) in load_api().known:
        return None
    return found.group(1), found.group(2)
