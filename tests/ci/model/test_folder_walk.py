from __future__ import annotations

import os
from pathlib import Path

from ci.model.folder_walk import MOST_DEPTH, files_below, walk
from tests.ci.deep import deep_folder


def test_it_walks_as_python_does_where_python_can(tmp_path: Path) -> None:
    for name in ("a/b/c", "a/d", "e"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "f.h").touch()
    (tmp_path / "a" / "round").symlink_to("round")
    (tmp_path / "a" / "above").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "e" / "pipe")
    ours = {(str(place), *sorted(below), *sorted(files)) for place, below, files in walk(tmp_path)}
    assert ours == {(at, *sorted(below), *sorted(files)) for at, below, files in os.walk(tmp_path)}


def test_a_name_that_is_no_utf_8_is_left_out(tmp_path: Path) -> None:
    for name in (b"\xffolder/f.h", b"a/\xff.h", "a/ü\n\U0001f600\ue000.h".encode()):
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert files_below(tmp_path) == [tmp_path / "a" / "ü\n\U0001f600\ue000.h"]


def test_what_is_taken_away_is_not_looked_into(tmp_path: Path) -> None:
    for name in ("a/b", "c/d"):
        (tmp_path / name).mkdir(parents=True)
    seen = []
    for folder, below, _ in walk(tmp_path):
        seen.append(folder.name)
        below[:] = [name for name in below if name != "c"]
    assert seen[1:] == ["a", "b"]


def test_a_folder_without_bottom_is_looked_into_as_far_as_sources_lie(tmp_path: Path) -> None:
    with deep_folder(tmp_path):
        assert len([*walk(tmp_path)]) == MOST_DEPTH + 1
        assert files_below(tmp_path) == []
    assert files_below(tmp_path / "none") == []
