"""Loops that store one value at even distances in global memory become copies of many bursts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace
from ci.proposer.motifs.transforms.element_loops import global_types
from ci.proposer.motifs.transforms.functions import run_after
from ci.proposer.motifs.transforms.loops import CountingLoop, counting_loops
from ci.proposer.motifs.transforms.nodes import before
from ci.source.cpp_source import Edit, Source, ancestors, identifiers

_PIPE = re.compile(r"\bTPipe\s*(\*?)\s*(\w+)\s*;")
_CONSTANT = re.compile(r"(?:\(\w+\)|static_cast<\w+>)?\(?-?\d[\w.]*\)?")
_COMPARED = {"<": "", "<=": " + 1"}

_FILL = """{pipe}InitBuffer(stridedStores, 1, {most} * 32);
stridedValues = stridedStores.template AllocTensor<{kind}>();
{at}Duplicate(stridedValues, static_cast<{kind}>({value}), {most} * 32 / sizeof({kind}));
stridedStores.EnQue(stridedValues);
stridedValues = stridedStores.template DeQue<{kind}>();"""
_CODE = """
    __aicore__ inline void StoreStrided({at}GlobalTensor<{kind}>& target, int64_t first,
                                        int64_t step, int64_t count)
    {{
        const int64_t most = step > 0 ? {most} : 1;
        for (int64_t done = 0; done < count; done += most) {{
            const int64_t size = count - done < most ? count - done : most;
            const uint32_t apart = size > 1 ? (step - 1) * sizeof({kind}) : 0;
            const {at}DataCopyExtParams bursts{{static_cast<uint16_t>(size), sizeof({kind}), 0,
                                             apart, 0}};
            {at}DataCopyPad(target[first + done * step], stridedValues, bursts);
        }}
    }}
    {at}TQue<{at}TPosition::VECOUT, 1> stridedStores;
    {at}LocalTensor<{kind}> stridedValues;
"""


@dataclass(frozen=True)
class _Stores:
    """What a loop does: `target[first + k * step] = value` for k below the least of `counts`."""

    loop: CountingLoop
    target: str
    first: str
    step: str
    value: str
    counts: tuple[str, ...]


def strided_stores(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Such loops over `SetValue`: one copy whose bursts are the elements, `most` of them at once.

    All of a file at once, for a tensor is written by the scalar unit or by copies, never by both.
    Each burst is read from a block of 32 bytes of its own; `Init` fills them with the one value.
    """
    most = int(str(parameters["most"]))
    found = [s for loop in counting_loops(source) if (s := _stores(source, loop)) is not None]
    found = _alone(source, found)
    functions = {
        f.node.start_byte: f for s in found if (f := source.function_at(s.loop.node.start_byte))
    }
    owners = {_class(f.node) for f in functions.values()}
    if len(owners) != 1 or (body := owners.pop()) is None:
        return
    pipe = _PIPE.search(source.shadow, body.start_byte, body.end_byte)
    places = [
        m.statement
        for m in source.methods
        if m.name == "SetGlobalBuffer" and m.object in {s.target for s in found}
    ]
    kinds = {(s.value, global_types(source).get(s.target, "")) for s in found}
    if pipe is None or len(kinds) != 1 or not places or places[0] is None:
        return
    value, kind = kinds.pop()
    if not kind or _CONSTANT.fullmatch(value) is None:
        return
    at, of = namespace(source), f"{pipe[2]}{'->' if pipe[1] else '.'}"
    made = _FILL.format(pipe=of, at=at, most=most, kind=kind, value=value)
    made = made.replace("\n", "\n" + source.indent(places[0].start_byte))
    edits = [_call(source, stores) for stores in found]
    edits.append(before(source, places[0], made))
    edits.append(
        Edit(body.end_byte - 1, body.end_byte - 1, _CODE.format(at=at, most=most, kind=kind))
    )
    starts = [stores.loop.node.start_byte for stores in found]
    note = ", ".join(dict.fromkeys(stores.target for stores in found))
    yield Match(starts[0], tuple(edits), note=note, others=tuple(starts[1:]))


def _call(source: Source, stores: _Stores) -> Edit:
    count, *others = (f"static_cast<int64_t>({c})" for c in stores.counts)
    for other in others:
        count = f"({count} < {other} ? {count} : {other})"
    node = stores.loop.node
    apart = ",\n" + source.indent(node.start_byte) + " " * len("StoreStrided(")
    given = apart.join((f"{stores.target}, {stores.first}", stores.step, count))
    return Edit(node.start_byte, node.end_byte, f"StoreStrided({given});")


def _stores(source: Source, loop: CountingLoop) -> _Stores | None:
    """What a loop stores; None when it does anything else."""
    values: dict[str, str] = {}
    counts = [loop.count]
    block: Node | None = loop.body
    stored: tuple[str, str, str] | None = None
    while block is not None:
        statements = [s for s in block.named_children if s.type != "comment"]
        block = None
        for place, statement in enumerate(statements):
            last = place == len(statements) - 1
            if statement.type == "if_statement" and last:
                limit = _limit(source, statement, loop.index, values)
                if limit is None:
                    return None
                counts.append(limit)
                block = statement.child_by_field_name("consequence")
            elif (set_to := _set(source, statement)) is not None:
                name, value = set_to
                values[name] = f"({_with(value, values)})"
            elif last and (stored := _store(source, statement)) is not None:
                continue
            else:
                return None
    if stored is None:
        return None
    target, index, value = stored
    index = _with(index, values)
    if _degree(index, loop.index) != 1 or loop.index in identifiers(_with(value, values)):
        return None
    if any(identifiers(count) & {loop.index, *values} for count in counts):
        return None
    function = source.function_at(loop.node.start_byte)
    if function is None or any(
        identifiers(source.of(node)) & values.keys() for node in run_after(loop.node, function)
    ):
        return None
    first, second = (_with(index, {loop.index: k}) for k in ("0", "1"))
    step = f"({second}) - ({first})"
    return _Stores(loop, target, first, step, value, tuple(counts))


def _set(source: Source, statement: Node) -> tuple[str, str] | None:
    """(name, value) of a scalar that a statement sets or declares."""
    found = re.fullmatch(
        r"(?:const )?(?:(?:u?int\d+_t|int|auto|size_t) )?(\w+) ?= ?([^=;{}]+);",
        " ".join(source.of(statement).split()),
    )
    return (found[1], found[2]) if found and "GetValue" not in found[2] else None


def _store(source: Source, statement: Node) -> tuple[str, str, str] | None:
    """(tensor, index, value) of a store to global memory."""
    method = next((m for m in source.methods if m.statement == statement), None)
    if method is None or method.name != "SetValue" or len(method.arguments) != 2:
        return None
    tensors = {m.object for m in source.methods if m.name == "SetGlobalBuffer"}
    index, value = (" ".join(source.of(a).split()) for a in method.argument_nodes)
    called = re.search(r"\w\(|\[|\+\+|--", f"{index} {value}")
    if method.object not in tensors or called:
        return None
    return method.object, index, value


def _limit(source: Source, statement: Node, index: str, values: Mapping[str, str]) -> str | None:
    """How many turns, from the first on, an `if` without `else` lets through."""
    condition = statement.child_by_field_name("condition")
    then = statement.child_by_field_name("consequence")
    if condition is None or then is None or then.type != "compound_statement":
        return None
    if statement.child_by_field_name("alternative") is not None:
        return None
    found = re.fullmatch(r"\((\w+)(<=?)([\w.\->]+)\)", source.code(condition))
    if found is None or found[1] != index or found[3] in values:
        return None
    return found[3] + _COMPARED[found[2]]


def _with(code: str, values: Mapping[str, str]) -> str:
    """Code with the values of names in their place."""
    for name, value in values.items():
        code = re.sub(rf"(?<![\w.>]){name}\b", value.replace("\\", r"\\"), code)
    return code


def _degree(code: str, index: str) -> int:
    """The power of a name in sums and products; more than 1 where it is in anything else."""
    tokens = re.findall(r"[\w.]+(?:->\w+)*|[-+*/%()]|\S", code)
    place = 0

    def atom() -> int:
        nonlocal place
        token = tokens[place] if place < len(tokens) else ""
        place += 1
        if token == "(":
            inner = total()
            closed = place < len(tokens) and tokens[place] == ")"
            place += 1
            return inner if closed else 9
        if token == "-":
            return atom()
        return int(token == index) if re.match(r"\w", token) else 9

    def product() -> int:
        nonlocal place
        power = atom()
        while place < len(tokens) and tokens[place] in "*/%":
            other = tokens[place] != "*"
            place += 1
            more = atom()
            power = 9 if other and power + more else power + more
        return power

    def total() -> int:
        nonlocal place
        power = product()
        while place < len(tokens) and tokens[place] in "+-":
            place += 1
            power = max(power, product())
        return power

    power = total()
    return power if place == len(tokens) else 9


def _alone(source: Source, found: list[_Stores]) -> list[_Stores]:
    """Return those whose tensors nothing else touches by the scalar unit."""
    spans = [(s.loop.node.start_byte, s.loop.node.end_byte) for s in found]
    elsewhere = {
        m.object
        for m in source.methods
        if m.name in ("GetValue", "SetValue")
        and not any(start <= m.start < end for start, end in spans)
    }
    return [s for s in found if s.target not in elsewhere]


def _class(node: Node) -> Node | None:
    """The body of the class that a method is defined in."""
    for above in ancestors(node):
        if above.type in ("class_specifier", "struct_specifier"):
            return above.child_by_field_name("body")
    return None
