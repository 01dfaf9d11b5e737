"""The small program that confines itself starts nothing unless all of it took hold."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ci.model.errors import EnvironmentProblem
from ci.system import sandbox_child
from ci.system.compiler import WARNINGS, compile_trusted, compiler, compiler_version
from ci.system.sandbox import Limits, run
from ci.system.sandbox_child import child_command
from ci.system.view import View


def confined(words: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, capture_output=True, timeout=60, check=False)


def test_a_filter_that_the_kernel_refuses_starts_nothing(tmp_path: Path) -> None:
    for program in (b"\xff" * 8, b"\x06\x00\x00\x00"):  # no instruction of it, half of one
        command = child_command(View.of([], []), "limits", tmp_path, program)
        done = confined([*command, "/bin/echo", "started"])
        assert (done.returncode, done.stdout) == (126, b"")


def test_words_that_make_no_sense_start_nothing(tmp_path: Path) -> None:
    command = child_command(View.of([], []), "limits", tmp_path, b"")
    text = command[0]
    for words in (
        [text],
        command,
        [text, "zz", "limits", "--", "/bin/echo", "started"],
        [text, "", "landlok", "--", "/bin/echo", "started"],
        [text, "", "landlock", "*/tmp", "--", "/bin/echo", "started"],
    ):
        done = confined(words)
        assert (done.returncode, done.stdout) == (126, b"")


def test_it_compiles_without_a_warning(tmp_path: Path) -> None:
    options = (*sandbox_child.OPTIONS, *WARNINGS, "-o", "child")
    assert compile_trusted([*options, str(sandbox_child.SOURCE)], tmp_path) == ""


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = run(["/nowhere/at-all"], cwd=tmp_path, limits=Limits(seconds=20), level="limits")
    assert (done.returncode, done.stderr) == (127, b"/nowhere/at-all: No such file or directory\n")


def test_without_a_compiler_the_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget() -> None:
        for known in (compiler, compiler_version, sandbox_child._key):
            known.cache_clear()

    forget()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match=r"its sandbox need .*apt-get install -y g\+\+"):
        run(["/bin/true"], cwd=tmp_path, limits=Limits(seconds=20), level="limits")
    forget()


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(EnvironmentProblem, match="set XDG_CACHE_HOME to a folder of your own"):
        run(["/bin/true"], cwd=Path("/"), limits=Limits(seconds=20), level="limits")
