"""What happens to the bot's open merge requests when their base moves, and when they are merged.

A base that moved may have made a change worthless or wrong. So the change is laid onto the base as
it is now and measured and verified again; then the branch is rebased, or the merge request is
closed with the reason. A branch that holds somebody else's commit is never touched.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.base.git import GitError
from bot.base.language import language
from bot.base.text import decoded
from bot.forge.errors import ForgeError
from bot.forge.model import MergeRequest
from bot.repository.config import RepositoryConfig
from bot.repository.connection import Connection
from bot.repository.job import VERIFYING, Job, standing_fact
from bot.repository.language import commit_language
from bot.repository.mirror import Commit, workload_place
from bot.repository.patch import applies
from bot.server.comments.posting import answer, close, closed_by_bot, tell_reopened
from bot.server.comments.wording import said
from bot.server.job_maker import Records, Subject, judged_by
from bot.server.merge_request import OPERATOR_TRAILER, RUN_TRAILER, read_result
from bot.server.one_item import told
from bot.server.own_requests import BRANCHES, is_bots_commit, operator_of, own_requests
from ci.model.budget import VERIFICATION
from ci.model.errors import InputError
from ci.model.trial import Change


@dataclass(frozen=True)
class Earlier:
    """A change that a job verifies again."""

    patch: str
    changes: tuple[Change, ...] = ()
    """Its changes; empty where they are no longer known."""
    merge_request: int = 0
    """The bot's, 0 where none was opened yet."""
    asked_in: int = 0
    """The merge request that the change was asked for in, 0 for none."""


LOG: Final = logging.getLogger("ascendopt.bot")
BY_BOT: Final = "by the bot"
_TRAILERS: Final = re.compile(rf"^({OPERATOR_TRAILER}|{RUN_TRAILER}): (.+)$", re.MULTILINE)


def look_again(
    connection: Connection,
    records: Records,
    now: float,
    merged: Callable[[str], bool] = lambda run: True,
) -> list[Job]:
    """Look at all merge requests of the bot; the jobs that verify them on bases that moved.

    Closes those that no longer apply. What goes wrong with one is logged, and it is looked at again
    the next time. `merged` is called once with the run of each that a person
    merged (its experience goes back to the bank) and says whether that is done with. Raises
    ForgeError or GitError when the forge cannot be asked for them; repeating it is safe.
    """
    forge = connection.forge
    judge = connection.tip()
    try:
        config = connection.config(judge)
    except InputError:
        return []
    spoken = commit_language(connection.mirror.commit(judge), config)
    jobs = list[Job]()
    for request in own_requests(forge, branches=(BRANCHES,)):
        try:
            with language(spoken):
                job = _looked(connection, request, records, judge, config, merged)
        except Exception as problem:  # of this one; the others are looked at all the same
            LOG.warning(
                "merge request %d is looked at again later: %s", request.number, told(problem)
            )
            if isinstance(problem, ForgeError) and problem.kind == "rate_limited":
                break  # it is everybody's
            continue
        if job is not None and records.add(job, now):
            jobs.append(job)
    return jobs


def _looked(
    connection: Connection,
    request: MergeRequest,
    records: Records,
    judge: str,
    config: RepositoryConfig,
    merged: Callable[[str], bool],
) -> Job | None:
    """Do what the state of an own merge request asks for; the job that follows, if any."""
    stands = standing_fact(connection.name, connection.repository, request.number)
    if records.fact(stands) != request.state:
        records.set_fact(stands, request.state)
    if request.state == "closed":
        _ask_why(connection, request, records, mirror_of=judge)
        return None
    if request.state == "merged":
        _feed(connection, request, records, merged)
        return None
    _notice_reopened(connection, request, records)
    if config.enabled and config.merge_requests.rebase != "never":
        forced = rebase_fact(connection.name, connection.repository, str(request.number))
        asked = bool(records.fact(forced))
        job = _moved(connection, request, records, judge, config, asked=asked)
        if asked:
            records.set_fact(forced, "")
        return job
    return None


def rebase_fact(forge: str, repository: str, number: str) -> str:
    """The name under which it is remembered that a person wants a merge request rebased."""
    return f"rebase {forge} {repository} {number}"


def closed_fact(forge: str, repository: str, number: int) -> str:
    """The name under which it is remembered that a closed merge request was looked at; the value is
    BY_BOT where the bot closed it."""
    return f"closed {forge} {repository} {number}"


def _ask_why(
    connection: Connection, request: MergeRequest, records: Records, *, mirror_of: str
) -> None:
    """Say once what closing means, under a merge request that a person closed.

    `mirror_of`: commit whose operators the mark is looked up in.
    """
    name = closed_fact(connection.name, connection.repository, request.number)
    if records.fact(name):
        return
    forge = connection.forge
    if closed_by_bot(forge, request.number):
        records.set_fact(name, BY_BOT)
        return
    folder = operator_of(request, connection.mirror.commit(mirror_of).operators)
    if folder:
        answer(forge, request.number, "why-closed", said("why_closed", folder))
    records.set_fact(name, "1")


def _notice_reopened(connection: Connection, request: MergeRequest, records: Records) -> None:
    """Take back what was noted of an open merge request when it was closed."""
    name = closed_fact(connection.name, connection.repository, request.number)
    if records.fact(name) == BY_BOT:
        tell_reopened(connection.forge, request.number)
    if records.fact(name):
        records.set_fact(name, "")


def _feed(
    connection: Connection, request: MergeRequest, records: Records, merged: Callable[[str], bool]
) -> None:
    """Tell once that a merge request was merged."""
    name = f"fed {connection.name} {connection.repository} {request.number}"
    if records.fact(name):
        return
    runs = [
        r.job.key
        for r in records.jobs(forge=connection.name, repository=connection.repository, limit=10_000)
        if r.merge_request == request.number and r.state == "done" and r.job.kind == "optimize"
    ]
    if not runs or merged(runs[0]):
        records.set_fact(name, runs[0] if runs else "unknown")


def _moved(
    connection: Connection,
    request: MergeRequest,
    records: Records,
    judge: str,
    config: RepositoryConfig,
    *,
    asked: bool,
) -> Job | None:
    """The job that verifies an open merge request again; None when it needs none.

    `asked`: a person wants it rebased, whatever the base changed.
    """
    forge, mirror = connection.forge, connection.mirror
    if forge.branch_head(request.target_branch) is None:
        answer(forge, request.number, "target-gone", said("target_gone", request.target_branch))
        return None
    head = mirror.fetch(forge, request.head_ref or f"refs/heads/{request.source_branch}")
    tip = mirror.fetch(forge, f"refs/heads/{request.target_branch}")
    message = mirror.git.run("show", "-s", "--format=%B", head)
    trailers = dict(_TRAILERS.findall(message))
    style = config.merge_requests
    if OPERATOR_TRAILER not in trailers or not is_bots_commit(mirror.git, head, RUN_TRAILER, style):
        # The branch is a person's now.
        answer(forge, request.number, "taken-over", said("taken_over", head))
        return None
    base = mirror.git.commit(f"{head}^")
    if base is None or base == tip:
        return None
    folder = decoded(trailers[OPERATOR_TRAILER].strip())
    before, after = mirror.commit(base), mirror.commit(tip)
    judges = mirror.commit(judge)
    workload = judged_by(judges, folder, config)
    if workload is None or folder not in after.operators:
        _close(connection, request, records, said("operator_gone", folder), tip)
        return None
    relevant = before.built_from(folder) != after.built_from(folder)
    if config.merge_requests.rebase == "auto" and not (relevant or asked):
        return None
    # The workload that came with the merge request is derived again.
    sources = (".", f":(exclude,literal){workload_place(folder)}")
    patch = mirror.git.diff("--text", f"{base}..{head}", "--", *sources)
    if not applies(mirror.git, patch, tip):
        _close(connection, request, records, said("same_lines", request.target_branch), tip)
        return None
    subject = Subject(folder, after, judges, workload)
    known = _summed_up(records, trailers[RUN_TRAILER])
    earlier = Earlier(patch, known, merge_request=request.number)
    return verification(connection, config, subject, request.target_branch, earlier)


def _close(
    connection: Connection, request: MergeRequest, records: Records, reason: str, tip: str
) -> None:
    if close(connection.forge, request, reason, tip):
        name = closed_fact(connection.name, connection.repository, request.number)
        records.set_fact(name, BY_BOT)


def _summed_up(records: Records, run: str) -> tuple[Change, ...]:
    """Return the changes of a run, as far as the run is still there."""
    record = records.get(run.strip())
    try:
        return () if record is None else read_result(records.runs / record.job.key).changes
    except InputError:
        return ()


def left_to_people(
    connection: Connection, config: RepositoryConfig, folders: Sequence[str], after: Commit
) -> set[str]:
    """Return the operators for which a push to `after` starts no search.

    The bot's open merge request has a person's commit on top and is theirs; or the pushed sources
    are those of one that was merged, in whatever way. Raises ForgeError or GitError.
    """
    found: set[str] = set()
    for request in own_requests(connection.forge, branches=(BRANCHES,)) if folders else ():
        folder = operator_of(request, folders)
        if not folder or request.state == "closed":
            continue
        mirror, ref = connection.mirror, request.head_ref or f"refs/heads/{request.source_branch}"
        try:
            head = mirror.fetch(connection.forge, ref)
            theirs = request.state == "open" and not is_bots_commit(
                mirror.git, head, RUN_TRAILER, config.merge_requests
            )
            same = mirror.commit(head).built_from(folder) == after.built_from(folder)
        except GitError as problem:
            if problem.away:
                raise
            # Its branch is gone: nobody's work is in the way.
            LOG.info("merge request %d cannot be read: %s", request.number, problem)
            continue
        found |= {folder} if theirs or same else set()
    return found


def verification(
    connection: Connection,
    config: RepositoryConfig,
    subject: Subject,
    target: str,
    earlier: Earlier,
) -> Job:
    """The job that verifies a change again on the sources of `subject`, proposed for `target`."""
    default = connection.forge.repository().default_branch
    settings = {
        "kind": "verify",
        "backend": config.backend,
        "device": config.target,
        "patch": earlier.patch,
        "base": subject.source.name,
    }
    return Job(
        key=subject.key(*connection.lasting, settings),
        kind="verify",
        forge=connection.name,
        repository=connection.repository,
        operator=subject.folder,
        source_ref=f"refs/heads/{target}",
        source_commit=subject.source.name,
        target_branch=target,
        judge_ref=f"refs/heads/{default}",
        judge_commit=subject.judge.name,
        workload=subject.workload,
        backend=config.backend,
        device=config.target,
        budget=VERIFICATION,
        wall_minutes=config.limits.wall_minutes,
        minimum_speedup=config.minimum_speedup,
        patch=earlier.patch,
        patch_of=earlier.merge_request,
        changes=earlier.changes,
        number=earlier.asked_in,
        priority=VERIFYING,
    )
