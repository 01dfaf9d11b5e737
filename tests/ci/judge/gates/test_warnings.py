from __future__ import annotations

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.warnings import WarningsGate
from ci.judge.launch_record import new_warning
from ci.model.trial import Candidate, MachineWarning, Outcome, Place, Trial
from ci.testing.gate import GateContract
from lab.bench.corpus import Operators, candidate_of, read_corpus, workload_of


def warning(kind: str = "ub_request", subject: str = "a", line: int = 7) -> MachineWarning:
    place = Place(case="one", file="op_kernel/a.cpp", line=line)
    return MachineWarning(kind=kind, subject=subject, place=place, text=f"Of line {line}.")


def trial(*warnings: MachineWarning) -> Trial:
    return Trial(number=1, candidate=Candidate(), outcome=Outcome.OK, warnings=warnings)


class TestWarningsGate(GateContract):
    gate = WarningsGate()

    @pytest.fixture
    def unmodified(self, evaluator: Evaluator) -> Subject:
        known = trial(warning())
        return evaluator.subject(Candidate()).measured(known, known, known)

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        known = trial(warning())
        new = trial(warning(), warning("padding", "copy_ubuf_to_gm"))
        return evaluator.subject(Candidate()).measured(new, known, known)


def test_a_warning_is_not_new_because_its_line_moved_or_its_figures_changed() -> None:
    assert new_warning([warning(line=9)], [warning(line=7)]) is None


@pytest.mark.parametrize("kind", ["event_reused", "own_source", "absent_pipe", "state"])
@pytest.mark.parametrize("file", ["op_host/a.cpp", "op_kernel/a.cpp"])
def test_what_the_kernel_did_before_is_no_fault_of_other_tiles(
    evaluator: Evaluator, kind: str, file: str
) -> None:
    candidate = Candidate(files={file: "int a;"})
    known, shown = trial(), trial(warning(kind)).model_copy(update={"candidate": candidate})
    failure = WarningsGate().check(evaluator.subject(candidate).measured(shown, known, known))
    assert (failure is None) == file.startswith("op_host/")


@pytest.mark.parametrize("other", [warning("padding"), warning(subject="b")])
def test_another_kind_or_another_buffer_is_new(other: MachineWarning) -> None:
    assert new_warning([warning(), other], [warning()]) == other


@pytest.mark.long
@pytest.mark.parametrize("any_order", [False, True])
def test_atomic_sums_of_floats_pass_only_where_the_workload_allows_them(any_order: bool) -> None:
    (entry,) = [one for one in read_corpus(None) if one.attack.id == "h16"]
    operator = Operators(None).find(entry)
    workload = workload_of(operator).model_copy(update={"any_order": any_order})
    evaluator = Evaluator(operator, workload, SimulatorBackend("910B4"))
    before = evaluator.evaluate(Candidate(), 0)
    after = evaluator.evaluate(candidate_of(entry, operator), 1)
    subject = evaluator.subject(after.candidate).measured(after, before, before)
    failure = WarningsGate().check(subject)
    assert after.outcome is Outcome.OK
    assert (failure is None) == any_order
