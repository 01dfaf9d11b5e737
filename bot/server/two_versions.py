"""Lay out an operator before and after a change, with the workload that judges both."""

from __future__ import annotations

from pathlib import Path

from bot.base.git import Git
from bot.repository.job import DERIVED, Job
from bot.repository.judge import lay_out
from bot.repository.mirror import Commit, check_out, clone
from bot.server.run_job import BASE, CHECKOUT, JUDGE, OWN_WORKLOAD
from ci.model.settings import EvaluationSetup
from ci.session.derive import derived_for


def lay_versions(
    job: Job, git_folder: Path, work: Path
) -> tuple[Path | None, Path, EvaluationSetup]:
    """What names the operator at the base, None where it is not there yet, and at the job's
    commit, and how both are judged. A workload that nobody wrote is derived from the older one.

    `work`: folder that takes the work trees. Raises InputError when none can be derived.
    """
    top, base = work / CHECKOUT, work / BASE
    git = Git(git_folder)
    check_out(git_folder, job, top)
    clone(git, job.base_commit, base)
    there = job.operator in Commit(git, job.base_commit).operators
    before = base / job.operator if there else None
    setup = EvaluationSetup(backend=job.backend, device=job.device)
    if job.workload == DERIVED:
        workload = derived_for(before or top / job.operator, setup, work / OWN_WORKLOAD)
    else:
        lay_out(git_folder, job, work / JUDGE)
        workload = work / JUDGE / job.workload
    return before, top / job.operator, setup.model_copy(update={"workload": workload})
