"""The jobs of an event: which operators it touches, and one job for each that may be worked on."""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from bot.events.model import Event
from bot.forge.base import Forge
from bot.forge.model import Comment, MergeRequest, Repository
from bot.repository.command import Command
from bot.repository.config import FILE, RepositoryConfig
from bot.repository.connection import Connection
from bot.repository.job import ASKED, DERIVED, Job, Record, job_key
from bot.repository.judge import judge_files
from bot.repository.mirror import Commit, Mirror, workload_of, workload_submodule
from bot.repository.trigger import Touched, touched_operators
from bot.server.comments.wording import said
from bot.server.refused import No, refusals
from rules.triggers import load_triggers


class Records(Protocol):
    """What is remembered of jobs: the bot's queue, or nothing at all between the jobs of a CI."""

    runs: Path
    """Folder of the runs, each in one of its key's name."""

    def get(self, key: str) -> Record | None:
        """The job of a key or of its first ten digits."""

    def jobs(
        self,
        *,
        states: Sequence[str] = (),
        forge: str = "",
        repository: str = "",
        number: int | None = None,
        limit: int = 200,
    ) -> list[Record]:
        """Jobs that match everything given, newest first."""

    def add(self, job: Job, now: float) -> bool:
        """Take a job; False when its key is known."""

    def fact(self, name: str) -> str:
        """Something remembered, '' when it is not."""

    def facts(self) -> dict[str, str]:
        """Everything remembered by name."""

    def set_fact(self, name: str, value: str) -> None:
        """Remember something."""


@dataclass(frozen=True)
class Work:
    """The state that all jobs of one event are made from."""

    event: Event
    connection: Connection
    records: Records
    home: Repository
    judge: Commit
    """The default branch: it configures and judges."""
    config: RepositoryConfig

    @property
    def forge(self) -> Forge:
        """The forge of the connection."""
        return self.connection.forge

    @property
    def mirror(self) -> Mirror:
        """The mirror of the connection."""
        return self.connection.mirror

    @cached_property
    def refusals(self) -> list[No]:
        """Return the refusals of people that hold now."""
        return refusals(self.records.facts(), *self.connection.here, time.time())

    def known(self, **match: Any) -> list[Record]:
        """Jobs of this repository that match."""
        forge, repository = self.connection.here
        return self.records.jobs(forge=forge, repository=repository, **match)


@dataclass(frozen=True)
class Subject:
    """An operator as a job sees it: its sources at one commit, its judge at another."""

    folder: str
    source: Commit
    judge: Commit
    workload: str
    """The workload, from the repository's top, at the judge's commit; `DERIVED` where there is
    none."""

    def key(self, forge: str, repository: str, settings: Mapping[str, str]) -> str:
        """The identity of work on it, see `job_key`."""
        judges = judge_files(self.judge, self.workload)
        blobs = self.source.built_from(self.folder) | {f"judge:{p}": b for p, b in judges.items()}
        return job_key(forge, repository, self.folder, blobs, settings)


def judged_by(judge: Commit, folder: str, config: RepositoryConfig) -> str | None:
    """The workload that judges the operator in `folder`: its file, `DERIVED` where there is none,
    None where the one that the configuration names is missing, or would lie in a submodule."""
    chosen = config.override(folder).workload
    workload = workload_of(judge, folder, chosen, config.workloads)
    if workload is not None or chosen:
        return workload
    return None if workload_submodule(judge, folder, chosen, config.workloads) else DERIVED


def why_not_judged(judge: Commit, folder: str, config: RepositoryConfig, branch: str) -> str:
    """Why `judged_by` finds nothing, as a sentence."""
    chosen = config.override(folder).workload
    inside = workload_submodule(judge, folder, chosen, config.workloads)
    if inside:
        return said("workload_in_submodule", folder, inside, FILE)
    return said("no_workload", folder, branch, FILE)


def touched(head: Commit, changed: Sequence[str]) -> tuple[Touched, ...]:
    """The operators of a commit that changed paths concern."""
    return touched_operators(changed, head.operators, head.texts, load_triggers())


def choose(head: Commit, found: Sequence[Touched], op: str) -> tuple[list[str], str]:
    """Operator folders to work on, or why there are none."""
    if not op:
        folders = [t.folder for t in found]
        return folders, "" if folders else said("nothing_changed")
    named = [f for f in head.operators if op in (f, f.rsplit("/", 1)[-1])]
    if not named:
        known = {name for f in head.operators for name in (f, f.rsplit("/", 1)[-1])}
        near = difflib.get_close_matches(op, known, n=1)
        return [], said("unknown_operator", op, near[0] if near else "")
    if len(named) > 1:
        return [], said("several_operators", op, named)
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
    config = work.config
    jobs: list[Job] = []
    words: list[str] = []
    for folder in folders:
        if not config.covers(folder):
            words.append(said("left_alone", folder, FILE))
            continue
        no = next((n for n in work.refusals if (n.kind, n.what) == ("operator", folder)), None)
        if no is not None and comment is None and work.event.kind != "dispatch":
            words.append(said("ignored", no))
            continue
        workload = judged_by(work.judge, folder, config)
        if workload is None:
            words.append(why_not_judged(work.judge, folder, config, work.home.default_branch))
            continue
        subject = Subject(folder, head, work.judge, workload)
        jobs.append(_job(work, subject, command, request, comment))
    more = len(jobs) - config.limits.operators_per_event
    if more > 0:
        words.append(said("the_rest_waits", len(jobs) - more, more))
    return jobs, words


def _job(
    work: Work,
    subject: Subject,
    command: Command,
    request: MergeRequest | None,
    comment: Comment | None,
) -> Job:
    config, home, folder = work.config, work.home, subject.folder
    default = f"refs/heads/{home.default_branch}"
    # A merge request's run proposes to its own branch: another target is other work. A fork's
    # branch is not in this repository.
    own = request is not None and not request.from_fork
    target = request.source_branch if request is not None and own else home.default_branch
    device = command.target or config.target
    stage = command.stage or config.override(folder).stage or config.stage
    budget = config.granted(folder, command.budget)
    by_hand = work.event.sender if work.event.kind == "dispatch" else ""
    person = comment.author if comment else by_hand
    settings = {
        "backend": config.backend,
        "device": device,
        "stage": stage,
        "budget": str(budget),
        "seed": str(config.seed),
        "proposer": config.proposer,
        "minimum_speedup": str(config.minimum_speedup),
        "dry_run": str(command.dry_run),
        "judge": subject.workload,
        "target": target,
    }
    return Job(
        key=subject.key(*work.connection.lasting, settings),
        forge=work.connection.name,
        repository=work.connection.repository,
        number=request.number if request else 0,
        operator=folder,
        source_ref=request.head_ref if request else default,
        source_commit=subject.source.name,
        target_branch=target,
        judge_ref=default,
        judge_commit=subject.judge.name,
        workload=subject.workload,
        backend=config.backend,
        device=device,
        stage=stage,
        budget=budget,
        seed=config.seed,
        proposer=config.proposer,
        wall_minutes=config.limits.wall_minutes,
        minimum_speedup=config.minimum_speedup,
        dry_run=command.dry_run,
        from_fork=bool(request and request.from_fork),
        requested_by=person,
        without=tuple(no.what for no in work.refusals if no.kind == "idea"),
        comment_id=comment.id if comment else 0,
        priority=priority(work, folder, asked=bool(person)),
    )


def priority(work: Work, folder: str, *, asked: bool) -> float:
    """How soon a search of the operator in `folder` is due.

    ASKED for what a person asks for; else the operator's share of the time of a model (0 to 1),
    and half of it where the last search found nothing.
    """
    if asked:
        return ASKED
    share = work.config.override(folder).share
    last = next(
        (
            r
            for r in work.known(states=("done", "waiting"), limit=10_000)
            if r.job.operator == folder and r.job.kind == "optimize"
        ),
        None,
    )
    found_nothing = last is not None and not last.merge_request and last.state == "done"
    return share / 2 if found_nothing else share
