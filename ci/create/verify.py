"""Whether a program and an operator made from it are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ci.backend import make_backend
from ci.create.interpret import Tiles, run
from ci.create.layout import Layout
from ci.create.make import Made
from ci.create.task import Task
from ci.judge.evaluate import Evaluator
from ci.judge.roofline import rooflines
from ci.judge.sweep import WIDE, sweep
from ci.model.created import Created, CreatedCase, CreateSettings
from ci.model.errors import InputError
from ci.model.launch import Array
from ci.model.trial import Candidate, Outcome, Trial
from ci.source.discovery import load_operator
from ci.source.golden import Golden
from ci.source.inputs import draw_inputs
from ci.source.workload_file import load_workload

MOST_ELEMENTS = 1 << 20
"""Of the inputs of a case that the program is run on in numpy."""

CLOSE = 1e-6
"""Relative to 1 and to the result: both sides compute in double precision, in another order."""

MINOR = ("special value", "range")
"""Kinds of varied values that are told and not held against an operator: infinities and numbers
near the end of float32 meet intermediate results that float64 has room for and float32 has not."""

_PARTS = 7
"""Tiles along an axis in the run in numpy: some whole ones and a tail."""


class NotRight(InputError):
    """A written operator failed, with this outcome; what was written is thrown away."""

    def __init__(self, said: str, outcome: Outcome = Outcome.WRONG_RESULT) -> None:
        super().__init__(said)
        self.outcome = outcome


class WrongProgram(InputError):
    """A tile program computes another thing than its golden function."""


def check_program(task: Task, made: Made, folder: Path) -> None:
    """Run the program in numpy on the workload's cases; raises WrongProgram where it is wrong."""
    operator = load_operator(folder)
    workload = load_workload(operator)
    golden = Golden(workload, operator)
    try:
        for given, case, layout in zip(task.cases, workload.cases, made.layouts, strict=False):
            own = sum(int(np.prod(s)) for s in given.shapes)
            if own > MOST_ELEMENTS or _sizes(given.shapes) != _sizes(
                tuple(tuple(t.shape) for t in case.inputs if not isinstance(t, tuple))
            ):
                continue
            sizes = {g.name: g.example for g in layout.groups}
            if 1 in (n for s in given.shapes for n in s):
                continue  # traced with a longer axis in its place
            drawn = draw_inputs(case, workload.seeds[0])
            right = golden.outputs(case, drawn, exact=True)
            widest = max(sizes.values(), default=1)
            tiles = Tiles(max(3, widest // _PARTS), max(5, widest // _PARTS))
            attrs = numbers(task, case.attrs, given.shapes)
            _compare_shapes(made, case.name, layout, attrs, right)
            values = {
                n: _plain(v, d) for n, v, d in zip(task.inputs, drawn, given.dtypes, strict=True)
            }
            found = run(made.program, layout, values, attrs, tiles)
            for place, (one, wanted) in enumerate(zip(found, right, strict=True)):
                assert isinstance(wanted, np.ndarray)
                _compare(made, case.name, place, one, wanted)
    finally:
        golden.close()


def _sizes(shapes: tuple[tuple[int, ...], ...]) -> list[int]:
    return [int(np.prod(s)) for s in shapes]


def numbers(
    task: Task, attrs: Mapping[str, object], shapes: Sequence[Sequence[int]]
) -> dict[str, float]:
    """What a program knows of a case: its attributes, and `x.0`, the lengths of axes."""
    found = {}
    for parameter in task.attributes:
        value = attrs.get(parameter.name, parameter.default)
        if isinstance(value, int | float):
            found[parameter.name] = float(value)
    for name, shape in zip(task.inputs, shapes, strict=True):
        found |= {f"{name}.{axis}": float(n) for axis, n in enumerate(shape)}
    return found


def _compare_shapes(
    made: Made, case: str, layout: Layout, attrs: Mapping[str, float], right: Sequence[object]
) -> None:
    """Whether the outputs have the shapes that the golden function gives them."""
    sizes = {g.name: g.example for g in layout.groups}
    found = [[round(d.evaluate(attrs, sizes)) for d in dims] for dims in layout.dims]
    wanted = [list(np.shape(np.asarray(one))) for one in right]
    if found != wanted:
        raise WrongProgram(
            f"The tile program of {made.program.name} gives outputs of shapes {found} on case"
            f" '{case}', the golden function {wanted}."
        )


def _plain(value: object, dtype: str) -> Array:
    from ci.model.dtypes import from_bfloat16

    assert isinstance(value, np.ndarray)
    return from_bfloat16(value) if dtype == "bfloat16" else value


def _compare(made: Made, case: str, place: int, found: Array, right: Array) -> None:
    flat, wanted = found.reshape(-1), np.asarray(right, np.float64).reshape(-1)
    close = np.isclose(flat, wanted, rtol=CLOSE, atol=CLOSE, equal_nan=True)
    if right.dtype != np.float64:  # rounded into the output's dtype
        close |= np.isclose(flat, wanted, rtol=1e-2, atol=1e-2)
    if not close.all():
        at = int(np.argmin(close))
        raise WrongProgram(
            f"The tile program of {made.program.name} is wrong on case '{case}': element {at} of"
            f" output {place} is {flat[at]:.9g} and should be {wanted[at]:.9g}."
        )


def check_operator(
    made: Made, folder: Path, settings: CreateSettings, shown: Path
) -> tuple[Trial, Created]:
    """Evaluate the written operator on its workload and on varied cases.

    Raises NotRight, with the sentence of the gate, when it fails.
    """
    operator = load_operator(folder)
    workload = load_workload(operator)
    backend = make_backend("sim", settings.device, asc_headers=settings.asc_headers)
    evaluator = Evaluator(operator, workload, backend)
    trial = evaluator.evaluate(Candidate(), 0)
    if trial.outcome is not Outcome.OK or trial.measurement is None:
        said = trial.refusal.message if trial.refusal else trial.outcome.value
        raise NotRight(
            f"The operator made of {made.program.name} is not right: {said}", trial.outcome
        )
    if trial.warnings:
        said = trial.warnings[0].message
        raise NotRight(f"The operator made of {made.program.name} is not clean: {said}")
    found = sweep(evaluator.standard, {}, WIDE)
    wrong = {k: d for k, d in found.defects.items() if k not in MINOR}
    if wrong:
        kind, said = next(iter(wrong.items()))
        raise NotRight(
            f"The operator made of {made.program.name} is not right with another {kind}: {said}"
        )
    floors = {r.case: r.floor_us for r in rooflines(trial.measurement)}
    cases = tuple(
        CreatedCase(
            name=c.case,
            microseconds=c.median_us,
            cores=c.pipes.block_dim,
            tiling_key=c.tiling_key,
            floor_us=floors.get(c.case, 0.0),
        )
        for c in trial.measurement.cases
    )
    return trial, Created(
        operator=operator.op_type,
        folder=str(shown),
        program=made.program.text(),
        cases=cases,
        varied=sum(found.counts.values()),
        declined=sum(found.refused.values()),
        notes=tuple(f"With another {k}: {d}" for k, d in found.defects.items() if k in MINOR),
        device=trial.measurement.fingerprint.device,
        headers=settings.asc_headers,
    )
