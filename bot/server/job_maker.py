"""The jobs of an event: which operators it touches, and one job for each that may be worked on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.base.text import code
from bot.events.model import Event
from bot.forge.base import Forge
from bot.forge.model import Comment, MergeRequest
from bot.repository.command import Command
from bot.repository.config import FILE, RepositoryConfig
from bot.repository.job import Job, job_key
from bot.repository.mirror import Commit, Mirror, workload_of
from bot.repository.trigger import Touched, touched_operators
from bot.server.queue import Queue
from rules.triggers import load_triggers


@dataclass
class Work:
    """What everything that one event asks for looks at."""

    event: Event
    name: str
    """The forge's name in the bot's configuration."""
    forge: Forge
    mirror: Mirror
    queue: Queue
    config: RepositoryConfig = field(default_factory=RepositoryConfig)
    judge: str = ""
    """Head commit of the default branch."""
    allowed: str = ""
    """A fork's head commit that an earlier command of the same comment allows."""


def head_of(work: Work, request: MergeRequest) -> Commit:
    """The head commit of a merge request, fetched."""
    commit = work.mirror.fetch(work.forge, request.head_ref)
    if commit != request.head:
        # Pushed in between: a fork's new head is not the one that was allowed.
        work.mirror.ensure(work.forge, request.head_ref, request.head)
    return work.mirror.commit(request.head)


def touched(head: Commit, changed: Sequence[str]) -> tuple[Touched, ...]:
    """The operators of a commit that changed paths concern."""
    return touched_operators(changed, head.operators, head.texts, load_triggers())


def choose(head: Commit, found: Sequence[Touched], op: str) -> tuple[list[str], str]:
    """Operator folders to work on, or why there are none."""
    if not op:
        folders = [t.folder for t in found]
        return folders, "" if folders else (
            "This merge request changes no kernel or tiling source of an operator. Name one with"
            " `/optimize op=NAME`."
        )
    named = [f for f in head.operators if op in (f, f.rsplit("/", 1)[-1])]
    if not named:
        return [], f"There is no operator {code(op)} in this repository."
    if len(named) > 1:
        listed = ", ".join(code(f) for f in named[:5])
        return [], f"There are {len(named)} operators {code(op)}; give the folder: {listed}."
    return named, ""


def make_jobs(
    work: Work,
    head: Commit,
    folders: Sequence[str],
    command: Command,
    request: MergeRequest | None,
    comment: Comment | None = None,
) -> tuple[list[Job], list[str]]:
    """A job for each operator that may be worked on, and a sentence for each that may not."""
    config, home = work.config, work.forge.repository()
    judge = work.mirror.commit(work.judge)
    jobs: list[Job] = []
    words: list[str] = []
    for folder in folders:
        if not config.covers(folder):
            words.append(f"{code(folder)} is left alone: {code(FILE)} says so.")
            continue
        workload = workload_of(judge, folder, config.override(folder).workload, config.workloads)
        if workload is None:
            words.append(
                f"{code(folder)} has no workload on {code(home.default_branch)}: add"
                f" {code(folder + '/workload.yaml')} there, or name one in {code(FILE)}."
            )
            continue
        if len(jobs) == config.limits.operators_per_event:
            words.append(
                f"Only the first {len(jobs)} operators are optimized; name others with `op=NAME`."
            )
            break
        jobs.append(_job(work, head, judge, folder, workload, command, request, comment))
    return jobs, words


def _job(
    work: Work,
    head: Commit,
    judge: Commit,
    folder: str,
    workload: str,
    command: Command,
    request: MergeRequest | None,
    comment: Comment | None,
) -> Job:
    config, home = work.config, work.forge.repository()
    own = config.override(folder)
    default = f"refs/heads/{home.default_branch}"
    settings = {
        "backend": config.backend,
        "device": command.target or config.target,
        "stage": command.stage or own.stage or config.stage,
        "budget": str(config.granted(folder, command.budget)),
        "seed": str(config.seed),
        "proposer": config.proposer,
        "minimum_speedup": str(config.minimum_speedup),
        "dry_run": str(command.dry_run),
        "judge": workload,
        # A merge request's run proposes to its own branch: another target is other work.
        "target": _target(request, home.default_branch),
    }
    blobs = head.built_from(folder) | {f"judge:{p}": b for p, b in judge.beside(workload).items()}
    return Job.model_validate(
        {
            **{k: v for k, v in settings.items() if k in Job.model_fields},
            "key": job_key(work.name, home.name, folder, blobs, settings),
            "forge": work.name,
            "repository": home.name,
            "number": request.number if request else 0,
            "operator": folder,
            "source_ref": request.head_ref if request else default,
            "source_commit": head.name,
            "target_branch": settings["target"],
            "judge_ref": default,
            "judge_commit": judge.name,
            "workload": workload,
            "dry_run": command.dry_run,
            "wall_minutes": config.limits.wall_minutes,
            "from_fork": bool(request and request.from_fork),
            "requested_by": comment.author if comment else "",
            "comment_id": comment.id if comment else 0,
        }
    )


def _target(request: MergeRequest | None, default: str) -> str:
    """Branch that a result is proposed for: what is under review when it is in this repository."""
    return default if request is None or request.from_fork else request.source_branch
