"""A secret of the user outside of a repository, and each path by which a tree may name it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.base.git import Git
from bot.repository.patch import applied
from ci.host.source_tree import lay_operator, neighbours
from ci.model.errors import InputError
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator
from ci.source.golden import Golden
from ci.source.layout_style import laid_out
from ci.source.placed import operator_folders
from ci.source.workload_file import find_workload, load_workload
from ci.system.sandbox import sandbox_level
from tests.ci.deep import deep_folder
from tests.ci.small_operator import KERNEL, write_operator

SECRET = "s3cret"
pytestmark = pytest.mark.every_level


@dataclass(frozen=True)
class Place:
    """A repository with an operator, and a secret in a folder beside the repository."""

    top: Path
    root: Path
    home: Path

    def named(self, way: str, at: Path, name: str, text: str) -> str:
        """A path as a file in `at` would spell it, which leads to `name` in the secret's folder."""
        secret = self.home / name
        secret.write_text(text)
        if way == "own":
            (at / name).write_text(text)
            return name
        if way == "link":
            (at / name).symlink_to(secret)
            return name
        if way == "link in a row":
            (at / "first").symlink_to(secret)
            (at / name).symlink_to("first")
            return name
        if way == "folder":
            (at / "below").symlink_to(self.home)
            return f"below/{name}"
        if way == "hidden":
            (self.top / ".git" / name).write_text(text)
            return os.path.relpath(self.top / ".git" / name, at)
        if way == "link to hidden":
            (self.top / ".git" / name).write_text(text)
            (at / name).symlink_to(self.top / ".git" / name)
            return name
        if way == "hard link":
            (at / name).hardlink_to(secret)
            return name
        if way == "hard link to hidden":
            (self.top / ".git" / name).write_text(text)
            (at / name).hardlink_to(self.top / ".git" / name)
            return name
        if way == "mounted file":
            (at / name).touch()
            mount(secret, at / name)
            return name
        if way == "mounted folder":
            (at / "below").mkdir()
            mount(self.home, at / "below")
            return f"below/{name}"
        if way == "pipe":
            os.mkfifo(at / name)
            return name
        if way == "link to a pipe":
            os.mkfifo(self.home / "pipe")
            (at / name).symlink_to(self.home / "pipe")
            return name
        if way == "link to a device":
            (at / name).symlink_to("/dev/zero")
            return name
        if way == "socket":
            with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(at):
                made.bind(name)
            return name
        if way == "link to itself":
            (at / name).symlink_to(name)
            return name
        if way == "folder of that name":
            (at / name).mkdir()
            return name
        if way == "proc":
            return f"/proc/{os.getpid()}/root{secret}"
        if way == "own proc":
            return f"/proc/self/cwd/{os.path.relpath(secret)}"
        return {"up": os.path.relpath(secret, at), "absolute": str(secret)}[way]


LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, PRIVATE, BIND = 0x20000, 0x44000, 0x1000


def mount(what: Path, onto: Path) -> None:
    assert LIBC.mount(bytes(what), bytes(onto), None, BIND, None) == 0


def apart(read: Callable[[], str]) -> str:
    """What `read` says in a process that sees mounts of its own; skips where nobody may mount."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        said = "may not"
        if LIBC.unshare(NEW_MOUNTS) == 0 and not LIBC.mount(b"none", b"/", None, PRIVATE, None):
            try:
                said = f"read: {read()}"
            except BaseException as problem:
                said = f"{type(problem).__name__}: {problem}"
        os.write(theirs, said.encode()[:4000])
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    if said == "may not":
        pytest.skip("Nothing can be mounted here.")
    assert said.startswith(("read: ", "InputError: ")), said
    return said


WAYS = (
    "link",
    "link in a row",
    "folder",
    "hidden",
    "link to hidden",
    "proc",
    "own proc",
    "hard link",
    "hard link to hidden",
    "mounted file",
    "mounted folder",
    "up",
    "absolute",
    "pipe",
    "link to a pipe",
    "link to a device",
    "socket",
    "link to itself",
    "folder of that name",
)


def golden(place: Place, way: str) -> str:
    text = f"def f(x):\n    return x + {len(SECRET)}\n"
    name = place.named(way, place.root, "theirs.py", text)
    return called(place, f"{name}:f")


def read_by_golden(place: Place, way: str) -> str:
    name = place.named(way, place.root, "data.txt", SECRET)
    (place.root / "golden.py").write_text(
        "from pathlib import Path\ndef f(x):\n"
        f"    raise ValueError(Path(__file__).parent.joinpath({name!r}).read_text())\n"
    )
    return called(place, "golden.py:f")


def called(place: Place, spelled: str) -> str:
    case = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype="float32"),))
    workload = Workload(operator="Op", cases=(case,), golden=spelled, folder=place.root)
    (out,) = Golden(workload).outputs(case, [np.zeros(2, np.float32)])
    assert isinstance(out, np.ndarray)
    return SECRET if out[0] == len(SECRET) else ""


def workload(place: Place, way: str) -> str:
    place.named(way, place.root, "workload.yaml", f"{SECRET}: 1\n")
    file = find_workload(place.root, None, place.top)
    return str(load_workload(load_operator(place.root), file))


def golden_of_workload(place: Place, way: str) -> str:
    """What a workload file names, from the file to the call."""
    text = f"def f(*x):\n    raise ValueError('{SECRET}')"
    name = place.named(way, place.root, "theirs.py", text)
    (place.root / "workload.yaml").write_text(
        f"operator: ScaleMask\ngolden: '{name}:f'\ncases:\n  - name: c\n    inputs:\n"
        "      x: {shape: [2], dtype: float32}\n      weights: []\n    attrs: {scale: 1.0}\n"
    )
    operator = load_operator(place.root)
    loaded = load_workload(operator)
    inputs = [np.zeros(2, np.float32), None, []]
    return str(Golden(loaded, operator).outputs(loaded.cases[0], inputs))


def source(place: Place, way: str) -> str:
    at = place.root / "op_kernel"
    name = place.named(way, at, "theirs.h", f"// {SECRET}")
    (at / "scale_mask.cpp").write_text(f'#include "{name}"\n{KERNEL}')
    operator = load_operator(place.root)
    texts = operator.texts({})
    laid = place.home.parent / "laid"
    lay_operator(laid, operator, texts)
    seen = [*texts.values(), *neighbours(operator, texts).values()]
    seen += [p.read_text() for p in laid.rglob("*.h")]
    return "".join(seen).replace(name, "")


def patch(place: Place, way: str) -> str:
    name = place.named(way, place.root, "theirs.h", f"// {SECRET}\n")
    spelled = name.lstrip("/")
    before = (place.home / "theirs.h").read_bytes()
    operator = load_operator(place.root)
    diff = f"--- a/{spelled}\n+++ b/{spelled}\n@@ -1 +1 @@\n-// {SECRET}\n+// mine\n"
    try:
        return str(applied(operator, diff))
    finally:
        assert (place.home / "theirs.h").read_bytes() == before


NAMED: dict[str, Callable[[Place, str], str]] = {
    "golden": golden,
    "read by a golden": read_by_golden,
    "workload": workload,
    "golden of a workload": golden_of_workload,
    "source": source,
    "patch": patch,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", NAMED)
def test_nothing_outside_of_a_repository_is_read_by_any_path(
    tmp_path: Path, what: str, way: str
) -> None:
    top = tmp_path / "repository"
    root = write_operator(top)
    Git.made(top)
    if what == "read by a golden" and sandbox_level() == "limits":
        pytest.skip("This level hides no file from what runs in it.")
    if what == "read by a golden" and way == "link to a device":
        pytest.skip("Every program has that device; a golden may spend its time on it.")
    home = tmp_path / "home"
    home.mkdir()

    def read() -> str:
        try:
            return NAMED[what](Place(top, root, home), way)
        except InputError as problem:
            return str(problem)

    assert SECRET not in (apart(read) if way.startswith("mounted") else read())


@pytest.mark.parametrize("what", NAMED)
def test_what_lies_in_the_repository_is_read(tmp_path: Path, what: str) -> None:
    root = write_operator(tmp_path / "repository")
    Git.made(tmp_path / "repository")
    (tmp_path / "home").mkdir()
    try:
        seen = NAMED[what](Place(tmp_path / "repository", root, tmp_path / "home"), "own")
    except InputError as problem:
        seen = str(problem)
    assert what == "patch" or SECRET in seen


LATER: dict[str, tuple[str, Callable[[Path], str]]] = {
    "workload": ("workload.yaml", lambda root: str(load_workload(load_operator(root)))),
    "source": ("op_kernel/scale_mask.cpp", lambda root: str(load_operator(root).texts({}))),
    "header": ("op_kernel/theirs.h", lambda root: str(load_operator(root).texts({}))),
}


@pytest.mark.parametrize("what", LATER)
def test_a_link_that_is_made_after_the_check_is_not_followed(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_operator(tmp_path / "repository")
    Git.made(tmp_path / "repository")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret").write_text(f"{SECRET}: 1\n")
    name, read = LATER[what]
    if not (root / name).exists():
        (root / name).write_text("a: 1\n")
    really_open = os.open

    def late(path: Path, flags: int, *given: Any, **more: Any) -> int:  # others open files, too
        if Path(path) == root / name:
            (root / name).unlink()
            (root / name).symlink_to(tmp_path / "home" / "secret")
        return really_open(path, flags, *given, **more)

    monkeypatch.setattr("ci.model.regular_file.os.open", late)
    with pytest.raises(InputError, match="leads out of"):
        read(root)


BUILD_FILES = (
    "CMakeLists.txt",
    "op_host/CMakeLists.txt",
    "op_host/other.cpp",
    "op_kernel/other.h",
    "more.cmake",
    ".clang-format",
    ".ascendopt.yml",
)


@pytest.mark.parametrize("name", BUILD_FILES)
@pytest.mark.parametrize("way", ["pipe", "link to a pipe", "link to a device", "link"])
def test_no_file_of_a_tree_keeps_its_reader_waiting(tmp_path: Path, name: str, way: str) -> None:
    top = tmp_path / "repository"
    root = write_operator(top)
    Git.made(top)
    (tmp_path / "home").mkdir()
    file = root / name
    Place(top, root, tmp_path / "home").named(way, file.parent, file.name, SECRET)
    try:
        operator = load_operator(root)
        texts = operator.texts({})
        changed = {one: text + "int  x;\n" for one, text in texts.items()}
        said = str(texts) + str(laid_out(operator, changed))
    except InputError as problem:
        said = str(problem)
    assert SECRET not in said


@pytest.mark.parametrize("at", [".", "src/math/scale_mask", "src/math/scale_mask/op_kernel"])
def test_no_depth_of_a_folder_keeps_an_operator_from_being_read(tmp_path: Path, at: str) -> None:
    top = tmp_path / "repository"
    root = write_operator(top)
    Git.made(top)
    (root / "golden.py").write_text("def f(x):\n    return x + 1\n")
    with deep_folder(top / at):
        operator = load_operator(root)
        assert not any("deep.h" in name for name in operator.texts({}))
        assert [*operator_folders(top)] == [root]
        case = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype="float32"),))
        workload = Workload(operator="Op", cases=(case,), golden="golden.py:f", folder=root)
        (out,) = Golden(workload).outputs(case, [np.zeros(2, np.float32)])
        assert isinstance(out, np.ndarray) and out[0] == 1


def test_more_sources_than_any_operator_has_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_operator(tmp_path)
    for bound in ("MOST_SOURCES", "MOST_BYTES"):
        with monkeypatch.context() as patched:
            patched.setattr(f"ci.source.sides.{bound}", 1)
            for number in range(2):
                (root / "op_kernel" / f"more{number}.h").write_text("int a;\n")
            with pytest.raises(InputError, match="C\\+\\+ sources or .* of them; keep only those"):
                load_operator(root)
