"""An operator whose kernel tells the shape of its output is judged by that shape."""

from __future__ import annotations

from functools import cache

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome, Trial
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

PLACE = OPERATORS / "src" / "index" / "take_positive"
KERNEL = "op_kernel/take_positive.cpp"


@cache
def evaluator() -> Evaluator:
    operator = load_operator(PLACE)
    return Evaluator(operator, load_workload(operator), SimulatorBackend("910B4"))


def changed(old: str, new: str) -> Trial:
    text = evaluator().operator.read(KERNEL)
    assert old in text
    return evaluator().evaluate(Candidate(files={KERNEL: text.replace(old, new)}), 1)


def test_what_the_kernel_found_is_compared_in_the_shape_that_it_tells() -> None:
    trial = changed("value > 0.0f", "!(value <= 0.0f)")
    assert trial.outcome is Outcome.OK, trial.refusal


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("SetValue(1, found)", "SetValue(1, found - 1)", "has shape"),
        ("SetValue(1, found)", "SetValue(1, found + 100000)", "has room for 5,000 elements"),
        ("SetValue(0, 1)", "SetValue(0, 9)", "9 dimensions"),
        ("SetValue(taken++, value)", "SetValue(taken++, -value)", "is wrong in"),
        ("DataCopyPad(yGm[first], result, params);", "", "is wrong in"),
    ],
)
def test_another_shape_or_other_values_are_wrong(old: str, new: str, said: str) -> None:
    trial = changed(old, new)
    assert trial.outcome is Outcome.WRONG_RESULT
    assert trial.refusal and said in trial.refusal.sentence


def test_a_case_must_say_how_much_there_may_be() -> None:
    operator = load_operator(PLACE)
    workload = load_workload(operator)
    (case,) = workload.cases
    silent = workload.model_copy(update={"cases": (case.model_copy(update={"outputs": ()}),)})
    judge = Evaluator(operator, silent, SimulatorBackend("910B4"))
    with pytest.raises(InputError, match="give the largest one under outputs"):
        judge.evaluate(Candidate(), 0)
