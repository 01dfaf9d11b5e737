"""A task and the text of a tile program made to an operator's files."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ci.create.layout import Layout
from ci.create.operator_files import Made, assembled, attribute, classes_of
from ci.create.phase_text import BadProgram
from ci.create.program import Program
from ci.create.program_text import Given, Written, read_program
from ci.create.scalars import Scalar
from ci.create.task import Task, TaskCase
from ci.create.verify import numbers
from ci.model.amount import worded_amount
from ci.model.errors import InputError


def given_of(task: Task) -> Given:
    """What a program of this task is written for; raises InputError where cases differ in it."""
    ranks = {n: len(s) for n, s in zip(task.inputs, task.cases[0].shapes, strict=True)}
    for case in task.cases:
        if [len(s) for s in case.shapes] != list(ranks.values()):
            raise InputError(
                f"Cases '{task.cases[0].name}' and '{case.name}' differ in ranks; a written program"
                " is for one."
            )
    free = [
        p.name
        for p in task.attributes
        if isinstance(v := task.cases[0].attrs.get(p.name, p.default), int | float)
        and not isinstance(v, bool)
    ]
    return Given(dict(zip(task.inputs, classes_of(task), strict=True)), ranks, free)


def made_of_text(task: Task, text: str) -> Made:
    """The operator of a written program; raises InputError with what stops it."""
    written = read_program(text, given_of(task))
    program = replace(written.program, name=task.name)
    layouts = [_layout(task, case, written) for case in task.cases]
    used = _names(program) | {n for dims in written.dims for d in dims for n in _leaves(d)}
    attributes = tuple(attribute(task, p, free=p.name in used) for p in task.attributes)
    return assembled(task, program, layouts, classes_of(task), attributes)


def _layout(task: Task, case: TaskCase, written: Written) -> Layout:
    """The lengths of a case."""
    program = written.program
    known = numbers(task, case.attrs, case.shapes)
    groups = []
    for group in program.groups:
        size = group.size.evaluate(known, {})
        if not (0 < size < 1 << 40 and size == int(size)):
            raise BadProgram(f"In case '{case.name}' group {group.name} has the length {size:g}.")
        groups.append(replace(group, example=int(size)))
    sizes = {g.name: g.example for g in groups}
    for tensor, shape in zip(program.inputs, case.shapes, strict=True):
        if prod(sizes[g] for g in tensor.groups) != prod(shape):
            said = " x ".join(str(sizes[g]) for g in tensor.groups) or "1"
            raise BadProgram(
                f"In case '{case.name}' input '{tensor.name}' has the shape {list(shape)}; its"
                f" groups say {worded_amount(said, 'element', 'elements')}."
            )
    ranks = {n: len(s) for n, s in zip(task.inputs, case.shapes, strict=True)}
    return Layout(tuple(groups), program.inputs, program.outputs, dims=written.dims, ranks=ranks)


def _names(program: Program) -> set[str]:
    """The attributes and lengths that a program computes with."""
    args = [a for p in program.phases for s in p.statements for a in s.args]
    scalars = [g.size for g in program.groups] + [a for a in args if isinstance(a, Scalar)]
    return {name for one in scalars for name in _leaves(one)}


def _leaves(scalar: Scalar) -> set[str]:
    if scalar.op == "attr":
        return {scalar.name}
    return {name for arg in scalar.args for name in _leaves(arg)}
