"""The way from a result to the forge: a merge request is opened, updated, rebased or closed.

Every step may be repeated after a crash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from bot.base.git import GitError
from bot.base.language import language
from bot.base.text import visible
from bot.forge.base import Forge
from bot.forge.errors import ForgeError
from bot.forge.kinds import FORGES
from bot.forge.model import CheckState, MergeRequest
from bot.report.facts import headline, steps
from bot.repository.config import RepositoryConfig
from bot.repository.connection import Connection
from bot.repository.job import Job
from bot.server.checking import read_checked, tell_checked
from bot.server.comments.posting import answer, close, set_check, tell_run
from bot.server.comments.wording import concluded, made_comment, said
from bot.server.created_operator import Made, branch_of, check_made, read_made, submit_made
from bot.server.measuring import read_measured, tell_measured
from bot.server.merge_request import SubmitSettings, read_result, slug, submit
from bot.server.one_item import beside
from bot.server.own_requests import BRANCHES, is_about, is_bots, own_requests
from ci.model.errors import InputError
from ci.model.layout import TOP
from ci.model.result import Result

DAY_S: Final = 86_400.0
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


@dataclass(frozen=True)
class Delivered:
    """The fate of a result that was delivered."""

    note: str
    merge_request: int = 0
    opened: bool = False
    """Whether the merge request is a new one."""
    waits: bool = False
    """Whether a limit is reached and the result is to be delivered again when there is a place."""
    stands: bool = False
    """Whether an open merge request was verified again and stays open."""
    speedup: float = 0.0
    """The speedup of the result, 0 where nothing was sped up but made."""


def hand_in(
    job: Job, folder: Path, connection: Connection, opened_today: int, report_at: str = ""
) -> Delivered:
    """Deliver what a run left in `folder`; arguments and errors as of `deliver`."""
    with language(job.language):
        return _handed_in(job, folder, connection, opened_today, report_at)


def _handed_in(
    job: Job, folder: Path, connection: Connection, opened_today: int, report_at: str
) -> Delivered:
    if job.kind == "create":
        return deliver_made(job, read_made(folder), connection, opened_today)
    if job.kind == "measure":
        return Delivered(tell_measured(job, read_measured(job, folder), connection.forge))
    if job.kind == "check":
        return Delivered(tell_checked(job, read_checked(job, folder), connection.forge))
    result = read_result(folder)
    return replace(
        deliver(job, result, connection, opened_today, report_at), speedup=result.speedup
    )


def deliver_made(job: Job, made: Made, connection: Connection, opened_today: int) -> Delivered:
    """Propose a made operator, and say so where it was asked for."""
    check_made(job, made)
    done = _propose_made(job, made, connection, opened_today)
    tell_run(job, connection.forge, made_comment(job, made.headline, done.note))
    return done


def refuse_in_vain(job: Job, connection: Connection) -> None:
    """Raise InputError when what the job may find could not be proposed, as far as that can be
    known before it is paid for: no other branch is in the way, and the bot may push.

    Raises ForgeError or GitError when the forge cannot be asked.
    """
    if job.kind not in ("optimize", "verify", "create") or job.dry_run or job.from_fork:
        return
    forge, name = connection.forge, job.operator.rpartition("/")[2]
    branch = branch_of(job.operator) if job.kind == "create" else f"{BRANCHES}{slug(name)}/x"
    for above in PurePosixPath(branch).parents:
        if above.name and forge.branch_head(above.as_posix()) is not None:
            raise InputError(said("branch_in_the_way", above.as_posix()))
    git, refspec = connection.mirror.git, f"{job.source_commit}:refs/heads/{branch}"
    try:
        url, login = forge.repository().push_url, forge.credentials()
        git.run("push", "--quiet", "--dry-run", "--", url, refspec, env=login)
    except GitError as problem:
        if problem.away:
            raise
        right = FORGES[connection.name].right
        raise NotAllowed(said("not_allowed", visible(str(problem), 300), right)) from problem


def _propose_made(job: Job, made: Made, connection: Connection, opened_today: int) -> Delivered:
    if job.dry_run:
        return Delivered(said("dry_run"))
    forge, config = connection.forge, connection.limits()
    branch = branch_of(job.operator)
    full = _full(forge, config, opened_today, lambda own: own.source_branch == branch)
    if full:
        return Delivered(full, waits=True)
    try:
        with _told_what_is_missing(connection):
            filed = submit_made(job, made, forge, connection.mirror.folder, config)
    except NotAllowed:
        raise
    except InputError as problem:
        return Delivered(said("refused", problem))
    assert filed.merge_request is not None
    return Delivered(filed.reason, filed.merge_request.number, opened=filed.action == "opened")


def deliver(
    job: Job, result: Result, connection: Connection, opened_today: int, report_at: str = ""
) -> Delivered:
    """Hand a result in and say what was found, as the job's kind asks.

    `opened_today`: merge requests that the bot opened here in the last 24 hours; `report_at`: web
    address of the run's report, '' where it has none. Raises ForgeError
    or GitError when the forge cannot be reached, InputError when the result is not of this job;
    repeating it is safe.
    """
    check_result(job, result)
    if job.patch_of:
        return _rebase(job, result, connection, report_at)
    done = _propose(job, result, connection, opened_today, report_at)
    forge = connection.forge
    tell_run(job, forge, concluded(job, result, done.note, show_patch=not done.merge_request))
    states: dict[str, CheckState] = {"improved": "success", "baseline_failed": "failure"}
    set_check(job, forge, states.get(result.verdict, "neutral"), headline(result), done.note)
    return done


def check_result(job: Job, result: Result) -> None:
    """Check that a result, which comes from where candidates ran, agrees with its job.

    Raises InputError that names the first thing that differs.
    """
    measured = [
        t.measurement.fingerprint
        for t in (*result.trials, result.baseline, result.best)
        if t.measurement
    ]
    prints = {result.fingerprint, *measured}
    facts: list[tuple[str, set[Any], Any]] = [
        ("run", {result.run}, job.run),
        ("operator's folder", {result.operator_path}, job.operator),
        ("operator", {result.operator}, _name(job, result)),
        ("commit", {result.base_commit} - {""}, job.source_commit),
        ("backend", {f.backend for f in prints}, job.backend),
        ("simulated", {f.simulated for f in prints}, job.backend == "sim"),
        ("device", {f.device for f in prints}, job.device),
        *((key, {result.settings.get(key, own)}, own) for key, own in _settings(job).items()),
    ]
    for name, claimed, own in facts:
        if other := claimed - {own}:
            said = visible(str(min(other, key=str)), 80)
            raise InputError(f"The result is not of this job: its {name} is '{said}', not '{own}'.")
    if not _IDENTIFIER.match(result.op_type):
        said = visible(result.op_type, 80)
        raise InputError(f"The result's operator type '{said}' is no name of a C++ class.")


def _name(job: Job, result: Result) -> str:
    """The name of the job's operator: at the repository's top the kernel's, any identifier."""
    whole = job.operator == TOP and _IDENTIFIER.match(result.operator)
    return result.operator if whole else job.operator.rpartition("/")[2]


def _settings(job: Job) -> dict[str, str]:
    """Return the settings in a result that the job decides."""
    return {"backend": job.backend, "device": job.device, "workload": job.workload}


class NotAllowed(InputError):
    """The forge lets the bot open no merge request; names the setting to change."""


def _propose(
    job: Job, result: Result, connection: Connection, opened_today: int, report_at: str
) -> Delivered:
    """Open or update the merge request, or say why there is none."""
    forge = connection.forge
    if result.verdict != "improved":
        return Delivered(said("nothing_to_propose"))
    if result.typical < job.minimum_speedup:
        return Delivered(said("below_minimum", result.typical, job.minimum_speedup))
    if job.dry_run:
        return Delivered(said("dry_run"))
    if job.from_fork:
        return Delivered(said("into_a_fork"))
    kept = {step.trial.number for step in steps(result)} | {result.best.number}
    ideas = {m for t in result.trials if t.number in kept for m in t.candidate.motif_ids}
    if unwanted := sorted(ideas & set(job.without)):
        return Delivered(said("ignored_idea", unwanted))
    config = connection.limits()
    full = _full(forge, config, opened_today, lambda own: is_about(own, job.operator))
    if full:
        return Delivered(full, waits=True)
    settings = _submit_settings(job, config, report_at)
    try:
        with _told_what_is_missing(connection):
            filed = submit(result, forge, connection.mirror.folder, settings)
    except NotAllowed:
        raise
    except InputError as problem:
        return Delivered(said("refused", problem))
    request = filed.merge_request
    if filed.action != "declined" and request is not None and config.merge_requests.labels:
        with beside("its labels"):
            forge.add_labels(request.number, config.merge_requests.labels)
    number = request.number if request is not None and filed.action != "declined" else 0
    return Delivered(filed.reason, number, opened=filed.action == "opened")


def _full(
    forge: Forge,
    config: RepositoryConfig,
    opened_today: int,
    fits: Callable[[MergeRequest], bool],
) -> str:
    """Why no merge request may be opened, '' when one may or an own one that `fits` is open."""
    ours = own_requests(forge, "open")
    if any(map(fits, ours)):
        return ""
    if len(ours) >= config.limits.open_merge_requests:
        return said("too_many_open", len(ours))
    if opened_today >= config.limits.daily_merge_requests:
        return said("too_many_today", opened_today)
    return ""


def free_places(forge: Forge, config: RepositoryConfig, opened_today: int) -> int:
    """How many merge requests may be opened now; `opened_today` as of `deliver`."""
    limits = config.limits
    left = limits.daily_merge_requests - opened_today
    return max(0, min(limits.open_merge_requests - len(own_requests(forge, "open")), left))


@contextmanager
def _told_what_is_missing(connection: Connection) -> Iterator[None]:
    """A refusal of the forge becomes `NotAllowed` with the setting to change."""
    try:
        yield
    except ForgeError as problem:
        if problem.kind != "forbidden" or problem.token_refused:
            raise
        words = visible(str(problem), 300).rstrip(".")
        right = FORGES[connection.name].right
        raise NotAllowed(said("not_allowed", words, right)) from problem


def _rebase(job: Job, result: Result, connection: Connection, report_at: str) -> Delivered:
    """Rebase a merge request with new figures, or close it; no limits for what is open already."""
    forge = connection.forge
    request = forge.merge_request(job.patch_of)
    if not is_bots(request, forge):
        raise InputError(f"Merge request {request.number} is not the bot's own.")
    if request.state != "open":
        return Delivered(said("no_longer_open", request.number, request.state))
    if result.verdict == "improved" and result.typical >= job.minimum_speedup:
        settings = _submit_settings(job, connection.limits(), report_at, again=True)
        try:
            filed = submit(result, forge, connection.mirror.folder, settings, request.number)
        except InputError as problem:
            return Delivered(said("not_rebased", problem), request.number)
        answer(forge, request.number, f"verified-{job.key}", said("rebased", headline(result)))
        return Delivered(filed.reason, request.number, stands=True)
    if result.verdict in ("unknown", "unverified"):
        return Delivered(said("left_as_it_is", result.verdict_reason), request.number)
    reason = said("worthless", headline(result), job.source_commit)
    close(forge, request, reason, job.source_commit)
    return Delivered(said("closed"), request.number)


def _submit_settings(
    job: Job, config: RepositoryConfig, report_at: str, *, again: bool = False
) -> SubmitSettings:
    chosen = {
        "target": job.target_branch,
        "propose_workload": config.propose_workloads,
        "report_at": report_at,
    }
    return SubmitSettings.model_validate({**config.merge_requests.style, **chosen, "again": again})
