from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.forge import forge_of_checkout
from bot.forge.base import Forge
from bot.forge.local import LocalForge
from bot.forge.model import Access
from bot.testing.forge import ForgeContract
from ci.model.errors import InputError
from tests.bot.make import git


@pytest.fixture
def forge(checkout: Path) -> LocalForge:
    return LocalForge.of_remote(checkout, "origin")


@pytest.fixture
def person(checkout: Path, tmp_path: Path) -> Forge:
    return LocalForge(tmp_path / "origin.git", "alice")


@pytest.fixture
def grant(forge: LocalForge) -> Callable[[str, Access], object]:
    return forge.set_permission


class TestLocalForge(ForgeContract):
    pass


def test_a_person_can_read_the_merge_request_as_a_file(forge: Forge) -> None:
    made = forge.open("Faster add", "the body", "work", "main")
    forge.comment(made.number, "a remark")
    page = Path(made.place).read_text()
    for words in ("# Faster add", "the body", "`work` → `main`", "a remark", "(open)"):
        assert words in page


def test_two_processes_see_the_same_merge_requests(forge: Forge, checkout: Path) -> None:
    forge.open("one", "", "work", "main")
    assert forge_of_checkout("local", checkout, "origin").merge_requests() == forge.merge_requests()


def test_a_file_url_and_a_path_name_the_forge_too(checkout: Path, tmp_path: Path) -> None:
    bare = tmp_path / "origin.git"
    git(checkout, "remote", "set-url", "origin", f"file://{bare}")
    assert LocalForge.of_remote(checkout, "origin").repository().push_url == str(bare)
    assert LocalForge.of_remote(checkout, str(bare)).repository().push_url == str(bare)


def test_a_remote_elsewhere_is_refused(checkout: Path) -> None:
    git(checkout, "remote", "set-url", "origin", "https://example.org/ops.git")
    with pytest.raises(InputError, match="no folder of this machine"):
        LocalForge.of_remote(checkout, "origin")


def test_a_missing_remote_is_refused(checkout: Path) -> None:
    with pytest.raises(InputError, match="no remote 'upstream'"):
        LocalForge.of_remote(checkout, "upstream")


def test_a_checkout_is_no_forge(checkout: Path) -> None:
    with pytest.raises(InputError, match="no bare git repository"):
        LocalForge(checkout)


def test_an_unknown_forge_is_named(checkout: Path) -> None:
    with pytest.raises(InputError, match="no forge 'sourcehut'; known: auto, local"):
        forge_of_checkout("sourcehut", checkout, "origin")


def test_a_folder_may_be_named_from_the_current_one(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git fetches from it with the folder of a mirror as the current one."""
    monkeypatch.chdir(tmp_path)
    assert LocalForge(Path("origin.git")).repository().push_url == str(tmp_path / "origin.git")
