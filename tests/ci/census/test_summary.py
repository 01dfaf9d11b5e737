from __future__ import annotations

from ci.census.summary import summarize
from ci.model.census import CensusRow, Failure, Stage


def row(
    name: str, *stages: Stage, reason: tuple[Stage, str] | None = None, **more: object
) -> CensusRow:
    failures = () if reason is None else (Failure(stage=reason[0], kind=reason[1], message="-"),)
    data = {"name": name, "category": "math", "path": name, "passed": stages, "failures": failures}
    return CensusRow.model_validate({**data, **more})


ROWS = (
    row("a", *Stage),
    row("b", Stage.FOUND, Stage.DEFINITION, reason=(Stage.HOST_BUILDS, "missing header")),
    row("c", Stage.FOUND, Stage.DEFINITION, reason=(Stage.HOST_BUILDS, "missing header")),
    row("d", Stage.FOUND, reason=(Stage.DEFINITION, "unread"), category="norm"),
    row("e", Stage.FOUND, Stage.DEFINITION, declared_for_chip=False),
)


def test_stages_are_counted_in_all_and_for_the_chip() -> None:
    summary = summarize(ROWS)
    assert (summary.operators, summary.for_chip) == (5, 4)
    assert summary.reached[Stage.DEFINITION] == 4
    assert summary.reached_for_chip[Stage.DEFINITION] == 3
    assert summary.reached[Stage.VERIFIED] == 1
    assert summary.by_category["norm"][Stage.FOUND] == 1


def test_the_reason_that_stops_most_operators_comes_first() -> None:
    reasons = summarize(ROWS).reasons
    assert [(r.reason, r.operators) for r in reasons] == [
        ("missing header", ("b", "c")),
        ("unread", ("d",)),
    ]


def test_an_operator_counts_for_its_earliest_failure_only() -> None:
    both = row("f", Stage.FOUND, reason=(Stage.VERIFIED, "wrong result"))
    early = Failure(stage=Stage.HOST_BUILDS, kind="missing symbol", what="Foo", message="-")
    both = both.model_copy(update={"failures": (*both.failures, early)})
    assert [r.reason for r in summarize([both]).reasons] == ["missing symbol Foo"]


def test_what_stops_an_operator_that_was_tried_as_ours_is_a_reason_too() -> None:
    failed = (Stage.KERNEL_BUILDS, "missing symbol")
    tried = row("f", Stage.FOUND, reason=failed, declared_for_chip=False, tried_as="910B")
    left = row(
        "g",
        Stage.FOUND,
        reason=(Stage.HOST_BUILDS, "other chip"),
        declared_for_chip=False,
    )
    summary = summarize([tried, left])
    assert [(r.reason, r.operators) for r in summary.reasons] == [("missing symbol", ("f",))]


def test_operators_whose_folders_are_called_alike_are_told_apart_by_what_is_above() -> None:
    failed = (Stage.KERNEL_BUILDS, "missing symbol")
    places = ("tasks/abs/answer/0", "tasks/exp/answer/0", "exp/answer/0", "tasks/exp/question")
    rows = [row("0", reason=failed, path=place) for place in places]
    (reason,) = summarize(rows).reasons
    assert sorted(reason.operators) == [
        "abs/answer/0",
        "exp/answer/0",
        "question",
        "tasks/exp/answer/0",
    ]
