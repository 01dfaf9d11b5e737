"""Run a job of the kind `measure` where there is no token: both versions, on one workload."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.repository.job import DERIVED, Job
from bot.server.run_job import BASE, left_file, refuse_open_files
from bot.server.two_versions import lay_versions
from ci.model.errors import InputError
from ci.model.measured_change import MeasuredChange
from ci.session.compare import compare
from ci.session.session import open_session

DERIVING_SECONDS: Final = 60.0
"""Wall time that deriving a workload may take: a reviewer waits for it."""


def run_measure(
    job: Job, git_folder: Path, work: Path, out: Path, *, allow_unsandboxed: bool = False
) -> str:
    """Time the change of `job` against its base and leave the figures in `out`; one line.

    A workload that nobody wrote is derived from the base. Raises InputError when the base itself
    cannot be judged, and as `run_job` does.
    """
    refuse_open_files(job, allow_unsandboxed=allow_unsandboxed)
    before_at, after_at, setup, derived = lay_versions(job, git_folder, work, DERIVING_SECONDS)
    if derived is not None:
        if derived.passing is None:  # a case that fails has no time
            raise InputError(derived.refused)
        setup = setup.model_copy(update={"workload": derived.passing})
    before = open_session(before_at or work / BASE / job.operator, setup)
    after = open_session(after_at, setup)
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
    out.mkdir(parents=True, exist_ok=True)
    left_file(job, out).write_text(found.model_dump_json(indent=2), encoding="utf-8")
    return "measured"
