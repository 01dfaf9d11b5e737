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
_SYNC = re.compile(r"\w*SyncAll(?:<\w+>)?\(")
_CORE = frozenset({"GetBlockIdx", "GetSubBlockIdx", "get_block_idx", "block_idx"})
_LIBRARY = ("InitGlobalMemory", "InitOutput")
_LINE = 256
"""Elements that begin on a 512-byte line of global memory, of whatever type."""
_FIRST = re.compile(r"^\((?:this->)?(?:GetBlockIdx\(\)|(\w+))==0\)$")


def share_fills(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """`if (GetBlockIdx() == 0) { fill(…); } SyncAll();`: all cores share its loops.

    What the branch calls must be functions of the file that are called nowhere else and do nothing
    but write global memory. What they write outside of loops stays with the first core. The API's
    own fills before a SyncAll, by the first core or by every one, are cut into as many pieces.
    """
    at = namespace(source)
    cores = f"({at}GetBlockNum() * {at}GetTaskRation())"
    for block in nodes(source, "compound_statement"):
        statements = [s for s in block.named_children if s.type != "comment"]
        for statement, following in pairwise(statements):
            if not _SYNC.match(source.code(following)):
                continue
            inside = _of_first_core(source, statement)
            fills = inside.named_children if inside is not None else [statement]
            pieces = [e for fill in fills if (e := _piece(source, fill, cores, at))]
            filling = _fills(source, inside) if inside is not None else []
            dealt = [_dealt(source, f, cores, at) for f in filling]
            if inside is not None and pieces and len(pieces) == len(fills):
                yield Match(statement.start_byte, (_guardless(statement, inside), *pieces))
            elif inside is None and pieces:
                yield Match(statement.start_byte, tuple(pieces))
            elif inside is not None and dealt and all(dealt):
                edits = (*(e for one in dealt for e in one), _unwrapped(source, statement, inside))
                yield Match(statement.start_byte, edits, ", ".join(f.plain for f in filling))


def _piece(source: Source, statement: Node, cores: str, at: str) -> Edit | None:
    """The edit that lets each core fill a piece of whole lines; None for any other statement."""
    method = next((c for c in source.calls_in(statement) if c.name in _LIBRARY), None)
    if method is None or statement.type != "expression_statement" or len(method.arguments) != 3:
        return None
    tensor, count, value = (" ".join(a.split()) for a in method.arguments)
    if tensor not in _tensors(source) or _by_core(source, tensor, count):
        return None
    template = source.of(statement).partition("(")[0].strip()
    indent = source.indent(statement.start_byte)
    lines = (
        "{",
        f"    const int64_t fillCount = {count};",
        f"    const int64_t fillShare = (fillCount / {cores} / {_LINE} + 1) * {_LINE};",
        f"    const int64_t fillStart = fillShare * {at}GetBlockIdx();",
        "    if (fillStart < fillCount) {",
        f"        auto fillPart = {tensor}[fillStart];",
        "        const int64_t fillLeft = fillCount - fillStart;",
        f"        {template}(fillPart, fillShare < fillLeft ? fillShare : fillLeft, {value});",
        "    }",
        "}",
    )
    start = source.begin(statement.start_byte)
    return Edit(start, statement.end_byte, f"\n{indent}".join(lines))


def _by_core(source: Source, tensor: str, count: str) -> bool:
    """Whether a tensor's place or its count follow from the core's number, as far as is read."""
    given = [
        a
        for m in source.methods
        if m.name == "SetGlobalBuffer" and m.object == tensor
        for a in m.arguments
    ]
    names = identifiers(" ".join((*given, count)))
    while True:
        sets = (
            value
            for name in names
            for value in re.findall(rf"\b{name}\s*[-+*/]?=(?!=)\s*([^;]+);", source.shadow)
        )
        more = names.union(*(identifiers(value) for value in sets))
        if more == names:
            return not given or bool(names & _CORE)
        names = more


def _guardless(branch: Node, inside: Node) -> Edit:
    return Edit(branch.start_byte, inside.start_byte, "")


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
        sets = re.fullmatch(r"\w+=[^=;]+;", code) and "GetValue" not in code
        if sets and not identifiers(code) & _tensors(source):
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
        return _guardless(branch, inside)
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
