"""Runs cases on an original operator, judged as a baseline is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ci.backend.base import Backend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.judge.gates.run import did_nothing
from ci.model.columns import output_dtypes
from ci.model.dtypes import BY_NAME, from_bfloat16
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import arrays
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Refusal, Unwritten
from ci.model.workload import Entry, TensorCase, Workload, WorkloadCase
from ci.source.empty_body import wrote_nothing_because

MOST_WORK = 12e6
"""Cycles times cores of one launch: about 4 s of simulation, which every trial of a search costs
twice."""

LEAST_FINITE = 0.9
"""Share of an output's elements that must be numbers for it to tell anything."""

Values = Literal["wide", "tame"]
"""How what a case draws is drawn: wide: both signs, and integers likewise; tame: positive numbers
near 1, where logarithms and square roots are numbers too."""

_TAME = {(0.5, 1.5): (-2.0, 2.0), (1.0, 3.0): (-9.0, 9.0)}
"""Ranges that candidates have, and wide ones in their place."""


@dataclass(frozen=True)
class Ran:
    """A case that passed."""

    case: WorkloadCase
    work: float
    """Cycles times cores."""
    telling: bool
    """Whether its outputs could show a mistake: numbers, and not all the same."""


@dataclass(frozen=True)
class Failed:
    """A case that did not pass, and why."""

    outcome: Outcome
    why: str
    unwritten: Unwritten | None = None


def failed(outcome: Outcome, refusal: Refusal) -> Failed:
    """A case as it was refused."""
    return Failed(outcome, refusal.sentence, refusal.unwritten)


class Runner:
    """Runs cases in the frame of a workload, which says all but the cases."""

    def __init__(self, operator: Operator, frame: Workload, backend: Backend) -> None:
        """Raises InputError when the golden function of the frame cannot be loaded."""
        self.frame = frame
        self._evaluator = Evaluator(
            operator, frame, backend, settings=EvaluationSettings(varied_cases=0, siblings=0)
        )
        self._evaluator.references.load()

    def run(self, case: WorkloadCase) -> Ran | Failed:
        """The case on every seed, as the gates of a launch judge it."""
        subject = self._evaluator.subject(Candidate())
        texts = self._evaluator.operator.texts()
        try:
            for seed in self.frame.seeds:
                failure = subject.at(case, seed).judged()
                if failure is not None:
                    return failed(failure.outcome, failure.refusal)
                if did_nothing(subject.at(case, seed)):
                    return Failed(Outcome.MEMORY_ERROR, wrote_nothing_because(texts))
            pipes = subject.at(case, self.frame.seeds[0]).launched.run.pipes
            work = float(pipes.total_cycles * pipes.block_dim)
            return Ran(case, work, self._telling(case))
        except TrialFailure as failure:
            return failed(failure.outcome, failure.refusal)
        except (InputError, ValueError) as problem:
            return Failed(Outcome.LAUNCH_ERROR, str(problem))

    def _telling(self, case: WorkloadCase) -> bool:
        references = self._evaluator.references
        outputs = references.of(case, self.frame.seeds[0]).outputs
        varied = False
        for tensor, dtype in zip(outputs, output_dtypes(references.operator, case), strict=True):
            for array in arrays([tensor]):
                values = from_bfloat16(array) if dtype == "bfloat16" else array
                if BY_NAME[dtype].is_float and values.size:
                    finite = np.isfinite(values)
                    if finite.mean() < LEAST_FINITE:
                        return False
                varied = varied or values.size < 2 or bool((values != values.flat[0]).any())
        return varied

    def _wrote_outputs_alone(self, case: WorkloadCase) -> bool:
        """Whether the kernel writes as many bytes as its outputs have: each of them once, for all
        of them are written, and none of an input."""
        seed = self.frame.seeds[0]
        written = self._evaluator.subject(Candidate()).at(case, seed).launched.run.pipes
        outputs = self._evaluator.references.of(case, seed).outputs
        return written.tensor_write_bytes == sum(array.nbytes for array in arrays(outputs))

    def updated(self, case: WorkloadCase) -> tuple[str, ...]:
        """Inputs that the kernel changes although its definition has no output for them.

        The case must have passed.
        """
        operator = self._evaluator.operator
        known = {spec.name for spec in operator.outputs}
        named = [i for i, spec in enumerate(operator.inputs) if spec.name not in known]
        names = tuple(operator.inputs[i].name for i in named if _given(case.inputs[i]))
        if not names or self._wrote_outputs_alone(case):
            return ()
        frame = self.frame.model_copy(update={"in_place": names, "golden": ""})
        whole = Evaluator(operator, frame, self._evaluator.backend)
        try:
            found = whole.references.of(case, frame.seeds[0])
        except (TrialFailure, InputError, ValueError):
            return ()
        after = dict(zip(names, found.outputs[len(operator.outputs) :], strict=True))
        before = {operator.inputs[i].name: found.inputs[i] for i in named}
        return tuple(
            name
            for name in names
            if any(
                old.tobytes() != new.tobytes()
                for old, new in zip(arrays([before[name]]), arrays([after[name]]), strict=True)
            )
        )


def _given(entry: Entry) -> bool:
    return bool(entry) if isinstance(entry, tuple) else entry.present


def drawn(case: WorkloadCase, values: Values) -> WorkloadCase:
    """The case with its numbers drawn as `values` says; given ones and indices stay."""
    if values == "tame":
        return case

    def wide(tensor: TensorCase) -> TensorCase:
        low, high = _TAME.get(tensor.range, tensor.range)
        dtype = BY_NAME[tensor.dtype]
        whole = not (dtype.is_float or dtype.is_complex)
        if whole and dtype.name.startswith("u"):
            low = max(0.0, low)
        return tensor.model_copy(update={"range": (low, high)})

    return case.model_copy(
        update={
            "inputs": tuple(
                tuple(map(wide, e)) if isinstance(e, tuple) else wide(e) for e in case.inputs
            )
        }
    )
