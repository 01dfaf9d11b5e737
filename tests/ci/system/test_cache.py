"""Entries are made once, seen whole or not at all, and trimmed oldest first."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from ci.model.errors import EnvironmentProblem
from ci.system.cache import BuildCache, default_root, digest, digest_tree


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    cache, made = BuildCache(tmp_path), []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "file").write_text("text")

    one, two = cache.get("kind", "key", make), cache.get("kind", "key", make)
    assert one == two
    assert (one / "file").read_text() == "text"
    assert len(made) == 1


def test_side_by_side_builders_make_it_once(tmp_path: Path) -> None:
    made = []

    def make(folder: Path) -> None:
        made.append(folder)
        time.sleep(0.1)
        (folder / "file").write_text("whole")

    def ask() -> None:
        # One cache object each, as separate processes would have.
        assert (BuildCache(tmp_path).get("kind", "key", make) / "file").read_text() == "whole"

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_a_failed_build_leaves_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        cache.get("kind", "key", fail)
    assert list((tmp_path / "kind").iterdir()) == []
    entry = cache.get("kind", "key", lambda folder: (folder / "file").touch())
    assert [p.name for p in entry.iterdir()] == ["file"]


def test_the_least_recently_used_entries_go_first(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    kinds = {"new": "kernel", "middle": "host", "old": "host"}
    for age, (name, kind) in enumerate(kinds.items()):
        entry = cache.get(kind, name, lambda folder: (folder / "f").write_bytes(bytes(1000)))
        os.utime(entry, (time.time() - 7200 - age * 100,) * 2)
    cache.get("host", "old", lambda folder: None)  # used again: now the youngest
    cache.trim(keep_bytes=2500)
    left = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.glob("*/*") if p.is_dir())
    assert left == ["host/old", "kernel/new"]


def test_what_was_used_within_an_hour_stays_however_full_the_cache_is(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    for name in ("held", "left"):
        cache.get("kernel", name, lambda folder: (folder / "f").write_bytes(bytes(1000)))
    os.utime(tmp_path / "kernel" / "left", (time.time() - 7200,) * 2)
    cache.trim(keep_bytes=0)
    assert [one.name for one in (tmp_path / "kernel").iterdir()] == ["held"]


def test_what_a_killed_builder_left_is_removed_when_old(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    cache.get("kind", "key", lambda folder: None)
    left = tmp_path / "kind" / ".key.abc"
    left.mkdir()
    cache.trim()
    assert left.exists()
    os.utime(left, (time.time() - 7200,) * 2)
    cache.trim()
    assert not left.exists()


def test_trimming_is_done_once_an_hour(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    cache.trim_hourly()
    left = tmp_path / "kind" / ".key.abc"
    left.mkdir(parents=True)
    os.utime(left, (time.time() - 7200,) * 2)
    cache.trim_hourly()
    assert left.exists()
    os.utime(tmp_path / "trimmed", (time.time() - 4000,) * 2)
    cache.trim_hourly()
    assert not left.exists()


def test_a_digest_knows_where_parts_end() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert digest(["ab"]) == digest([b"ab"])


def test_a_trees_digest_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("1")
    before = digest_tree(tmp_path, (".h",))
    (tmp_path / "b.txt").write_text("not counted")
    assert digest_tree(tmp_path, (".h",)) == before
    (tmp_path / "a.h").rename(tmp_path / "b.h")
    assert digest_tree(tmp_path, (".h",)) != before


def test_the_root_follows_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_root() == Path("/somewhere/ascendopt")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_root() == Path.home() / ".cache" / "ascendopt"


def test_a_place_that_cannot_be_written_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentProblem, match="set XDG_CACHE_HOME to a folder of your own"):
        BuildCache(tmp_path / "file" / "cache").trim_hourly()


def test_a_digest_of_a_tree_leaves_out_what_is_hidden_and_sees_names_and_contents(
    tmp_path: Path,
) -> None:
    (tmp_path / "below").mkdir()
    source = tmp_path / "below" / "a.h"
    source.write_text("int a;")
    seen = {digest_tree(tmp_path, (".h",))}
    for hidden in (".git/objects", "below/.cache"):
        (tmp_path / hidden).mkdir(parents=True)
        (tmp_path / hidden / "b.h").write_text("int b;")
    (tmp_path / "below" / "c.txt").write_text("of another ending")
    assert digest_tree(tmp_path, (".h",)) in seen
    source.write_text("int b;")
    seen.add(digest_tree(tmp_path, (".h",)))
    source.rename(tmp_path / "below" / "b.h")
    seen.add(digest_tree(tmp_path, (".h",)))
    assert len(seen) == 3
