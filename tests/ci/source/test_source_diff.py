from __future__ import annotations

from ci.source.source_diff import git_diff


def test_the_diff_of_equal_sources_is_empty() -> None:
    assert git_diff({"a.cpp": "x\n"}, {"a.cpp": "x\n"}) == ""


def test_a_missing_newline_at_the_end_is_marked_as_git_marks_it() -> None:
    diff = git_diff({"a.cpp": "x"}, {"a.cpp": "y\n"})
    assert "-x\n\\ No newline at end of file\n+y\n" in diff


def test_a_form_feed_ends_no_line() -> None:
    assert git_diff({"a.cpp": "x\f\ny\n"}, {"a.cpp": "x\f\nz\n"}).count("\n x\f\n") == 1
