"""The durable queue: events that came in and jobs that came of them, in one SQLite file (WAL).

Nothing is done twice and nothing is lost, whenever a process dies:

- An event is stored before it is acknowledged, unique by (forge, delivery). It is marked done in
  the transaction that stores the jobs planned from it.
- A job is unique by its key. A worker holds it by a lease that it renews; when the worker dies the
  lease runs out and another takes the job over, continuing from what is on disk.
- One job at a time measures on a device. Repositories take turns: the one served longest ago first.
- A job that fails is tried again after a growing pause, a few times.

Times are unix seconds and are passed in by the caller, so that waiting can be tested.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pydantic import ValidationError

from bot.events.model import Event
from bot.repository.job import ASKED, ENDED, Job, Record, State
from bot.server.queue_file import QueueFile

# A lease outlives several missed heartbeats (one every LEASE_S / 4) of a loaded machine.
LEASE_S: Final = 120.0
ATTEMPTS: Final = 3
# For what a forge that is away keeps from ending: with the pauses below, some three hours.
FORGE_ATTEMPTS: Final = 10
EVENT_ATTEMPTS: Final = FORGE_ATTEMPTS
# How long an event waits that somebody's mistake in the configuration holds up.
POSTPONED_S: Final = 3600.0
# Pauses grow 30, 60, 120 … s, up to an hour.
_FIRST_PAUSE_S: Final = 30.0
_LONGEST_PAUSE_S: Final = 3600.0
# Deliveries older than this cannot come again: forges redeliver for days, not for a month.
KEEP_EVENTS_S: Final = 30 * 86400.0

_UNREADABLE: Final = "It was made by another version of the bot and cannot be read."
_COLUMNS: Final = (
    "body, state, attempts, outages, cancel, created, started, finished, note, comment_id,"
    " merge_request, speedup, progress, lease_until, not_before"
)


# The search that follows from a push: nobody waits for it.
_BY_ITSELF: Final = (
    "jobs.number = 0 AND json_extract(jobs.body, '$.kind') = 'optimize'"
    " AND json_extract(jobs.body, '$.requested_by') = ''"
)
_SAME_OPERATOR: Final = (
    "o.forge = jobs.forge AND o.repository = jobs.repository AND o.key != jobs.key"
    " AND o.number = 0"
    " AND json_extract(o.body, '$.operator') = json_extract(jobs.body, '$.operator')"
)
_AT_WORK: Final = (
    f"SELECT 1 FROM jobs AS o WHERE {_SAME_OPERATOR}"
    " AND ((o.state IN ('running', 'delivering') AND o.lease_until > ?1)"
    " OR (o.state = 'queued' AND json_extract(o.body, '$.kind') = 'verify'))"
)
_HELD: Final = "key = ? AND worker = ? AND state IN ('running', 'delivering')"


class Waiting(NamedTuple):
    """An event that is to be handled."""

    event: Event
    attempts: int
    """How often that was tried."""
    not_before: float = 0.0
    """Unix time before which it is not tried again."""


class Queue(QueueFile):
    """The queue in one file; one object serves all threads of a process."""

    # Events

    def receive(self, event: Event, now: float) -> bool:
        """Store an event; False when this delivery, or this very body, is known already."""
        return self._write(
            "INSERT OR IGNORE INTO events (forge, delivery, body, received, digest)"
            " VALUES (?,?,?,?,?)",
            *(event.forge, event.delivery, event.model_dump_json(), now, event.digest),
        )

    def next_event(self, now: float) -> tuple[int, Event] | None:
        """The oldest event that waits, leased to the caller for LEASE_S; one that cannot be read,
        of another version, has failed."""
        with self._writing() as db:
            rows = db.execute(
                "SELECT id, body FROM events WHERE state = 'new' AND not_before <= ? ORDER BY id",
                (now,),
            ).fetchall()
            for number, body in rows:
                try:
                    event = Event.model_validate_json(body)
                except ValidationError:
                    said = (_UNREADABLE, number)
                    db.execute("UPDATE events SET state = 'failed', note = ? WHERE id = ?", said)
                    continue
                db.execute(
                    "UPDATE events SET not_before = ?, attempts = attempts + 1 WHERE id = ?",
                    (now + LEASE_S, number),
                )
                return int(number), event
        return None

    def event_done(
        self,
        number: int,
        now: float,
        *,
        jobs: Iterable[Job] = (),
        cancelled: Iterable[tuple[str, str, int]] = (),
        retried: Iterable[str] = (),
        note: str = "",
    ) -> list[str]:
        """Mark an event handled and do what follows from it, all or nothing; the new keys.

        `cancelled`: (forge, repository, merge request) whose jobs stop; `retried`: keys of failed
        or cancelled jobs that are queued again.
        """
        with self._writing() as db:
            for whose in cancelled:
                _cancel(db, whose, now)
            for key in retried:
                _retry(db, key, now)
            fresh = [job.key for job in jobs if self._insert(db, job, now)]
            db.execute(
                "UPDATE events SET state = 'done', note = ? WHERE id = ?", (note[:500], number)
            )
            db.execute(
                "DELETE FROM events WHERE state != 'new' AND received < ?", (now - KEEP_EVENTS_S,)
            )
        return fresh

    def event_failed(self, number: int, now: float, note: str, *, wait: float = 0.0) -> bool:
        """Let an event wait for another try, at least `wait` seconds; False after the last."""
        with self._writing() as db:
            row = db.execute("SELECT attempts FROM events WHERE id = ?", (number,)).fetchone()
            if row is None:
                return False  # handled, and forgotten since
            (attempts,) = row
            last = attempts >= EVENT_ATTEMPTS
            db.execute(
                "UPDATE events SET state = ?, not_before = ?, note = ? WHERE id = ?",
                ("failed" if last else "new", now + max(pause(attempts), wait), note[:500], number),
            )
        return not last

    def postpone(self, number: int, now: float, note: str) -> None:
        """Let an event wait for POSTPONED_S; it is no try, so this may go on for days."""
        self._write(
            "UPDATE events SET not_before = ?, attempts = max(0, attempts - 1), note = ?"
            " WHERE id = ?",
            *(now + POSTPONED_S, note[:500], number),
        )

    def waiting_events(self) -> list[Waiting]:
        """Events that are to be handled, oldest first."""
        rows = self._connect().execute(
            "SELECT body, attempts, not_before FROM events WHERE state = 'new' ORDER BY id"
        )
        return [Waiting(Event.model_validate_json(body), *rest) for body, *rest in rows]

    def keep_event(self, event: Event, attempts: int, not_before: float = 0.0) -> None:
        """Store an event that waits: see `Waiting`."""
        if self.receive(event, 0.0):
            self._write(
                "UPDATE events SET attempts = ?, not_before = ? WHERE id = last_insert_rowid()",
                *(attempts, not_before),
            )

    # Jobs

    def add(self, job: Job, now: float) -> bool:
        """Queue a job; False when its key is known, whatever became of it."""
        with self._writing() as db:
            return self._insert(db, job, now)

    def _insert(self, db: sqlite3.Connection, job: Job, now: float) -> bool:
        done = db.execute(
            "INSERT OR IGNORE INTO jobs (key, forge, repository, number, device, body, created)"
            " VALUES (?,?,?,?,?,?,?)",
            (
                job.key,
                job.forge,
                job.repository,
                job.number,
                f"{job.backend}:{job.device}",
                job.model_dump_json(),
                now,
            ),
        )
        if done.rowcount == 1 and not job.number and job.kind == "optimize":
            _supersede(db, job, now)
        return done.rowcount == 1

    def drop_searches(self, job: Job, now: float, note: str) -> None:
        """Drop the searches that wait because of a push to the operator of `job`, and say why."""
        with self._writing() as db:
            _drop_searches(db, job, now, note)

    def keep(self, record: Record, worker: str) -> None:
        """Store a job with its standing, in place of what is known of it; `worker` holds it while
        it runs."""
        row = record.model_dump(exclude={"job"})
        with self._writing() as db:
            db.execute("DELETE FROM jobs WHERE key = ?", (record.job.key,))
            self._insert(db, record.job, record.created)
            names = ", ".join(f"{name} = :{name}" for name in row)
            values = {**row, "key": record.job.key, "worker": worker}
            db.execute(f"UPDATE jobs SET {names}, worker = :worker WHERE key = :key", values)

    def claim(
        self,
        worker: str,
        now: float,
        slots: dict[str, int] | None = None,
        lease_s: float = LEASE_S,
        *,
        searches: bool = True,
    ) -> Record | None:
        """The next job, leased to `worker` for `lease_s`; None when nothing can start.

        `slots`: how many jobs at once measure on a device (`backend:device`), 1 when not named.
        `searches`: whether it may be a search for something faster. The search that follows from a
        push waits while other work for its operator's default branch is under way.
        """
        with self._writing() as db:
            busy = dict(
                db.execute(
                    "SELECT device, count(*) FROM jobs WHERE state IN ('running', 'delivering')"
                    " AND lease_until > ? GROUP BY device",
                    (now,),
                ).fetchall()
            )
            rows = db.execute(
                "SELECT jobs.key, jobs.device, jobs.forge, jobs.repository FROM jobs"
                " LEFT JOIN turns USING (forge, repository)"
                " WHERE ((jobs.state = 'queued' AND jobs.not_before <= ?1)"
                "    OR (jobs.state IN ('running', 'delivering') AND jobs.lease_until <= ?1))"
                f" AND NOT ({_BY_ITSELF} AND EXISTS ({_AT_WORK}))"
                " AND (?2 OR json_extract(jobs.body, '$.kind') != 'optimize')"
                " ORDER BY coalesce(turns.served, 0),"
                " json_extract(jobs.body, '$.priority') DESC, jobs.created, jobs.rowid",
                (now, searches),
            ).fetchall()
            for key, device, forge, repository in rows:
                if busy.get(device, 0) >= (slots or {}).get(device, 1):
                    continue
                if self._one(db, key) is None:
                    _end_unreadable(db, key, now)
                    continue
                db.execute(
                    "UPDATE jobs SET state = CASE state WHEN 'delivering' THEN state"
                    " ELSE 'running' END, worker = ?, lease_until = ?, attempts = attempts + 1,"
                    " started = CASE started WHEN 0 THEN ? ELSE started END WHERE key = ?",
                    (worker, now + lease_s, now, key),
                )
                db.execute(
                    "INSERT OR REPLACE INTO turns VALUES (?,?,?)",
                    (forge, repository, now),
                )
                return self._one(db, key)
        return None

    def heartbeat(self, key: str, worker: str, now: float, progress: str = "") -> bool:
        """Renew a lease; False when the job was cancelled or is somebody else's by now."""
        return self._write(
            "UPDATE jobs SET lease_until = ?, progress = CASE ? WHEN '' THEN progress ELSE ? END"
            f" WHERE {_HELD} AND cancel = 0",
            *(now + LEASE_S, progress, progress[:500], key, worker),
        )

    def ran(self, key: str, worker: str) -> bool:
        """The run's result is on disk; what is left is telling the forge."""
        return self._write(
            "UPDATE jobs SET state = 'delivering' WHERE key = ? AND worker = ?"
            " AND state = 'running' AND cancel = 0",
            *(key, worker),
        )

    def deliver_again(self, key: str, worker: str = "", lease_until: float = 0.0) -> bool:
        """Let a waiting result be delivered: by `worker`, or by whoever claims it next."""
        return self._write(
            "UPDATE jobs SET state = 'delivering', worker = ?, lease_until = ?, finished = 0"
            " WHERE key = ? AND state = 'waiting'",
            *(worker, lease_until, key),
        )

    def hasten(self, key: str, priority: float) -> bool:
        """Raise the priority of a job that is queued."""
        return self._write(
            "UPDATE jobs SET body = json_set(body, '$.priority', ?), not_before = 0 WHERE key = ?"
            " AND state = 'queued'",
            *(priority, key),
        )

    def end_waiting(self, key: str, now: float, note: str) -> bool:
        """End a job whose result waits no longer, and say why."""
        return self._write(
            "UPDATE jobs SET state = 'done', finished = ?, note = ? WHERE key = ?"
            " AND state = 'waiting'",
            *(now, note[:1000], key),
        )

    def finish(
        self,
        key: str,
        worker: str,
        now: float,
        *,
        state: State,
        note: str = "",
        merge_request: int = 0,
        speedup: float = 0.0,
    ) -> bool:
        """End a job; False when the worker no longer holds it, or is not to cancel it any more."""
        return self._write(
            "UPDATE jobs SET state = ?1, finished = ?2, note = ?3, lease_until = 0,"
            " merge_request = max(merge_request, ?4), speedup = ?5 WHERE key = ?6 AND worker = ?7"
            " AND state IN ('running', 'delivering') AND (?1 != 'cancelled' OR cancel = 1)",
            *(state, now, note[:1000], merge_request, speedup, key, worker),
        )

    def give_back(
        self,
        key: str,
        worker: str,
        now: float,
        note: str,
        *,
        away: bool = False,
        wait: float = 0.0,
    ) -> State:
        """After a failure that may pass: queue again after a pause, of `wait` seconds at least.

        `away`: the forge was out of order or asked for patience, which is given FORGE_ATTEMPTS;
        of other failures the job has ATTEMPTS. Then it is given up.
        """
        with self._writing() as db:
            row = db.execute(
                "SELECT attempts, outages + ? FROM jobs WHERE key = ? AND worker = ?",
                (away, key, worker),
            ).fetchone()
            if row is None:
                return "queued"
            attempts, outages = row
            if outages >= FORGE_ATTEMPTS if away else attempts - outages >= ATTEMPTS:
                db.execute(
                    "UPDATE jobs SET state = 'failed', finished = ?, note = ?, lease_until = 0"
                    " WHERE key = ?",
                    (now, note[:1000], key),
                )
                return "failed"
            db.execute(
                "UPDATE jobs SET state = 'queued', worker = '', lease_until = 0, note = ?,"
                " not_before = ?, outages = ? WHERE key = ?",
                (note[:1000], now + max(pause(attempts), wait), outages, key),
            )
            return "queued"

    def release(self, worker: str) -> None:
        """Hand back what `worker` holds at once, its attempt not counted: a clean shutdown."""
        with self._writing() as db:
            db.execute(
                "UPDATE jobs SET state = 'queued', worker = '', lease_until = 0,"
                " attempts = max(0, attempts - 1) WHERE worker = ? AND state = 'running'",
                (worker,),
            )
            db.execute(
                "UPDATE jobs SET worker = '', lease_until = 0 WHERE worker = ?"
                " AND state = 'delivering'",
                (worker,),
            )

    def ended_before(self, when: float) -> list[str]:
        """Keys of the jobs that ended before `when`, the oldest first."""
        marks = ",".join("?" * len(ENDED))
        rows = self._connect().execute(
            f"SELECT key FROM jobs WHERE state IN ({marks}) AND finished < ? ORDER BY finished",
            (*ENDED, when),
        )
        return [str(key) for (key,) in rows]

    def forget(self, key: str) -> None:
        """Remove a job that has ended."""
        marks = ",".join("?" * len(ENDED))
        self._write(f"DELETE FROM jobs WHERE key = ? AND state IN ({marks})", key, *ENDED)

    def set_comment(self, key: str, comment_id: int) -> None:
        """Remember the status comment of a run."""
        self._write("UPDATE jobs SET comment_id = ? WHERE key = ?", comment_id, key)

    def set_merge_request(self, key: str, number: int) -> None:
        """Remember the merge request that came of a run."""
        self._write("UPDATE jobs SET merge_request = ? WHERE key = ?", number, key)

    # Reading

    def get(self, key: str) -> Record | None:
        """The job of a key, or of its first ten digits as status comments show them."""
        row = self._connect().execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE key = ? OR substr(key, 1, 10) = ?", (key, key)
        )
        return _record(row.fetchone())

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
        where, values = ["1"], list[str | int]()
        if states:
            where.append(f"state IN ({','.join('?' * len(states))})")
            values += states
        for column, value in (("forge", forge), ("repository", repository), ("number", number)):
            if value not in ("", None):
                where.append(f"{column} = ?")
                values.append(value)
        rows = self._connect().execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE {' AND '.join(where)}"
            " ORDER BY created DESC, rowid DESC LIMIT ?",
            (*values, limit),
        )
        return [record for row in rows if (record := _record(row)) is not None]

    def last_sign(self) -> float:
        """Unix time at which a run that waits was queued, or one began, ended or said that it goes
        on, whichever is later; infinite where none waits that may start."""
        (waits, last) = (
            self._connect()
            .execute(
                "SELECT sum(state = 'queued'), max(max(created * (state = 'queued')), max(started),"
                " max(finished), max(not_before), max(lease_until)) FROM jobs"
            )
            .fetchone()
        )
        return float(last) if waits else float("inf")

    def opened_since(self, forge: str, repository: str, since: float) -> int:
        """Merge requests that came of runs of a repository that ended after `since`."""
        (count,) = (
            self._connect()
            .execute(
                "SELECT count(DISTINCT merge_request) FROM jobs WHERE forge = ? AND repository = ?"
                " AND merge_request > 0 AND finished > ?"
                " AND json_extract(body, '$.patch_of') = 0",
                (forge, repository, since),
            )
            .fetchone()
        )
        return int(count)

    def _one(self, db: sqlite3.Connection, key: str) -> Record | None:
        return _record(db.execute(f"SELECT {_COLUMNS} FROM jobs WHERE key = ?", (key,)).fetchone())


def _cancel(db: sqlite3.Connection, whose: tuple[str, str, int], now: float) -> None:
    """Drop what waits for a merge request and ask what runs to stop."""
    where = "forge = ? AND repository = ? AND number = ?"
    db.execute(
        "UPDATE jobs SET state = 'cancelled', finished = ?, note = 'cancelled'"
        f" WHERE {where} AND state = 'queued'",
        (now, *whose),
    )
    db.execute(f"UPDATE jobs SET cancel = 1 WHERE {where} AND state = 'running'", whose)


def _supersede(db: sqlite3.Connection, job: Job, now: float) -> None:
    """Cancel searches for older pushes: only that of the latest sources is
    worth its time."""
    if not job.requested_by:
        older = " AND json_extract(body, '$.source_commit') != ?"
        _drop_searches(db, job, now, f"Run {job.run} has newer sources.", older, job.source_commit)


def _drop_searches(
    db: sqlite3.Connection, job: Job, now: float, note: str, where: str = "", *values: str
) -> None:
    db.execute(
        "UPDATE jobs SET state = 'cancelled', finished = ?, note = ?"
        " WHERE state = 'queued' AND forge = ? AND repository = ? AND key != ?"
        f" AND json_extract(body, '$.operator') = ? AND {_BY_ITSELF}{where}",
        (now, note, job.forge, job.repository, job.key, job.operator, *values),
    )


def _retry(db: sqlite3.Connection, key: str, now: float) -> None:
    """Queue again what failed, was cancelled or pauses after a failure: a person waits for it.

    What was to be stopped and still runs goes on.
    """
    db.execute("UPDATE jobs SET cancel = 0 WHERE key = ? AND state = 'running'", (key,))
    db.execute(
        "UPDATE jobs SET state = 'queued', attempts = 0, outages = 0, cancel = 0, not_before = 0,"
        " worker = '', lease_until = 0, finished = 0, note = '', created = ?,"
        " body = json_set(body, '$.priority', ?)"
        " WHERE key = ? AND state IN ('failed', 'cancelled', 'queued')",
        (now, ASKED, key),
    )


def pause(attempts: int) -> float:
    """Seconds to wait after so many attempts: 30, 60, 120 …, at most an hour."""
    doubled = min(
        max(0, attempts - 1), 20
    )  # attempts are data of others, where a branch keeps them
    return float(min(_FIRST_PAUSE_S * 2**doubled, _LONGEST_PAUSE_S))


def ended(record: Record) -> bool:
    """Whether nothing more will happen to a job by itself."""
    return record.state in ENDED


def _end_unreadable(db: sqlite3.Connection, key: str, now: float) -> None:
    db.execute(
        "UPDATE jobs SET state = 'failed', finished = ?, note = ?, lease_until = 0 WHERE key = ?",
        (now, _UNREADABLE, key),
    )


def _record(row: Sequence[object] | None) -> Record | None:
    """The job of a row; None where there is no row, or one of another version that nobody can
    read."""
    if row is None:
        return None
    names = [name.strip() for name in _COLUMNS.split(",")]
    values = dict(zip(names, row, strict=True))
    body = values.pop("body")
    try:
        return Record.model_validate({**values, "job": json.loads(str(body))})
    except ValidationError:
        return None
