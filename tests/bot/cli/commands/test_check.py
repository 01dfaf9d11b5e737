"""`check` evaluates the operators that files belong to, and writes their faults as SARIF."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bot.base.git import Git
from bot.cli.commands.check import owners
from bot.cli.main import run
from tests.places import SAMPLE

KERNEL = "src/math/affine_clamp/op_kernel/affine_clamp.cpp"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one operator, whose change in the work tree copies past its buffer."""
    top = tmp_path / "ops"
    shutil.copytree(SAMPLE / "src/math/affine_clamp", top / "src/math/affine_clamp")
    (top / "README.md").write_text("operators\n")
    git = Git(top)
    git.run("init", "-q")
    git.run("add", "-A")
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    git.run(*author, "commit", "-q", "-m", "first")
    kernel = top / KERNEL
    kernel.write_text(kernel.read_text().replace("outQueueY.EnQue<DTYPE_Y>(yLocal);", ""))
    monkeypatch.chdir(top)
    return top


def test_each_operator_is_found_once_and_other_files_are_no_operators(checkout: Path) -> None:
    folder = checkout / "src/math/affine_clamp"
    files = [checkout / KERNEL, folder / "op_host/affine_clamp.cpp", checkout / "README.md"]
    assert owners(files) == (folder,)


def test_a_fault_of_a_changed_operator_ends_with_1_and_has_its_line_in_sarif(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--since", "HEAD", "--sarif", "out/faults.sarif"]) == 1
    assert "affine_clamp: " in capsys.readouterr().out
    (log,) = json.loads((checkout / "out/faults.sarif").read_text())["runs"]
    (fault,) = (one for one in log["results"] if one["level"] == "error")
    place = fault["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": KERNEL, "uriBaseId": "SRCROOT"}
    lines = (checkout / KERNEL).read_text().splitlines()
    assert place["region"]["startLine"] <= len(lines)
    assert log["tool"]["driver"]["rules"][fault["ruleIndex"]]["id"] == fault["ruleId"]


def test_an_operator_without_a_workload_is_named_and_does_not_fail_the_check(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "src/math/affine_clamp/workload.yaml").unlink()
    assert run(["check", KERNEL]) == 0
    assert "not checked: " in capsys.readouterr().out


def test_a_revision_that_git_does_not_know_is_bad_input(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--since", "--output=x"]) == 2
    assert "--since --output=x" in capsys.readouterr().err
    assert not (checkout / "x").exists()
