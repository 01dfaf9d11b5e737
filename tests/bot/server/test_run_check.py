"""An author's change is checked against its base, with a real operator and no token."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.base.git import Git
from bot.repository.commit_pack import read_pack, write_pack
from bot.server.checking import read_checked
from bot.server.run_check import run_check
from tests.bot.server.test_run_job import checkout
from tests.bot.server.test_run_measure import KERNEL, changed

__all__ = ["checkout"]
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
