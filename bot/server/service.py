"""The running bot: one thread plans events, some work jobs off, one looks after merge requests.

The web server and the poller only put events into the queue; everything else happens here, and
everything here can be killed at any point and started again.
"""

from __future__ import annotations

import logging
import shutil
import socket
import threading
import time
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bot.events.model import Event
from bot.forge.base import Forge, ForgeError
from bot.forge.kinds import FORGES
from bot.repository.connection import Connection, Connections
from bot.repository.job import ASKED
from bot.server.comments.posting import answer, asked_wait, tell_run
from bot.server.comments.wording import waiting
from bot.server.dashboard_issue import update_dashboard
from bot.server.job_maker import Records
from bot.server.one_item import apart, told
from bot.server.places import next_waiting
from bot.server.plan_model import Plan
from bot.server.planner import plan
from bot.server.queue import Queue
from bot.server.verify_again import look_again
from bot.server.worker import Worker, WorkSettings
from ci.model.amount import amount
from ci.model.errors import InputError

LOG: Final = logging.getLogger("ascendopt.bot")
# How often an idle thread looks at the queue, in s; a local file, so cheap.
_IDLE_S: Final = 0.5
STUCK_S: Final = 6 * 3600.0
"""A queue with runs that may start, in which nothing happens for so long, is stuck: by default a
run ends within two hours."""


class Service:
    """Plans events and works jobs off until it is stopped."""

    def __init__(
        self,
        queue: Queue,
        connections: Connections,
        work: WorkSettings,
        *,
        workers: int = 1,
        slots: dict[str, int] | None = None,
        look_again_s: float = 900.0,
        keep_s: float = float("inf"),
        merged: Callable[[Path], bool] = lambda folder: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`slots`: jobs at once by device; `look_again_s`: time between looks at open merge
        requests, in s; `keep_s`: how long a run that ended is kept, in s; `merged`: takes the
        folder of a run that a person merged."""
        self.queue = queue
        self.connections = connections
        self._work = work
        self._slots = slots
        self._look_again_s = look_again_s
        self._keep_s = keep_s
        self._merged = merged
        self._clock = clock
        self._stop = threading.Event()
        self._moved = threading.Event()
        name = f"{socket.gethostname()}-{uuid.uuid4().hex[:8]}"
        self._workers = [
            Worker(f"{name}-{i}", queue, work, connections, clock) for i in range(workers)
        ]
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start all threads."""
        loops: list[tuple[str, Callable[[], None]]] = [
            ("events", self._plan_events),
            ("merge-requests", self._look_after),
        ]
        loops += [(w.name, lambda w=w: self._work_off(w)) for w in self._workers]  # type: ignore[misc]
        for name, loop in loops:
            thread = threading.Thread(target=loop, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, patience_s: float = 30.0) -> None:
        """Stop runs, hand their jobs back to the queue, and wait for the threads."""
        self._stop.set()
        self._moved.set()
        for worker in self._workers:
            worker.stopping.set()
        deadline = time.monotonic() + patience_s
        for thread in self._threads:
            thread.join(timeout=max(0.1, deadline - time.monotonic()))

    @property
    def alive(self) -> bool:
        """Whether every thread runs: what `/healthz` says."""
        return bool(self._threads) and all(t.is_alive() for t in self._threads)

    # Loops. Each lives until `stop`: an unexpected error is logged and costs one piece of work.

    def _plan_events(self) -> None:
        while not self._stop.is_set():
            if not self._guarded(self.plan_one):
                self._stop.wait(_IDLE_S)
        self.queue.close()

    def _work_off(self, worker: Worker) -> None:
        while not self._stop.is_set():
            if not self._guarded(lambda: self.work_one(worker)):
                self._stop.wait(_IDLE_S)
        self.queue.close()

    def _look_after(self) -> None:
        while not self._stop.is_set():
            self._guarded(self.look_after)
            self._moved.wait(self._look_again_s)
            self._moved.clear()
        self.queue.close()

    def _guarded(self, step: Callable[[], bool]) -> bool:
        try:
            return step()
        except Exception:  # a loop must outlive any one event or job
            LOG.error("%s", traceback.format_exc(limit=8))
            self._stop.wait(_IDLE_S)
            return False

    # Steps

    def plan_one(self) -> bool:
        """Handle one event; False when none waits."""
        taken = self.queue.next_event(self._clock())
        if taken is None:
            return False
        number, event = taken
        try:
            connection = self.connections(event.forge, event.repository)
            if connection is None:
                self.queue.event_done(number, self._clock(), note="a repository not served")
                return True
            made = plan(event, connection, self.queue)
            carry_out(number, event, made, connection, self.queue, self._clock())
            LOG.info("event %s of %s: %s", event.kind, event.repository, made.note)
            if made.base_moved or made.refresh:
                self._moved.set()
        except InputError as problem:
            self.queue.event_done(number, self._clock(), note=str(problem))
        except Exception as problem:
            words = told(problem)
            again = self.queue.event_failed(number, self._clock(), words, wait=asked_wait(problem))
            LOG.warning("event %d waits: %s%s", number, words, "" if again else " (given up)")
        return True

    def work_one(self, worker: Worker) -> bool:
        """Work one job off; False when none can start."""
        record = self.queue.claim(worker.name, self._clock(), self._slots)
        if record is None:
            return False
        LOG.info("run %s of %s starts", record.job.run, record.job.operator)
        try:
            state = worker.work(record)
        except Exception as bug:
            self.queue.give_back(record.job.key, worker.name, self._clock(), told(bug))
            return True
        LOG.info("run %s is %s", record.job.run, state)
        return True

    def look_after(self) -> bool:
        """Look at the open and merged merge requests of every repository."""
        for name, repository in self.connections.names():
            try:
                connection = self.connections(name, repository)
                if connection is not None:
                    self._look_at(connection)
            except Exception as problem:  # of this repository; the others have their turn
                LOG.warning("%s: %s", repository, told(problem))
        self.forget_old()
        return True

    def _look_at(self, connection: Connection) -> None:
        with apart(connection.repository):
            for job in look_again(connection, self.queue, self._clock(), self._fed):
                LOG.info("run %s verifies merge request %d", job.run, job.patch_of)
        with apart(connection.repository):
            for record in next_waiting(connection, self.queue, self._clock()):
                LOG.info("run %s has a place now", record.job.run)
                self.queue.deliver_again(record.job.key)
        update_dashboard(connection, self.queue, self._clock())
        connection.mirror.pack()

    def alarms(self) -> list[str]:
        """Return the problems that a person must solve while the bot runs, a sentence each."""
        refusing = {c.name for c in self.connections.made() if c.forge.token_refused()}
        found = [
            f"{FORGES[name].title} does not take the bot's token (HTTP 401): renew it."
            for name in sorted(refusing)
        ]
        idle = self._clock() - self.queue.last_sign()
        if idle > STUCK_S:
            hours = round(idle / 3600)
            found.append(
                f"Runs wait, and for {amount(hours, 'hour')} none began or ended: see the log."
            )
        bank = self._work.bank
        for aside in sorted(bank.parent.glob(f"{bank.name}.unreadable-*")) if bank else ():
            found.append(
                f"The experience bank could not be read and is kept as {aside.name}; restore a"
                " backup, or delete that file."
            )
        return found

    def forget_old(self) -> None:
        """Remove the runs that ended too long ago, the folder first: what is left of a run whose
        removal was interrupted is found again by its job."""
        for key in self.queue.ended_before(self._clock() - self._keep_s):
            shutil.rmtree(self.queue.runs / key, ignore_errors=True)
            self.queue.forget(key)

    def _fed(self, key: str) -> bool:
        return self._merged(self.queue.runs / key)


def carry_out(
    number: int, event: Event, made: Plan, connection: Connection, queue: Queue, now: float
) -> list[str]:
    """Do what a plan says; the keys of the jobs that are new.

    Answers come first, each at most once, then everything else in one transaction that also marks
    the event done: killed in between, it is all done again with the same outcome.
    """
    if made.postponed:
        queue.postpone(number, now, made.note)
        return []
    said = speak(made, connection.forge, queue)
    for name, value in made.facts:
        queue.set_fact(name, value)
    for key in made.urgent:
        queue.hasten(key, ASKED)
    for merge_request in made.closed:
        connection.forge.close(merge_request)
    fresh = queue.event_done(
        number,
        now,
        jobs=made.jobs,
        cancelled=[(connection.name, connection.repository, n) for n in made.cancelled],
        retried=made.retried,
        note=made.note,
    )
    for key, comment in said.items():
        queue.set_comment(key, comment)
    nod(made, event, connection.forge)
    return fresh


def speak(made: Plan, forge: Forge, records: Records) -> dict[str, int]:
    """Write a plan's answers and its new jobs' status comments; the comments by key."""
    for reply in made.replies:
        answer(forge.of_issues() if reply.in_issue else forge, reply.number, reply.mark, reply.body)
    # Before they are queued: a worker that starts at once must not be overwritten.
    fresh = [job for job in made.jobs if records.get(job.key) is None]
    told = {job.key: tell_run(job, forge, waiting(job)) for job in fresh}
    return {key: comment for key, comment in told.items() if comment}


def nod(made: Plan, event: Event, forge: Forge) -> None:
    """React to the comments whose commands were taken: a courtesy, the status comment says it."""
    try:
        for merge_request, comment in made.seen:
            forge.react(merge_request, comment, "eyes")
    except ForgeError as problem:
        LOG.warning("event %s of %s: %s", event.kind, event.repository, problem)
