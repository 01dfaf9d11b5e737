"""Lay out an operator before and after a change, with the workload that judges both."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bot.base.git import Git
from bot.repository.job import DERIVED, Job
from bot.repository.judge import lay_out
from bot.repository.mirror import Commit, check_out, clone
from bot.server.run_job import BASE, CHECKOUT, JUDGE, OWN_WORKLOAD
from ci.model.settings import EvaluationSetup
from ci.session.derive import DerivedCases, derived_cases


class Versions(NamedTuple):
    """Two versions of an operator, and what judges both."""

    before: Path | None
    """What names it at the base; None where it is not there yet."""
    after: Path
    """What names it at the job's commit."""
    setup: EvaluationSetup
    """Backend and device, and the workload unless that is derived."""
    cases: DerivedCases | None
    """What is derived of the older version, where nobody wrote a workload."""


def lay_versions(job: Job, git_folder: Path, work: Path, most_seconds: float) -> Versions:
    """Lay out both versions of the job's operator, each in a work tree below `work`.

    After `most_seconds` of wall time no further case of a derived workload is tried. Raises
    InputError when none can be derived.
    """
    top, base = work / CHECKOUT, work / BASE
    git = Git(git_folder)
    check_out(git_folder, job, top)
    clone(git, job.base_commit, base)
    there = job.operator in Commit(git, job.base_commit).operators
    before, after = base / job.operator if there else None, top / job.operator
    setup = EvaluationSetup(backend=job.backend, device=job.device)
    if job.workload == DERIVED:
        cases = derived_cases(before or after, setup, work / OWN_WORKLOAD, most_seconds)
        return Versions(before, after, setup, cases)
    lay_out(git_folder, job, work / JUDGE)
    written = setup.model_copy(update={"workload": work / JUDGE / job.workload})
    return Versions(before, after, written, None)
