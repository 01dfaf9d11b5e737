from __future__ import annotations

from unidiff import PatchSet

from bot.forge.diff_text import FileDiff, unified

HUNK = "@@ -1 +1 @@\n-a\n+b\n"


def test_each_kind_of_change_is_read_back() -> None:
    text = unified(
        [
            FileDiff("a.cpp", "a.cpp", HUNK),
            FileDiff("new.cpp", "new.cpp", "@@ -0,0 +1 @@\n+b\n", added=True),
            FileDiff("old.cpp", "old.cpp", "@@ -1 +0,0 @@\n-a\n", deleted=True),
            FileDiff("from.cpp", "to.cpp", HUNK),
            FileDiff("moved.cpp", "away.cpp", ""),
        ]
    )
    files = PatchSet(text)
    assert [f.path for f in files] == ["a.cpp", "new.cpp", "old.cpp", "to.cpp", "away.cpp"]
    assert [f.is_added_file for f in files] == [False, True, False, False, False]
    assert [f.is_removed_file for f in files] == [False, False, True, False, False]
    assert [f.is_rename for f in files] == [False, False, False, True, True]


def test_a_path_cannot_smuggle_in_another_file() -> None:
    hostile = "a.cpp\n--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -1 +1 @@\n-x\n+y"
    text = unified([FileDiff(hostile, hostile, HUNK)])
    heads = [line for line in text.splitlines() if line.startswith(("---", "+++", "@@", "diff"))]
    assert len(heads) == 4
    assert "b/kernel.cpp" not in heads


def test_a_symlink_shows_its_mode_and_nonsense_shows_none() -> None:
    text = unified([FileDiff("l", "l", "@@ -0,0 +1 @@\n+/etc\n", added=True, new_mode="120000")])
    assert "new file mode 120000\n" in text
    text = unified([FileDiff("l", "l", "", added=True, new_mode="100644\nrename from x")])
    assert "rename" not in text
