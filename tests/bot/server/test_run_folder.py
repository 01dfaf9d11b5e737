import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.server.one_item import DEFECT
from bot.server.plan_folder import JOBS, PLAN, leave_results, planned
from bot.server.run_folder import FAILURE, Failure, leaving_reason, only_files, read_failure
from bot.server.run_job import JOB_FILE
from ci.model.errors import EnvironmentProblem, InputError
from tests.bot.make import job


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


def test_no_name_of_a_checkout_keeps_a_forge_from_taking_the_results(tmp_path: Path) -> None:
    """An artifact on GitHub takes no file with one of these characters, and then none at all."""
    run = tmp_path / "run"
    for folder in ("checkout", "judge", "workload", "made/odd"):
        (run / folder).mkdir(parents=True)
        for name in ('a"b', "a:b", "a*b?", "a\nb\r", "<a|b>", "x" * 250):
            (run / folder / name).touch()
    (run / "a:b.json").touch()
    (run / "link.json").symlink_to("/etc/passwd")
    for name in ("result.json", "best.patch", "trials.sqlite", "trials.sqlite-wal"):
        (run / name).touch()
    leave_results(run)
    leave_results(tmp_path / "none")
    kept = ["best.patch", "result.json", "trials.sqlite", "trials.sqlite-wal"]
    assert sorted(path.name for path in run.rglob("*")) == kept
