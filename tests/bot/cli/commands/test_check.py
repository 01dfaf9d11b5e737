"""`check` finds the operators that paths and changes mean, and tells their faults in all forms."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

import ci.source.discovery
from bot.base.git import Git
from bot.cli.commands import check
from bot.cli.commands.check import operators_of
from bot.cli.main import run
from ci.model.operator import Operator
from ci.session.operator_check import OperatorCheck, open_check
from tests.ci.derive.test_derive import BIAS_ADD, PROGRAM, copied, edited
from tests.ci.judge.check.small_operator import TWICE, ordered, write_operator
from tests.ci.source.test_placed import two_in_a_folder
from tests.places import SAMPLE

KERNEL = "src/math/affine_clamp/op_kernel/affine_clamp.cpp"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one operator, whose change in the work tree copies past its buffer."""
    top = tmp_path / "ops"
    shutil.copytree(SAMPLE / "src/math/affine_clamp", top / "src/math/affine_clamp")
    (top / "README.md").write_text("operators\n")
    git = Git.made(top)
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
    assert operators_of(files) == (folder,)
    assert [path.name for path in operators_of([checkout], files)] == ["affine_clamp"]


def test_a_source_in_folders_of_any_name_means_the_operators_that_are_built_from_it(
    tmp_path: Path,
) -> None:
    root = two_in_a_folder(tmp_path)
    Git.made(tmp_path)
    both = (root / "scale_shift", root / "scale_shift_grad")
    assert operators_of([tmp_path]) == both
    assert operators_of([], [root / "declared/scale_shift_grad.cpp"]) == both[1:]
    assert operators_of([root / "declared/scale_shift_tiling.h"]) == both[:1]
    assert operators_of([], [root / "device/step.h"]) == both
    assert operators_of([], [tmp_path / "notes.md"]) == ()


def test_a_header_that_operators_share_means_each_of_them(checkout: Path) -> None:
    shared = checkout / "src/common/limits.h"
    shared.parent.mkdir()
    shared.write_text("constexpr int LEAST = 1;\n")
    assert operators_of([shared]) == ()
    kernel = checkout / KERNEL
    kernel.write_text('#include "../../../common/limits.h"\n' + kernel.read_text())
    assert operators_of([shared]) == (checkout / "src/math/affine_clamp",)


@pytest.mark.long
def test_a_fault_of_a_changed_operator_ends_with_1_and_has_its_line_in_sarif(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sarif = "out/faults.sarif"
    asked = ["check", "--changed-since", "HEAD", "--varied", "0", "--sarif", sarif]
    assert run(asked) == 1
    said = capsys.readouterr().out
    assert "error: " in said
    (again,) = (line for line in said.splitlines() if "Again: ascendopt " in line)
    assert "--varied 0" in again
    (log,) = json.loads((checkout / sarif).read_text())["runs"]
    fault = next(one for one in log["results"] if one["level"] == "error")
    place = fault["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": KERNEL, "uriBaseId": "SRCROOT"}
    lines = (checkout / KERNEL).read_text().splitlines()
    assert place["region"]["startLine"] <= len(lines)
    assert log["tool"]["driver"]["rules"][fault["ruleIndex"]]["id"] == fault["ruleId"]
    assert run(shlex.split(again.partition("Again: ascendopt ")[2])) == 1
    assert [line for line in capsys.readouterr().out.splitlines() if "error: " in line] == [
        line for line in said.splitlines() if "error: " in line
    ]


@pytest.mark.long
@pytest.mark.parametrize("kept", [True, False], ids=["varied", "own, no golden function"])
def test_a_finding_has_a_command_that_shows_it_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kept: bool
) -> None:
    """It needs no workload where none judges the results: the case says all."""
    body = TWICE if kept else TWICE.replace(ordered("V_MTE3"), "")
    operator = write_operator(tmp_path / "small", body, golden="x * np.float32(2)")
    workload = operator / "workload.yaml"
    if not kept:
        lines = workload.read_text().splitlines(keepends=True)
        workload.write_text("".join(one for one in lines if not one.startswith("golden:")))
    varied = "4" if kept else "0"
    assert run(["check", str(operator), "--varied", varied, "--seconds", "600"]) == 1
    said = capsys.readouterr().out.splitlines()
    at = next(n for n, line in enumerate(said) if "alone: ascendopt " in line)
    start = max(n for n in range(at) if " error: " in said[n])
    if not kept:
        workload.unlink()
    assert run(shlex.split(said[at].partition("alone: ascendopt ")[2])) == 1
    shown = capsys.readouterr()
    assert said[start] in shown.out.splitlines() and "alone: " not in shown.out
    assert "in 1 case" in shown.out or "in 0 cases" in shown.out
    assert "varied cases" not in shown.err and "deriving" not in shown.err


def test_a_case_that_is_named_is_the_only_one(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Git(checkout).run("checkout", "-q", "--", ".")
    asked = ["check", "src/math/affine_clamp", "--json", "--case", "fp32_100003"]
    assert run(asked) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["cases"], report["varied"]) == (1, {})


def test_a_case_that_the_workload_does_not_have_is_bad_input(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "src/math/affine_clamp", "--case", "nowhere"]) == 2
    assert "--case is 'nowhere'" in capsys.readouterr().out


def test_a_case_is_for_one_operator(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = checkout / "src/math/affine_clamp"
    shutil.copytree(source, source.with_name("another"))
    assert run(["check", "src/math", "--case", "own"]) == 2
    assert "--case is for one operator; there are 2" in capsys.readouterr().err


@pytest.mark.long
def test_deriving_a_workload_is_told_and_takes_half_of_the_seconds(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Git(checkout).run("checkout", "-q", "--", ".")
    (checkout / "src/math/affine_clamp/workload.yaml").unlink()
    asked = ["check", "src/math/affine_clamp", "--varied", "0", "--seconds", "0.5", "--json"]
    assert run(asked) == 0
    shown = capsys.readouterr()
    (report,) = json.loads(shown.out)
    assert report["cases"] == 1  # one is tried, whatever time is left
    told = ("deriving a workload", "builds the host side", "passes", "runs 1 case as written")
    assert all(words in shown.err for words in told)


@pytest.mark.long
@pytest.mark.parametrize("others", ["COLUMN_TILE", "COLUMN_TILE * 4096"], ids=["pass", "fail"])
def test_an_operator_that_fails_on_a_case_of_its_repository_fails_its_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], others: str
) -> None:
    """Whether or not a workload can be derived of what it passes."""
    tile = f"std::max(rows == 8 ? COLUMN_TILE * 4096 : {others}, "
    place = edited(copied(BIAS_ADD, tmp_path), "std::min(COLUMN_TILE, ", tile)
    (place / "examples").mkdir()
    (place / "examples" / "test_bias_add.cpp").write_text(PROGRAM)
    assert run(["check", str(place), "--varied", "0", "--seconds", "600", "--json"]) == 1
    (report,) = json.loads(capsys.readouterr().out)
    errors = [one for one in report["findings"] if one["severity"] == "error"]
    assert [one["place"]["case"] for one in errors] == ["float32_8x2048"]
    assert "8, 2048" in errors[0]["alone"]
    assert (report["cases"] > 1) == (others == "COLUMN_TILE")


def test_a_good_operator_ends_with_0_and_json_says_what_was_run(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Git(checkout).run("checkout", "-q", "--", ".")
    asked = ["check", "src/math/affine_clamp", "--varied", "4", "--seconds", "600", "--json"]
    assert run(asked) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["operator"] == "affine_clamp"
    assert report["cases"] > sum(report["varied"].values()) > 0
    assert not [one for one in report["findings"] if one["severity"] != "note"]


def test_a_workload_that_cannot_be_read_is_bad_input(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workload = checkout / "src/math/affine_clamp/workload.yaml"
    workload.write_text(workload.read_text().replace("cases:", "cases_:"))
    assert run(["check", "src/math/affine_clamp"]) == 2
    assert "cases_" in capsys.readouterr().out


def test_a_defect_in_one_operator_keeps_no_other_from_being_checked(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = checkout / "src/math/affine_clamp"
    shutil.copytree(source, source.with_name("another"))
    (source / "workload.yaml").write_text("cases_: []")

    def broken(folder: Path, *more: object) -> OperatorCheck:
        if folder.name == "another":
            raise KeyError("odd")
        return open_check(folder, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "open_check", broken)
    assert run(["check", "--json", "src/math"]) == 2
    words = {one["operator"]: one["unchecked"] for one in json.loads(capsys.readouterr().out)}
    assert "KeyError: 'odd'" in words["another"] and "cases_" in words["affine_clamp"]


@pytest.mark.long
def test_an_operator_without_a_workload_is_read_once(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "src/math/affine_clamp/workload.yaml").unlink()
    read: list[Path] = []
    plain = ci.source.discovery._load_operator

    def counted(path: Path, top: Path | None) -> Operator:
        read.append(path)
        return plain(path, top)

    monkeypatch.setattr(ci.source.discovery, "_load_operator", counted)
    assert run(["check", "--varied", "0", "src/math/affine_clamp"]) == 0
    inside = len(read)
    run(["check", "--varied", "0", "src/math/affine_clamp"])
    assert len(read) == 2 * inside and len({*read}) == inside


def test_what_cannot_be_read_as_an_operator_is_said_of_each_and_is_not_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In folders of two layouts, and under a name that is no UTF-8."""
    source = checkout / "src/math/affine_clamp"
    wide, apart, odd = (checkout / "src" / name for name in ("wide", "apart", "n"))
    for place in (wide, odd):
        shutil.copytree(source, place)
    apart.mkdir()
    for side in ("host", "kernel"):
        text = (source / f"op_{side}/affine_clamp.cpp").read_text()
        (apart / f"{side}.cpp").write_text(text, encoding="utf-16")
    (wide / "op_kernel/affine_clamp.cpp").write_text("int x;", encoding="utf-16")
    odd.rename(os.fsdecode(os.fsencode(odd) + b"\xff"))
    shutil.rmtree(source)
    assert run(["check", str(checkout)]) == 2
    said = capsys.readouterr().out
    for words in ("wide/op_kernel", "apart/", "n\\xff"):
        assert words in said
    assert said.count("UTF-16") == 2 and said.count("no UTF-8") == 1
    assert run(["check", "--json", str(checkout)]) == 2
    assert [one["refused"] for one in json.loads(capsys.readouterr().out)] == [True] * 3


def test_a_source_that_is_too_large_to_be_looked_through_is_said(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, apart = checkout / "src/math/affine_clamp", checkout / "src" / "apart"
    apart.mkdir()
    for side in ("host", "kernel"):
        text = (source / f"op_{side}/affine_clamp.cpp").read_text()
        (apart / f"{side}.cpp").write_text(text + "// table\n" * (1 << 18) * (side == "kernel"))
    (apart / "other.cpp").write_text("// table\n" * (1 << 18))
    shutil.rmtree(source)
    assert run(["check", str(checkout)]) == 2
    said = capsys.readouterr().out
    assert "apart/kernel.cpp is larger than 1 MiB" in said and "other.cpp" not in said


def test_a_path_that_is_not_there_is_bad_input(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_a_revision_that_git_does_not_know_is_bad_input(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--changed-since", "--output=x"]) == 2
    said = capsys.readouterr().err
    assert "--changed-since cannot be --output=x: git knows no such commit" in said
    assert not (checkout / "x").exists()
