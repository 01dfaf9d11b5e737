"""Tiling: round the tile down to whole 512-byte lines of global memory."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Edit, Source, walk

LINE_BLOCKS = 16
"""32-byte blocks in the 512 bytes that global memory delivers best."""

_UB = re.compile(r"ub|tile|part", re.I)
_BLOCK = re.compile(r"block_?size|block_?bytes?|byte_?block|^32$|one_?block", re.I)


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Declarations of a number of 32-byte blocks that fit a part of UB."""
    sites = []
    for node in walk(source.root):
        if node.type != "init_declarator" or node.parent is None:
            continue
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if name is None or value is None or value.type != "binary_expression":
            continue
        operation, right = value.child_by_field_name("operator"), value.child_by_field_name("right")
        left = value.child_by_field_name("left")
        if operation is None or operation.type != "/" or right is None or left is None:
            continue
        if re.search(r"\bconst\b", source.code(node.parent)):
            continue
        if not _BLOCK.search(source.code(right)) or not _UB.search(source.code(name)):
            continue
        word = source.code(name)
        if "ub" not in source.code(left).lower() and "ub" not in word.lower():
            continue
        after = source.shadow[node.parent.end_byte :]
        if re.match(rf"\s*if \({word} >= {LINE_BLOCKS}\)", after):
            continue
        indent = "\n" + source.indent(node.parent.start_byte)
        text = (
            f"{indent}if ({word} >= {LINE_BLOCKS}) {{"
            f"{indent}    {word} -= {word} % {LINE_BLOCKS};{indent}}}"
        )
        place = node.parent.end_byte
        sites.append(Match(place, (Edit(place, place, text),), note=word))
    return sites
