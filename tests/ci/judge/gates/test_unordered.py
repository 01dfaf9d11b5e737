from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.unordered import UnorderedGate
from ci.model.trial import (
    Candidate,
    CaseMeasurement,
    Fingerprint,
    Measurement,
    Outcome,
    PipeTime,
    Trial,
)
from ci.testing.gate import GateContract

PRINT = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)


def trial(
    waits: int, work: int, stage: str = "kernel", *, within: int = 0, barriers: int = 0
) -> Trial:
    """A step after which automatic synchronisation inserts `waits` for `work` instructions, of
    them some within a pipe, beside the barriers of the source."""
    pipes = PipeTime(
        total_cycles=1,
        block_dim=1,
        busy_cycles={},
        instructions={"vadd": work, "set_flag": 100, "pipe_barrier": barriers},
        inserted_waits=waits,
        inserted_barriers=within,
    )
    case = CaseMeasurement(
        case="one", samples_us=(1.0,), median_us=1, low_us=1, high_us=1, pipes=pipes
    )
    return Trial(
        number=1,
        candidate=Candidate.model_validate({"stage": stage}),
        outcome=Outcome.OK,
        measurement=Measurement(fingerprint=PRINT, cases=(case,)),
    )


def asked(evaluator: Evaluator, now: Trial, parent: Trial) -> Subject:
    return evaluator.subject(now.candidate).measured(now, parent, parent)


class TestUnorderedGate(GateContract):
    gate = UnorderedGate()

    @pytest.fixture
    def unmodified(self, evaluator: Evaluator) -> Subject:
        return asked(evaluator, trial(0, 10), trial(0, 10))

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return asked(evaluator, trial(5, 10), trial(0, 10))


@pytest.mark.parametrize(
    ("now", "parent"),
    [
        (trial(20, 40), trial(10, 20)),  # more tiles
        (trial(10, 8), trial(10, 20)),  # fewer instructions
        (trial(5, 10, "tiling"), trial(0, 10)),  # no kernel step
        (trial(5, 10, within=5, barriers=1), trial(0, 10, barriers=1)),  # more that depend
    ],
)
def test_what_dropped_no_barrier_passes(evaluator: Evaluator, now: Trial, parent: Trial) -> None:
    assert UnorderedGate().check(asked(evaluator, now, parent)) is None


def test_the_parent_is_what_counts_and_not_the_operator_as_it_stands(evaluator: Evaluator) -> None:
    now, parent, before = trial(5, 10), trial(5, 10), trial(0, 10)
    subject = evaluator.subject(now.candidate).measured(now, parent, before)
    assert UnorderedGate().check(subject) is None


def test_a_barrier_that_the_compiler_fills_in_again_is_refused(evaluator: Evaluator) -> None:
    now, parent = trial(5, 10, within=5, barriers=1), trial(0, 10, barriers=6)
    refusal = UnorderedGate().check(asked(evaluator, now, parent))
    assert refusal is not None and "within a pipe" in refusal.refusal.sentence
