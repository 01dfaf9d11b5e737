"""What an earlier trial changed is carried to another program, or taken out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.search.combine import halves, joined, without
from ci.testing.model_operator import HOST_FILE, KERNEL_FILE, write

PARTS = ("ubParts = 4", "ubParts = 2")
DEPTH = ("BUFFER_NUM = 1", "BUFFER_NUM = 2")
SCALE = ("Muls(tmp, x, 2.0f, n);", "Muls(y, x, 2.0f, n);")


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return write(tmp_path)


def trial(operator: Operator, number: int, parent: Trial | None, **files: tuple[str, str]) -> Trial:
    """A trial whose files hold the parent's text with one word changed in each."""
    paths = {"host": HOST_FILE, "kernel": KERNEL_FILE}
    texts = dict(parent.candidate.files) if parent else {}
    for name, (old, new) in files.items():
        before = texts.get(paths[name], operator.read(paths[name]))
        assert old in before
        texts[paths[name]] = before.replace(old, new)
    hashed = parent.candidate.hash if parent else ""
    made = Candidate(files=texts, stage="kernel", parent=hashed, rationale=f"change {number}")
    return Trial(number=number, candidate=made, outcome=Outcome.OK)


def test_a_change_of_the_host_and_one_of_the_kernel_make_one_candidate(operator: Operator) -> None:
    start = trial(operator, 0, None)
    cut, deep = trial(operator, 1, start, host=PARTS), trial(operator, 2, start, kernel=DEPTH)
    both = joined(operator, cut, start, deep)
    assert both is not None
    assert both.files == trial(operator, 3, cut, kernel=DEPTH).candidate.files
    assert both.parent == cut.candidate.hash
    assert "trial 1" in both.rationale and "change 2" in both.rationale


def test_two_changes_of_one_line_are_not_joined(operator: Operator) -> None:
    start = trial(operator, 0, None)
    one = trial(operator, 1, start, kernel=("2.0f", "4.0f"))
    assert joined(operator, one, start, trial(operator, 2, start, kernel=SCALE)) is None


def test_a_step_is_taken_out_from_under_later_ones(operator: Operator) -> None:
    start = trial(operator, 0, None)
    cut = trial(operator, 1, start, host=PARTS)
    deep = trial(operator, 2, cut, kernel=DEPTH)
    rest = without(operator, deep, start, cut)
    assert rest is not None
    assert rest.files == trial(operator, 3, start, kernel=DEPTH).candidate.files
    assert "trial 1" in rest.rationale


def test_a_step_that_a_later_one_rests_on_stays(operator: Operator) -> None:
    start = trial(operator, 0, None)
    one = trial(operator, 1, start, kernel=SCALE)
    two = trial(operator, 2, one, kernel=("Muls(y, x, 2.0f, n);", "Muls(y, x, 4.0f, n);"))
    assert without(operator, two, start, one) is None


@pytest.mark.parametrize(("order", "half"), [("tkk", "kernel"), ("ktk", "both"), ("kkt", "tiling")])
def test_the_halves_of_a_line_are_its_kernel_and_its_tiling(
    operator: Operator, order: str, half: str
) -> None:
    edits = {"t": [{"host": PARTS}], "k": [{"kernel": DEPTH}, {"kernel": SCALE}]}
    line = [trial(operator, 0, None)]
    for number, kind in enumerate(order, 1):
        made = trial(operator, number, line[-1], **edits[kind].pop(0))
        stage = {"t": "tiling", "k": "kernel"}[kind]
        line.append(made.model_copy(update={"candidate": as_stage(made, stage)}))
    found = {one.stage: one for one in halves(operator, line[0], line[1:])}
    assert [*found] == (["kernel", "tiling"] if half == "both" else [half])
    for stage, one in found.items():
        path = {"kernel": KERNEL_FILE, "tiling": HOST_FILE}[stage]
        assert one.files == {path: line[-1].candidate.files[path]}
    if half != "tiling":
        left = [n for n, kind in enumerate(order, 1) if kind == "k" and n > order.index("t")]
        assert found["kernel"].rationale == " ".join(f"change {n}" for n in left)
        assert found["kernel"].parent == line[order.index("t")].candidate.hash


def test_a_step_of_both_halves_is_in_neither(operator: Operator) -> None:
    start = trial(operator, 0, None)
    both = trial(operator, 1, start, host=PARTS, kernel=SCALE)
    both = both.model_copy(update={"candidate": as_stage(both, "joint")})
    deep = trial(operator, 2, both, kernel=DEPTH)
    (kernel,) = halves(operator, start, [both, deep])
    assert kernel.files == trial(operator, 3, start, kernel=DEPTH).candidate.files
    assert kernel.parent == start.candidate.hash


def test_a_line_of_one_kind_of_steps_has_no_halves(operator: Operator) -> None:
    start = trial(operator, 0, None)
    deep = trial(operator, 1, start, kernel=DEPTH)
    last = trial(operator, 2, deep, kernel=SCALE)
    assert [*halves(operator, start, [deep, last])] == []


def test_a_half_that_rests_on_the_other_is_none(operator: Operator) -> None:
    start = trial(operator, 0, None)
    both = trial(operator, 1, start, host=PARTS, kernel=("2.0f", "4.0f"))
    both = both.model_copy(update={"candidate": as_stage(both, "joint")})
    upon = trial(operator, 2, both, kernel=("4.0f", "8.0f"))
    assert [*halves(operator, start, [both, upon])] == []


def as_stage(made: Trial, stage: str) -> Candidate:
    return made.candidate.model_copy(update={"stage": stage})
