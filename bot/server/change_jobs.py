"""Jobs on an author's own change, which is held to its base: to time it, or to check it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ValidationError

from bot.base.git import GitError
from bot.base.text import visible
from bot.forge.model import MergeRequest
from bot.repository.config import FILE
from bot.repository.job import ASKED, VERIFYING, Job
from bot.repository.mirror import Commit
from bot.server.comments.wording import said
from bot.server.job_maker import Subject, Work, judged_by, why_not_judged
from ci.model.budget import VERIFICATION
from ci.model.checked_change import CheckedChange
from ci.model.errors import InputError, worded
from ci.model.measured_change import MeasuredChange
from ci.model.regular_file import file_bytes

Found = TypeVar("Found", MeasuredChange, CheckedChange)


def change_jobs(
    work: Work,
    head: Commit,
    folders: Sequence[str],
    request: MergeRequest,
    person: str = "",
    *,
    kind: Literal["measure", "check"] = "measure",
) -> tuple[list[Job], list[str]]:
    """A job for each operator whose change can be timed or checked, and a sentence for each that
    cannot. A new operator has no time to be held to, but can be checked.

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
        elif folder not in before.operators and kind == "measure":
            words.append(said("new_operator", folder))
        elif workload is None:
            branch = work.home.default_branch
            words.append(why_not_judged(work.judge, folder, work.config, branch))
        else:
            subject = Subject(folder, head, work.judge, workload)
            jobs.append(_job(work, subject, base, request, person, kind))
    return jobs, words


def _job(
    work: Work,
    subject: Subject,
    base: str,
    request: MergeRequest,
    person: str,
    kind: Literal["measure", "check"],
) -> Job:
    config, home = work.config, work.home
    settings = {
        "kind": kind,
        "backend": config.backend,
        "device": config.target,
        "base": base,
        "head": subject.source.name,
    }
    return Job(
        key=subject.key(*work.connection.lasting, settings),
        kind=kind,
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


def read_found(job: Job, file: Path, kind: type[Found]) -> Found:
    """Read the file that a run of the job left: data from outside.

    Raises InputError when it is none of that kind, or not of the job.
    """
    if not file.is_file():
        raise InputError(f"There is no {file}: the run left nothing.")
    try:
        found = kind.model_validate_json(file_bytes(file))
    except ValidationError as problem:
        raise InputError(f"{file} is no result of such a run: {worded(problem)}.") from None
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
            raise InputError(
                f"The result is not of this job: its {name} is '{words}', not '{own}'."
            )
    return found
