"""An author's change is checked against its base, with a real operator and no token."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.base.git import Git
from bot.forge.local import LocalForge
from bot.repository.commit_pack import read_pack, write_pack
from bot.repository.job import DERIVED
from bot.server import run_check as module
from bot.server.checking import read_checked, tell_checked
from bot.server.run_check import run_check
from ci.model.finding import CheckSettings
from tests.bot.make import git, job, published, written
from tests.bot.server.test_run_job import checkout
from tests.bot.server.test_run_measure import KERNEL, changed
from tests.ci.derive.test_derive import BIAS_ADD, PROGRAM, copied

__all__ = ["checkout"]
BIAS = "math/bias_add"
CALL = "op.Process();"
PLANTED = "AscendC::SetAtomicMax<float>();"


@pytest.mark.long
@pytest.mark.every_level
def test_a_planted_fault_is_new_with_its_line(checkout: Path, tmp_path: Path) -> None:
    made = changed(checkout, KERNEL, CALL, f"{CALL}\n    {PLANTED}")
    made = made.model_copy(update={"kind": "check"})
    (tmp_path / "plan").mkdir()
    pack = write_pack(Git(checkout), made, tmp_path / "plan")
    work, out = tmp_path / "work", tmp_path / "out"
    run_check(made, read_pack(pack, made, work / "git"), work, out, allow_unsandboxed=True)
    assert not [place for place in out.iterdir() if place.is_dir()]
    found = read_checked(made, out)
    lines = (checkout / KERNEL).read_text().splitlines()
    (state,) = found.new
    assert (state.kind, state.place.file) == ("state", "op_kernel/affine_clamp.cpp")
    assert lines[state.place.line - 1].strip() == PLANTED
    assert not found.gone and found.cases


WIDE = "COLUMN_TILE * 4096"
NARROW = "COLUMN_TILE"


@pytest.mark.long
@pytest.mark.parametrize(
    ("others", "mended"),
    [(NARROW, False), (NARROW, True), (WIDE, True)],
    ids=["still fails", "mended", "mended, nothing else passes"],
)
def test_the_case_of_a_repository_on_which_an_operator_without_workload_fails_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: str, mended: bool
) -> None:
    """Nobody finds it among the cases that pass."""
    monkeypatch.setattr(module, "SETTINGS", CheckSettings(varied=0, seconds=600))
    top = tmp_path / "ops"
    copied(BIAS_ADD, top)
    own, old = f"{BIAS}/op_host/bias_add.cpp", "std::min(COLUMN_TILE, "
    right = (top / own).read_text()
    assert old in right
    wrong = right.replace(old, f"std::max(rows == 8 ? {WIDE} : {others}, ")
    written(top, {own: wrong, f"{BIAS}/examples/test_bias_add.cpp": PROGRAM})
    published(top, tmp_path / "origin.git")
    base = git(top, "rev-parse", "HEAD")
    git(top, "checkout", "-q", "-b", "work")
    written(top, {own: right if mended else f"// A remark.\n{wrong}"})
    git(top, "commit", "-q", "-am", "Change")
    git(top, "push", "-q", "origin", "work")
    forge = LocalForge.of_remote(top, "origin")
    request = forge.open("Change", "", "work", "main")
    made = job(
        kind="check",
        operator=BIAS,
        workload=DERIVED,
        base_commit=base,
        judge_commit=base,
        source_commit=request.head,
        number=request.number,
    )
    out = tmp_path / "out"
    run_check(made, top, tmp_path / "work", out, allow_unsandboxed=True)
    found = read_checked(made, out)
    (one,) = found.gone if mended else found.old
    assert one.place.case == "float32_8x2048" and "8, 2048" in one.alone
    assert not found.new and bool(found.old) != mended
    assert (found.cases > 1) == (others == NARROW)
    tell_checked(made, found, forge)
    (comment,) = forge.comments(request.number)
    assert ("No longer found" if mended else "Found before, too") in comment.body
