"""Run a job of the kind `check` where there is no token: what is wrong with both versions."""

from __future__ import annotations

from pathlib import Path

from bot.repository.job import Job
from bot.server.run_job import left_file, refuse_open_files
from bot.server.two_versions import lay_versions
from ci.model.checked_change import CheckedChange
from ci.model.finding import CheckSettings
from ci.session.check_change import check_both
from ci.session.operator_check import open_check

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
    laid = lay_versions(job, git_folder, work, SETTINGS.deriving_seconds)
    before = open_check(laid.before, laid.setup, laid.cases) if laid.before is not None else None
    after = open_check(laid.after, laid.setup, laid.cases)
    settings = laid.cases.left_of(SETTINGS) if laid.cases is not None else SETTINGS
    report, new, old, gone = check_both(before, after, settings)
    found = CheckedChange(
        run=job.run,
        operator=job.operator,
        folder=".." if after.operator.shares_folder else ".",
        base_commit=job.base_commit,
        head_commit=job.source_commit,
        fingerprint=after.session.evaluator.fingerprint(),
        cases=report.cases,
        unchecked=report.unchecked,
        new=new,
        old=old,
        gone=gone,
    )
    out.mkdir(parents=True, exist_ok=True)
    left_file(job, out).write_text(found.model_dump_json(indent=2), encoding="utf-8")
    return "checked"
