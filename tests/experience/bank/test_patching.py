from __future__ import annotations

import pytest

from ci.source.source_diff import git_diff
from experience.bank.patching import Misfit, redo, undo

BEFORE = {"k.cpp": "a\nb\nslow();\nc\nd\n"}
AFTER = {"k.cpp": "a\nb\nfast();\nc\nd\n"}
DIFF = git_diff(BEFORE, AFTER)


def test_undo_and_redo_are_each_others_inverse() -> None:
    assert undo(DIFF, AFTER) == BEFORE
    assert redo(DIFF, BEFORE) == AFTER


def test_a_hunk_is_found_where_its_lines_moved_and_its_surroundings_changed() -> None:
    moved = {"k.cpp": "new\n" * 30 + "other\nfast();\nc\nd\n"}
    assert undo(DIFF, moved)["k.cpp"] == "new\n" * 30 + "other\nslow();\nc\nd\n"


def test_of_equal_places_the_nearest_is_taken() -> None:
    text = "fast();\n" + "x\n" * 20 + "a\nb\nfast();\nc\nd\n"
    assert undo(DIFF, {"k.cpp": text})["k.cpp"].startswith("fast();\n")


@pytest.mark.parametrize("texts", [{"k.cpp": "nothing of it\n"}, {"other.cpp": "fast();\n"}])
def test_a_diff_without_a_place_is_refused(texts: dict[str, str]) -> None:
    with pytest.raises(Misfit):
        undo(DIFF, texts)


def test_what_is_no_diff_is_refused() -> None:
    with pytest.raises(Misfit):
        undo("", AFTER)
