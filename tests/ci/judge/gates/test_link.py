from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.build import BuildGate
from ci.judge.gates.link import LinkGate
from ci.model.trial import Candidate, Outcome
from ci.testing.gate import GateContract
from ci.testing.scale_shift import HOST, IN_PROCESS, KERNEL, changed


class TestLinkGate(GateContract):
    gate = LinkGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """Calls a function of the C library that the machine does not offer."""
        sine = "yGm_.SetValue(0, std::sin(xGm_.GetValue(0)));"
        header = '#include "kernel_operator.h"'
        text = changed(header, f"#include <cmath>\n{header}").files[KERNEL]
        text = text.replace(IN_PROCESS, f"{IN_PROCESS}        {sine}\n")
        return evaluator.subject(Candidate(files={KERNEL: text}, stage="kernel"))


def test_what_the_linker_misses_is_refused_here_and_not_as_a_compile_error_of_the_build(
    evaluator: Evaluator,
) -> None:
    candidate = changed("namespace optiling {", "extern int Missing();\nnamespace optiling {", HOST)
    text = candidate.files[HOST].replace("SetBlockDim(BLOCK_DIM)", "SetBlockDim(Missing())")
    subject = evaluator.subject(Candidate(files={HOST: text}, stage="tiling"))
    assert BuildGate().check(subject) is None
    failure = LinkGate().check(subject)
    assert failure and failure.outcome is Outcome.COMPILE_ERROR
    assert "Missing" in failure.refusal.sentence
