from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.coverage import CoverageGate
from ci.judge.launch_record import Sweep, TurnedDown
from ci.testing.gate import GateContract
from ci.testing.scale_shift import changed

HARMLESS = changed("2.0f", "2.00f")


class TestCoverageGate(GateContract):
    gate = CoverageGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """All further cases cost too much."""
        subject = evaluator.subject(HARMLESS)
        subject.work.sweeps["confirm"] = Sweep(
            turned_down={"length": TurnedDown(costly=40, seconds=7)}
        )
        return subject


def test_what_the_operator_refuses_is_no_lack_of_coverage(evaluator: Evaluator) -> None:
    subject = evaluator.subject(HARMLESS)
    subject.work.sweeps["confirm"] = Sweep(turned_down={"length": TurnedDown(refused=40)})
    assert CoverageGate().check(subject) is None


def test_a_regime_that_no_case_reaches_is_named(evaluator: Evaluator) -> None:
    subject = evaluator.subject(HARMLESS)
    subject.work.sweeps["confirm"] = Sweep(
        regimes=5, untried=("float16, tiling key 3, all cores (about 50 s)",)
    )
    failure = CoverageGate().check(subject)
    assert failure and failure.refusal.sentence == (
        "1 of 5 ways in which the host side treats such inputs cost too much to be tried: float16, "
        "tiling key 3, all cores (about 50 s)."
    )


def test_what_was_too_costly_is_told_with_its_cost(evaluator: Evaluator) -> None:
    subject = evaluator.subject(HARMLESS)
    found = Sweep()
    for seconds in (9.0, 7.0):
        found.turn_down("length").too_costly(seconds)
    subject.work.sweeps["confirm"] = found
    failure = CoverageGate().check(subject)
    assert failure and failure.refusal.sentence == (
        "Only 0 varied cases were tried, of 40 at least (length: too costly to try (2 "
        "cases, at least 7 s each))."
    )


def test_reasons_for_what_is_not_varied_are_told_apart() -> None:
    found = Sweep()
    found.turn_down("rank").decline("")
    found.turn_down("empty").decline("wrong_result")
    found.turn_down("empty").decline("")
    found.turn_down("length").too_costly(4.2)
    assert found.untaken == (
        "rank: the original operator rejects it, too (1 case)",
        "empty: the original operator rejects it, too (1 case) and "
        "the original operator is wrong on it, too (1 case)",
        "length: too costly to try (1 case, at least 4 s each)",
    )
    assert (found.declined, found.costly) == (3, 1)
