"""Reads a tile program from its text, the inverse of `Program.text`.

The text may be a model's, which nobody trusts: it is read line by line by patterns, never run, and
names are checked before they get into a kernel. Every mistake is a sentence that names its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ci.create.passes.base import BYTES
from ci.create.phase_text import BadProgram, Line, Names, read_phase
from ci.create.program import Phase, Program
from ci.create.scalar_text import BadScalar, read_scalar
from ci.create.scalars import Scalar
from ci.create.task import is_taken
from ci.create.tensors import Group, Tensor
from ci.model.amount import amount

MOST_LINES: Final = 400
LONGEST_LINE: Final = 1000
MOST_GROUPS: Final = 12

_HEAD: Final = re.compile(r"program (\w+)\((.*)\) -> (.+)$")
_TENSOR: Final = re.compile(r"([A-Za-z]\w*): (\w+)\[([A-Z](?:, [A-Z])*)?\]$")
_GROUP: Final = re.compile(r"([A-Z]) = (.+)$")
_SHAPE: Final = re.compile(r"([A-Za-z]\w*) has shape \[(.*)\]$")
_PHASE: Final = ("cores share ", "on one core:")


@dataclass(frozen=True)
class Given:
    """What a program is written for: its inputs with their dtypes and ranks, and attributes."""

    inputs: Mapping[str, str]
    """The dtype of each input, in order; 'T' where it is the one that the operator is built for."""
    ranks: Mapping[str, int]
    attributes: Sequence[str] = ()

    def knows(self, name: str) -> bool:
        """Whether a name is an attribute or the length of an axis."""
        tensor, _, axis = name.partition(".")
        return name in self.attributes or bool(
            axis and int(axis) < self.ranks.get(tensor, 0) and tensor in self.inputs
        )


@dataclass(frozen=True)
class Written:
    """A program that was read, and the shapes of its outputs."""

    program: Program
    dims: tuple[tuple[Scalar, ...], ...]


def read_program(text: str, given: Given) -> Written:
    """The program in a text; raises BadProgram with a sentence for each way to be wrong."""
    lines = _lines(text)
    if not lines:
        raise BadProgram("There is no program: its first line is `program NAME(…) -> …`.")
    return _Reader(lines, given).written()


def _lines(text: str) -> list[Line]:
    rows = text.replace("\t", "    ").splitlines()
    if len(rows) > MOST_LINES:
        raise BadProgram(
            f"The program has {amount(len(rows), 'line')}; at most {MOST_LINES} are read."
        )
    found = []
    for place, row in enumerate(rows, 1):
        if len(row) > LONGEST_LINE:
            raise BadProgram(f"Line {place} has more than {LONGEST_LINE} characters.")
        plain = row.partition("#")[0].rstrip()
        if not plain.isascii():  # names get into a kernel, where letters that look alike deceive
            raise BadProgram(f"Line {place} holds a character that is not ASCII.")
        if plain.strip():
            found.append(Line(place, len(plain) - len(plain.lstrip()), plain.strip()))
    return found


@dataclass
class _Reader:
    left: list[Line]
    given: Given
    groups: dict[str, Group] = field(default_factory=dict)
    shapes: dict[str, tuple[Scalar, ...]] = field(default_factory=dict)

    def written(self) -> Written:
        head = self.left.pop(0)
        match = _HEAD.match(head.text)
        if match is None:
            raise head.wrong("a program begins with `program NAME(x: T[A, B]) -> y: T[A, B]`")
        inputs, outputs = self._tensors(head, match[2]), self._tensors(head, match[3])
        self._check_inputs(head, inputs)
        for tensor in outputs:
            if is_taken(tensor.name) or tensor.name in self.given.inputs:
                raise head.wrong(f"'{tensor.name}' is no name that an output can have")
        self._declarations(outputs)
        for tensor in (*inputs, *outputs):
            self._check_groups(head, tensor)
        order = tuple(self.groups)
        names = Names(
            order, {t.name: t for t in inputs}, {t.name: t for t in outputs}, self.given.knows
        )
        phases: list[Phase] = []
        while self.left:
            phases.append(read_phase(self._phase(bool(phases)), names, len(phases)))
        missing = [t.name for t in outputs if t.name not in names.stored]
        if missing or not phases:
            raise BadProgram(f"Output '{(missing or [outputs[0].name])[0]}' is never stored.")
        program = Program(match[1], tuple(self.groups.values()), inputs, outputs, tuple(phases))
        return Written(program, tuple(self._dims(t) for t in outputs))

    def _tensors(self, line: Line, text: str) -> tuple[Tensor, ...]:
        found = []
        for part in re.split(r",\s*(?![^\[]*\])", text):
            match = _TENSOR.match(part.strip())
            if match is None:
                raise line.wrong(f"'{part.strip()[:60]}' is no tensor such as `x: T[A, B]`")
            if match[2] not in BYTES:
                raise line.wrong(f"'{match[2]}' is no dtype; there are {', '.join(BYTES)}")
            found.append(
                Tensor(
                    match[1],
                    match[2],
                    tuple((match[3] or "").split(", ")[: None if match[3] else 0]),
                )
            )
        if len({t.name for t in found}) != len(found):
            raise line.wrong("two tensors have one name")
        return tuple(found)

    def _check_inputs(self, line: Line, inputs: tuple[Tensor, ...]) -> None:
        wanted = ", ".join(f"{n}: {d}" for n, d in self.given.inputs.items())
        if [(t.name, t.dtype) for t in inputs] != list(self.given.inputs.items()):
            raise line.wrong(f"the inputs are, in this order, {wanted}")

    def _declarations(self, outputs: tuple[Tensor, ...]) -> None:
        while self.left and not self.left[0].text.startswith(_PHASE):
            line = self.left.pop(0)
            group, shape = _GROUP.match(line.text), _SHAPE.match(line.text)
            if shape is not None:
                if shape[1] not in {t.name for t in outputs}:
                    raise line.wrong(f"there is no output '{shape[1]}'")
                axes = [a for a in re.split(r",(?![^(]*\))", shape[2]) if a.strip()]
                self.shapes[shape[1]] = tuple(self._scalar(line, a) for a in axes)
            elif group is not None:
                if group[1] in self.groups or len(self.groups) == MOST_GROUPS:
                    raise line.wrong(f"group {group[1]} is one too many")
                self.groups[group[1]] = Group(group[1], self._scalar(line, group[2]), 0)
            else:
                raise line.wrong("it is no group such as `A = x.0`, and no phase begins here")

    def _scalar(self, line: Line, text: str) -> Scalar:
        try:
            return read_scalar(text, (), self.given.knows)
        except BadScalar as problem:
            raise line.wrong(str(problem)) from None

    def _check_groups(self, line: Line, tensor: Tensor) -> None:
        unknown = [g for g in tensor.groups if g not in self.groups]
        if unknown or len(set(tensor.groups)) != len(tensor.groups):
            raise line.wrong(
                f"'{tensor.name}' has the groups {', '.join(tensor.groups)}; each once, and each"
                " with a line of its own below the first"
            )

    def _dims(self, tensor: Tensor) -> tuple[Scalar, ...]:
        return self.shapes.get(tensor.name) or tuple(self.groups[g].size for g in tensor.groups)

    def _phase(self, later: bool) -> list[Line]:
        """The lines of the next phase."""
        if later:
            self.left.pop(0)
        found = [self.left.pop(0)] if self.left else []
        if not found or not found[0].text.startswith(_PHASE):
            raise BadProgram("After `all cores meet` a phase begins with `cores share …`.")
        while self.left and self.left[0].text != "all cores meet":
            found.append(self.left.pop(0))
        return found
