"""Global memory that the first core fills while all others wait is filled by all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace
from ci.proposer.motifs.transforms.functions import carried
from ci.proposer.motifs.transforms.loops import CountingLoop, counting_loops
from ci.proposer.motifs.transforms.nodes import after, nodes, without
from ci.source.cpp_source import Edit, Function, Source, identifiers, walk

_STEPPED = re.compile(r"\(\s*[^;]*?=\s*(0[uU]?)\s*;[^;]*;\s*([^)]*)\)")
_FIRST = re.compile(r"^\((?:this->)?(?:GetBlockIdx\(\)|(\w+))==0\)$")


def share_fills(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """`if (GetBlockIdx() == 0) { fill(…); } SyncAll();`: all cores share its loops.

    What the branch calls must be functions of the file that are called nowhere else and do nothing
    but write global memory. What they write outside of loops stays with the first core.
    """
    at = namespace(source)
    cores = f"({at}GetBlockNum() * {at}GetTaskRation())"
    for block in nodes(source, "compound_statement"):
        statements = [s for s in block.named_children if s.type != "comment"]
        for branch, following in pairwise(statements):
            inside = _of_first_core(source, branch)
            if inside is None or not re.match(r"\w*SyncAll(?:<\w+>)?\(", source.code(following)):
                continue
            filling = _fills(source, inside)
            edits = [e for f in filling for e in _dealt(source, f, cores, at)]
            if edits:
                edits.append(_unwrapped(source, branch, inside))
                note = ", ".join(f.plain for f in filling)
                yield Match(branch.start_byte, tuple(edits), note=note)


def _of_first_core(source: Source, branch: Node) -> Node | None:
    """The block that only the first core runs; None for any other statement."""
    condition = branch.child_by_field_name("condition")
    inside = branch.child_by_field_name("consequence")
    if branch.type != "if_statement" or branch.child_by_field_name("alternative") is not None:
        return None
    if condition is None or inside is None or inside.type != "compound_statement":
        return None
    found = _FIRST.match(source.code(condition))
    if found is None:
        return None
    name = found[1]
    set_to = re.findall(rf"\b{name}\s*=(?!=)\s*([^;]+);", source.shadow) if name else []
    own = {"".join(value.split()) for value in set_to} - {"0"}
    return inside if name is None or own == {"GetBlockIdx()"} else None


def _fills(source: Source, inside: Node) -> list[Function]:
    """The functions that a block calls; [] where it does more than fill by them."""
    found: dict[str, Function] = {}
    own = {f.plain: f for f in source.functions}
    span = (inside.start_byte, inside.end_byte)
    for statement in inside.named_children:
        code = source.code(statement)
        if statement.type in ("declaration", "comment"):
            continue
        if (
            (set_to := re.fullmatch(r"\w+=[^=;]+;", code))
            and "GetValue" not in code
            and not identifiers(code) & _tensors(source)
        ):
            assert set_to
            continue
        called = re.match(r"(?:this->)?(\w+)(?:<\w+>)?\(", code)
        function = own.get(called[1]) if called else None
        if function is None or statement.type != "expression_statement":
            return []
        found[function.plain] = function
    for name, function in found.items():
        head = (function.node.start_byte, function.body.start_byte)
        for use in re.finditer(rf"\b{name}\s*(?:<\w+>)?\s*\(", source.shadow):
            within = span[0] <= use.start() < span[1] or head[0] <= use.start() < head[1]
            if not within and not _declared(source, use.end()):
                return []
    return list(found.values())


def _declared(source: Source, index: int) -> bool:
    """Whether what opens a bracket before an index is the declaration of a method."""
    node = source.root.descendant_for_byte_range(index - 1, index)
    while node is not None and node.type not in ("expression_statement", "compound_statement"):
        if node.type in ("field_declaration", "declaration", "function_definition"):
            return True
        node = node.parent
    return False


def _dealt(source: Source, function: Function, cores: str, at: str) -> list[Edit]:
    """The edits that deal a function's writes out to all cores; [] where they cannot be."""
    tensors = _tensors(source)
    code = source.shadow[function.body.start_byte : function.body.end_byte]
    members = set(re.findall(r"\bthis->(\w+)", code)) & carried(source, function.body)
    if members or re.search(r"\bGetValue\b|\bSyncAll\b|\breturn\b", code):
        return []
    calls = [
        n for n in walk(function.body) if n.type == "expression_statement" and "(" in source.code(n)
    ]
    if not calls or not all(_writes(source, n, tensors) for n in calls):
        return []
    loops = [
        loop
        for loop in counting_loops(source)
        if function.body.start_byte <= loop.node.start_byte < function.body.end_byte
    ]
    found = [(loop, edits) for loop in loops if (edits := _stepped(source, loop, cores, at))]
    edits = [e for _, more in found for e in more]
    spans = [(loop.node.start_byte, loop.node.end_byte) for loop, _ in found]
    for call in calls if edits else ():
        if any(start <= call.start_byte < end for start, end in spans):
            continue
        indent = source.indent(call.start_byte)
        start = source.begin(call.start_byte)
        text = source.text[start : call.end_byte].replace("\n", "\n    ")
        guard = f"if ({at}GetBlockIdx() == 0) {{\n{indent}    "
        edits.append(Edit(start, call.end_byte, f"{guard}{text}\n{indent}}}"))
    return edits


def _stepped(source: Source, loop: CountingLoop, cores: str, at: str) -> list[Edit]:
    """The edits that let a loop step by the number of cores; [] where it does more than write.

    What it counts up is reckoned from the turn's number, and set behind the loop.
    """
    steps: dict[str, tuple[Node, str]] = {}
    tensors = _tensors(source)
    for statement in loop.statements:
        code = source.code(statement)
        counted = re.fullmatch(r"(\w+)\+=([\w.]+(?:->\w+)*);", code)
        if counted is not None:
            steps[counted[1]] = (statement, counted[2])
        elif steps or not (statement.type == "comment" or _writes(source, statement, tensors)):
            return []
    rises = {name for _, step in steps.values() for name in identifiers(step)}
    if (rises | identifiers(loop.count)) & (carried(source, loop.body) | {loop.index}):
        return []
    start = source.shadow.index("(", loop.node.start_byte)
    head = _STEPPED.match(source.shadow[start : loop.body.start_byte])
    if head is None:
        return []
    edits = [
        Edit(start + head.start(1), start + head.end(1), f"{at}GetBlockIdx()"),
        Edit(start + head.start(2), start + head.end(2), f"{loop.index} += {cores}"),
    ]
    text = source.shadow[loop.body.start_byte : loop.body.end_byte]
    for name, (statement, step) in steps.items():
        edits.append(without(source, statement))
        edits.append(after(source, loop.node, f"{name} += {loop.count} * {step};"))
        now = f"({name} + static_cast<int64_t>({loop.index}) * {step})"
        for use in re.finditer(rf"\b{name}\b", text):
            place = loop.body.start_byte + use.start()
            if not statement.start_byte <= place < statement.end_byte:
                edits.append(Edit(place, place + len(name), now))
    return edits


def _writes(source: Source, statement: Node, tensors: frozenset[str]) -> bool:
    """Whether a statement is one call that is given a tensor of global memory."""
    code = source.code(statement)
    called = re.fullmatch(r"(?:this->)?\w+(?:<[\w:, ]+>)?\((.*)\);", code, re.DOTALL)
    return called is not None and bool(identifiers(called[1]) & tensors)


def _tensors(source: Source) -> frozenset[str]:
    names = re.findall(
        r"\bGlobalTensor\s*<[^<>;]+>\s*&?\s*(\w+)((?:\s*,\s*\w+)*\s*;)?", source.shadow
    )
    return frozenset(name for first, more in names for name in (first, *re.findall(r"\w+", more)))


def _unwrapped(source: Source, branch: Node, inside: Node) -> Edit:
    """The branch without its condition; a block of its own where it declares something."""
    declares = any(n.type == "declaration" for n in inside.named_children)
    if declares or not inside.named_children:
        return Edit(branch.start_byte, inside.start_byte, "")
    first, last = inside.named_children[0], inside.named_children[-1]
    text = source.text[source.begin(first.start_byte) : last.end_byte]
    extra = source.indent(first.start_byte).removeprefix(source.indent(branch.start_byte))
    return Edit(
        branch.start_byte,
        branch.end_byte,
        text.replace(
            "\n" + source.indent(branch.start_byte) + extra, "\n" + source.indent(branch.start_byte)
        ),
    )
