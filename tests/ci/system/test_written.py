"""What a program writes is bounded, however many files it is in."""

from __future__ import annotations

import os
from pathlib import Path

from ci.system.written import written


def test_what_is_open_without_a_name_counts_and_nothing_counts_twice(tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "one").write_bytes(b"x" * 100_000)
    os.link(inside / "one", inside / "two")
    (inside / "link").symlink_to("/dev/zero")
    before = written([tmp_path], os.getpid())
    assert 100_000 <= before < 150_000
    with (inside / "gone").open("wb") as file:
        file.write(b"x" * 100_000)
        file.flush()
        os.fsync(file.fileno())
        (inside / "gone").unlink()
        assert written([tmp_path], os.getpid()) >= before + 100_000
    assert written([tmp_path], os.getpid()) == before
