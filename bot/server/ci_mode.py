"""The bot inside a forge's CI: plan with a token, run without one, report with one.

The three steps are three CI jobs that pass folders of data:

    plan/plan.json, plan/jobs/KEY/{job.json,commits.pack}     what to do
    results/KEY/{result.json,best.patch,report.md,...}        what came of it

There is no queue between CI jobs: what was said and done before is read from the forge.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bot.base.git import GitError
from bot.events.model import Event
from bot.forge.base import ForgeError
from bot.repository.commit_pack import PACK, read_pack, write_pack
from bot.repository.connection import Connection
from bot.repository.job import Job, Record
from bot.server.delivery import DAY_S, deliver
from bot.server.merge_request import BRANCHES, read_result
from bot.server.planner import plan
from bot.server.run_job import JOB_FILE, read_job
from bot.server.service import nod, speak
from bot.server.speech import TEMPORARY, is_own, say, set_check
from bot.server.verify_again import look_again
from bot.server.wording import ended_mark, failed, run_mark, said
from ci.model.errors import InputError

PLAN: Final = "plan.json"
JOBS: Final = "jobs"


class _NoRecords:
    """Nothing is on record between the jobs of a CI."""

    runs = Path()

    def get(self, key: str) -> Record | None:
        return None

    def jobs(self, **match: object) -> list[Record]:
        return []

    def add(self, job: Job, now: float) -> bool:
        return True

    def fact(self, name: str) -> str:
        return ""

    def set_fact(self, name: str, value: str) -> None:
        return


def plan_event(event: Event, connection: Connection, out: Path) -> list[Job]:
    """Answer `event` and write the jobs that follow from it into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    made = plan(event, connection, _NoRecords())
    # What is on record keeps its status comment, which answers.
    jobs = [job for job in made.jobs if not _done_before(connection, job)]
    speak(replace(made, jobs=tuple(jobs)), connection.forge, _NoRecords())
    nod(made, event, connection.forge)
    _write(jobs, connection, out)
    return jobs


def plan_follow_up(connection: Connection, out: Path) -> list[Job]:
    """Look at the bot's open merge requests and write the jobs that verify them again."""
    out.mkdir(parents=True, exist_ok=True)
    jobs = look_again(connection, _NoRecords(), time.time())
    _write(jobs, connection, out)
    return jobs


def _done_before(connection: Connection, job: Job) -> bool:
    """Whether the status comment on the forge says that this very work has ended well."""
    if not job.number:
        return False
    forge = connection.forge
    return any(
        is_own(c, run_mark(job), forge) and ended_mark() in c.body
        for c in forge.comments(job.number)
    )


def _write(jobs: Sequence[Job], connection: Connection, out: Path) -> None:
    for job in jobs:
        folder = out / JOBS / job.key
        folder.mkdir(parents=True, exist_ok=True)
        (folder / JOB_FILE).write_text(job.model_dump_json(indent=2), encoding="utf-8")
        write_pack(connection.mirror.git, job, folder)
    listed = {"jobs": [j.key for j in jobs]}
    (out / PLAN).write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")


def planned(folder: Path) -> list[tuple[Job, Path]]:
    """The jobs of a plan folder with the folder of each; raises InputError when it is none."""
    file = folder / PLAN
    try:
        keys = json.loads(file.read_text(encoding="utf-8"))["jobs"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(f"{folder} is no plan: {file} cannot be read ({problem}).") from None
    found = []
    for key in keys:
        # The key becomes a path: nothing but a key may.
        if not isinstance(key, str) or not key.isalnum():
            raise InputError(f"{file} names a job that is no key.")
        place = folder / JOBS / key
        job = read_job(place / JOB_FILE)
        if job.key != key:
            raise InputError(f"{place / JOB_FILE} is the job {job.key}, not {key}.")
        found.append((job, place))
    return found


def repository_of(job: Job, place: Path, out: Path) -> Path:
    """A bare repository with the job's commits, unpacked below `out`."""
    return read_pack(place / PACK, job, out / "repository.git")


def report(connection: Connection, jobs: Sequence[Job], results: Path) -> list[str]:
    """Deliver every job's result; one sentence a job. Results are data from outside.

    A bad one is reported as such. Raises what the forge refused, once every job has had its turn.
    """
    told: list[str] = []
    refused: ForgeError | GitError | None = None
    for job in jobs:
        try:
            told.append(f"{job.operator}: {_reported(connection, job, results)}")
        except TEMPORARY as problem:
            refused = refused or problem
    if refused is not None:
        raise refused
    return told


def _reported(connection: Connection, job: Job, results: Path) -> str:
    forge = connection.forge
    try:
        result = read_result(results / job.key)
        connection.mirror.ensure(forge, job.source_ref, job.source_commit)
        return deliver(job, result, connection, _opened_today(connection)).note
    except InputError as problem:
        reason = said("no_result", problem)
        if job.number:
            say(forge, job.number, run_mark(job), failed(job, "failed", reason))
        set_check(job, forge, "error", "The run left no result.")
        return reason


def _opened_today(connection: Connection) -> int:
    """Merge requests of the bot that the forge shows as touched within a day.

    Without a queue nobody remembers when they were opened; the last change is the nearest the
    protocol tells, and errs on the side of fewer.
    """
    recent = time.time() - DAY_S
    found = connection.forge.merge_requests("all", BRANCHES)
    return sum(1 for m in found if m.updated_at.timestamp() > recent)
