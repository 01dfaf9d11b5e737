"""Which files a repository has, and when they are looked for again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ci.source.build.evaluation import tree_of


def test_files_are_those_of_the_tree_and_no_others(tmp_path: Path) -> None:
    top = tmp_path / "top"
    for name in ("b/two.h", "a.b/three.h", "a/one.h", "zero.h", ".hidden/x.h", "node_modules/x.h"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).touch()
    (tmp_path / "outside.h").touch()
    (top / "a" / "inside").symlink_to("../zero.h")
    (top / "a" / "out").symlink_to(tmp_path / "outside.h")
    (top / "folder").symlink_to("a")
    os.mkfifo(top / "pipe.h")
    assert tree_of(top).files == ("zero.h", "a/inside", "a/one.h", "a.b/three.h", "b/two.h")


def test_folders_may_lie_as_deep_as_paths_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    depth = 1700  # more than functions may call each other
    for _ in range(depth):
        Path("a").mkdir()
        os.chdir("a")
    Path("deep.h").touch()
    found = tree_of(tmp_path).files
    Path("deep.h").unlink()
    for _ in range(depth):
        os.chdir("..")
        Path("a").rmdir()
    assert [path.rpartition("/")[2] for path in found] == ["deep.h"]


def test_a_tree_under_git_is_walked_once_with_a_build_or_without(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "a",
        ],
        cwd=tmp_path,
        check=True,
    )
    without = tree_of(tmp_path)
    assert tree_of(tmp_path) is without
    (tmp_path / "CMakeLists.txt").write_text("project(one)\n")
    assert tree_of(tmp_path).files == ("CMakeLists.txt",)
