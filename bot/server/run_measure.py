"""Run a job of the kind `measure` where there is no token: both versions, on one workload."""

from __future__ import annotations

from pathlib import Path

from bot.base.git import Git
from bot.repository.job import DERIVED, Job
from bot.repository.judge import lay_out
from bot.repository.mirror import check_out, clone
from bot.server.run_job import (
    BASE,
    CHECKOUT,
    JUDGE,
    OWN_WORKLOAD,
    left_file,
    refuse_open_files,
)
from ci.model.measured_change import MeasuredChange
from ci.model.settings import EvaluationSetup
from ci.session import open_session
from ci.session.compare import compare
from ci.session.derive import derived_for


def run_measure(job: Job, git_folder: Path, out: Path, *, allow_unsandboxed: bool = False) -> str:
    """Time the change of `job` against its base and leave the figures in `out`; one line.

    A workload that nobody wrote is derived from the base. Raises InputError when the base itself
    cannot be judged, and as `run_job` does.
    """
    refuse_open_files(job, allow_unsandboxed=allow_unsandboxed)
    top, base = out / CHECKOUT, out / BASE
    check_out(git_folder, job, top)
    clone(Git(git_folder), job.base_commit, base)
    setup = EvaluationSetup(backend=job.backend, device=job.device)
    if job.workload == DERIVED:
        workload = derived_for(base / job.operator, setup, out / OWN_WORKLOAD)
    else:
        lay_out(git_folder, job, out / JUDGE)
        workload = out / JUDGE / job.workload
    setup = setup.model_copy(update={"workload": workload})
    before = open_session(base / job.operator, setup)
    after = open_session(top / job.operator, setup)
    cases, new, gone = compare(before, after)
    found = MeasuredChange(
        run=job.run,
        operator=job.operator,
        base_commit=job.base_commit,
        head_commit=job.source_commit,
        fingerprint=after.evaluator.fingerprint(),
        derived=job.workload == DERIVED,
        cases=cases,
        new_faults=new,
        gone_faults=gone,
    )
    left_file(job, out).write_text(found.model_dump_json(indent=2), encoding="utf-8")
    return "measured"
