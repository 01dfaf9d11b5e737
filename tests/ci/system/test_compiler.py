"""Compiler words are cut to the first error, placed in the operator's own source."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.errors import EnvironmentProblem, TrialFailure
from ci.model.trial import Outcome
from ci.system.candidate_compiler import compile_candidate, compile_evidence
from ci.system.compiler import DETAIL_LINES, compile_trusted, compiler, compiler_version
from ci.system.sandbox import Completed, sandbox_level

pytestmark = pytest.mark.every_level


def said(text: str, *, timed_out: bool = False) -> Completed:
    return Completed(1, 0, b"", text.encode(), 1.0, timed_out)


def test_an_error_in_the_operators_source_is_placed_there() -> None:
    found = compile_evidence(
        said("op_kernel/a.cpp: In function:\n./op_kernel/a.cpp:7:3: error: 'x' was not declared\n"
             "op_kernel/a.cpp:9:1: error: later\n"), "kernel")  # fmt: skip
    assert found.message == "The kernel does not compile: 'x' was not declared"
    assert (found.place.file, found.place.line) == ("op_kernel/a.cpp", 7)


def test_an_error_in_a_header_is_placed_at_the_line_that_led_there() -> None:
    text = (
        "In file included from kernel_unit.cpp:3:\n"
        "/headers/api/tensor.h: In instantiation of 'f':\n"
        "op_kernel/a.cpp:41:9:   required from here\n"
        "/headers/api/tensor.h:5:1: error: static assertion failed\n"
    )
    found = compile_evidence(said(text), "kernel")
    assert (found.place.file, found.place.line) == ("op_kernel/a.cpp", 41)
    assert "static assertion" in found.message


def test_a_missing_symbol_is_a_link_failure() -> None:
    found = compile_evidence(said("ld: a.o: in f:\nundefined reference to `g()'\n"), "host tiling")
    assert found.message == "The host tiling does not link: undefined reference to `g()'"


def test_a_flood_of_errors_is_cut() -> None:
    text = "".join(f"op_kernel/a.cpp:{n}:1: error: bad\n" for n in range(1, 500))
    assert len(compile_evidence(said(text), "kernel").evidence.splitlines()) == DETAIL_LINES


def test_a_compiler_that_runs_on_is_said_to_have_been_stopped() -> None:
    assert "stopped after" in compile_evidence(said("", timed_out=True), "kernel").message


def test_the_compiler_sees_only_what_it_is_given(tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("int token = 42;\n")
    place = tmp_path / "build"
    place.mkdir()
    (place / "a.cpp").write_text(f'#include "{secret}"\n')
    if sandbox_level() == "bubblewrap":
        with pytest.raises(TrialFailure, match="No such file") as caught:
            compile_candidate(["-c", "a.cpp"], place, [], "kernel")
        assert caught.value.outcome is Outcome.COMPILE_ERROR
    compile_candidate(["-c", "a.cpp"], place, [secret], "kernel")
    assert (place / "a.o").is_file()


def test_our_own_code_failing_is_a_problem_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int main() { return nothing; }\n")
    with pytest.raises(EnvironmentProblem, match="cannot be built on this machine"):
        compile_trusted(["-c", "a.cpp"], tmp_path)


def test_a_missing_compiler_is_one_sentence_with_the_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiler.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentProblem, match=r"apt-get install -y g\+\+"):
        compiler()
    monkeypatch.undo()
    compiler.cache_clear()
    assert "g++" in compiler_version()


def test_an_old_compiler_is_passed_over_for_a_newer_one_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, ends in (("g++", 1), ("g++-11", 1), ("g++-12", 0), ("g++-13", 0), ("g++-14.sh", 0)):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\nexit {ends}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler.cache_clear()
    assert compiler() == str(tmp_path / "g++-13")
    monkeypatch.undo()
    compiler.cache_clear()


def test_a_failure_of_the_compiler_itself_is_not_the_kernel_s() -> None:
    text = (
        "cube.h: In instantiation of 'void f()':\ncube.h:12:4: internal compiler error: in tsubst\n"
    )
    found = compile_evidence(said(text), "kernel")
    assert found.sentence == "The kernel does not compile: the compiler itself fails: in tsubst"
