"""The turn of a loop with the functions written out that load its tile among other things."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

from ci.proposer.motifs.transforms.functions import called_in, moves_tiles
from ci.proposer.motifs.transforms.loads import find_loads, loads_only
from ci.proposer.motifs.transforms.loops import assigned_names, declared_names
from ci.source.cpp_source import Edit, Function, Source, ancestors, identifiers, parse, walk
from rules.api import load_api

_DEEPEST = 3
"""Functions within functions that are written out: a reviewer must follow."""

_LONGEST = 40
"""Lines of a function that is written out."""

_VALUE = re.compile(r"[\w\s.:+\-*/%()\[\]<>]*")
_ACTS = re.compile(r"\b(?:GetValue|SetValue|SetFlag|WaitFlag|InitBuffer|SetGlobalBuffer)\b")


@dataclass(frozen=True)
class Inlined:
    """A source in which the turn of one loop has some calls written out."""

    source: Source
    loop: Node
    start: int
    """Where the turn begins, in both sources."""
    end: int
    """Where it ended before."""
    grown: int
    """Bytes by which the new source is longer."""

    def before(self, edits: list[Edit]) -> list[Edit]:
        """Edits of the new source as edits of the one that it was made from."""
        stop = self.end + self.grown
        inside = [e for e in edits if e.start >= self.start and e.end <= stop]
        turn = self.source.text[self.start : stop]
        for edit in sorted(inside, key=lambda e: e.start, reverse=True):
            turn = turn[: edit.start - self.start] + edit.new + turn[edit.end - self.start :]
        outside = [
            Edit(e.start - moved, e.end - moved, e.new)
            for e in edits
            if e not in inside
            for moved in (self.grown if e.start >= stop else 0,)
        ]
        return [*outside, Edit(self.start, self.end, turn)]


def loads_written_out(source: Source, function: Function, loop: Node) -> Inlined | None:
    """The source with what loads a tile among other things written out in a loop's turn.

    So is then what only sets scalars for it. None where nothing is to be written out.
    """
    now, inner = source, loop
    for _ in range(_DEEPEST):
        body = inner.child_by_field_name("body")
        if body is None or find_loads(now, body) is not None:
            break
        stepped = _stepped(now, function, inner, _loads_among_others)
        if stepped is None:
            return None
        now, inner = stepped
    if now is not source:
        now, inner = _stepped(now, function, inner, _sets_scalars) or (now, inner)
    body, old = inner.child_by_field_name("body"), loop.child_by_field_name("body")
    if now is source or body is None or old is None or find_loads(now, body) is None:
        return None
    grown = len(now.text) - len(source.text)
    return Inlined(now, inner, old.start_byte + 1, old.end_byte - 1, grown)


def _stepped(
    source: Source, function: Function, loop: Node, wanted: Callable[[Source, Function], bool]
) -> tuple[Source, Node] | None:
    """The source with the wanted functions of a turn written out, and the loop in it."""
    edits = [
        edit
        for statement, called in _calls(source, function, loop.child_by_field_name("body"))
        if wanted(source, called)
        and (edit := _written_out(source, loop, statement, called)) is not None
    ]
    if not edits:
        return None
    now = parse(source.apply(edits))
    for node in walk(now.root):
        if node.type == loop.type and node.start_byte == loop.start_byte:
            return now, node
    return None


def _calls(source: Source, function: Function, body: Node | None) -> list[tuple[Node, Function]]:
    """The statements of a turn that call one function of the kernel's class, with that."""
    found: list[tuple[Node, Function]] = []
    for node in body.named_children if body is not None else ():
        if node.type == "compound_statement":
            found += _calls(source, function, node)
        elif node.type == "expression_statement":
            called = _called(source, function, node)
            if called is not None:
                found.append((node, called))
    return found


def _called(source: Source, function: Function, statement: Node) -> Function | None:
    """The function that a statement calls; None where it cannot be written out there."""
    call = next(iter(statement.named_children), None)
    name = call.child_by_field_name("function") if call is not None else None
    if call is None or call.type != "call_expression" or name is None:
        return None
    plain = source.code(name).removeprefix("this->")
    found = [f for f in source.functions if f.plain == plain]
    if len(found) != 1 or found[0] == function:
        return None
    called = found[0]
    head = source.shadow[called.node.start_byte : called.body.start_byte]
    if not re.search(r"\bvoid\b", head) or _class_of(source, called) != _class_of(source, function):
        return None
    above = [up.type for up in ancestors(called.node)]
    if above[:1] == ["template_declaration"] and "class_specifier" in above:
        return None  # what it is a template of is not known here
    if any(n.type in ("return_statement", "goto_statement") for n in walk(called.body)):
        return None
    return called


def _class_of(source: Source, function: Function) -> str:
    """The name of the class that a function belongs to; '' for none."""
    for up in ancestors(function.node):
        if up.type in ("class_specifier", "struct_specifier"):
            name = up.child_by_field_name("name")
            return source.code(name).partition("<")[0] if name is not None else ""
    return function.name.rpartition("::")[0].partition("<")[0].rpartition("::")[2]


def _loads_among_others(source: Source, function: Function, depth: int = _DEEPEST) -> bool:
    if loads_only(source, function.plain) or not depth:
        return False
    if find_loads(source, function.body) is not None:
        return True
    return any(
        _loads_among_others(source, called, depth - 1)
        for _, called in _calls(source, function, function.body)
    )


def _sets_scalars(source: Source, function: Function) -> bool:
    """Whether all that a function does is to set scalars."""
    if moves_tiles(source, function.body) or called_in(source, function.body):
        return False
    if _ACTS.search(source.shadow, function.body.start_byte, function.body.end_byte):
        return False
    return not any(call.name in load_api().known for call in source.calls_in(function.body))


def _written_out(source: Source, loop: Node, statement: Node, called: Function) -> Edit | None:
    """The call as a block that declares the parameters and does what the function does."""
    lines = source.text.count("\n", called.body.start_byte, called.body.end_byte)
    parameters, arguments = _parameters(source, called), _arguments(source, statement)
    if lines > _LONGEST or parameters is None or len(parameters) != len(arguments):
        return None
    given = []
    names = {name for name, _ in parameters}
    for (name, declared), argument in zip(parameters, arguments, strict=True):
        if argument == name and (
            "&" in declared or name not in assigned_names(source, called.body)
        ):
            continue
        if names & identifiers(argument) or not _VALUE.fullmatch(argument):
            return None
        given.append(f"{declared} = {argument};")
    body = loop.child_by_field_name("body")
    head = source.shadow[loop.start_byte : body.start_byte] if body is not None else ""
    if declared_names(source, called.body) & identifiers(head):
        return None
    inner = source.text[called.body.start_byte + 1 : called.body.end_byte - 1]
    indent = source.indent(statement.start_byte)
    code = _set_in("\n".join([*given, *_dedented(inner)]), indent + "    ")
    return Edit(statement.start_byte, statement.end_byte, f"{{\n{code}\n{indent}}}")


def _parameters(source: Source, function: Function) -> list[tuple[str, str]] | None:
    """(name, declaration) of each parameter; None where one has no name."""
    declarator = function.node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    found = []
    for node in listed.named_children if listed is not None else ():
        names = sorted(declared_names(source, node))
        if node.type not in ("parameter_declaration", "optional_parameter_declaration"):
            return None
        if len(names) != 1:
            return None
        found.append((names[0], source.of(node).partition("=")[0].strip()))
    return found


def _arguments(source: Source, statement: Node) -> list[str]:
    listed = statement.named_children[0].child_by_field_name("arguments")
    return [source.of(a).strip() for a in listed.named_children] if listed is not None else []


def _dedented(code: str) -> list[str]:
    lines = code.strip("\n").rstrip().splitlines()
    least = min((len(i) - len(i.lstrip()) for i in lines if i.strip() and i[0] != "#"), default=0)
    return [line if line[:1] == "#" else line[least:] for line in lines]


def _set_in(code: str, indent: str) -> str:
    lines = code.splitlines()
    return "\n".join(f"{indent}{i}" if i.strip() and i[0] != "#" else i for i in lines)
