from __future__ import annotations

import pytest

from ci.source.source_diff import changes, git_diff, merged

BASE = "a\nb\nc\nd\n"


def test_the_diff_of_equal_sources_is_empty() -> None:
    assert git_diff({"a.cpp": "x\n"}, {"a.cpp": "x\n"}) == ""


def test_a_missing_newline_at_the_end_is_marked_as_git_marks_it() -> None:
    diff = git_diff({"a.cpp": "x"}, {"a.cpp": "y\n"})
    assert "-x\n\\ No newline at end of file\n+y\n" in diff


def test_a_form_feed_ends_no_line() -> None:
    assert git_diff({"a.cpp": "x\f\ny\n"}, {"a.cpp": "x\f\nz\n"}).count("\n x\f\n") == 1


@pytest.mark.parametrize(
    ("ours", "theirs", "both"),
    [
        ("A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n"),
        ("x\na\nb\nc\nd\n", "a\nb\nc\n", "x\na\nb\nc\n"),
        ("A\nb\nc\nd\n", "A\nb\nc\nD\n", "A\nb\nc\nD\n"),
        ("a\nb\nc\nd\nx", "A\nb\nc\nd\n", "A\nb\nc\nd\nx"),
    ],
)
def test_changes_of_different_places_are_merged_either_way(
    ours: str, theirs: str, both: str
) -> None:
    assert merged(BASE, ours, theirs) == merged(BASE, theirs, ours) == both


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("A\nb\nc\nd\n", "B\nb\nc\nd\n"),
        ("A\nb\nc\nd\n", "a\nB\nc\nd\n"),
        ("x\na\nb\nc\nd\n", "y\na\nb\nc\nd\n"),
        ("a\nx\nb\nc\nd\n", "a\ny\nb\nc\nd\n"),
        ("a\nd\n", "a\nb\nx\nc\nd\n"),
    ],
)
def test_changes_that_touch_are_not_merged(ours: str, theirs: str) -> None:
    assert merged(BASE, ours, theirs) is None
    assert merged(BASE, theirs, ours) is None


def test_one_change_is_told_alike_wherever_it_stands() -> None:
    assert changes("a\nb\n", "a\nx\n") == changes("c\nd\nb\n", "c\nd\nx\n")
    assert changes("a\n", "a\nx\n") != changes("a\n", "a\ny\n")
    assert changes(BASE, BASE) == ()
