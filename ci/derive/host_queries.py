"""Asks an operator's host side which cases it takes, many at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from ci.backend.tiled import MOST_BLOCKS, MOST_WORKSPACE, TiledBuild
from ci.host.host_tiling import HostProgram
from ci.host.survey import HostAnswer, Inference
from ci.host.tiling_request import HostRequest, host_request, platform_facts
from ci.judge.varied.base import input_count, tensors
from ci.model.columns import output_dtypes
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Tensors
from ci.model.operator import Operator
from ci.model.workload import Entry, TensorCase, WorkloadCase
from ci.simulator.source_lines import innermost_lines
from ci.source.inputs import draw_inputs

MOST_READ = 1 << 14
"""Elements of an input that a tiling may read the values of; larger ones are not drawn to ask."""

NO_SHAPE = "nothing tells the shape of its outputs"


@dataclass(frozen=True)
class Taken:
    """A case that the host tiling takes."""

    case: WorkloadCase
    """The case with all outputs declared."""
    asked: WorkloadCase
    """The case as it was requested, with the outputs open where inference or the first input tells
    them."""
    tiling_key: int
    digest: str
    """Equal where everything was decided alike."""
    block_dim: int
    guessed: bool = False
    """The shapes of its outputs are not known: they are those of the first input."""


Place: TypeAlias = tuple[int, int]
"""Addresses of a comparison and of the call of its function."""

Steps: TypeAlias = tuple[tuple[Place, int | float, int | float], ...]
"""Place and operands of comparisons, the last one at the end."""

_OF_WORDS = re.compile(r"include/c\+\+/(?!.*(?:algo|predefined_ops|stl_function))")
"""Headers of the library whose comparisons are of strings and containers, not of values: all but
those of its algorithms."""


class Asker:
    """Asks the host program of one build; remembers what it said."""

    def __init__(self, build: TiledBuild, host: HostProgram | None = None) -> None:
        """`host`: the same program, built otherwise."""
        self._build = build
        self._host = host or build.host
        self._facts = platform_facts(build.device)
        self._known: dict[str, Taken | str] = {}
        self._compared: dict[str, Steps] = {}
        self._of_words: dict[int, bool] = {}

    def ask(self, cases: Sequence[WorkloadCase]) -> list[Taken | str]:
        """Each case as it is taken, or why it is not. Raises TrialFailure when nothing answers.

        Outputs that a case does not declare have the shapes that inference tells, else that of the
        first input.
        """
        new = {_identity(case): case for case in cases if _identity(case) not in self._known}
        open_ = {key: case for key, case in new.items() if not case.outputs}
        told = self._answers(open_)
        declared = {
            key: with_outputs(self._build.operator, case, told[key].inference)
            for key, case in open_.items()
            if key in told
        }
        asked = {key: case for key, case in new.items() if case.outputs}
        asked |= {key: case for key, case in declared.items() if case is not None}
        answers = self._answers(asked)
        self._look_up(answers.values())
        for key, answer in answers.items():
            said = _said(asked[key], new[key], answer)
            guessed = key in open_ and not _tells(told[key].inference)
            known = replace(said, guessed=guessed) if isinstance(said, Taken) else said
            self._known[key] = known
            self._compared[key] = tuple(
                ((where, caller), a, b)
                for where, caller, a, b in (answer.tiling.compared if answer.tiling else ())
                if not self._of_words[where]
            )
        for key in new:
            self._known.setdefault(key, NO_SHAPE)
        return [self._known[_identity(case)] for case in cases]

    def compared(self, case: WorkloadCase) -> Steps:
        """What the tiling compared of a case that was asked, where the build is to be watched."""
        return self._compared.get(_identity(case), ())

    def _look_up(self, answers: Iterable[HostAnswer]) -> None:
        """Find out which of the comparisons are of words."""
        met = {row[0] for one in answers if one.tiling is not None for row in one.tiling.compared}
        new = sorted(met - self._of_words.keys())
        if new:
            places = innermost_lines(self._host.path, [hex(where) for where in new])
            for where, (file, _) in zip(new, places, strict=True):
                self._of_words[where] = _OF_WORDS.search(file) is not None

    def told(self, operator: Operator) -> Operator:
        """The operator with what its host side says beyond the definition: what values it reads."""
        read = self._build.value_inputs
        inputs = tuple(
            spec.model_copy(update={"value_depend": spec.value_depend or spec.name in read})
            for spec in operator.inputs
        )
        return operator.model_copy(update={"inputs": inputs})

    def infers(self, case: WorkloadCase) -> bool:
        """Whether a case declares its outputs and InferShape gives it the same."""
        (told,) = self.ask([case.model_copy(update={"outputs": ()})])
        if not case.outputs or isinstance(told, str) or told.guessed:
            return False
        declared, inferred = (tensors(one)[input_count(one) :] for one in (case, told.case))
        return [t.shape for t in declared] == [t.shape for t in inferred]

    def takes(self, case: WorkloadCase) -> bool:
        """Whether the tiling takes one case."""
        return isinstance(self.ask([case])[0], Taken)

    def words(self, case: WorkloadCase) -> str:
        """Why the tiling does not take a case, with the last that it logs."""
        try:
            self._build.tile(case, draw_inputs(case, 1), [])
        except TrialFailure as failure:
            log = failure.refusal.evidence.strip().splitlines()
            said = log[-2:] if "returned a failure" in failure.refusal.sentence else []
            place = failure.refusal.place
            said += [f"({place.file}:{place.line})"] if place and place.file else []
            return " ".join([failure.refusal.sentence, *said])
        except InputError as problem:
            return str(problem)
        return f"{NO_SHAPE}."

    def _answers(self, cases: Mapping[str, WorkloadCase]) -> dict[str, HostAnswer]:
        """Return the answers, by key; cases that the definition rules out have none."""
        requests: dict[str, HostRequest] = {}
        for key, case in cases.items():
            try:
                inputs = _small_inputs(case)
                requests[key] = host_request(
                    self._build.operator, case, self._facts, inputs, read=self._build.value_inputs
                )
            except InputError as problem:
                self._known[key] = str(problem)
        if not requests:
            return {}
        found = self._host.answers([*requests.values()])
        return dict(zip(requests, found, strict=True))


def watched_asker(build: TiledBuild) -> Asker | None:
    """Asks the host side as it is built to be watched; None where that does not build."""
    try:
        return Asker(build, build.watched_host())
    except TrialFailure:
        return None


def _said(case: WorkloadCase, asked: WorkloadCase, answer: HostAnswer) -> Taken | str:
    tiling = answer.tiling
    if tiling is None:
        return "the host tiling crashes"
    if tiling.status != "ok":
        return tiling.message.rstrip(".")
    if not (1 <= tiling.block_dim <= MOST_BLOCKS and sum(tiling.workspace) <= MOST_WORKSPACE):
        return "the host tiling asks for a launch that no device makes"
    return Taken(case, asked, tiling.tiling_key, tiling.digest, tiling.block_dim)


def _tells(inference: Inference | None) -> bool:
    """Whether inference gives the shape of every output."""
    if inference is None or inference.shapes != "ok":
        return False
    shapes = [tensor.shape for tensors in inference.outputs for tensor in tensors]
    return all(min(shape, default=0) >= 0 for shape in shapes)


def with_outputs(
    operator: Operator, case: WorkloadCase, told: Inference | None
) -> WorkloadCase | None:
    """The case with all outputs of the definition, None where nothing tells their shapes."""
    try:
        dtypes = output_dtypes(operator, case)
    except InputError:
        return None
    known = told is not None and told.shapes == "ok" and len(told.outputs) == len(dtypes)
    outputs: list[Entry] = []
    for index, (spec, dtype) in enumerate(zip(operator.outputs, dtypes, strict=True)):
        shapes = [t.shape for t in told.outputs[index]] if told is not None and known else []
        if not shapes or any(min(shape, default=0) < 0 for shape in shapes):
            like = case.inputs[0] if case.inputs else ()
            shapes = [t.shape for t in (like if isinstance(like, tuple) else (like,))]
        each = tuple(TensorCase(shape=shape, dtype=dtype) for shape in shapes)
        if spec.param_type != "dynamic" and len(each) != 1:
            return None
        outputs.append(each if spec.param_type == "dynamic" else each[0])
    return case.model_copy(update={"outputs": tuple(outputs)})


def _small_inputs(case: WorkloadCase) -> Tensors:
    """The inputs of the first seed that a tiling might read; None for large ones."""

    def small(entry: Entry) -> Entry:
        if isinstance(entry, tuple):
            return ()  # no tiling reads the values of a list
        here = entry.present and prod(entry.shape) <= MOST_READ
        return entry if here else entry.model_copy(update={"present": False})

    return draw_inputs(case.model_copy(update={"inputs": tuple(map(small, case.inputs))}), 1)


def _identity(case: WorkloadCase) -> str:
    return repr((case.inputs, case.outputs, case.attrs))
