"""Whether a program and an operator made from it are right."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from ci.backend import make_backend
from ci.create.interpret import Tiles, run
from ci.create.layout import Layout
from ci.create.operator_files import Made
from ci.create.task import Task
from ci.judge.baseline import WRONG_VALUES
from ci.judge.compare_outputs import compare_outputs
from ci.judge.evaluate import Evaluator
from ci.judge.launch_record import Sweep
from ci.judge.reference import References
from ci.judge.roofline import rooflines
from ci.judge.varied_sweep import WIDE, sweep
from ci.model.columns import output_dtypes
from ci.model.created import Created, CreatedCase, CreateSettings
from ci.model.errors import InputError
from ci.model.launch import Array
from ci.model.trial import Candidate, Outcome, Trial
from ci.model.workload import Tolerance
from ci.source.discovery import load_operator
from ci.source.golden import Golden
from ci.source.inputs import draw_inputs
from ci.source.workload_file import load_workload
from rules.tolerances import default_tolerances

MOST_ELEMENTS = 1 << 20
"""Most elements of the inputs of a case that the program is run on in numpy."""

CLOSE = 1e-6
"""Relative to 1 and to the result: both sides compute in double precision, in another order."""

MINOR = ("special value", "range")
"""Kinds of varied values that are reported and not held against an operator: infinities and numbers
near the end of float32 meet intermediate results that float64 has room for and float32 has not."""

TIES = 1e-3
"""Most of the elements that may be the next whole number, where the golden function rounds what it
computed in float32: its error decides on which side of a half a value lies."""

ROUNDED = (
    "{dtype}: an element may be the next whole number where what is rounded lies in the middle;"
    " workload.yaml has that tolerance."
)

_OVERFLOWED = re.compile(r"got (-?inf|nan), golden (-?inf|nan)\b")
"""Both have left the range of float32: a sum of huge terms is inf or nan by their order."""

OWN_ERROR = 0.25
"""Share of the tolerance that a reference in float32 may err itself for its values to count. Where
terms cancel by as much, another order of the same operations errs as much the other way."""

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
    slack = (default_tolerances() | workload.tolerances)["float32"]
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
                _compare(made, case.name, place, one, wanted, slack if layout.rounds else None)
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


def _compare(
    made: Made, case: str, place: int, found: Array, right: Array, slack: Tolerance | None
) -> None:
    """`slack`: the golden function computes in float32 itself, and is off by that much."""
    flat = np.asarray(found, np.float64).reshape(-1)
    wanted = np.asarray(right, np.float64).reshape(-1)
    close = np.isclose(flat, wanted, rtol=CLOSE, atol=CLOSE, equal_nan=True)
    if right.dtype != np.float64:  # rounded into the output's dtype
        close |= np.isclose(flat, wanted, rtol=1e-2, atol=1e-2)
    if slack is not None:
        near = {"rtol": slack.relative, "atol": slack.absolute}
        close |= np.isclose(flat, wanted, **near, equal_nan=True)
        if right.dtype.kind in "iu" and np.mean(~close) <= TIES:
            close |= np.abs(flat - wanted) <= 1
    if not close.all():
        at = int(np.argmin(close))
        raise WrongProgram(
            f"The tile program of {made.program.name} is wrong on case '{case}': element {at} of"
            f" output {place} is {flat[at]:.9g} and should be {wanted[at]:.9g}."
        )


def own_errors(evaluator: Evaluator, found: Sweep, otherwise: str) -> set[str]:
    """Names of the wrong cases in which the function errs itself in float32: terms cancel there, or
    leave its range.

    `otherwise` is the golden's function in the other precision than the reference, which is in
    float32 or in double.
    """
    standard = evaluator.standard
    workload, operator = standard.workload, standard.operator
    other = workload.model_copy(update={"golden": f"golden.py:{otherwise}"})
    others = References(operator, other, standard.backend)
    names = [spec.name for spec in operator.outputs]
    excused = set()
    for _, case, said in found.wrong:
        if not said.startswith(WRONG_VALUES):
            continue  # bytes that nobody wrote are no error of rounding
        dtypes, seed = output_dtypes(operator, case), workload.seeds[0]
        own, theirs = (r.of(case, seed).outputs for r in (standard.references, others))
        apart = compare_outputs(own, theirs, names, dtypes, workload.tolerances)
        if not apart.worst_error <= OWN_ERROR:
            excused.add(case.name)
    return excused


def held_against(found: Sweep, excused: Collection[str] = ()) -> dict[str, str]:
    """What an operator gets wrong by what is varied, but for what float32 itself does not hold.

    `excused` are names of cases.
    """
    return {
        kind: said
        for kind, case, said in reversed(found.wrong)
        if kind not in MINOR and case.name not in excused and not _OVERFLOWED.search(said)
    }


def check_operator(
    made: Made,
    folder: Path,
    settings: CreateSettings,
    shown: Path,
    otherwise: str = "",
    unbounded: str = "",
) -> tuple[Trial, Created]:
    """Evaluate the written operator on its workload and on varied cases.

    `otherwise` is the golden's function that computes in the other precision, float32 or double:
    where the two lie apart is float32's own error, a sum that cancels or overflows.

    `unbounded` is an input of whole numbers that may be of any size.

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
    excused = own_errors(evaluator, found, otherwise) if otherwise else set()
    wrong = held_against(found, excused)
    minor = {k: d for k, d in found.defects.items() if k not in wrong}
    whole = any("int" in t.dtype for t in made.program.outputs)
    if whole and unbounded and "range" in minor:
        raise NotRight(
            f"The operator made of {made.program.name} computes whole numbers in float32, which is"
            f" exact up to 2^24, and is wrong beyond: {minor['range']}. If '{unbounded}' stays"
            " below that, say so in the workload with range: [low, high]."
        )
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
        declined=found.declined,
        notes=(
            *(f"With another {k}: {d}" for k, d in minor.items()),
            *(ROUNDED.format(dtype=d) for d in made.rounded),
        ),
        device=trial.measurement.fingerprint.device,
        headers=settings.asc_headers,
    )
