"""An author's change is timed against its base, with a real operator and no token."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.base.git import Git
from bot.repository.commit_pack import read_pack, write_pack
from bot.repository.job import DERIVED, Job
from bot.server import run_measure as module
from bot.server.measuring import read_measured
from bot.server.run_measure import run_measure
from ci.model.measured_change import MeasuredChange
from tests.bot.make import git, job
from tests.bot.server.test_run_job import OLD, OPERATOR, TILING, checkout

__all__ = ["checkout"]
KERNEL = f"{OPERATOR}/op_kernel/affine_clamp.cpp"


def changed(checkout: Path, file: str, old: str, new: str) -> Job:
    """The job of a merge request that replaces a text."""
    base = git(checkout, "rev-parse", "HEAD")
    text = (checkout / file).read_text()
    assert old in text
    (checkout / file).write_text(text.replace(old, new))
    git(checkout, "commit", "-q", "-a", "-m", "Change")
    return job(
        kind="measure",
        operator=OPERATOR,
        workload=f"{OPERATOR}/workload.yaml",
        base_commit=base,
        judge_commit=base,
        source_commit=git(checkout, "rev-parse", "HEAD"),
        number=7,
    )


def measured(job: Job, checkout: Path, out: Path) -> MeasuredChange:
    (out / "plan").mkdir(parents=True)
    pack = write_pack(Git(checkout), job, out / "plan")
    run_measure(job, read_pack(pack, job, out / "git"), out / "work", out, allow_unsandboxed=True)
    return read_measured(job, out)


def test_a_better_tile_is_faster_in_every_case(checkout: Path, tmp_path: Path) -> None:
    made = changed(checkout, TILING, OLD, "TILE_BYTES = 16384")
    found = measured(made, checkout, tmp_path / "out")
    assert found.cases and {c.verdict for c in found.cases} <= {"faster", "same"}
    assert any(c.verdict == "faster" and c.low > 1 for c in found.cases)
    assert not found.new_faults and not found.derived


@pytest.mark.long
@pytest.mark.every_level
def test_a_wrong_result_is_named_case_by_case_also_on_derived_shapes(
    checkout: Path, tmp_path: Path
) -> None:
    made = changed(checkout, KERNEL, "Adds(", "Muls(").model_copy(update={"workload": DERIVED})
    found = measured(made, checkout, tmp_path / "out")
    assert found.derived and found.broken
    assert all(c.before_us for c in found.broken) and found.broken[0].after_fault


@pytest.mark.long
def test_deriving_shapes_takes_no_longer_than_a_reviewer_waits(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DERIVING_SECONDS", 0.25)
    made = changed(checkout, TILING, OLD, "TILE_BYTES = 16384")
    found = measured(made.model_copy(update={"workload": DERIVED}), checkout, tmp_path / "out")
    assert len(found.cases) == 1  # one is tried, whatever time is left
