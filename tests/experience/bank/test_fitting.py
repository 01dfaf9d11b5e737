from __future__ import annotations

import pytest

from experience.bank.distill import Lesson
from experience.bank.fitting import changed_names, misfit

OFFSET = (
    "--- a/k.h\n+++ b/k.h\n@@ -1,2 +1,2 @@\n pipe.InitBuffer(one, size);\n"
    "-pipe.InitBuffer(two, size);\n+pipe.InitBuffer(two, size + BANK_GROUP);\n"
)
REDUCED = (
    "--- a/k.h\n+++ b/k.h\n@@ -1 +1 @@\n-ReduceSum(y, x, work, n);\n+BlockReduceSum(y, x, n);\n"
)


def _lesson(title: str, description: str = "It helps.", motif_id: str = "") -> Lesson:
    return Lesson(title=title, description=description, bottleneck="b", motif_id=motif_id)


@pytest.mark.parametrize(
    ("lesson", "diff"),
    [
        (_lesson("BlockReduceSum instead of ReduceSum"), REDUCED),
        (_lesson("Another bank group", "`InitBuffer` with some bytes more."), OFFSET),
        (_lesson("Add a buffer", "Copy later, and Cast away doubts."), OFFSET),
        (_lesson("Shift a buffer to another bank group", motif_id="bank-offset"), OFFSET),
    ],
)
def test_a_lesson_about_its_diff_fits(lesson: Lesson, diff: str) -> None:
    assert misfit(lesson, diff) == ""


def test_swapped_lessons_fit_neither_diff() -> None:
    reduced = _lesson("BlockReduceSum instead of ReduceSum")
    offset = _lesson("Another bank group", "Give InitBuffer() some bytes more.")
    assert "ReduceSum" in misfit(reduced, OFFSET)
    assert "InitBuffer" in misfit(offset, REDUCED)


def test_a_lesson_does_not_bear_the_title_of_another_motif() -> None:
    wrong = _lesson("More buffers in a queue", motif_id="bank-offset")
    assert "double-buffering" in misfit(wrong, OFFSET)


def test_the_names_of_changed_lines_leave_context_and_paths_out() -> None:
    assert changed_names(OFFSET) == {"pipe", "InitBuffer", "two", "size", "BANK_GROUP"}
