"""Lay out an operator before and after a change, with the workload that judges both."""

from __future__ import annotations

from pathlib import Path

from bot.base.git import Git
from bot.repository.job import DERIVED, Job
from bot.repository.judge import lay_out
from bot.repository.mirror import check_out, clone
from bot.server.run_job import BASE, CHECKOUT, JUDGE, OWN_WORKLOAD
from ci.model.settings import EvaluationSetup
from ci.session.derive import derived_for


def lay_versions(
    job: Job, git_folder: Path, out: Path
) -> tuple[Path | None, Path, EvaluationSetup]:
    """The operator's folder at the base, None where it is not there yet, the folder at the job's
    commit, and how both are judged. A workload that nobody wrote is derived from the older one.

    Raises InputError when none can be derived.
    """
    top, base = out / CHECKOUT, out / BASE
    check_out(git_folder, job, top)
    clone(Git(git_folder), job.base_commit, base)
    before = base / job.operator if (base / job.operator).is_dir() else None
    setup = EvaluationSetup(backend=job.backend, device=job.device)
    if job.workload == DERIVED:
        workload = derived_for(before or top / job.operator, setup, out / OWN_WORKLOAD)
    else:
        lay_out(git_folder, job, out / JUDGE)
        workload = out / JUDGE / job.workload
    return before, top / job.operator, setup.model_copy(update={"workload": workload})
