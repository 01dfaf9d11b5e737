"""Measuring an author's own change: its jobs, and what its comment and its check say.

Nothing is searched. A merge request has one comment, with a section an operator that is replaced
when the operator is measured again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.base.git import GitError
from bot.base.text import visible
from bot.forge.base import Forge
from bot.forge.model import MergeRequest
from bot.report.view import page
from bot.repository.config import FILE
from bot.repository.job import ASKED, VERIFYING, Job
from bot.repository.mirror import Commit
from bot.server.comments.posting import put_section, set_check
from bot.server.comments.wording import said
from bot.server.job_maker import Subject, Work, judged_by
from ci.model.budget import VERIFICATION
from ci.model.errors import InputError, worded
from ci.model.measured_change import MeasuredChange

MEASURED: Final = "measured.json"
# Longest list in a section: forges cut comments at 65,536 characters.
_CASES_SHOWN: Final = 40


def measure_jobs(
    work: Work, head: Commit, folders: Sequence[str], request: MergeRequest, person: str = ""
) -> tuple[list[Job], list[str]]:
    """A job for each operator whose change can be timed, and a sentence for each that cannot.

    `head` is the commit of the merge request. Raises GitError when the base cannot be fetched.
    """
    tip = work.mirror.fetch(work.forge, f"refs/heads/{request.target_branch}")
    try:
        base = work.mirror.git.run("merge-base", tip, head.name).strip()
    except GitError:
        return [], [said("no_common_commit", request.target_branch)]
    before, jobs, words = work.mirror.commit(base), list[Job](), list[str]()
    for folder in folders:
        workload = judged_by(work.judge, folder, work.config)
        if not work.config.covers(folder):
            words.append(said("left_alone", folder, FILE))
        elif folder not in before.operators:
            words.append(said("new_operator", folder))
        elif workload is None:
            words.append(said("no_workload", folder, work.home.default_branch, FILE))
        else:
            subject = Subject(folder, head, work.judge, workload)
            jobs.append(_job(work, subject, base, request, person))
    return jobs, words


def _job(work: Work, subject: Subject, base: str, request: MergeRequest, person: str) -> Job:
    config, home = work.config, work.home
    settings = {
        "kind": "measure",
        "backend": config.backend,
        "device": config.target,
        "base": base,
        "head": subject.source.name,
    }
    return Job(
        key=subject.key(*work.connection.here, settings),
        kind="measure",
        forge=work.connection.name,
        repository=work.connection.repository,
        number=request.number,
        operator=subject.folder,
        source_ref=request.head_ref,
        source_commit=subject.source.name,
        base_commit=base,
        target_branch=request.target_branch,
        judge_ref=f"refs/heads/{home.default_branch}",
        judge_commit=subject.judge.name,
        workload=subject.workload,
        backend=config.backend,
        device=config.target,
        budget=VERIFICATION,
        wall_minutes=config.limits.wall_minutes,
        threshold=config.slowdown_threshold,
        from_fork=request.from_fork,
        requested_by=person,
        priority=ASKED if person else VERIFYING,
    )


def read_measured(job: Job, folder: Path) -> MeasuredChange:
    """What a run of the job left, data from outside. Raises InputError when it is not of the job.

    `folder` is that of the run.
    """
    file = folder / MEASURED
    try:
        found = MeasuredChange.model_validate_json(file.read_bytes())
    except OSError as problem:
        raise InputError(f"There is no {file}: the run left no figures.") from problem
    except ValidationError as problem:
        raise InputError(f"{file} holds no figures: {worded(problem)}.") from None
    facts = (
        ("run", found.run, job.run),
        ("operator", found.operator, job.operator),
        ("commit", found.head_commit, job.source_commit),
        ("base", found.base_commit, job.base_commit),
        ("backend", found.fingerprint.backend, job.backend),
        ("device", found.fingerprint.device, job.device),
    )
    for name, claimed, own in facts:
        if claimed != own:
            words = visible(str(claimed), 80)
            raise InputError(f"The figures are not of this job: {name} is '{words}', not '{own}'.")
    return found


def tell_measured(job: Job, found: MeasuredChange, forge: Forge) -> str:
    """Put the figures into the merge request's comment and set the check; the check's sentence."""
    put_section(forge, job.number, job.operator, section(job, found))
    failed = bool(found.broken or found.new_faults or found.slower(job.threshold))
    words = summary(found, job.threshold)
    set_check(job, forge, "failure" if failed else "success", words)
    return words


def summary(found: MeasuredChange, threshold: float) -> str:
    """One line: what became broken or slower, else how the cases changed."""
    if found.broken:
        return f"{len(found.broken)} of {len(found.cases)} cases no longer pass"
    if found.new_faults:
        return f"new fault: {found.new_faults[0]}"
    ratios = [c.ratio for c in found.cases if c.ratio is not None]
    if not ratios:
        return "no case could be timed, before the change or after it"
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    spread = f"{low if low == high else f'{low} to {high}'} times the base's speed"
    slower = found.slower(threshold)
    if slower:
        return f"{len(slower)} of {len(found.cases)} cases slower; {spread}"
    return f"{spread} over {len(found.cases)} case{'s' if len(found.cases) > 1 else ''}"


def section(job: Job, found: MeasuredChange) -> str:
    """The part of the comment that is about one operator."""
    return page(
        "measured.md.j2",
        job=job,
        found=found,
        shown=_CASES_SHOWN,
        summary=summary(found, job.threshold),
    ).strip()
