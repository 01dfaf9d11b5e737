"""Results that wait for a free place among the bot's open merge requests, and their turn."""

from __future__ import annotations

import logging
from typing import Final

from bot.repository.connection import Connection
from bot.repository.job import Job, Record
from bot.repository.patch import applies
from bot.server.comments.wording import said
from bot.server.delivery import DAY_S, Delivered, free_places
from bot.server.job_maker import Subject, judged_by
from bot.server.merge_request import read_result
from bot.server.one_item import told
from bot.server.queue import Queue
from bot.server.verify_again import Earlier, verification
from ci.model.errors import InputError

LOG: Final = logging.getLogger("ascendopt.bot")


def next_waiting(connection: Connection, queue: Queue, now: float) -> list[Record]:
    """The waiting results for which there is a place now, the largest gain first.

    `now`: Unix time, s. One whose base has moved is verified again first: it leaves this list, and
    the job that does so is queued. Raises ForgeError or GitError when the forge cannot be asked.
    """
    here = {"forge": connection.name, "repository": connection.repository}
    waiting = queue.jobs(states=("waiting",), limit=10_000, **here)  # type: ignore[arg-type]
    if not waiting:
        return []
    today = queue.opened_since(connection.name, connection.repository, now - DAY_S)
    places = free_places(connection.forge, connection.limits(), today)
    waiting.sort(key=lambda record: (-record.speedup, record.created))
    return [r for r in waiting[:places] if _in_place(connection, queue, r, now)]


def _in_place(connection: Connection, queue: Queue, record: Record, now: float) -> bool:
    """Whether the base of a waiting result is as it was; one that cannot be asked for waits on."""
    try:
        return not _moved(connection, queue, record, now)
    except Exception as problem:
        LOG.warning("run %s waits on: %s", record.job.run, told(problem))
        return False


def settled(queue: Queue, job: Job, done: Delivered, now: float) -> None:
    """Drop the search that a push asked for when the operator's open merge request was verified
    again on the pushed sources: one proposal an operator is open."""
    if done.stands:
        queue.drop_searches(job, now, said("verified_instead", job.patch_of))


def _moved(connection: Connection, queue: Queue, record: Record, now: float) -> bool:
    """Whether the base of a waiting result has moved; what follows from it is then queued."""
    job, forge, mirror = record.job, connection.forge, connection.mirror
    if job.kind == "create" or forge.branch_head(job.target_branch) is None:
        return False  # handing it in says what is wrong
    tip = mirror.fetch(forge, f"refs/heads/{job.target_branch}")
    if tip == job.source_commit:
        return False
    try:
        mirror.ensure(forge, job.source_ref, job.source_commit)
        result = read_result(queue.runs / job.key)
    except InputError:
        return False
    before, after = mirror.commit(job.source_commit), mirror.commit(tip)
    if before.built_from(job.operator) == after.built_from(job.operator):
        return False
    config, judge = connection.limits(), mirror.commit(connection.tip())
    workload = judged_by(judge, job.operator, config)
    fits = job.operator in after.operators and applies(mirror.git, result.diff, tip)
    if workload is None or not fits:
        queue.end_waiting(job.key, now, said("base_changed_lines", job.target_branch))
        return True
    subject = Subject(job.operator, after, judge, workload)
    earlier = Earlier(result.diff, result.changes, asked_in=job.number)
    again = verification(connection, config, subject, job.target_branch, earlier)
    queue.add(again, now)
    queue.end_waiting(job.key, now, said("verified_on_new_base", again))
    return True
