"""Runs of the CI of one repository, each with nothing but the forge, and what they leave there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.events.model import Event
from bot.forge.model import MergeRequest
from bot.repository.job import Job, Record
from bot.server.ci_mode import plan_event, plan_follow_up, report, state_of
from bot.server.run_folder import FAILURE, Failure
from bot.server.run_job import result_file
from bot.server.state_branch import STATE_BRANCH
from ci.model.result import Result
from tests.bot.make import OPERATOR_PATH, git
from tests.bot.operator_repository import Repository

SCALE_ADD = f"{OPERATOR_PATH}/op_kernel/scale_add.cpp"


class Ci:
    """Runs of the CI of one repository, each with a fresh folder and a fresh mirror."""

    def __init__(self, ops: Repository) -> None:
        self.ops = ops
        self.runs = 0

    def _folder(self) -> Path:
        self.runs += 1
        return self.ops.folder / f"ci-{self.runs}"

    def plan(self, event: Event) -> list[Job]:
        self.out = self._folder()
        return plan_event(event, self.connection(), self.out)

    def connection(self) -> Any:
        found = self.ops.connection()
        return type(found).mirrored("local", self.ops.name, self.ops.bot, self._folder())

    def follow_up(self) -> list[Job]:
        self.out = self._folder()
        return plan_follow_up(self.connection(), self.out)

    def write(self, number: int, text: str) -> list[Job]:
        """Alice writes a comment, and the CI plans what follows."""
        made = self.ops.as_user("alice").comment(number, text)
        return self.plan(
            self.ops.event(
                kind="comment", action="created", number=number, comment_id=made.id, text=text
            )
        )

    def push(self, files: dict[str, str]) -> list[Job]:
        """Alice pushes to the default branch, and the CI plans what follows."""
        return self.plan(self.pushed(files))

    def pushed(self, files: dict[str, str]) -> Event:
        before = git(self.ops.checkout, "rev-parse", "main")
        after = self.ops.commit("main", files)
        return self.ops.event(kind="push", ref="refs/heads/main", before=before, after=after)

    def report(self, job: Job, made: Result | None = None, **changed: object) -> list[str]:
        """The run left a result, and the CI reports it."""
        results = self._folder()
        if made is not None:
            told = {"run": job.run, "base_commit": job.source_commit, **changed}
            result_file(results / job.key).parent.mkdir(parents=True)
            text = made.model_copy(update=told).model_dump_json()
            result_file(results / job.key).write_text(text)
        return report(self.connection(), [job], results)

    def answers(self, number: int) -> str:
        return "\n".join(c.body for c in self.ops.bot.comments(number) if c.author == "ascendopt")

    def records(self) -> dict[str, Record]:
        with state_of(self.connection()) as state:
            return {r.job.key: r for r in state.read().jobs(limit=10_000)}


def asked(ci: Ci) -> tuple[int, Job]:
    """A merge request under which somebody asked for scale_add, and the job of it."""
    request = ci.ops.request({"README.md": "about scale_add\n"})
    (job,) = ci.write(request.number, "/optimize op=scale_add")
    return request.number, job


def last_answer(ci: Ci, number: int) -> str:
    return ci.ops.bot.comments(number)[-1].body


def the_merge_request(ci: Ci) -> MergeRequest:
    (found,) = ci.ops.bot.merge_requests("open", "optimize/")
    return found


def failed(ci: Ci, job: Job) -> None:
    """Report that a run failed for a reason that lasts."""
    folder = ci._folder()
    (folder / job.key).mkdir(parents=True)
    left = Failure(sentence="The operator does not build.", lasting=True)
    (folder / job.key / FAILURE).write_text(left.model_dump_json())
    report(ci.connection(), [job], folder)
    assert ci.records()[job.key].state == "failed"


def files_of(ops: Repository) -> dict[str, str]:
    git(ops.checkout, "fetch", "-q", "origin", STATE_BRANCH)
    listed = git(ops.checkout, "ls-tree", "-r", "--name-only", "FETCH_HEAD").splitlines()
    return {name: git(ops.checkout, "show", f"FETCH_HEAD:{name}") for name in listed}


def store(ops: Repository, files: dict[str, str]) -> None:
    """Put files on the state branch, as somebody with write access may."""
    git(ops.checkout, "fetch", "-q", "origin", STATE_BRANCH)
    git(ops.checkout, "checkout", "-q", "-f", "FETCH_HEAD")
    for name, text in files.items():
        (ops.checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (ops.checkout / name).write_text(text)
    git(ops.checkout, "add", "-A")
    git(ops.checkout, "commit", "-q", "-m", "Meddle")
    git(ops.checkout, "push", "-q", "--force", "origin", f"HEAD:{STATE_BRANCH}")
    git(ops.checkout, "checkout", "-q", "main")
