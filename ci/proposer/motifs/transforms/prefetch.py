"""The next tile is copied in before this one is computed (software pipelining)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.functions import called_in, carried, tile_loops
from ci.proposer.motifs.transforms.inlining import loads_written_out
from ci.proposer.motifs.transforms.loads import Loads, find_loads, scalars_set
from ci.proposer.motifs.transforms.loops import assigned_names, declared_names
from ci.proposer.motifs.transforms.nodes import nodes
from ci.source.cpp_source import Edit, Function, Source, constants, identifiers, walk

_JUMPS = ("continue_statement", "break_statement", "return_statement", "goto_statement")
_PART = r"(?:\.\w+)*"
_QUEUE = re.compile(r"\bTQue(?:Bind)?\s*<([^;<>]*),\s*([\w:]+)\s*(?:,[^<>]*)?>\s*([^;]*);")


@dataclass(frozen=True)
class _Loop:
    """`for (T index = first; condition; index++, more)` whose turns load a tile."""

    node: Node
    body: Node
    index: str
    first: str
    condition: str
    more: str
    """What the head does at the end of a turn next to counting."""

    def at(self, code: str, value: str) -> str:
        """Code of one turn as it reads in the turn of another index."""
        return re.sub(rf"(?<![\w.>])(?<!->){self.index}\b", lambda _: value, code)


def prefetch(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Loops whose turns copy a tile in and compute it: turn i copies the tile of turn i + 1 in.

    The first turn copies its own in, too: where a loop always has a turn, a test before it would
    never be seen to fail. Only a beginning that the turns change, or that calls, is tested there.
    The scalars that the copy depends on are set as in turn i + 1 and set back. A last tile that
    is handled behind the loop by the same steps is copied in by the loop's last turn. Queues that
    hold the buffers of one turn get those of two; with `deeper: counted` only loops are found
    whose queues hold as many as a name of another file says, or a template parameter, and they
    get as many more as a turn takes.
    """
    counted = parameters.get("deeper") == "counted"
    for function, node, body in tile_loops(source):
        found = _ahead(source, function, node, body, counted) or _written_out(
            source, function, node, counted
        )
        if found is not None:
            edits, loads = found
            yield Match(node.start_byte, tuple(edits), note=loads.name)


def _written_out(
    source: Source, function: Function, node: Node, counted: bool
) -> tuple[list[Edit], Loads] | None:
    """The same of a loop whose turn calls what loads among other things."""
    turn = loads_written_out(source, function, node) if node.type == "for_statement" else None
    if turn is None:
        return None
    start = function.node.start_byte
    inner = next(f for f in turn.source.functions if f.node.start_byte == start)
    body = turn.loop.child_by_field_name("body")
    found = _ahead(turn.source, inner, turn.loop, body, counted)
    return (turn.before(found[0]), found[1]) if found is not None else None


def _ahead(
    source: Source, function: Function, node: Node, body: Node | None, counted: bool
) -> tuple[list[Edit], Loads] | None:
    """What makes a loop load ahead, and what it loads; None where it cannot."""
    loop = _counting(source, node, body) if body is not None else None
    if loop is None or any(n.type in _JUMPS for n in walk(loop.body)):
        return None
    loads = find_loads(source, loop.body)
    if loads is None or _is_ahead(source, loop, loads) or not _computes(source, loop.body, loads):
        return None
    edits = _pipelined(source, function, loop, loads)
    deeper = _deeper(source, loads.buffers, counted)
    return ([*edits, *deeper], loads) if edits and (deeper or not counted) else None


def _is_ahead(source: Source, loop: _Loop, loads: Loads) -> bool:
    """Whether the first tile is loaded right before the loop, or by its first turn alone: later
    ones are loaded ahead then."""
    first = (f"({loop.index}=={loop.first})", f"({loop.first}=={loop.index})")
    tests = (one.child_by_field_name("condition") for one in loop.body.named_children)
    if any(test is not None and source.code(test) in first for test in tests):
        return True
    earlier = loop.node.prev_named_sibling
    if earlier is None:
        return False
    called = called_in(source, earlier)
    return bool(called & loads.functions) or any(
        re.search(rf"\b{re.escape(q)}\.(?:template )?EnQue\b", source.code(earlier))
        for q in loads.queues
    )


def _counting(source: Source, node: Node, body: Node) -> _Loop | None:
    if node.type != "for_statement":
        return None
    start, condition, update = (
        node.child_by_field_name(f) for f in ("initializer", "condition", "update")
    )
    if start is None or condition is None or update is None or start.type != "declaration":
        return None
    named = re.match(r"^[\w:]+(?: \w+)*? (\w+)=([^,;]+);?$", source.code(start))
    if named is None:
        return None
    index = named.group(1)
    steps = [source.code(n) for n in _comma_parts(update)]
    counts = [s for s in steps if s in (f"{index}++", f"++{index}", f"{index}+=1")]
    if len(counts) != 1 or index not in identifiers(source.code(condition)):
        return None
    more = "".join(
        f"{source.of(n)}; " for n in _comma_parts(update) if source.code(n) not in counts
    )
    return _Loop(node, body, index, named.group(2), source.of(condition), more)


def _comma_parts(node: Node) -> list[Node]:
    if node.type != "comma_expression":
        return [node]
    return [part for child in node.named_children for part in _comma_parts(child)]


def _computes(source: Source, body: Node, loads: Loads) -> bool:
    """Whether something next to the loads happens in a turn, and nothing fills their queues."""
    rest = "".join(
        source.code(s)
        for name in _reached(source, body) - loads.functions
        for f in source.functions
        if f.plain == name
        for s in (f.body,)
    )
    inside = rest + loads.rest
    if "DeQue" not in inside:
        return False
    return not any(
        re.search(rf"\b{re.escape(q)}\.(?:template )?AllocTensor\b", inside) for q in loads.queues
    )


def _reached(source: Source, node: Node) -> set[str]:
    """The functions of the file that code reaches, by any number of calls."""
    found: set[str] = set(called_in(source, node))
    while True:
        more = {
            name for f in source.functions if f.plain in found for name in called_in(source, f.body)
        }
        if more <= found:
            return found
        found |= more


def _pipelined(source: Source, function: Function, loop: _Loop, loads: Loads) -> list[Edit]:
    needed = loads.names | identifiers(loop.condition) | identifiers(loop.more)
    written = assigned_names(source, loop.body) | assigned_names(source, loop.node)
    hidden = {
        name
        for f in source.functions
        if f.plain in _reached(source, loop.body)
        for name in assigned_names(source, f.body) - declared_names(source, f.node)
    }
    kept = sorted((needed & written) - {loop.index} - loads.declared)
    if (
        (needed & hidden) - set(loads.declared)
        or identifiers(loop.condition) & set(kept)
        or loads.lost & needed
        or (declared_names(source, loop.body) - loads.declared) & identifiers(loads.slice)
    ):
        return []
    lasting = ""
    if carried(source, loop.body) & needed or loop.more:
        lasting, scalars = scalars_set(source, loop.body, needed)
        lasting = f"{lasting}\n{loop.more}"
        kept = sorted({*kept, *scalars} - loads.declared)
        if scalars & hidden:
            return []
    indent = source.indent(loop.node.start_byte)
    inner = indent + "    "
    following = f"({loop.index} + 1)"
    tail = _Tail.behind(source, loop, loads)
    ahead = [lasting] if lasting.strip() else []
    turn = [f"if ({loop.at(loop.condition, following)}) {{", loop.at(loads.slice, following), "}"]
    if tail is not None:
        kept = sorted({*kept, *tail.written})
        turn[-1:] = ["} else {", tail.ahead, "}"]
    names = _lvalues(source, function, kept)
    entered = loop.at(loop.condition, loop.first)
    within = "(" not in loop.first and not identifiers(loop.first) & (written | hidden)
    first = _block(names, [loop.at(loads.slice, loop.first)], inner if within else indent)
    opening = "" if within else f"if ({entered}) {{\n{first}\n{indent}}}\n{indent}"
    place = source.begin(loop.node.start_byte)
    block = _block(names, [*ahead, *turn], inner)
    if "Kept" in block:
        block = f"{inner}{{\n{block}\n{inner}}}"
    else:
        block = "\n".join(line[4:] for line in block.splitlines())
    if within:
        block = f"{inner}if ({loop.index} == {loop.first}) {{\n{first}\n{inner}}}\n{block}"
    brace = loop.body.start_byte + 1
    edits = [
        Edit(place, place, opening),
        Edit(brace, brace, f"\n{block}"),
        *(source.removal(source.begin(n.start_byte), n.end_byte) for n in loads.statements),
    ]
    if tail is not None:
        edits += tail.guarded(source, entered)
    return edits


def _statement_after(node: Node) -> Node | None:
    after = node.next_named_sibling
    while after is not None and after.type == "comment":
        after = after.next_named_sibling
    return after


def _lvalues(source: Source, function: Function, names: list[str]) -> dict[str, str]:
    """How the function writes each name: members of the class by `this->` where it does."""
    code = source.code(function.body)
    return {n: f"this->{n}" if f"this->{n}" in code else n for n in names}


def _block(names: dict[str, str], statements: list[str], indent: str) -> str:
    inner = indent + "    "
    code = "\n".join(statements)
    names = {
        name: value
        for name, value in names.items()
        if re.search(rf"\b{name}\b{_PART}\s*(?:[-+*/%|&^]|<<|>>)?=(?!=)", code)
        or re.search(rf"\b{name}{_PART}\s*(?:\+\+|--)", code)
        or re.search(rf"(?:\+\+|--)\s*(?:this->)?{name}\b", code)
    }
    keep = [f"const auto {name}Kept = {value};" for name, value in names.items()]
    back = [f"{value} = {name}Kept;" for name, value in names.items()]
    lines = [line.strip() for part in (*keep, *statements, *back) for line in part.splitlines()]
    depth, out = 0, []
    for line in filter(None, lines):
        depth -= line.startswith("}")
        out.append(inner + "    " * max(depth, 0) + line)
        depth += line.endswith("{")
    return "\n".join(out)


@dataclass(frozen=True)
class _Tail:
    """The steps of a last tile behind the loop: scalars are set, then it is loaded."""

    ahead: str
    loads: tuple[Node, ...]
    written: frozenset[str]

    @classmethod
    def behind(cls, source: Source, loop: _Loop, loads: Loads) -> _Tail | None:
        """The tail of a loop that calls the same loading functions; None when there is none."""
        after = _statement_after(loop.node)
        if after is not None and after.type == "if_statement":
            test, then = (after.child_by_field_name(f) for f in ("condition", "consequence"))
            if test is None or then is None or after.child_by_field_name("alternative"):
                return None
            first = next(iter(then.named_children), None)
            if then.type != "compound_statement" or first is None:
                return None
            inner = cls.of(source, first, loads)
            if inner is None:
                return None
            return replace(inner, ahead=f"if {source.of(test)} {{\n{inner.ahead}\n}}")
        return cls.of(source, after, loads) if after is not None else None

    @classmethod
    def of(cls, source: Source, first: Node, loads: Loads) -> _Tail | None:
        """Return the tail from a statement on: scalars are set, then come the loads; None for
        anything else."""
        found: list[Node] = []
        controls: list[str] = []
        written: set[str] = set()
        after: Node | None = first
        while after is not None and after.type == "expression_statement":
            calls = called_in(source, after)
            inner = next(iter(after.named_children), None)
            if calls & loads.functions:
                found.append(after)
            elif found or calls or inner is None or inner.type != "assignment_expression":
                break
            else:
                controls.append(source.of(after))
                written |= assigned_names(source, after)
            after = _statement_after(after)
        if not found:
            return None
        text = "\n".join([*controls, *(source.of(n) for n in found)])
        return cls(text, tuple(found), frozenset(written))

    def guarded(self, source: Source, entered: str) -> list[Edit]:
        """The loads stay for when the loop had no turn."""
        edits = []
        for node in self.loads:
            start = source.begin(node.start_byte)
            edits.append(Edit(start, start, f"if (!({entered})) {{ "))
            edits.append(Edit(node.end_byte, node.end_byte, " }"))
        return edits


@lru_cache(maxsize=64)
def _deeper(source: Source, buffers: frozenset[tuple[str, int]], counted: bool) -> tuple[Edit, ...]:
    """Buffers for one turn more, for each of the queues that holds those of one turn.

    Or, when `counted`, for each that holds as many as a name says that has no value in the file.
    """
    known = {source.code(name): source.code(value) for _, name, value in constants(source)}
    queues = dict(buffers)

    def more(count: str, taken: int) -> str:
        if counted:
            return f"{count} + {taken}" if count.isidentifier() and count not in known else ""
        value = known.get(count, count)
        return str(2 * taken) if value.isdigit() and taken <= int(value) < 2 * taken else ""

    edits = []
    for method in source.methods:
        if method.name != "InitBuffer" or len(method.arguments) != 3:
            continue
        count, queue = method.argument_nodes[1], _plain(method.arguments[0])
        new = more(source.code(count), queues.get(queue, 0))
        if new and queue in queues:
            edits.append(Edit(count.start_byte, count.end_byte, new))
    for node in nodes(source, "field_declaration", "declaration"):
        found = _QUEUE.match(source.shadow, node.start_byte)
        named = identifiers(found.group(3)) & queues.keys() if found is not None else set()
        if found is None or not named:
            continue
        if new := more(found.group(2), max(queues[name] for name in named)):
            edits.append(Edit(found.start(2), found.end(2), new))
    return tuple(edits)


def _plain(name: str) -> str:
    return name.strip().removeprefix("this->")
