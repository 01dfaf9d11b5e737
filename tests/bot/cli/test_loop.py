"""The whole loop on a real operator: optimize, apply the patch, measure again, hand in, decline."""

from __future__ import annotations

import csv
import json
import runpy
import shutil
from pathlib import Path

import pytest

from bot.cli.main import run
from ci.model.result import Result
from ci.model.trial import Trial
from tests.bot.make import git
from tests.places import EXAMPLES

pytestmark = pytest.mark.long

OPERATOR = "src/math/affine_clamp"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A sample repository and the folder of a finished run in it: (checkout, out)."""
    folder = tmp_path_factory.mktemp("loop")
    checkout, _ = runpy.run_path(str(EXAMPLES / "sample.py"))["make_sample"](folder)
    out = folder / "run"
    options = ("--budget", "9", "--bank", str(folder / "bank.duckdb"), "--out", str(out))
    assert run(["optimize", str(checkout / OPERATOR), *options]) == 0
    return checkout, out


def result_of(out: Path) -> Result:
    return Result.model_validate_json((out / "result.json").read_text())


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> Trial:
    assert run(["evaluate", *arguments, "--json"]) == 0
    return Trial.model_validate_json(capsys.readouterr().out)


def cycles(trial: Trial) -> list[int]:
    assert trial.measurement is not None
    return [case.pipes.total_cycles for case in trial.measurement.cases]


def test_the_run_leaves_what_the_documentation_says(finished: tuple[Path, Path]) -> None:
    _, out = finished
    names = {path.name for path in out.iterdir()}
    assert names >= {"best.patch", "report.md", "report.html", "result.json", "trials.sqlite"}
    made = result_of(out)
    assert made.verdict == "improved"
    assert made.fingerprint.simulated
    assert made.settings["proposer"] == "rules"
    assert "simulated time" in (out / "report.md").read_text()


def test_the_patched_operator_gives_the_reported_figure_to_the_cycle(
    finished: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout, out = finished
    made = result_of(out)
    place = checkout / OPERATOR
    with_patch = evaluated(capsys, str(place), "--patch", str(out / "best.patch"))
    assert cycles(with_patch) == cycles(made.best)
    copy = tmp_path / "ops"
    shutil.copytree(checkout, copy)
    git(copy, "apply", str(out / "best.patch"))
    assert cycles(evaluated(capsys, str(copy / OPERATOR))) == cycles(made.best)
    git(copy, "apply", "--reverse", str(out / "best.patch"))
    assert cycles(evaluated(capsys, str(copy / OPERATOR))) == cycles(made.baseline)


def test_the_result_is_handed_in_and_the_branch_is_the_patched_operator(
    finished: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    checkout, out = finished
    assert run(["submit", str(out), "--repository", str(checkout), "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["action"] == "opened"
    git(checkout, "fetch", "-q", "origin")
    changed = git(checkout, "diff", "--name-only", "main", f"origin/{done['branch']}")
    own = {f"{OPERATOR}/{path}" for path in result_of(out).best.candidate.files}
    assert set(changed.splitlines()) <= own


def test_a_second_run_into_the_same_folder_asks_for_resume(
    finished: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    checkout, out = finished
    assert run(["optimize", str(checkout / OPERATOR), "--out", str(out)]) == 2
    assert "--resume" in capsys.readouterr().err


def test_a_profile_leaves_a_trace_and_msprofs_tables(
    finished: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout, _ = finished
    assert run(["profile", str(checkout / OPERATOR), "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "bottleneck: " in said
    assert "cycles busy" in said
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    pipes = {event["cat"] for event in events if event["ph"] == "X"}
    assert {"MTE2", "VECTOR", "MTE3"} <= pipes
    arrows = [event["ph"] for event in events if event.get("cat") == "flag"]
    assert arrows.count("s") == arrows.count("f") > 0
    cores = {event["pid"] for event in events if event["ph"] == "X"}
    tables = list(tmp_path.glob("*/PipeUtilization.csv"))
    assert len(tables) == 2 and "of what memory, L2 and ports can copy" in said
    for table in tables:
        rows = list(csv.DictReader(table.open()))
        assert len(rows) * len(tables) == len(cores)
        assert all(0 < float(row["aiv_mte2_ratio"]) <= 1 for row in rows)


def test_a_recording_answers_like_the_simulator(
    finished: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, recording = str(finished[0] / OPERATOR), str(tmp_path / "recording.jsonl")
    live = evaluated(capsys, place, "--recording", recording)
    again = evaluated(capsys, place, "--backend", "replay", "--recording", recording)
    assert cycles(again) == cycles(live)
    assert run(["evaluate", place, "--recording", recording]) == 2
    assert "a recording is a new file" in capsys.readouterr().err
