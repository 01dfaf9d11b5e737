"""From a finished run to the forge: merge request, status comment, check.

Every step may be repeated after a crash: the status comment is found by its marker, the merge
request by its own, and a status replaces its last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.base.git import GitError
from bot.base.text import visible
from bot.forge.base import Forge, ForgeError
from bot.forge.model import Comment, Status
from bot.report.facts import headline
from bot.repository.config import RepositoryConfig
from bot.repository.job import Job
from bot.repository.mirror import Mirror
from bot.server.merge_request import BRANCHES, SubmitSettings, submit
from bot.server.status import finished, reply_mark, run_mark
from ci.model.errors import InputError
from ci.model.result import Result

DAY_S: Final = 86_400.0


@dataclass(frozen=True)
class Delivered:
    """What became of a result."""

    note: str
    merge_request: int = 0


def context(job: Job) -> str:
    """Name of the check on the commit that was optimized."""
    return f"ascendopt/{job.operator.rsplit('/', 1)[-1]}"


def deliver(
    job: Job,
    result: Result,
    forge: Forge,
    mirror: Mirror,
    config: RepositoryConfig,
    opened_today: int,
) -> Delivered:
    """Propose what was found, within the limits, and say what was found.

    `opened_today`: merge requests that the bot opened here in the last 24 hours. Raises ForgeError
    or GitError when the forge cannot be reached; repeating it is safe.
    """
    done = _propose(job, result, forge, mirror, config, opened_today)
    if job.number:
        text = finished(job, result, done.note, show_patch=not done.merge_request)
        say(forge, job.number, run_mark(job), text)
    state = "neutral" if result.verdict != "improved" else "success"
    if result.verdict == "baseline_failed":
        state = "failure"
    check(job, forge, state, headline(result), done.note)
    return done


def _propose(
    job: Job,
    result: Result,
    forge: Forge,
    mirror: Mirror,
    config: RepositoryConfig,
    opened_today: int,
) -> Delivered:
    """Open or update the merge request, or say why there is none."""
    if result.operator_path != job.operator:
        raise InputError(f"The result is about {visible(result.operator_path)}, not the job's.")
    if result.verdict != "improved":
        return Delivered("No merge request: there is nothing to propose.")
    if result.speedup < job.minimum_speedup:
        return Delivered(
            f"No merge request: {result.speedup:.3f} is below the repository's minimum of"
            f" {job.minimum_speedup:.3f}."
        )
    if job.dry_run:
        return Delivered("No merge request: this was a dry run.")
    if job.from_fork:
        return Delivered("No merge request into a fork: apply the patch below if you like it.")
    ours = forge.merge_requests("open", BRANCHES)
    branch_open = any(f"/{job.operator.rsplit('/', 1)[-1]}/" in m.source_branch for m in ours)
    if not branch_open:
        if len(ours) >= config.limits.open_merge_requests:
            return Delivered(
                f"No merge request: {len(ours)} of the bot are open, which is the limit here."
            )
        if opened_today >= config.limits.daily_merge_requests:
            return Delivered(
                f"No merge request: {opened_today} were opened within a day, which is the limit."
            )
    try:
        filed = submit(result, forge, mirror.folder, SubmitSettings(target=job.target_branch))
    except InputError as problem:
        return Delivered(f"No merge request: {problem}")
    request = filed.merge_request
    if filed.action != "declined" and request is not None and config.merge_requests.labels:
        forge.add_labels(request.number, config.merge_requests.labels)
    return Delivered(
        filed.reason, request.number if request is not None and filed.action != "declined" else 0
    )


def say(forge: Forge, number: int, mark: str, text: str) -> int:
    """Write or rewrite the comment that begins with `mark`; its id."""
    existing = next((c for c in forge.comments(number) if is_own(c, mark, forge)), None)
    if existing is None:
        return forge.comment(number, text).id
    if existing.body.strip() != text.strip():
        forge.edit_comment(number, existing.id, text)
    return existing.id


def is_own(comment: Comment, mark: str, forge: Forge) -> bool:
    """Whether a comment is the bot's own and begins with `mark`: others may quote it."""
    return comment.body.startswith(mark) and comment.author == forge.viewer()


def answer(forge: Forge, number: int, mark: str, text: str) -> None:
    """Answer once: nothing happens when an answer with this mark is there."""
    line = reply_mark(mark)
    if not any(is_own(c, line, forge) for c in forge.comments(number)):
        forge.comment(number, f"{line}\n{text}\n")


def check(job: Job, forge: Forge, state: str, description: str, summary: str = "") -> None:
    """Set the check of the commit; a commit that the forge no longer has is no reason to fail."""
    status = Status.model_validate(
        {
            "context": context(job),
            "state": state,
            "description": visible(description, 140),
            "summary": summary,
        }
    )
    try:
        forge.set_status(job.source_commit, status)
    except ForgeError as problem:
        if problem.kind not in ("not_found", "forbidden", "refused"):
            raise


TEMPORARY: Final = (ForgeError, GitError)
