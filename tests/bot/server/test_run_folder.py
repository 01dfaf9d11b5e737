import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.base.git import Git
from bot.server.one_item import DEFECT
from bot.server.plan_folder import JOBS, PLAN, planned, write_plan
from bot.server.run_folder import FAILURE, Failure, leaving_reason, only_files, read_failure
from bot.server.run_job import JOB_FILE
from ci.model.errors import EnvironmentProblem, InputError
from tests.bot.make import git, job
from tests.places import SAMPLE


@pytest.mark.parametrize(
    ("problem", "sentence", "lasting"),
    [
        (InputError("The patch\n does not apply."), "The patch does not apply.", True),
        (EnvironmentProblem("g++ is missing."), "g++ is missing.", False),
        (KeyError("scale"), DEFECT, False),
    ],
)
def test_a_run_that_fails_leaves_the_reason_as_data(
    tmp_path: Path, problem: Exception, sentence: str, lasting: bool
) -> None:
    with pytest.raises(type(problem)), leaving_reason(tmp_path / "run"):
        raise problem
    failure = read_failure(tmp_path / "run")
    assert failure is not None
    assert (failure.sentence, failure.lasting) == (sentence, lasting)


def test_a_run_that_ends_well_leaves_no_reason(tmp_path: Path) -> None:
    with leaving_reason(tmp_path):
        pass
    assert read_failure(tmp_path) is None


def _linked_folder(run: Path, theirs: Path) -> None:
    run.rmdir()
    run.symlink_to(theirs.parent)


def _linked_twice(run: Path, theirs: Path) -> None:
    (run / "first").symlink_to(theirs)
    (run / FAILURE).symlink_to("first")


WAYS: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda run, theirs: (run / FAILURE).symlink_to(theirs),
    "link in a row": _linked_twice,
    "linked folder": _linked_folder,
    "hard link": lambda run, theirs: (run / FAILURE).hardlink_to(theirs),
    "proc": lambda run, theirs: (run / FAILURE).symlink_to(f"/proc/self/root{theirs}"),
    "pipe": lambda run, theirs: os.mkfifo(run / FAILURE),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_run_left_is_read_from_files_of_its_own_alone(tmp_path: Path, way: str) -> None:
    theirs, run = tmp_path / "theirs" / FAILURE, tmp_path / "results" / "key"
    theirs.parent.mkdir()
    theirs.write_text(Failure(sentence="s3cret", lasting=True).model_dump_json())
    run.mkdir(parents=True)
    WAYS[way](run, theirs)
    only_files(tmp_path / "results")
    assert read_failure(run) is None
    assert "s3cret" in theirs.read_text()


def test_what_a_run_left_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError), leaving_reason(tmp_path / "results" / "key"):
        raise InputError("Why.")
    only_files(tmp_path / "results")
    assert read_failure(tmp_path / "results" / "key") is not None


@pytest.mark.parametrize("key", ["../theirs", "theirs/../..", ".theirs", "", "a b", "\u0663", "-x"])
def test_a_job_whose_name_is_a_way_elsewhere_is_refused(tmp_path: Path, key: str) -> None:
    made = job("right").model_copy(update={"key": key})  # as nobody may make one
    for folder in (tmp_path / JOBS / key, tmp_path / "theirs"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / JOB_FILE).write_text(made.model_dump_json())
    (tmp_path / PLAN).write_text(f'{{"jobs": ["{key}"]}}')
    with pytest.raises(InputError, match="names a job that is no key"):
        planned(tmp_path)


@pytest.mark.long
@pytest.mark.every_level
def test_a_run_that_a_ci_kills_leaves_its_trials_and_nothing_of_its_work_tree(
    tmp_path: Path,
) -> None:
    """A CI takes the results' folder, also when it has killed the run; on GitHub it takes nothing
    of it when one name holds a character such as a colon."""
    ops, plan, results = tmp_path / "ops", tmp_path / "plan", tmp_path / "results"
    shutil.copytree(SAMPLE, ops)
    (ops / 'a"b:c*?').touch()
    git(ops, "init", "-q", "-b", "main")
    git(ops, "add", "-A")
    git(ops, "commit", "-q", "-m", "Add operators")
    operator, head = "src/math/affine_clamp", git(ops, "rev-parse", "HEAD")
    asked = {"source_commit": head, "judge_commit": head, "number": 0, "budget": 40}
    made = job(operator=operator, workload=f"{operator}/workload.yaml", **asked)
    assert write_plan([made], Git(ops), "", "", plan) == [made]
    command = [sys.executable, "-P", "-m", "ascendopt", "ci", "run", str(plan)]
    (tmp_path / "tmp").mkdir()
    places = {"TMPDIR": str(tmp_path / "tmp"), "XDG_DATA_HOME": str(tmp_path / "data")}
    process = subprocess.Popen(
        [*command, "--out", str(results)], env=os.environ | places, start_new_session=True
    )
    trials = results / made.key / "trials.sqlite"
    try:
        while _rows(trials) < 2 and process.poll() is None:
            time.sleep(0.1)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    left = {path.name for path in results.rglob("*")}
    assert left <= {made.key, "trials.sqlite", "trials.sqlite-wal", "trials.sqlite-shm"}
    assert _rows(trials) >= 2


def _rows(file: Path) -> int:
    """How many trials a run has kept."""
    if not file.is_file():
        return 0
    connection = sqlite3.connect(file)
    try:
        (found,) = connection.execute("SELECT count(*) FROM trials").fetchone()
        return int(found)
    except sqlite3.OperationalError:  # its tables are still to be made
        return 0
    finally:
        connection.close()
