"""`ascendopt optimize` where a newcomer begins: no workload, a long list of options."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.cli.commands.optimize import EVERYDAY, optimize
from bot.cli.main import FIRST_HOUR, run
from ci.model.result import Result
from tests.places import TOP

SAMPLE = TOP / "examples" / "sample_repository" / "src" / "math" / "affine_clamp"


@pytest.mark.nightly
def test_an_operator_without_a_workload_gets_one_outside_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, out = tmp_path / "math" / "affine_clamp", tmp_path / "out"
    shutil.copytree(SAMPLE, place)
    (place / "workload.yaml").unlink()
    words = ["optimize", str(place), "--budget", "3", "--stage", "tiling", "--out", str(out)]
    assert run([*words, "--bank", str(tmp_path / "bank.duckdb")]) == 0
    said = capsys.readouterr()
    assert "affine_clamp has no workload: one is derived into" in said.err
    assert ": passes" in said.err
    assert not (place / "workload.yaml").exists()
    result = Result.model_validate_json((out / "result.json").read_bytes())
    assert result.derived_workload == (out / "workload" / "workload.yaml").read_text()
    assert "workload" not in result.settings
    assert result.verdict == "improved" and "derived shapes" in (out / "report.md").read_text()


def test_the_help_has_the_everyday_options_and_help_all_has_every_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = {f"--{name.replace('_', '-')}" for name in EVERYDAY}
    assert run(["optimize", "--help"]) == 0
    short = capsys.readouterr().out
    assert all(flag in short for flag in flags) and "--top-k" not in short
    assert len(short.splitlines()) <= 50
    assert run(["optimize", "--help-all"]) == 0
    long = capsys.readouterr().out
    assert {p.opts[0] for p in optimize.params if p.opts[0].startswith("--")} <= {*long.split()}
    assert run(["optimize", "--help"]) == 0
    assert "--top-k" not in capsys.readouterr().out


def test_the_command_alone_names_the_commands_of_the_first_hour(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([]) == 0
    said = capsys.readouterr().out
    assert all(f"  {name}" in said for name in FIRST_HOUR)
    assert "census" not in said and "ascendopt --help" in said
