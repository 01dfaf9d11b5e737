"""Verifying a proposed change again on a base that moved, with a real operator and no token."""

import shutil
from pathlib import Path

import pytest
from rich.console import Console

from bot.base.git import Git
from bot.repository.job import DERIVED, Job
from bot.repository.mirror import Commit
from bot.server.delivery import check_result
from bot.server.run_job import OWN_WORKLOAD, read_job, run_job
from ci.model.errors import InputError
from ci.model.result import Result
from ci.model.trial import Change
from tests.bot.make import git, job
from tests.ci.system.levels import needs_hidden_files
from tests.places import SAMPLE

OPERATOR = "src/math/affine_clamp"
TILING = f"{OPERATOR}/op_host/affine_clamp.cpp"
OLD = "TILE_BYTES = 4096"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The sample repository with a base that moved by a comment."""
    made = tmp_path / "ops"
    shutil.copytree(SAMPLE, made)
    git(made, "init", "-q", "-b", "main")
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "Add operators")
    return made


def patch(checkout: Path, new: str) -> str:
    """The diff of another tile size, which leaves the checkout as it was."""
    file = checkout / TILING
    text = file.read_text()
    assert OLD in text
    file.write_text(text.replace(OLD, new))
    diff = git(checkout, "diff")
    file.write_text(text)
    return diff + "\n"


def a_job(checkout: Path, diff: str, **changes: object) -> Job:
    head = git(checkout, "rev-parse", "HEAD")
    given: dict[str, object] = {
        "source_commit": head,
        "judge_commit": head,
        "number": 0,
        "requested_by": "",
        "operator": OPERATOR,
        "workload": f"{OPERATOR}/workload.yaml",
        "kind": "verify",
        "patch": diff,
        "patch_of": 7,
        "budget": 3,
    }
    return job(**(given | changes))


CONSOLE = Console(stderr=True, force_terminal=False)


def verified(checkout: Path, diff: str, out: Path, **changes: object) -> Result:
    job = a_job(checkout, diff, **changes)
    return run_job(job, checkout, out / "work", out, CONSOLE, bank=out.parent / "bank.duckdb")


@pytest.mark.nightly
@needs_hidden_files
def test_a_change_that_still_helps_is_verified_with_fresh_figures(
    checkout: Path, tmp_path: Path
) -> None:
    diff = patch(checkout, "TILE_BYTES = 16384")
    does = (Change(what="copies larger pieces", path="op_host/scale_add.cpp"),)
    found = verified(checkout, diff, tmp_path / "out", changes=does)
    assert found.verdict == "improved" and found.speedup > 1.02
    assert found.changes == does
    assert found.verification is not None
    assert found.run == "0123456789" and found.base_commit == git(checkout, "rev-parse", "HEAD")
    assert "+const uint32_t TILE_BYTES = 16384;" in found.diff
    assert (tmp_path / "out" / "result.json").is_file()


def without_workload(checkout: Path) -> None:
    git(checkout, "rm", "-q", f"{OPERATOR}/workload.yaml")
    git(checkout, "commit", "-q", "-a", "-m", "Forget the workload")


@pytest.mark.long
@needs_hidden_files
def test_a_run_goes_on_with_the_workload_that_it_had_derived(
    checkout: Path, tmp_path: Path
) -> None:
    text = (checkout / OPERATOR / "workload.yaml").read_text()
    before = "".join(line for line in text.splitlines(True) if not line.startswith("golden:"))
    without_workload(checkout)
    file = tmp_path / "work" / OWN_WORKLOAD / "workload.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(before)
    job = a_job(checkout, patch(checkout, "TILE_BYTES = 512"), workload=DERIVED)
    found = run_job(
        job, checkout, tmp_path / "work", tmp_path / "out", CONSOLE, bank=tmp_path / "bank.duckdb"
    )
    assert found.derived_workload == before
    check_result(job, found)  # so it is handed in


@pytest.mark.long
@needs_hidden_files
def test_an_operator_that_is_its_whole_repository_is_judged_and_handed_in(tmp_path: Path) -> None:
    top = tmp_path / "anything"
    shutil.copytree(SAMPLE / OPERATOR, top)
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "Add an operator")
    assert list(Commit(Git(top), git(top, "rev-parse", "HEAD")).operators) == ["."]
    place = top / TILING.removeprefix(f"{OPERATOR}/")
    text = place.read_text()
    place.write_text(text.replace(OLD, "TILE_BYTES = 512"))
    diff = git(top, "diff") + "\n"
    place.write_text(text)
    one = a_job(top, diff, operator=".", workload="workload.yaml")
    found = run_job(
        one, top, tmp_path / "work", tmp_path / "out", CONSOLE, bank=tmp_path / "bank.duckdb"
    )
    assert found.operator == "affine_clamp" and found.verdict == "not_improved"
    check_result(one, found)


@needs_hidden_files
@pytest.mark.every_level
def test_an_operator_for_which_nothing_can_be_derived_is_said(
    checkout: Path, tmp_path: Path
) -> None:
    file = checkout / TILING
    file.write_text(file.read_text().replace("return ge::GRAPH_SUCCESS", "return ge::GRAPH_FAILED"))
    without_workload(checkout)
    job = a_job(checkout, "", workload=DERIVED)
    with pytest.raises(InputError, match="has no workload, and none could be derived: Its host"):
        run_job(
            job,
            checkout,
            tmp_path / "work",
            tmp_path / "out",
            CONSOLE,
            bank=tmp_path / "bank.duckdb",
        )


@needs_hidden_files
@pytest.mark.every_level
def test_a_change_that_no_longer_helps_is_no_improvement(checkout: Path, tmp_path: Path) -> None:
    found = verified(checkout, patch(checkout, "TILE_BYTES = 512"), tmp_path / "out")
    assert found.verdict == "not_improved" and not found.diff


@needs_hidden_files
def test_a_change_that_no_longer_applies_is_said(checkout: Path, tmp_path: Path) -> None:
    diff = patch(checkout, "TILE_BYTES = 16384")
    file = checkout / TILING
    file.write_text(file.read_text().replace(OLD, "TILE_BYTES = 8192"))
    git(checkout, "commit", "-q", "-a", "-m", "Another size")
    with pytest.raises(InputError, match="does not apply"):
        verified(checkout, diff, tmp_path / "out")


@pytest.mark.parametrize(
    ("level", "changes", "allowed", "refused"),
    [
        ("limits", {}, False, True),
        ("limits", {"kind": "optimize", "patch_of": 0, "number": 4}, False, True),
        ("limits", {}, True, False),
        ("limits", {"patch_of": 0}, False, False),
        ("landlock", {}, False, False),
        ("bubblewrap", {"backend": "cann"}, False, False),
        ("landlock", {"backend": "cann"}, False, True),
    ],
)
@pytest.mark.every_level
def test_nothing_of_a_merge_request_is_run_where_files_are_open(
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    level: str,
    changes: dict[str, object],
    allowed: bool,
    refused: bool,
) -> None:
    monkeypatch.setattr("ci.session.facts.sandbox_level", lambda: level)
    job = a_job(checkout, "", **changes, workload="src/lost.yaml")
    words = (
        "Nothing of a merge request or a comment is run here"
        if refused
        else "lost.yaml is not on the"
    )
    with pytest.raises(InputError, match=words):
        run_job(
            job, checkout, tmp_path / "work", tmp_path / "out", CONSOLE, allow_unsandboxed=allowed
        )
    assert (tmp_path / "work").exists() is not refused


def test_a_file_that_is_no_job_is_refused_with_its_name(tmp_path: Path) -> None:
    bad = tmp_path / "job.json"
    bad.write_text('{"key": 3}')
    with pytest.raises(InputError, match=r"job\.json is no job"):
        read_job(bad)
    with pytest.raises(InputError, match="There is no job file"):
        read_job(tmp_path / "none.json")
