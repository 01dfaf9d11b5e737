"""An operator that shares its folder with others, from a change to its merge request's patch."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.base.git import Git
from bot.repository.mirror import Commit
from bot.server.delivery import check_result
from bot.server.merge_request import refuse_unfit
from bot.server.run_job import run_job
from ci.model.errors import InputError
from tests.bot.make import git, result
from tests.bot.server.test_run_job import CONSOLE, a_job
from tests.ci.source.test_declared import pair

FOLDER = "math/scale_shift"
GRAD = f"{FOLDER}/scale_shift_grad"
KERNEL = f"{FOLDER}/op_kernel/scale_shift_grad.cpp"


@pytest.mark.long
def test_one_of_several_is_judged_and_handed_in_by_its_name(tmp_path: Path) -> None:
    top = tmp_path / "ops"
    (pair(top).parents[1] / ".git").rmdir()
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "Add operators")
    file = top / KERNEL
    text = file.read_text()
    file.write_text(text.replace("op.Process();", "op.Process();  // as before"))
    diff = git(top, "diff") + "\n"
    file.write_text(text)
    assert diff.strip()
    job = a_job(top, diff, operator=GRAD, workload=f"{GRAD}/workload.yaml")
    work, out = tmp_path / "work", tmp_path / "out"
    found = run_job(job, top, work, out, CONSOLE, bank=tmp_path / "bank.duckdb")
    check_result(job, found)
    assert (found.operator_path, found.verdict) == (GRAD, "not_improved")
    head = Commit(Git(top), git(top, "rev-parse", "HEAD"))
    assert {*found.shared_paths.values()} == {*head.operators[GRAD]}
    # As if it had helped.
    proven = {"verdict": "improved", "diff": diff, "verification": result().verification}
    with_patch = found.model_copy(update=proven)
    refuse_unfit(with_patch, Git(top), head.name)
    other = with_patch.model_copy(update={"diff": diff.replace("scale_shift_grad", "scale_shift")})
    with pytest.raises(InputError, match=r"not one of the operator's own"):
        refuse_unfit(other, Git(top), head.name)
