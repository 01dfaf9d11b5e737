"""`ascendopt machine` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.main import BAD_INPUT, DONE, run


def test_calibrate_prints_every_constant_with_its_residuals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["machine", "calibrate", "--device", "910B1"]) == DONE
    said = capsys.readouterr().out
    assert "mte2.window_bytes" in said and "without one source" in said
    assert "not used by a fit" in said and "median error" in said


def test_validate_runs_one_version_and_writes_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["machine", "validate", "--family", "bank_conflict_ub", "--version", "s1,s5"]
    assert run([*words, "--json", "--page", str(tmp_path)]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert [one["version"]["version"] for one in found[0]["versions"]] == ["s1", "s5"]
    page = (tmp_path / "validation.md").read_text()
    assert "| s5 | read-write conflict; fitted | 3,751.0 ticks |" in page
    assert (tmp_path / "images" / "validation-times.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--family", "softmax"], "There is no family 'softmax'; known are add_high_performance"),
        (["--family", "data_copy_ub", "--version", "s9"], "data_copy_ub has no version s9"),
    ],
)
def test_validate_names_what_it_does_not_know(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["machine", "validate", *words]) == BAD_INPUT
    assert sentence in capsys.readouterr().err
