"""Mutation test of the sanitizers: plant faults of synchronisation into working kernels.

The machine finds a fault, or automatic synchronisation puts the same wait back so that nothing is
lost, or the workload does not run the statement, or it is not found. What is not found is listed:
the machine then sees no pair of conflicting accesses that the rest of the kernel leaves unordered,
and a person has to say whether that is so. What was said is in `explained.yaml` next to this
module and goes onto the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from pydantic import RootModel

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.judge.launch_record import new_warning
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.model.yaml_model import read_file
from ci.source.workload_file import load_workload
from ci.system.row_file import RowFile
from lab.bench.faults import Fault, faults, with_vector_barriers
from lab.model.sanitizers import (
    Explanation,
    Mutant,
    SanitizerBench,
    SanitizerBenchSettings,
    Verdict,
)

_Operands: TypeAlias = tuple[TensorCase | tuple[TensorCase, ...], ...]

LONGER: Final = 4
"""Times as long as the workload's case: tiles enough that every buffer is used again."""

EXPLAINED: Final = Path(__file__).parent / "explained.yaml"


def explanations() -> list[Explanation]:
    """What people have said about faults that are not found."""
    return read_file(RootModel[list[Explanation]], EXPLAINED).root


def measure(
    operators: Sequence[Operator],
    settings: SanitizerBenchSettings,
    tell: Callable[[str], None] = lambda text: None,
) -> SanitizerBench:
    """Evaluate every mutant of every operator on the simulator."""
    record = RowFile(settings.record, Mutant, _identity)
    mutants: list[Mutant] = []
    unusable: list[str] = []
    for operator in operators:
        bench = _Bench(operator, settings, record)
        refused = bench.prepare()
        if refused:
            unusable.append(f"{operator.name}: {refused}")
            tell(f"{operator.name}: left out: {refused}")
            continue
        own = list(bench.mutants())
        mutants += own
        found, missed = (sum(m.verdict == v for m in own) for v in ("found", "not found"))
        tell(f"{operator.name}: {len(own)} mutants, {found} found, {missed} not found")
    return SanitizerBench(mutants=tuple(mutants), unusable=tuple(unusable))


def _identity(mutant: Mutant) -> tuple[str, str, str]:
    return mutant.operator, mutant.program, mutant.version


class _Bench:
    """The mutants of one operator."""

    def __init__(
        self,
        operator: Operator,
        settings: SanitizerBenchSettings,
        record: RowFile[tuple[str, str, str], Mutant],
    ) -> None:
        self.operator = operator
        self.settings = settings
        self.record = record
        self.backend = make_backend("sim", settings.device)
        self.version = self.backend.fingerprint().version
        self.workload: Workload
        self.baseline: Trial
        self.first: Evaluator
        self.others: dict[str, tuple[Evaluator, Trial | None]] = {}
        self.written_out = False

    def prepare(self) -> str:
        """Finds how the operator passes: without automatic synchronisation; without it, the vector
        pipe's barriers written out; with it. Answers why it cannot be used, or ''."""
        path = None
        brings_one = (self.operator.root / "workload.yaml").exists()
        if self.settings.workloads is not None and not brings_one:
            path = self.settings.workloads / self.operator.name
        workload = load_workload(self.operator, path)
        said = ""
        for auto_sync, self.written_out in ((False, False), (False, True), (True, False)):
            self.workload = workload.model_copy(update={"auto_sync": auto_sync})
            self.first = self._evaluator(self.workload.cases[:1])
            self.baseline = self.first.evaluate(self._candidate({}), 0)
            if self.baseline.outcome is Outcome.OK:
                return ""
            refusal = self.baseline.refusal
            said = refusal.message if refusal else self.baseline.outcome.value
        return said

    def _evaluator(self, cases: Sequence[WorkloadCase]) -> Evaluator:
        asked = self.workload.model_copy(update={"cases": tuple(cases)})
        return Evaluator(self.operator, asked, self.backend)

    def _candidate(self, changed: Mapping[str, str]) -> Candidate:
        """The operator with these texts, as it is evaluated."""
        files = dict(changed)
        if self.written_out:
            own = {f: self.operator.read(f) for f in self.operator.kernel_sources}
            files = {f: with_vector_barriers(text) for f, text in (own | files).items()}
        return Candidate(files=files, stage="kernel", proposer="mutation")

    def _judged(self, fault: Fault) -> bool:
        """A vector barrier that is written out again anyway says nothing when it is dropped."""
        return not (self.written_out and "PIPE_V" in fault.words)

    def mutants(self) -> Iterator[Mutant]:
        """Each fault, evaluated or known from the record."""
        planted = [
            (file, fault)
            for file in self.operator.kernel_sources
            for fault in faults(self.operator.read(file))
            if self._judged(fault)
        ]
        limit = self.settings.limit
        if limit and len(planted) > limit:
            # The same ones in every run, but not the same kinds in every operator.
            planted = Random(self.operator.name).sample(planted, limit)
        for number, (file, fault) in enumerate(planted, start=1):
            candidate = self._candidate({file: fault.text})
            known = self.record.rows.get((self.operator.name, candidate.hash, self.version))
            if known is not None:
                yield known
                continue
            probe = self._candidate({file: fault.probe}) if fault.probe else None
            trial, verdict = self._judge(candidate, probe, number)
            mutant = Mutant(
                operator=self.operator.name,
                file=file,
                line=fault.line,
                fault=fault.kind,
                words=fault.words,
                auto_sync=bool(self.workload.auto_sync),
                verdict=verdict,
                outcome=trial.outcome.value,
                message=trial.refusal.message if trial.refusal else "",
                program=candidate.hash,
                version=self.version,
            )
            self.record.add(mutant)
            yield mutant

    def _judge(
        self, candidate: Candidate, probe: Candidate | None, number: int
    ) -> tuple[Trial, Verdict]:
        """Judge on the first case, then on all of them, then on one in which cores reuse their
        buffers. `probe` says whether the kernel comes by the place at all."""
        trial = self.first.evaluate(candidate, number)
        verdict = _verdict(trial, self.baseline)
        reached = probe is None
        for name in ("first", "all", "longer"):
            evaluator, baseline = self._on(name)
            if verdict != "not found" or baseline is None:
                continue
            if name != "first":
                trial = evaluator.evaluate(candidate, number)
                verdict = _verdict(trial, baseline)
            if verdict == "not found" and probe is not None and not reached:
                reached = evaluator.evaluate(probe, number).outcome is not Outcome.OK
        return trial, verdict if verdict != "not found" or reached else "not reached"

    def _on(self, name: str) -> tuple[Evaluator, Trial | None]:
        """An evaluator by name, and what the original operator does on its cases; None when it
        fails there or when they are no others."""
        if name not in self.others:
            cases = self.workload.cases
            if name == "longer":
                cases = (longer(cases[0]),)
            evaluator = self.first if name == "first" else self._evaluator(cases)
            if name == "first":
                known: Trial | None = self.baseline
            elif name == "all" and len(cases) == 1:
                known = None
            else:
                known = self._passes(evaluator)
            if known is not None and known.outcome is not Outcome.OK:
                known = None
            self.others[name] = evaluator, known
        return self.others[name]

    def _passes(self, evaluator: Evaluator) -> Trial | None:
        """The original operator; None where its golden function takes no such shapes."""
        try:
            return evaluator.evaluate(self._candidate({}), 0)
        except InputError:
            return None


def longer(case: WorkloadCase) -> WorkloadCase:
    """The case with the first axis of its tensors four times as long; vectors next to matrices,
    such
    as a bias, and tensors of given values stay."""
    rank = max((len(t.shape) for t in _tensors(case.inputs)), default=0)
    first = {t.shape[0] for t in _tensors(case.inputs) if t.shape and len(t.shape) == rank}

    def grown(tensor: TensorCase) -> TensorCase:
        shape = tensor.shape
        stays = not shape or shape[0] not in first or tensor.values is not None
        if stays or (len(shape) == 1 and rank > 1 and tensor in case.inputs):
            return tensor
        return tensor.model_copy(update={"shape": (shape[0] * LONGER, *shape[1:])})

    def each(operands: _Operands) -> _Operands:
        return tuple(
            tuple(grown(one) for one in operand) if isinstance(operand, tuple) else grown(operand)
            for operand in operands
        )

    return case.model_copy(update={"inputs": each(case.inputs), "outputs": each(case.outputs)})


def _tensors(operands: _Operands) -> Iterator[TensorCase]:
    for operand in operands:
        yield from operand if isinstance(operand, tuple) else (operand,)


def _verdict(trial: Trial, baseline: Trial) -> Verdict:
    if trial.outcome is Outcome.COMPILE_ERROR or trial.outcome is Outcome.REJECTED:
        return "not built"
    if trial.outcome is not Outcome.OK:
        return "found"
    if new_warning(trial.warnings, baseline.warnings):
        return "found"
    return "put back" if _inserted(trial) > _inserted(baseline) else "not found"


def _inserted(trial: Trial) -> int:
    cases = trial.measurement.cases if trial.measurement else ()
    return sum(case.pipes.inserted_waits for case in cases)
