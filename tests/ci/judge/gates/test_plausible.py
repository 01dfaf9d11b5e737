from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.plausible import PlausibleGate
from ci.model.trial import Candidate
from ci.testing.gate import GateContract
from ci.testing.scale_shift import KERNEL, changed

LOAD = "DataCopy(in, xGm_[offset], tileLength_);"
# An input read as an argument by value: the compiler's hooks do not see it being copied.
BY_VALUE_HEAD = (
    "struct Part { float v[64]; };\n"
    "__attribute__((noinline)) float Pick(Part part, int i) { return part.v[i]; }\n"
)
BY_VALUE = (
    "PipeBarrier<PIPE_ALL>(); for (uint32_t i = 0; i < tileLength_; i++) in.SetValue(i, Pick("
    "*(const Part *)((__gm__ float *)xGm_.GetPhyAddr() + offset + i / 64 * 64), i % 64)); "
    "PipeBarrier<PIPE_ALL>();"
)


@pytest.fixture
def past_the_machine(evaluator: Evaluator) -> Subject:
    start = changed("class ScaleShift {", BY_VALUE_HEAD + "class ScaleShift {")
    text = start.files[KERNEL].replace(LOAD, BY_VALUE)
    return evaluator.subject(Candidate(files={KERNEL: text}, stage="kernel"))


class TestPlausibleGate(GateContract):
    gate = PlausibleGate()

    @pytest.fixture
    def faulty(self, past_the_machine: Subject) -> Subject:
        return past_the_machine


def test_inputs_that_no_instruction_read_are_missed(past_the_machine: Subject) -> None:
    failure = PlausibleGate().check(past_the_machine)
    assert failure and failure.refusal.evidence == "read bytes"


def test_a_launch_whose_time_does_not_count_is_not_asked(past_the_machine: Subject) -> None:
    untimed = past_the_machine.at(past_the_machine.case, 1, timed=False)
    assert PlausibleGate().check(untimed) is None
