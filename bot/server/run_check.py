"""Run a job of the kind `check` where there is no token: what is wrong with both versions."""

from __future__ import annotations

from pathlib import Path

from bot.repository.job import Job
from bot.server.run_job import left_file, refuse_open_files
from bot.server.two_versions import lay_versions
from ci.model.checked_change import CheckedChange
from ci.model.finding import CheckSettings
from ci.session.check_change import check_both
from ci.session.session import open_session

SETTINGS = CheckSettings(varied=16, seconds=120.0)
"""How far each version is checked: a reviewer waits for it."""


def run_check(
    job: Job, git_folder: Path, work: Path, out: Path, *, allow_unsandboxed: bool = False
) -> str:
    """Check the change of `job` and its base and leave the findings in `out`; one line.

    An operator that the base does not have is checked alone. Raises InputError when nothing can be
    checked, and as `run_job` does.
    """
    refuse_open_files(job, allow_unsandboxed=allow_unsandboxed)
    base, top, setup = lay_versions(job, git_folder, work)
    before = open_session(base, setup) if base is not None else None
    after = open_session(top, setup)
    report, new, old, gone = check_both(before, after, SETTINGS)
    found = CheckedChange(
        run=job.run,
        operator=job.operator,
        folder=".." if after.operator.shares_folder else ".",
        base_commit=job.base_commit,
        head_commit=job.source_commit,
        fingerprint=after.evaluator.fingerprint(),
        cases=report.cases,
        unchecked=report.unchecked,
        new=new,
        old=old,
        gone=gone,
    )
    out.mkdir(parents=True, exist_ok=True)
    left_file(job, out).write_text(found.model_dump_json(indent=2), encoding="utf-8")
    return "checked"
