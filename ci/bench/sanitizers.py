"""Mutation test of the sanitizers: drop each ordering statement of a working kernel in turn.

A dropped flag, barrier or queue operation is a fault that real kernels have. The machine finds it,
or automatic synchronisation puts the same wait back so that nothing is lost, or it is not found.
What is not found is listed: the machine then sees no pair of conflicting accesses that the rest of
the kernel leaves unordered, and a person has to say whether that is so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from pydantic import Field

from ci.backend import make_backend
from ci.cpp_source import Call, Method, Source
from ci.evaluate import EvaluationSettings, Evaluator
from ci.operator import Operator
from ci.trial import Candidate, Frozen, Outcome, Trial
from ci.workload import Workload
from ci.workload_file import load_workload
from rules.devices import DEFAULT_DEVICE

# Statements that order pipes or cores, or hand a buffer over.
ORDERING: Final = (
    "SetFlag",
    "WaitFlag",
    "PipeBarrier",
    "DataSyncBarrier",
    "SyncAll",
    "CrossCoreSetFlag",
    "CrossCoreWaitFlag",
    "IBSet",
    "IBWait",
    "EnQue",
    "FreeTensor",
)

Verdict = Literal["found", "put back", "not found", "not built"]


class SanitizerBenchSettings(Frozen):
    """What is measured on."""

    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    limit: int = Field(
        default=0, ge=0, description="At most this many mutants an operator; 0: all of them."
    )


class Mutant(Frozen):
    """A kernel without one of its ordering statements, and what the machine said."""

    operator: str
    file: str
    line: int
    dropped: str
    auto_sync: bool
    verdict: Verdict
    outcome: str = ""
    message: str = ""


class SanitizerBench(Frozen):
    """All mutants of all operators."""

    mutants: tuple[Mutant, ...]
    unusable: tuple[str, ...] = Field(
        default=(), description="Operators that do not pass as they stand, with the reason."
    )

    def count(self, verdict: Verdict) -> int:
        """How many mutants ended so."""
        return sum(m.verdict == verdict for m in self.mutants)

    @property
    def built(self) -> int:
        """Mutants that compile."""
        return len(self.mutants) - self.count("not built")

    @property
    def share(self) -> float:
        """Found, of those that automatic synchronisation does not put back; 1 when none is."""
        lost = self.count("found") + self.count("not found")
        return self.count("found") / lost if lost else 1.0


def dropped_statements(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, statement, text without it) for each ordering statement of a kernel source."""
    source = Source(text)
    calls: list[Call | Method] = [*source.calls, *source.methods]
    for call in sorted(calls, key=lambda c: c.start):
        node = call.statement
        if call.name.rpartition("::")[2] not in ORDERING or node is None:
            continue
        begin = source.begin(node.start_byte)
        line = text.count("\n", 0, begin) + 1
        words = " ".join(text[begin : node.end_byte].split())
        yield line, words, text[:begin] + ";" + text[node.end_byte :]


def measure(
    operators: Sequence[Operator],
    settings: SanitizerBenchSettings,
    tell: Callable[[str], None] = lambda text: None,
) -> SanitizerBench:
    """Evaluate every mutant of every operator on the simulator."""
    mutants: list[Mutant] = []
    unusable: list[str] = []
    for operator in operators:
        workload = load_workload(operator, None)
        found = _baseline(operator, workload, settings.device)
        if isinstance(found, str):
            unusable.append(f"{operator.name}: {found}")
            tell(f"{operator.name}: left out: {found}")
            continue
        evaluator, baseline, auto_sync = found
        own = list(_mutants(operator, evaluator, baseline, auto_sync, settings.limit))
        mutants += own
        tell(f"{operator.name}: {sum(m.verdict == 'found' for m in own)} of {len(own)} found")
    return SanitizerBench(mutants=tuple(mutants), unusable=tuple(unusable))


def _baseline(
    operator: Operator, workload: Workload, device: str
) -> tuple[Evaluator, Trial, bool] | str:
    """The operator as it stands: without automatic sync when it passes so, else with it."""
    said = ""
    for auto_sync in (False, True):
        asked = workload.model_copy(update={"auto_sync": auto_sync, "cases": workload.cases[:1]})
        evaluator = Evaluator(
            operator, asked, make_backend("sim", device), settings=EvaluationSettings()
        )
        trial = evaluator.evaluate(Candidate(), 0)
        if trial.outcome is Outcome.OK:
            return evaluator, trial, auto_sync
        said = trial.evidence.message if trial.evidence else trial.outcome.value
    return said


def _mutants(
    operator: Operator, evaluator: Evaluator, baseline: Trial, auto_sync: bool, limit: int
) -> Iterator[Mutant]:
    number = 0
    for file in operator.kernel_sources:
        for line, words, text in dropped_statements(operator.read(file)):
            if limit and number == limit:
                return
            number += 1
            trial = evaluator.evaluate(
                Candidate(files={file: text}, stage="kernel", proposer="mutation"), number
            )
            yield Mutant(
                operator=operator.name,
                file=file,
                line=line,
                dropped=words,
                auto_sync=auto_sync,
                verdict=_verdict(trial, baseline),
                outcome=trial.outcome.value,
                message=trial.evidence.message if trial.evidence else "",
            )


def _verdict(trial: Trial, baseline: Trial) -> Verdict:
    if trial.outcome is Outcome.COMPILE_ERROR or trial.outcome is Outcome.REJECTED:
        return "not built"
    if trial.outcome is not Outcome.OK:
        return "found"
    if _inserted(trial) > _inserted(baseline):
        return "put back"
    known = {w.partition(": ")[0] for w in baseline.warnings}
    fresh = [w for w in trial.warnings if w.partition(": ")[0] not in known]
    return "found" if fresh else "not found"


def _inserted(trial: Trial) -> int:
    cases = trial.measurement.cases if trial.measurement else ()
    return sum(case.pipes.inserted_waits for case in cases)
