"""What happens to the bot's open merge requests when their base moves, and when they are merged.

A base that moved may have made a change worthless or wrong. So the change is laid onto the base as
it is now and measured and verified again; then the branch is rebased, or the merge request is
closed with the reason. A branch that holds somebody else's commit is never touched.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bot.base.git import Git, GitError
from bot.base.text import plain
from bot.forge.base import Forge
from bot.forge.model import MergeRequest
from bot.report.facts import headline
from bot.repository.config import FILE, RepositoryConfig, parse_config
from bot.repository.connection import Connection
from bot.repository.job import Job, job_key
from bot.repository.mirror import Commit, Mirror, workload_of
from bot.repository.patch import apply
from bot.server.delivery import Delivered, answer
from bot.server.merge_request import BRANCHES, SubmitSettings, submit
from bot.server.queue import Queue
from ci.model.budget import VERIFICATION
from ci.model.errors import InputError
from ci.model.result import Result

_TRAILERS: Final = re.compile(r"^Ascendopt-(Operator|Run): (.+)$", re.MULTILINE)


def look_again(
    connection: Connection,
    queue: Queue,
    now: float,
    merged: Callable[[str], bool] = lambda run: True,
) -> list[Job]:
    """Look at all merge requests of the bot; the jobs that verify them on bases that moved.

    Closes those that no longer apply. `merged` is called once with the run of each that a person
    merged (its experience goes back to the bank) and says whether that is done with. Raises
    ForgeError or GitError when the forge cannot be asked; repeating it is safe.
    """
    forge, mirror = connection.forge, connection.mirror
    home = forge.repository()
    judge = mirror.fetch(forge, f"refs/heads/{home.default_branch}")
    try:
        config = parse_config(mirror.git.show(judge, FILE))
    except InputError:
        return []
    jobs = []
    for request in forge.merge_requests("all", BRANCHES):
        if request.from_fork:
            continue
        if request.state == "merged":
            _feed(connection, request, queue, merged)
        elif request.state == "open" and config.enabled and config.merge_requests.rebase != "never":
            job = _moved(connection, request, judge, config)
            if job is not None:
                jobs.append(job)
    return [job for job in jobs if queue.add(job, now)]


def _feed(
    connection: Connection, request: MergeRequest, queue: Queue, merged: Callable[[str], bool]
) -> None:
    """Tell once that a merge request was merged."""
    name = f"fed {connection.name} {connection.repository} {request.number}"
    if queue.fact(name):
        return
    runs = [
        r.job.key
        for r in queue.jobs(forge=connection.name, repository=connection.repository, limit=10_000)
        if r.merge_request == request.number and r.state == "done"
    ]
    if not runs or merged(runs[0]):
        queue.set_fact(name, runs[0] if runs else "unknown")


def _moved(
    connection: Connection, request: MergeRequest, judge: str, config: RepositoryConfig
) -> Job | None:
    """The job that verifies an open merge request again; None when it needs none."""
    forge, mirror = connection.forge, connection.mirror
    head = mirror.fetch(forge, request.head_ref or f"refs/heads/{request.source_branch}")
    tip = mirror.fetch(forge, f"refs/heads/{request.target_branch}")
    message = mirror.git.run("show", "-s", "--format=%B", head)
    trailers = dict(_TRAILERS.findall(message))
    if "Run" not in trailers or "Operator" not in trailers:
        return None  # a person has taken the branch over
    base = mirror.git.commit(f"{head}^")
    if base is None or base == tip:
        return None
    folder = trailers["Operator"].strip()
    before, after = mirror.commit(base), mirror.commit(tip)
    judges = mirror.commit(judge)
    override = config.override(folder)
    workload = workload_of(judges, folder, override.workload, config.workloads)
    if workload is None or folder not in after.operators:
        _close(forge, request, f"The operator or its workload is gone from {plain(folder)}.", tip)
        return None
    relevant = before.built_from(folder) != after.built_from(folder)
    if config.merge_requests.rebase == "auto" and not relevant:
        return None
    patch = mirror.git.run("diff", "--no-color", "--no-ext-diff", f"{base}..{head}")
    if not _applies(mirror, patch, tip):
        _close(
            forge,
            request,
            f"{plain(request.target_branch)} changed the same lines, so this patch no longer"
            " applies. Optimize the operator as it is now with `/optimize`.",
            tip,
        )
        return None
    return _job(connection, request, config, after, judges, folder, workload, patch)


def _job(
    connection: Connection,
    request: MergeRequest,
    config: RepositoryConfig,
    tip: Commit,
    judge: Commit,
    folder: str,
    workload: str,
    patch: str,
) -> Job:
    default = connection.forge.repository().default_branch
    settings = {
        "kind": "verify",
        "backend": config.backend,
        "device": config.target,
        "patch": patch,
        "base": tip.name,
    }
    blobs = tip.built_from(folder) | {f"judge:{p}": b for p, b in judge.beside(workload).items()}
    return Job(
        key=job_key(connection.name, connection.repository, folder, blobs, settings),
        kind="verify",
        forge=connection.name,
        repository=connection.repository,
        operator=folder,
        source_ref=f"refs/heads/{request.target_branch}",
        source_commit=tip.name,
        target_branch=request.target_branch,
        judge_ref=f"refs/heads/{default}",
        judge_commit=judge.name,
        workload=workload,
        backend=config.backend,
        device=config.target,
        budget=VERIFICATION,
        wall_minutes=config.limits.wall_minutes,
        minimum_speedup=config.minimum_speedup,
        patch=patch,
        patch_of=request.number,
    )


def _applies(mirror: Mirror, patch: str, commit: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="ascendopt-rebase-") as folder:
        index = Path(folder) / "index"
        git = Git(mirror.folder)
        git.run("read-tree", commit, env={"GIT_INDEX_FILE": str(index)})
        try:
            apply(git, patch, "the patch", index=index)
        except (InputError, GitError):
            return False
    return True


def _close(forge: Forge, request: MergeRequest, reason: str, commit: str) -> None:
    answer(forge, request.number, f"closed-{commit}", f"I close this: {reason}")
    forge.close(request.number)


def deliver_verification(
    job: Job,
    result: Result,
    forge: Forge,
    mirror: Mirror,
    config: RepositoryConfig,
    opened_today: int,
) -> Delivered:
    """Rebase the merge request with the new figures, or close it with the reason.

    Takes the arguments of `deliver`; limits do not apply to what is open already.
    """
    del config, opened_today
    request = forge.merge_request(job.patch_of)
    if request.state != "open":
        return Delivered(f"Merge request {request.number} is {request.state} by now.")
    if result.operator_path != job.operator:
        raise InputError("The result is about another operator than the job's.")
    if result.verdict == "improved" and result.speedup >= job.minimum_speedup:
        try:
            filed = submit(
                result, forge, mirror.folder, SubmitSettings(target=job.target_branch, again=True)
            )
        except InputError as problem:
            return Delivered(f"Not rebased: {problem}", request.number)
        said = f"The base moved; rebased and verified again. {plain(headline(result))}"
        answer(forge, request.number, f"verified-{job.key}", said)
        return Delivered(filed.reason, request.number)
    if result.verdict == "unknown":
        return Delivered(f"Left as it is: {result.verdict_reason}", request.number)
    short = job.source_commit[:12]
    reason = (
        f"measured and verified again on {short}, it no longer is worth merging."
        f" {plain(headline(result))}"
    )
    _close(forge, request, reason, job.source_commit)
    return Delivered("Closed: no longer faster or no longer right.", request.number)
