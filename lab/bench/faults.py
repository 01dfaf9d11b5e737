"""Faults of synchronisation that a kernel's author makes, planted into a working kernel's text.

Each fault is one edit of one statement or of the few that belong together. A dropped `SetFlag`
alone ends in a deadlock, which any simulator sees; the faults that cost a person days leave a
kernel that runs: both halves of a flag missing, a queue at a position that orders other pipes, a
buffer handed over one statement early.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from ci.source.cpp_source import Call, Edit, Method, Source, identifiers, squeeze
from lab.model.sanitizers import Kind
from rules.api import load_api

_EVENT = re.compile(r"(HardEvent\s*::\s*)([A-Z0-9]+)_([A-Z0-9]+)\b")
_QUEUE = re.compile(r"\bTQue(?:Bind)?\s*<\s*(?:QuePosition|TPosition)\s*::\s*(VECIN|VECOUT)\b")
_SIGNAL_PIPE = re.compile(r"\bPIPE_(MTE3|FIX)\b")


class Fault(NamedTuple):
    """One planted fault."""

    kind: Kind
    line: int
    words: str
    """The original statement; of a pair the first of the two."""
    text: str
    """The whole file with the fault."""
    probe: str
    """The file as it was, but the kernel stops there; '' when no statement stands for the place."""


class _Statement(NamedTuple):
    """A call that is a statement of its own. Indices are into the source."""

    name: str
    call: Call | Method
    node: Node
    begin: int
    end: int

    @property
    def flag(self) -> str:
        """What a set and its wait have in common: the object or event, and the number."""
        of = self.call.object if isinstance(self.call, Method) else ""
        event = "" if self.name.startswith(("CrossCore", "IB")) else self.call.template
        arguments = self.call.arguments
        kept = arguments[-1:] if self.name.startswith("CrossCore") else arguments
        return squeeze(f"{of}|{event.replace('AscendC::', '')}|{','.join(kept)}")


def faults(text: str) -> Iterator[Fault]:
    """Every fault that can be planted into a kernel source, in the order of `Kind`."""
    source = Source(text)
    statements = _statements(source)
    pairs = list(_pairs(statements))
    ordering = load_api().ordering
    for one in statements:
        if one.name in ordering.names:
            yield _fault(source, "statement dropped", one, [_drop(one)])
    for pair in pairs:
        yield _fault(source, "pair dropped", pair[0], [_drop(one) for one in pair])
    for pair in pairs:
        turned = [edit for one in pair for edit in _turned(source, one)]
        if turned:
            yield _fault(source, "wrong direction", pair[0], turned)
    for one in statements:
        if one.name in ("WaitFlag", "wait_flag") and one.call.arguments:
            yield _fault(source, "wrong event", one, [_other_event(source, one)])
    for one in statements:
        if one.name == "CrossCoreSetFlag":
            found = _SIGNAL_PIPE.search(source.text, one.begin, one.end)
            if found:
                edit = Edit(found.start(), found.end(), "PIPE_MTE2")
                yield _fault(source, "wrong signalling pipe", one, [edit])
    for queue in _QUEUE.finditer(source.shadow):
        edit = Edit(queue.start(1), queue.end(1), "VECCALC")
        line = source.line(queue.start())
        words = squeeze(source.text[queue.start() : source.text.find(";", queue.start())])
        used = (s for s in statements if s.name == "EnQue" and _object(s) in identifiers(words))
        probe = next((source.apply([_stop(s)]) for s in used), "")
        yield Fault("wrong queue position", line, words, source.apply([edit]), probe)
    for one in statements:
        if one.name in ("EnQue", "FreeTensor"):
            kind: Kind = "handed over early" if one.name == "EnQue" else "freed early"
            moved = _moved_up(source, one)
            if moved:
                yield _fault(source, kind, one, moved)
    for one in statements:
        if one.name == "InitBuffer" and len(one.call.arguments) > 1:
            yield _fault(source, "buffer too short", one, [_halved(source, one)])


def with_vector_barriers(text: str) -> str:
    """The source with what automatic synchronisation adds within the vector pipe written out.

    A barrier of the vector pipe orders nothing else, so every other fault shows as it did.
    """
    source, api = Source(text), load_api()
    edits = []
    for one in _statements(source):
        # Instructions of the vector pipe, and helpers that may call some.
        family = api.calls.get(one.name)
        helper = one.name not in api.known and re.match(r"[A-Z][A-Za-z0-9]*[a-z]", one.name)
        if isinstance(one.call, Method) or not (helper or family and family.pipes[0] == "V"):
            continue
        words = source.text[one.begin : one.end]
        edits.append(Edit(one.begin, one.end, f"{{ {words} AscendC::PipeBarrier<PIPE_V>(); }}"))
    outermost: list[Edit] = []
    for edit in sorted(edits, key=lambda e: (e.start, -e.end)):
        if not outermost or edit.start >= outermost[-1].end:
            outermost.append(edit)
    return source.apply(outermost)


def _statements(source: Source) -> list[_Statement]:
    found = []
    calls: list[Call | Method] = [*source.calls, *source.methods]
    for call in sorted(calls, key=lambda c: c.start):
        node = call.statement
        if node is not None:
            name = call.name.rpartition("::")[2]
            begin = source.begin(node.start_byte)
            found.append(_Statement(name, call, node, begin, node.end_byte))
    return found


def _pairs(statements: list[_Statement]) -> Iterator[list[_Statement]]:
    """A set with the wait that follows it; what loops carry round, as one group by flag."""
    waiting: dict[str, list[_Statement]] = defaultdict(list)
    loose: dict[str, list[_Statement]] = defaultdict(list)
    signals = {wait: signal for signal, wait in load_api().ordering.pairs.items()}
    for one in statements:
        if one.name in signals.values():
            waiting[one.name + one.flag].append(one)
        elif one.name in signals:
            key = signals[one.name] + one.flag
            if waiting[key]:
                yield [waiting[key].pop(), one]
            else:
                loose[key].append(one)
    for key, waits in loose.items():
        sets = waiting.pop(key, [])
        if sets:
            yield sorted([*sets, *waits], key=lambda one: one.begin)


def _fault(source: Source, kind: Kind, one: _Statement, edits: list[Edit]) -> Fault:
    words = " ".join(source.text[one.begin : one.end].split())
    probe = source.apply([_stop(one)])
    return Fault(kind, source.line(one.begin), words, source.apply(edits), probe)


def _object(one: _Statement) -> str:
    return one.call.object if isinstance(one.call, Method) else ""


def _stop(one: _Statement) -> Edit:
    return Edit(one.begin, one.end, "::trap();")


def _drop(one: _Statement) -> Edit:
    return Edit(one.begin, one.end, ";")


def _turned(source: Source, one: _Statement) -> Iterator[Edit]:
    for found in _EVENT.finditer(source.text, one.begin, one.end):
        yield Edit(found.start(), found.end(), f"{found[1]}{found[3]}_{found[2]}")


def _other_event(source: Source, one: _Statement) -> Edit:
    nodes = one.call.node.child_by_field_name("arguments")
    last = nodes.named_children[-1] if nodes is not None else one.node
    number = source.text[last.start_byte : last.end_byte]
    return Edit(last.start_byte, last.end_byte, f"(static_cast<int32_t>({number}) + 1) % 8")


def _moved_up(source: Source, one: _Statement) -> list[Edit]:
    """The statement before the one that is in front of it; nothing when it is the first."""
    before = one.node.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    handed = one.call.arguments[0] if one.call.arguments else ""
    if before is None or before.type not in (
        "expression_statement",
        "for_statement",
        "if_statement",
    ):
        return []
    # A tensor cannot be handed over before it is there, and order among hand-overs is no fault.
    text = source.text[before.start_byte : before.end_byte]
    if re.search(r"\b(?:EnQue|FreeTensor|DeQue|AllocTensor)\b", text) or handed not in text:
        return []
    at = source.begin(before.start_byte)
    return [Edit(at, at, source.text[one.begin : one.end] + " "), _drop(one)]


def _halved(source: Source, one: _Statement) -> Edit:
    nodes = one.call.node.child_by_field_name("arguments")
    last = nodes.named_children[-1] if nodes is not None else one.node
    size = source.text[last.start_byte : last.end_byte]
    return Edit(last.start_byte, last.end_byte, f"({size}) / 64 * 32")
