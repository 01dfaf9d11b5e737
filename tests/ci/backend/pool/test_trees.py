from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from ci.backend.pool import trees
from ci.model.errors import InputError


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def repository(folder: Path) -> Path:
    top = folder / "repo"
    (top / "src").mkdir(parents=True)
    (top / ".git").mkdir()
    (top / ".git" / "config").write_text("url = https://user:token@host")
    (top / ".env").write_text("TOKEN=secret")
    (top / "build").mkdir()
    (top / "build" / "a.o").touch()
    (top / "src" / "a.cpp").write_text("int a;")
    (top / "src" / "inside").symlink_to("a.cpp")
    (top / "src" / "absolute").symlink_to(top.resolve() / "src" / "a.cpp")
    (top / "src" / "told").symlink_to(top.resolve() / ".env")
    (top / "src" / "outside").symlink_to(folder / "secret")
    (folder / "secret").write_text("secret")
    return top


def unpacked(top: Path) -> Path:
    name, archive = trees.pack(top)
    assert trees.answer([name, None], {}) is None
    asked = trees.question(name, archive)
    place = trees.answer(asked.text, {})
    assert trees.answer([name, None], {}) == place
    return Path(str(place))


def test_a_tree_comes_out_as_it_went_in_without_what_lies_elsewhere(tmp_path: Path) -> None:
    place = unpacked(repository(tmp_path))
    found = sorted(p.relative_to(place).as_posix() for p in place.rglob("*"))
    assert found == [".git", "src", "src/a.cpp", "src/absolute", "src/inside"]
    assert (place / "src" / "inside").read_text() == "int a;"
    assert (place / "src" / "absolute").read_text() == "int a;"


def test_equal_trees_have_one_name_and_others_another(tmp_path: Path) -> None:
    top = repository(tmp_path)
    name = trees.pack(top)[0]
    (top / "src" / "a.cpp").touch()
    assert trees.pack(top)[0] == name
    (top / "src" / "a.cpp").write_text("int b;")
    assert trees.pack(top)[0] != name


def test_a_folder_that_is_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MOST_BYTES", 3)
    with pytest.raises(InputError, match="more than the 0 MB that are sent"):
        trees.pack(repository(tmp_path))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("../a", tarfile.REGTYPE), ("/tmp/a", tarfile.REGTYPE), ("a", tarfile.SYMTYPE)],
)
def test_what_is_no_file_of_the_tree_is_refused(tmp_path: Path, name: str, kind: bytes) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    asked = trees.question("0" * 32, (tmp_path / "a.tar").read_bytes())
    with pytest.raises(InputError, match="is no file of it"):
        trees.answer(asked.text, {})
    assert trees.answer(["0" * 32, None], {}) is None
