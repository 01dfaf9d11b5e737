from __future__ import annotations

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.siblings import NearSiblingsGate, SiblingsGate
from ci.model.trial import Candidate
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.testing.gate import GateContract
from ci.testing.scale_shift import changed
from tests.ci.family import PIPELINE, write_family


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Evaluator:
    operator = load_operator(write_family(tmp_path_factory.mktemp("repository")))
    return Evaluator(operator, load_workload(operator), SimulatorBackend("910B4"))


class SiblingsContract(GateContract):
    @pytest.fixture
    def unmodified(self, family: Evaluator) -> Subject:
        return family.subject(Candidate())

    @pytest.fixture
    def faulty(self, family: Evaluator) -> Subject:
        """Right for the operator, which doubles, and wrong for its sibling, which triples."""
        text = family.operator.read(PIPELINE)
        twice = text.replace("Muls(out, in, factor, TILE)", "Add(out, in, in, TILE)")
        assert twice != text
        return family.subject(Candidate(files={PIPELINE: twice}))


class TestSiblingsGate(SiblingsContract):
    gate = SiblingsGate()


class TestNearSiblingsGate(SiblingsContract):
    gate = NearSiblingsGate()


def test_an_operator_without_shared_sources_concerns_nobody(evaluator: Evaluator) -> None:
    subject = evaluator.subject(changed("2.0f", "2.f"))
    assert SiblingsGate().check(subject) is None
    assert subject.work.siblings == ()
