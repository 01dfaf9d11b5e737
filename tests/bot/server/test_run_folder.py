import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.cli.commands import ci
from bot.cli.main import run
from bot.server import plan_folder
from bot.server.one_item import DEFECT
from bot.server.plan_folder import JOBS, PLAN, leave_results, planned, working
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


def test_a_run_that_is_killed_leaves_nothing_of_its_checkout_among_the_results(
    tmp_path: Path,
) -> None:
    """A CI takes the results' folder, also when it has killed the run."""
    results = tmp_path / "results" / "key"
    program = (
        "import os, sys; from pathlib import Path\n"
        "from bot.server.plan_folder import working\n"
        "with working(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'checkout').mkdir(); (folder / 'checkout' / 'a').write_text('secret')\n"
        "    (folder / 'trials.sqlite').touch(); os.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, "-c", program, str(results)]
    ended = subprocess.run(command, env=os.environ | {"TMPDIR": str(tmp_path)}, timeout=60)
    assert ended.returncode == -9
    assert not list((tmp_path / "results").rglob("*"))
    with working(results) as folder:
        (folder / "checkout").mkdir()
        (folder / "trials.sqlite").touch()
    assert [path.name for path in results.rglob("*")] == ["trials.sqlite"]


def test_nothing_lies_among_the_results_while_a_job_of_a_ci_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, results, seen = job("right"), tmp_path / "results", list[Path]()
    place = tmp_path / "plan" / JOBS / made.key
    place.mkdir(parents=True)
    (place / JOB_FILE).write_text(made.model_dump_json())
    (tmp_path / "plan" / PLAN).write_text(f'{{"jobs": ["{made.key}"]}}')

    def unpacked(one: object, where: object, out: Path) -> Path:
        (out / "checkout").mkdir()
        (out / "trials.sqlite").touch()
        seen.extend([out, *results.rglob("*")])
        raise InputError("killed here")

    monkeypatch.setattr(plan_folder, "repository_of", unpacked)
    monkeypatch.setattr(ci, "hide", lambda: None)  # it would close this process
    assert run(["ci", "run", str(tmp_path / "plan"), "--out", str(results)]) == 1
    (folder,) = seen
    assert not folder.is_relative_to(results)
    assert [path.name for path in results.rglob("*") if path.is_file()] == ["trials.sqlite"]
