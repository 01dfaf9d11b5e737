"""`ascendopt machine` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.main import BAD_INPUT, DONE, run
from lab.commands.machine import echo_learnt
from lab.model.calibration import Calibration, ConstantResult, GroupResult, RowResult


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


def test_calibrate_says_when_runs_have_nothing_to_learn_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = f"{tmp_path}, {tmp_path / 'nowhere'}"
    assert run(["machine", "calibrate", "--from-trials", runs]) == BAD_INPUT
    assert "There are no trials at" in capsys.readouterr().err


def test_what_trials_teach_is_told_with_how_far_off_the_model_was(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def rows(*predicted: float) -> tuple[RowResult, ...]:
        named = zip(("run1", "run1", "run2"), predicted, strict=True)
        return tuple(
            RowResult(name="a", source=source, measured=10.0, predicted=us) for source, us in named
        )

    moved = ConstantResult(name="launch.base_us", current=2.0, fitted=3.0, without={})
    echo_learnt(
        Calibration(
            device="910B4",
            groups=(GroupResult(title="times", constants=(moved,), rows=rows(9.9, 10, 10.1)),),
            held_out=rows(9.5, 9.5, 9.6),
            as_it_was=rows(8.0, 7.0, 8.5),
        )
    )
    said = capsys.readouterr().out
    assert "3 times of 2 runs on 910B4: the model is off by 20.0 % at the median" in said.replace(
        "%", " %"
    )
    assert "20.0% too short" in said
    assert "learnt without the run itself   5.0%" in said
    assert "launch.base_us                     +50%, 2 -> 3" in said
