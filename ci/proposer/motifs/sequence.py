"""Match a sequence of API calls in one block, with meta-variables, and rewrite it.

The middle ground between a pattern of one node and a data-flow framework: kernels are straight
runs of calls, and rules/api.yml says which arguments a call writes and which it reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import (
    LOOPS,
    Call,
    Edit,
    Source,
    ancestors,
    identifiers,
    root_name,
    squeeze,
)
from ci.source.cpp_text import split_arguments, without_comments
from rules.api import load_api
from rules.load import Form, Where

_CALL = re.compile(r"^\s*([$\w|]+)\s*\((.*)\)\s*;?\s*$", re.DOTALL)
_META = re.compile(r"^\$(?:_|[A-Z]\w*)$")
_NUMBER = re.compile(r"^-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?[fFuUlL]*$")
_WRAPPED = re.compile(
    r"^(?:static_cast<[\w:]+>|\([\w:]+\)|float|half|T\w?|TYPE_\w+)\s*(\(.*\)|-?[\d.]+f?)$"
)
_SCRATCH = re.compile(r"tmp|temp|work|buf|calc|cast", re.IGNORECASE)

QUALIFIED = "AscendC::"


@dataclass(frozen=True)
class CallPattern:
    """`Muls($T, $A, $S, $N)` taken apart; `names` empty when the name is a meta-variable."""

    meta: str
    names: frozenset[str]
    arguments: tuple[str, ...]


def parse_pattern(text: str) -> CallPattern:
    """Raises ValueError when the text is not a call pattern."""
    found = _CALL.match(text)
    if not found:
        raise ValueError(f"{text!r} is not a call pattern such as Add($D, $A, $B, $N)")
    name = found.group(1)
    arguments = tuple(squeeze(a) for a in split_arguments(found.group(2)))
    if _META.match(name):
        return CallPattern(name, frozenset(), arguments)
    return CallPattern("", frozenset(name.split("|")), arguments)


def find_sequences(source: Source, rewrite: Form) -> list[Match]:
    """All places where the rewrite's sequence stands and its conditions hold."""
    patterns = [parse_pattern(p) for p in rewrite.sequence]
    calls = source.statement_calls
    if patterns[0].names and not any(c.name in patterns[0].names for c in calls.values()):
        return []
    matches = []
    for block in source.blocks:
        statements = block.named_children
        for first, statement in enumerate(statements):
            call = calls.get(statement.start_byte)
            bound = _unify(source, patterns[0], call, {}) if call else None
            if call is None or bound is None:
                continue
            found = _follow(source, statements, calls, patterns, first, [call], bound)
            if found is None:
                continue
            matched, bound = found
            if holds(source, rewrite.where, matched[0].start, matched[-1].end, bound) and not any(
                _spoils_itself(new, bound, matched) for new in rewrite.replace if new
            ):
                matches.append(_match(source, rewrite, matched, bound))
    return matches


def _follow(
    source: Source,
    statements: list[Node],
    calls: dict[int, Call],
    patterns: list[CallPattern],
    first: int,
    matched: list[Call],
    bound: dict[str, str],
) -> tuple[list[Call], dict[str, str]] | None:
    """Extend a match to the whole sequence, over statements that do not interfere."""
    place = first
    for pattern in patterns[1:]:
        for place in range(place + 1, len(statements)):  # noqa: B020
            call = calls.get(statements[place].start_byte)
            more = _unify(source, pattern, call, bound) if call else None
            if call is not None and more is not None:
                matched, bound = [*matched, call], more
                break
            if not _passes(source, statements[place], call, matched):
                return None
        else:
            return None
    return matched, bound


def _unify(
    source: Source, pattern: CallPattern, call: Call, bound: dict[str, str]
) -> dict[str, str] | None:
    if pattern.names and call.name not in pattern.names:
        return None
    if len(pattern.arguments) != len(call.arguments):
        return None
    new = dict(bound)
    if pattern.meta and new.setdefault(pattern.meta, call.name) != call.name:
        return None
    for wanted, actual in zip(pattern.arguments, call.arguments, strict=True):
        code = clean(actual)
        if _META.match(wanted):
            if wanted != "$_" and clean(new.setdefault(wanted, actual)) != code:
                return None
        elif number(wanted) is not None:
            if number(code) != number(wanted):
                return None
        elif wanted != code:
            return None
    return new


def _passes(source: Source, statement: Node, call: Call | None, matched: list[Call]) -> bool:
    """Whether moving the matched calls over this statement changes nothing."""
    api = load_api()
    if call is not None and call.name in api.ordering.barriers:
        return True
    written = {root_name(a) for c in matched for a in api.written(c.name, c.arguments)}
    read = {root_name(a) for c in matched for a in api.read(c.name, c.arguments)}
    named = identifiers(source.code(statement))
    if named & written:
        return False
    if call is not None and call.arguments:
        return not {root_name(a) for a in api.written(call.name, call.arguments)} & read
    if statement.type == "declaration":
        return not _written_by(source.code(statement), read)
    return not named & read


def _written_by(code: str, names: set[str]) -> bool:
    """Whether a declaration gives one of the names a value."""
    return any(re.search(rf"\b{re.escape(n)}\b\s*=", code) for n in names)


def holds(source: Source, where: Where, start: int, end: int, bound: dict[str, str]) -> bool:
    """Whether the conditions hold of a match that spans `start` to `end`."""
    return (
        all(dead_after(source, root_name(bound[t]), start, end) for t in where.dead)
        and all(root_name(bound[a]) != root_name(bound[b]) for a, b in where.differ)
        and all(number(clean(bound[m])) is not None for m in where.literal)
        and all(_is_scalar(source, bound[m], start) for m in where.number)
        and all(re.fullmatch(r"[A-Za-z_]\w*", clean(bound[m])) for m in where.local)
        and all(clean(bound[b]) not in identifiers(bound[a]) for a, b in where.without)
        and all(_computes(bound[m]) for m in where.vector)
        and all(_in_unified_buffer(source, bound[m], start) for m in where.unified)
    )


def _computes(name: str) -> bool:
    family = load_api().calls.get(name)
    return family is not None and family.computes


def _in_unified_buffer(source: Source, text: str, place: int) -> bool:
    """Whether a tensor is local memory: declared so in the function, or named unlike a global."""
    name = root_name(text)
    if re.search(rf"\bGlobalTensor\s*<[^;{{}}]*>\s*&?\s*{re.escape(name)}\b", source.shadow):
        return False
    return not re.search(r"gm|global", name, re.IGNORECASE)


def dead_after(source: Source, name: str, start: int, end: int) -> bool:
    """Whether a tensor's value at `end` is read by nobody, as far as the function shows.

    A tensor from outside the function counts as dead only when its name says scratch; the
    evaluation decides in the end, this only keeps hopeless candidates away.
    """
    function = source.function_at(start)
    if function is None or not re.fullmatch(r"[A-Za-z_]\w*", name):
        return False
    body = source.shadow[function.body.start_byte : function.body.end_byte]
    own = re.search(rf"(?:>|auto)\s*&?\s*{name}\b\s*(?:=|;|\()", body)
    if not own and not _SCRATCH.search(name):
        return False
    stretches = [(end, function.body.end_byte)]
    node = matched_node(source, start)
    loop = next((a for a in ancestors(node) if a.type in LOOPS), None) if node else None
    if loop is not None and loop.start_byte >= function.body.start_byte:
        stretches.append((loop.start_byte, start))
    return all(_first_use_overwrites(source, name, a, b) for a, b in stretches)


def matched_node(source: Source, index: int) -> Node | None:
    """The smallest node at an index."""
    return source.root.descendant_for_byte_range(index, index + 1)


def _first_use_overwrites(source: Source, name: str, start: int, end: int) -> bool:
    found = re.search(rf"\b{name}\b", source.shadow[start:end])
    if found is None:
        return True
    place = start + found.start()
    before = source.shadow[max(start, place - 120) : place]
    if re.search(r"(?:FreeTensor|free\w*)\s*(?:<[^;]*>)?\s*\(\s*$", before):
        return True
    if re.search(r"(?:>|auto)\s*&?\s*$", before):  # declared again
        return True
    api = load_api()
    for call in source.calls:
        if call.start <= place < call.end and call.statement is not None and call.arguments:
            written = {root_name(a) for a in api.written(call.name, call.arguments)}
            read = {i for a in api.read(call.name, call.arguments) for i in identifiers(a)}
            return call.name in api.calls and name in written - read
    return False


def number(code: str) -> float | None:
    """The value of a number literal, through casts such as `(float)1.0f`; None if it is none."""
    wrapped = _WRAPPED.match(code)
    if wrapped:
        code = wrapped.group(1)
    while code.startswith("(") and code.endswith(")"):
        code = code[1:-1]
    if not _NUMBER.match(code):
        return None
    return float(code.rstrip("fFuUlL"))


def _is_scalar(source: Source, text: str, place: int) -> bool:
    """Whether an argument is a scalar value as far as the text shows."""
    name = root_name(text)
    if number(clean(text)) is not None:
        return True
    function = source.function_at(place)
    around = source.shadow[function.node.start_byte : function.node.end_byte] if function else ""
    name = re.escape(name)
    tensor = re.search(rf"LocalTensor\s*<[^;{{}}]*?>\s*&?\s*{name}\b", around) or re.search(
        rf"\b{name}\s*=\s*[\w.\->]+\s*\.\s*(?:Get|AllocTensor|DeQue)\b", around
    )
    return tensor is None


def clean(text: str) -> str:
    """An argument's code without spaces, `AscendC::` and comments."""
    return squeeze(re.sub(r"\bAscendC\s*::\s*", "", without_comments(text)))


def _match(source: Source, rewrite: Form, matched: list[Call], bound: dict[str, str]) -> Match:
    edits = []
    for call, new in zip(matched, rewrite.replace, strict=True):
        start, end = statement_range(source, call)
        if new is None:
            edits.append(source.removal(start, end))
        else:
            named = source.text.startswith(QUALIFIED, start)
            before = QUALIFIED if named else namespace(source)
            lines = [before + fill(part.strip(), bound) + ";" for part in new.split(";")]
            edits.append(Edit(start, end, ("\n" + source.indent(start)).join(lines)))
    tensor = clean(matched[-1].arguments[0]) if matched[-1].arguments else ""
    return Match(matched[0].start, tuple(edits), note=tensor)


def _spoils_itself(new: str, bound: dict[str, str], matched: list[Call]) -> bool:
    """Whether a call would write what it reads although it must not, and does not do so yet."""
    api = load_api()
    held = {(c.name, tuple(map(clean, c.arguments))) for c in matched}
    for part in new.split(";"):
        called = parse_pattern(fill(part, bound))
        name = next(iter(called.names))
        family = api.calls.get(name)
        if family is None or family.in_place or (name, called.arguments) in held:
            continue
        read = {clean(a) for a in api.read(name, called.arguments)}
        if read & {clean(a) for a in api.written(name, called.arguments)}:
            return True
    return False


def statement_range(source: Source, call: Call) -> tuple[int, int]:
    """Where a call statement begins (`AscendC::` included) and ends (`;` included)."""
    statement = call.statement or call.node
    return source.begin(statement.start_byte), statement.end_byte


def namespace(source: Source) -> str:
    """What is before an API name in this file: `AscendC::`, or nothing where it is used."""
    return "" if "using namespace AscendC" in source.text else QUALIFIED


def fill(template: str, bound: dict[str, str]) -> str:
    """A replacement with its meta-variables filled in."""

    def value(found: re.Match[str]) -> str:
        return bound.get(found.group(), found.group())

    return re.sub(r"\$[A-Z]\w*", value, template)
