from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bot.cli.main import run
from bot.report.census import census_markdown
from ci.census.summary import summarize
from ci.model.census import CensusRow, Stage
from tests.places import OPERATORS

OPERATOR = OPERATORS / "src" / "math" / "bias_add"


def unreadable(top: Path) -> Path:
    """A repository with one operator whose definition nobody can read."""
    place = top / "src" / "math" / "bias_add"
    shutil.copytree(OPERATOR, place)
    host = next((place / "op_host").glob("*.cpp"))
    host.write_text(host.read_text().replace("public OpDef", "public Nothing"))
    return top


@pytest.mark.long
def test_the_census_is_left_as_rows_json_and_markdown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    repository = unreadable(tmp_path / "ops")
    assert run(["census", str(repository), "--out", str(out), "--pool", "local:1"]) == 0
    shown = capsys.readouterr()
    assert "[  1/1] src/math/bias_add" in shown.err
    assert "definition not read" in shown.out
    data = json.loads((out / "census.json").read_text())
    assert data["summary"]["reached"]["found"] == 1
    assert "| **all** | 1 | 0 |" in (out / "census.md").read_text()


def test_json_is_all_that_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = unreadable(tmp_path / "ops")
    assert run(["census", str(repository), "--out", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["name"] == "bias_add"


def test_operators_for_other_chips_are_said_with_the_option_that_tries_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "ops" / "bias_add"
    shutil.copytree(OPERATOR, place)
    host = next((place / "op_host").glob("*.cpp"))
    host.write_text(host.read_text().replace('"ascend910b"', '"ascend310b"'))
    out = ["--out", str(tmp_path / "out")]
    assert run(["census", str(tmp_path / "ops"), *out, "--pool", "local:1"]) == 0
    shown = capsys.readouterr().out
    assert "1 operator declared for other chips only: nothing was built. `--as 910B`" in shown
    assert "What is missing" not in shown
    assert "`--as 910B`" in (tmp_path / "out" / "census.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing"], "There is no folder"),
        ([".", "--operators", "nobody"], "holds no operator"),
        ([".", "--pool", "local:0"], "--pool"),
        ([".", "--workloads", "nowhere"], "There is no folder nowhere"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["census", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_text_of_the_repository_cannot_break_the_markdown() -> None:
    row = CensusRow(name="a|b", category="<script>", path="x", passed=(Stage.FOUND,))
    text = census_markdown("ops @all", [row], summarize([row]))
    assert "<script>" not in text
    assert "a\\|b" in text
    assert "@all" not in text
