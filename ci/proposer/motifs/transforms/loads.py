"""Which statements of a loop's turn copy a tile in, and which scalars they depend on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from ci.proposer.motifs.transforms.functions import buffers_taken, called_in, moves_tiles
from ci.proposer.motifs.transforms.loops import assigned_names, declared_names
from ci.source.cpp_source import Source, identifiers, root_name
from rules.api import load_api

_HARMLESS = frozenset({"Duplicate", "DataCopy", "DataCopyPad"})
_WITH_CALLS = re.compile(r"\b(?:GetValue|SetValue|SetFlag|WaitFlag|PipeBarrier|pipe_barrier)\b")


@dataclass(frozen=True)
class Loads:
    """The part of a loop's body that copies a tile into the unified buffer."""

    statements: tuple[Node, ...]
    functions: frozenset[str]
    """Functions of the file that load, called by these statements."""
    buffers: frozenset[tuple[str, int]]
    """How many buffers of each queue a turn takes."""
    slice: str
    """Code that loads a turn's tile: the loads with the scalars they depend on."""
    rest: str
    """Squeezed code of what neither loads nor sets scalars."""
    names: frozenset[str]
    """Everything that the loads and the control before them mention, through their calls."""
    declared: frozenset[str]
    """Names that the slice declares itself."""
    lost: frozenset[str]
    """Names that statements set which do more than that."""

    @property
    def queues(self) -> frozenset[str]:
        """The queues whose buffers are filled."""
        return frozenset(queue for queue, _ in self.buffers)

    @property
    def name(self) -> str:
        """What to call it: its functions, or its queues."""
        return ", ".join(sorted(self.functions or self.queues))


def find_loads(source: Source, body: Node) -> Loads | None:
    """The loads of a turn; None where there are none, or they do not stand apart."""
    inline = _inline_loads(source, body)
    functions: set[str] = set()
    found: list[Node] = []
    for statement in _statements(body):
        calls = called_in(source, statement) if statement.type == "expression_statement" else None
        if calls and all(loads_only(source, name) for name in calls):
            functions |= calls
            found.append(statement)
        elif statement.start_byte in inline:
            found.append(statement)
    if not found:
        return None
    taken = {n.start_byte for n in found}
    if any(re.search(r"\+\+|--|[^=!<>]=[^=]", test) for test in _conditions(source, body, taken)):
        return None  # asking twice would count twice
    reached = _texts(source, functions)
    buffers = buffers_taken(source, body, frozenset(taken))
    plain = [n for n in _statements(body) if _is_control(source, n)]
    control = {n.start_byte for n in plain}
    last = max(n.start_byte for n in found)
    early = {n.start_byte for n in plain if n.start_byte < last}
    names = frozenset().union(
        *(identifiers(source.shadow[a:b]) for a, b in reached),
        *(identifiers(source.code(n)) for n in found),
        *(identifiers(source.code(n)) for n in plain if n.start_byte in early),
        *(identifiers(c) for c in _conditions(source, body, taken)),
    )
    others = [
        n for n in _statements(body) if n.start_byte not in taken and n.start_byte not in control
    ]
    return Loads(
        statements=tuple(found),
        functions=frozenset(functions),
        buffers=frozenset(buffers.items()),
        slice=_slice(source, body, taken | early),
        rest="".join(source.code(n) for n in others),
        names=names,
        declared=frozenset().union(*(declared_names(source, n) for n in (*plain, *found))),
        lost=frozenset().union(*(assigned_names(source, n) for n in others)),
    )


def scalars_set(source: Source, body: Node, needed: frozenset[str]) -> tuple[str, frozenset[str]]:
    """(code of a turn that sets scalars which these names depend on, the scalars)."""
    plain = [n for n in _statements(body) if _is_control(source, n)]
    kept: set[int] = set()
    while more := [
        n
        for n in plain
        if n.start_byte not in kept
        and (assigned_names(source, n) | declared_names(source, n)) & needed
    ]:
        kept |= {n.start_byte for n in more}
        needed = needed.union(*(identifiers(source.code(n)) for n in more))
        needed = needed.union(*(identifiers(c) for c in _conditions(source, body, kept)))
    chosen = [n for n in plain if n.start_byte in kept]
    names = frozenset().union(*(assigned_names(source, n) for n in chosen))
    return _slice(source, body, kept), names


@lru_cache(maxsize=4096)
def loads_only(source: Source, name: str) -> bool:
    """Whether a function of the file fills buffers of queues and does nothing else with tiles."""
    bodies = [source.code(f.body) for f in source.functions if f.plain == name]
    inside = [f.body for f in source.functions if f.plain == name]
    for body in inside:
        bodies += [
            source.code(f.body)
            for called in called_in(source, body) - {name}
            for f in source.functions
            if f.plain == called
        ]
        calls = [c.name for c in source.calls_in(body)]
        if any(load_api().calls.get(c) and c not in _HARMLESS for c in calls):
            return False
    code = "".join(bodies)
    if not ("AllocTensor" in code and "EnQue" in code):
        return False
    return "DeQue" not in code and "FreeTensor" not in code and ".Get<" not in code


def _inline_loads(source: Source, body: Node) -> set[int]:
    """Where the statements start that take a buffer of a queue, copy into it and enqueue it."""
    found: set[int] = set()
    for statement in body.named_children:
        taken = re.match(
            r"^(?:LocalTensor<[^=]*>|auto) (\w+)=([\w.\->]+)\.(?:template )?AllocTensor<",
            source.code(statement),
        )
        if statement.type != "declaration" or taken is None:
            continue
        tensor, queue = taken.groups()
        mine, after = [statement], statement.next_named_sibling
        while after is not None:
            code = source.code(after)
            call = source.statement_calls.get(after.start_byte)
            if re.match(rf"^{re.escape(queue)}\.(?:template )?EnQue(?:<.*?>)?\({tensor}\);$", code):
                found |= {n.start_byte for n in (*mine, after)}
                rest = identifiers(source.shadow[after.end_byte : body.end_byte])
                if tensor in rest:
                    found -= {n.start_byte for n in (*mine, after)}
                break
            if tensor in identifiers(code):
                if call is None or call.name not in ("DataCopy", "DataCopyPad"):
                    break
                if root_name(call.arguments[0]) != tensor:
                    break
                mine.append(after)
            after = after.next_named_sibling
    return found


def _statements(block: Node) -> Iterator[Node]:
    """The statements of a block, and of the branches in it."""
    for child in block.named_children:
        if child.type in ("if_statement", "else_clause", "compound_statement"):
            if child.type == "if_statement":
                for field in ("consequence", "alternative"):
                    branch = child.child_by_field_name(field)
                    if branch is not None:
                        yield from _branch(branch)
            else:
                yield from _statements(child)
        elif child.type != "comment":
            yield child


def _branch(node: Node) -> Iterator[Node]:
    if node.type == "else_clause":
        node = node.named_children[0]
    if node.type in ("compound_statement",):
        yield from _statements(node)
    elif node.type == "if_statement":
        for field in ("consequence", "alternative"):
            branch = node.child_by_field_name(field)
            if branch is not None:
                yield from _branch(branch)
    else:
        yield node


def _is_control(source: Source, node: Node) -> bool:
    code = source.code(node)
    if moves_tiles(source, node) or _WITH_CALLS.search(code):
        return False
    if any(call.name in load_api().known for call in source.calls_in(node)):
        return False
    if node.type == "declaration":
        return "LocalTensor" not in code and not re.search(r"\.(?:template )?Get<", code)
    if node.type != "expression_statement" or not node.named_children:
        return False
    return node.named_children[0].type in ("assignment_expression", "update_expression")


def _conditions(source: Source, block: Node, kept: set[int]) -> Iterator[str]:
    for child in block.named_children:
        if child.type == "if_statement" and _holds(child, kept):
            test = child.child_by_field_name("condition")
            yield source.code(test) if test is not None else ""


def _holds(node: Node, kept: set[int]) -> bool:
    return any(node.start_byte <= start < node.end_byte for start in kept)


def _slice(source: Source, block: Node, kept: set[int]) -> str:
    """The code of the statements that start at `kept`, with the branches around them."""
    lines = []
    for child in block.named_children:
        if child.type == "if_statement":
            lines.append(_branches(source, child, kept))
        elif child.type in ("compound_statement", "else_clause"):
            inner = _slice(source, child, kept)
            used = any(_holds(n, kept) and n.type != "declaration" for n in child.named_children)
            lines.append(f"{{\n{inner}\n}}" if used else "")
        elif child.start_byte in kept:
            lines.append(source.of(child))
    return "\n".join(line for line in lines if line)


def _branches(source: Source, node: Node, kept: set[int]) -> str:
    if not _holds(node, kept):
        return ""
    test, then, other = (
        node.child_by_field_name(f) for f in ("condition", "consequence", "alternative")
    )
    assert test is not None and then is not None
    text = f"if {source.of(test)} {{\n{_of_branch(source, then, kept)}\n}}"
    inner = _of_branch(source, other, kept) if other is not None else ""
    return text + (f" else {{\n{inner}\n}}" if inner else "")


def _of_branch(source: Source, node: Node, kept: set[int]) -> str:
    if node.type == "else_clause":
        node = node.named_children[0]
    if node.type == "if_statement":
        return _branches(source, node, kept)
    if node.type == "compound_statement":
        return _slice(source, node, kept)
    return source.of(node) if node.start_byte in kept else ""


def _texts(source: Source, names: set[str]) -> list[tuple[int, int]]:
    """Where the bodies of functions, and of those they call, begin and end."""
    wanted = set(names)
    while more := {
        name
        for f in source.functions
        if f.plain in wanted
        for name in called_in(source, f.body)
        if name not in wanted
    }:
        wanted |= more
    return [(f.body.start_byte, f.body.end_byte) for f in source.functions if f.plain in wanted]
