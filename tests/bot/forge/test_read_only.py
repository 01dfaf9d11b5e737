from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bot.base.git import Git
from bot.forge.base import Forge
from bot.forge.local import LocalForge
from bot.forge.model import Status
from bot.forge.read_only import ReadOnlyForge
from bot.testing.forge import LONG_AGO


def content(folder: Path) -> dict[str, str]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock")
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_nothing_is_written_and_everything_is_told(checkout: Path, tmp_path: Path) -> None:
    bare = tmp_path / "origin.git"
    real = LocalForge(bare)
    number = real.open("one", "body", "work", "main").number
    comment = real.comment(number, "hello")
    commit = real.branches()["work"]
    before = content(bare)
    told: list[str] = []
    forge = ReadOnlyForge(real, told.append)
    made = forge.open("two", "text", "work", "main")
    changed = forge.update(number, body="new")
    closed = forge.close(number)
    said = forge.comment(number, "result")
    edited = forge.edit_comment(number, comment.id, "result 2")
    forge.react(number, comment.id, "eyes")
    forge.add_labels(number, ["fast"])
    forge.delete_branch("work")
    forge.push(Git(checkout), commit, "mine", "")
    forge.set_status(commit, Status(context="verify", state="success"))
    assert content(bare) == before
    assert (made.number, made.title, made.head) == (0, "two", commit)
    assert (changed.title, changed.body) == ("one", "new")
    assert (closed.state, said.id, edited.id) == ("closed", 0, comment.id)
    assert [line.split(" ")[0] for line in told] == ["would"] * 10
    assert any("result 2" in line for line in told)


@pytest.mark.parametrize(
    "read",
    [
        lambda f: f.repository(),
        lambda f: f.viewer(),
        lambda f: f.branches(),
        lambda f: f.branch_head("work"),
        lambda f: f.permission("alice"),
        lambda f: f.file("README.md", "main"),
        lambda f: f.compare("main", "work"),
        lambda f: list(f.merge_requests("open", "w")),
        lambda f: f.merge_request(1),
        lambda f: f.diff(1),
        lambda f: list(f.comments(1)),
        lambda f: f.recent_comments(LONG_AGO),
        lambda f: list(f.statuses("work")),
        lambda f: f.rate_limit(),
        lambda f: f.credentials(),
    ],
)
def test_reading_is_as_ever(checkout: Path, tmp_path: Path, read: object) -> None:
    real = LocalForge(tmp_path / "origin.git")
    real.open("one", "body", "work", "main")
    real.comment(1, "hello")
    assert read(ReadOnlyForge(real)) == read(real)  # type: ignore[operator]


def test_every_method_of_the_protocol_is_wrapped() -> None:
    assert set(vars(ReadOnlyForge)) >= {*Forge.__abstractmethods__, "push"}
