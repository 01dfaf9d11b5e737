"""What is new in a check, though an edit moves lines."""

from __future__ import annotations

from ci.model.finding import Finding, Severity
from ci.model.trial import Place
from ci.session.check_change import beyond

FILE = "op_kernel/a.cpp"


def race(line: int) -> Finding:
    """A race at a line."""
    place = Place(case="own", file=FILE, line=line)
    return Finding(kind="race", severity=Severity.ERROR, title="race", place=place, text="x")


def test_a_finding_whose_line_moves_is_not_new() -> None:
    before, after = {FILE: "one();\ntwo();\n"}, {FILE: "zero();\none();\n  two();\n"}
    assert beyond([race(3)], after, [race(2)], before) == ()


def test_a_finding_on_another_line_is_new_and_the_other_is_gone() -> None:
    texts = {FILE: "one();\ntwo();\n"}
    assert beyond([race(2)], texts, [race(1)], texts) == (race(2),)
    assert beyond([race(1)], texts, [race(2)], texts) == (race(1),)


def test_of_two_that_are_alike_one_more_is_new() -> None:
    before, after = {FILE: "one();\n"}, {FILE: "one();\none();\n"}
    assert beyond([race(1), race(2)], after, [race(1)], before) == (race(2),)
