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
from bot.forge.model import MergeRequest
from bot.repository.config import RepositoryConfig
from bot.repository.connection import Connection
from bot.repository.job import DERIVED, Job, standing_fact
from bot.repository.mirror import Mirror, workload_of, workload_place
from bot.repository.patch import apply
from bot.server.job_maker import Records, Subject
from bot.server.merge_request import BRANCHES
from bot.server.speech import close
from bot.server.wording import said
from ci.model.budget import VERIFICATION
from ci.model.errors import InputError

_TRAILERS: Final = re.compile(r"^Ascendopt-(Operator|Run): (.+)$", re.MULTILINE)


def look_again(
    connection: Connection,
    records: Records,
    now: float,
    merged: Callable[[str], bool] = lambda run: True,
) -> list[Job]:
    """Look at all merge requests of the bot; the jobs that verify them on bases that moved.

    Closes those that no longer apply. `merged` is called once with the run of each that a person
    merged (its experience goes back to the bank) and says whether that is done with. Raises
    ForgeError or GitError when the forge cannot be asked; repeating it is safe.
    """
    forge = connection.forge
    judge = connection.tip()
    try:
        config = connection.config(judge)
    except InputError:
        return []
    jobs = []
    for request in forge.merge_requests("all", BRANCHES):
        if request.from_fork:
            continue
        stands = standing_fact(connection.name, connection.repository, request.number)
        if records.fact(stands) != request.state:
            records.set_fact(stands, request.state)
        if request.state == "merged":
            _feed(connection, request, records, merged)
        elif request.state == "open" and config.enabled and config.merge_requests.rebase != "never":
            job = _moved(connection, request, judge, config)
            if job is not None:
                jobs.append(job)
    return [job for job in jobs if records.add(job, now)]


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
    if workload is None and not override.workload:
        workload = DERIVED
    if workload is None or folder not in after.operators:
        close(forge, request, said("operator_gone", folder), tip)
        return None
    relevant = before.built_from(folder) != after.built_from(folder)
    if config.merge_requests.rebase == "auto" and not relevant:
        return None
    # The workload that came with the merge request is derived again.
    sources = (".", f":(exclude){workload_place(folder)}")
    patch = mirror.git.run("diff", "--no-color", "--no-ext-diff", f"{base}..{head}", "--", *sources)
    if not _applies(mirror, patch, tip):
        close(forge, request, said("same_lines", request.target_branch), tip)
        return None
    return _job(connection, request, config, Subject(folder, after, judges, workload), patch)


def _job(
    connection: Connection,
    request: MergeRequest,
    config: RepositoryConfig,
    subject: Subject,
    patch: str,
) -> Job:
    default = connection.forge.repository().default_branch
    settings = {
        "kind": "verify",
        "backend": config.backend,
        "device": config.target,
        "patch": patch,
        "base": subject.source.name,
    }
    return Job(
        key=subject.key(connection.name, connection.repository, settings),
        kind="verify",
        forge=connection.name,
        repository=connection.repository,
        operator=subject.folder,
        source_ref=f"refs/heads/{request.target_branch}",
        source_commit=subject.source.name,
        target_branch=request.target_branch,
        judge_ref=f"refs/heads/{default}",
        judge_commit=subject.judge.name,
        workload=subject.workload,
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
