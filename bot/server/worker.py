"""Work one job off: check it out and run it in a process without tokens, then tell the forge.

The process that runs candidates gets a job file, the bot's mirror to read, and a folder to write.
It gets no forge token: its environment is made of the few variables that are named here.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal

from bot.base.language import language
from bot.base.text import visible
from bot.repository.connection import Connection
from bot.repository.job import Job, Record, State
from bot.server.comments.posting import asked_wait, away, set_check, tell_run
from bot.server.comments.wording import failed, running, waiting
from bot.server.delivery import DAY_S, hand_in, refuse_in_vain
from bot.server.one_item import apart, told
from bot.server.places import settled
from bot.server.queue import LEASE_S, Queue
from bot.server.run_folder import FAILURE, read_failure
from bot.server.run_job import JOB_FILE, left_file
from ci.model.environment import passed_on
from ci.model.errors import EnvironmentProblem, InputError

_BEAT_S: Final = LEASE_S / 4
_POLL_S: Final = 0.2
# After being asked to stop, how long a run may take to do so, in s.
_GRACE_S: Final = 10.0
# Bytes of a line of a run's that are read as one.
_LONGEST_LINE: Final = 1 << 16
_PR_SET_PDEATHSIG: Final = 1


@dataclass(frozen=True)
class WorkSettings:
    """How jobs are run on this machine."""

    data: Path
    """Folder of the bot: queue, mirrors, runs."""
    bank: Path | None = None
    models: Path | None = None
    progress_s: float = 60.0
    """Least time between two edits of a status comment."""
    passed: tuple[str, ...] = ()
    """More environment variables for the run, such as a model's key; never a forge's token."""
    allow_unsandboxed: bool = False
    dashboard: str = ""
    """Web address of the dashboard, for merge requests; '' when people cannot reach it."""


Unfinished = Literal["failed", "cancelled"]


class Cancelled(Exception):
    """Somebody stopped the run, or another worker holds it by now."""


class Worker:
    """Works jobs off, one at a time."""

    def __init__(
        self,
        name: str,
        queue: Queue,
        settings: WorkSettings,
        connect: Callable[[str, str], Connection | None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`connect` gives the connection of (forge, repository), None when it is not served."""
        self.name = name
        self._queue = queue
        self._settings = settings
        self._connect = connect
        self._clock = clock
        self.stopping = threading.Event()

    def work(self, record: Record) -> str:
        """Run and deliver one claimed job; the state that it ends in. Raises nothing expected."""
        with language(record.job.language):
            return self._worked(record)

    def _worked(self, record: Record) -> str:
        job = record.job
        connection = self._connect(job.forge, job.repository)
        if connection is None:
            return self._fail(job, "The bot no longer serves this repository.", None)
        try:
            if record.state != "delivering":
                self._run(job, connection)
                if not self._queue.ran(job.key, self.name):
                    raise Cancelled
            return self._deliver(job, connection)
        except Cancelled:
            return self._cancelled(job, connection)
        except InputError as problem:
            return self._fail(job, str(problem), connection)
        except Exception as problem:
            return self._later(job, connection, problem)

    def out(self, job: Job) -> Path:
        """Folder of a job's run."""
        return self._queue.runs / job.key

    # Running

    def _run(self, job: Job, connection: Connection) -> None:
        out = self.out(job)
        if left_file(job, out).exists():
            return  # a worker died between the run's end and saying so
        forge, mirror = connection.forge, connection.mirror
        mirror.ensure(forge, job.source_ref, job.source_commit)
        mirror.ensure(forge, job.judge_ref, job.judge_commit)
        refuse_in_vain(job, connection)
        out.mkdir(parents=True, exist_ok=True)
        (out / JOB_FILE).write_text(job.model_dump_json(indent=2), encoding="utf-8")
        self._tell(job, connection, running(job, ""))
        set_check(job, forge, "pending", f"Run {job.run} has started.")
        (out / FAILURE).unlink(missing_ok=True)  # of an earlier attempt
        last = self._process(job, connection)
        if not left_file(job, out).exists():
            failure = read_failure(out)
            if failure is not None and failure.lasting:
                raise InputError(visible(failure.sentence, 1000))
            raise EnvironmentProblem(visible(failure.sentence, 1000) if failure else last)

    def _process(self, job: Job, connection: Connection) -> str:
        """Run the job's process to its end; its last words."""
        out, settings = self.out(job), self._settings
        command = [sys.executable, "-P", "-m", "ascendopt", "ci", "run", str(out / JOB_FILE)]
        command += ["--repository", str(connection.mirror.folder), "--out", str(out)]
        for flag, value in (("--bank", settings.bank), ("--models", settings.models)):
            command += [flag, str(value)] if value is not None else []
        command += ["--allow-unsandboxed"] if settings.allow_unsandboxed else []
        env = passed_on(settings.passed)
        lines: deque[str] = deque(maxlen=5)
        with (out / "run.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=env,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
            assert process.stderr is not None
            reader = threading.Thread(target=_read, args=(process.stderr, log, lines), daemon=True)
            reader.start()
            try:
                self._watch(job, connection, process, lines)
            finally:
                _stop(process)
                reader.join(timeout=_GRACE_S)
        code = process.returncode
        return visible(lines[-1], 1000) if lines else f"The run ended with code {code}."

    def _watch(
        self,
        job: Job,
        connection: Connection,
        process: subprocess.Popen[bytes],
        lines: deque[str],
    ) -> None:
        """Heartbeats and progress until the process ends; raises Cancelled when it must stop."""
        beat, told, shown = self._clock(), self._clock(), ""
        while process.poll() is None:
            if self.stopping.wait(_POLL_S):
                raise Cancelled
            now = self._clock()
            line = lines[-1] if lines else ""
            if now - beat >= _BEAT_S or line != shown:
                if not self._queue.heartbeat(job.key, self.name, now, visible(line, 300)):
                    raise Cancelled
                beat, shown = now, line
            if now - told >= self._settings.progress_s and line:
                told = now
                self._tell(job, connection, running(job, line))

    # Ending

    def _deliver(self, job: Job, connection: Connection) -> str:
        today = self._queue.opened_since(job.forge, job.repository, self._clock() - DAY_S)
        page = f"{self._settings.dashboard}/runs/{job.key}" if self._settings.dashboard else ""
        done = hand_in(job, self.out(job), connection, today, page)
        if done.merge_request:
            self._queue.set_merge_request(job.key, done.merge_request)
        settled(self._queue, job, done, self._clock())
        self._queue.finish(
            job.key,
            self.name,
            self._clock(),
            state="waiting" if done.waits else "done",
            note=done.note,
            merge_request=done.merge_request,
            speedup=done.speedup,
        )
        return "waiting" if done.waits else "done"

    def _cancelled(self, job: Job, connection: Connection) -> str:
        if self.stopping.is_set():
            self._queue.release(self.name)
            return "queued"
        ended = (job.key, self.name, self._clock())
        if not self._queue.finish(*ended, state="cancelled", note="cancelled"):
            # Another worker holds it by now and speaks for it, or somebody wants it again.
            self._queue.release(self.name)
            return "lost"
        self._tell_end(job, connection, "cancelled", "")
        return "cancelled"

    def _fail(self, job: Job, note: str, connection: Connection | None) -> State:
        if connection is not None:
            self._tell_end(job, connection, "failed", note)
        self._queue.finish(job.key, self.name, self._clock(), state="failed", note=note)
        return "failed"

    def _tell_end(self, job: Job, connection: Connection, state: Unfinished, note: str) -> None:
        self._tell(job, connection, failed(job, state, note), failed=state == "failed")
        with apart(f"no check for run {job.run}"):  # the comment says it too
            set_check(job, connection.forge, "error", note or "Cancelled.")

    def _later(self, job: Job, connection: Connection, problem: Exception) -> str:
        note = told(problem)
        state = self._queue.give_back(
            job.key,
            self.name,
            self._clock(),
            visible(note, 500),
            away=away(problem),
            wait=asked_wait(problem),
        )
        text = failed(job, "failed", note) if state == "failed" else waiting(job, note)
        self._tell(job, connection, text, failed=state == "failed")
        return state

    def _tell(self, job: Job, connection: Connection, text: str, *, failed: bool = False) -> None:
        """Edit the status comment; a forge that is away for a while loses a word, not the run."""
        with apart(f"no comment for run {job.run}"):
            if comment := tell_run(job, connection.forge, text, failed=failed):
                self._queue.set_comment(job.key, comment)


def _read(pipe: IO[bytes], log: IO[bytes], lines: deque[str]) -> None:
    """Copy a process's words into the log and keep the last ones."""
    while raw := pipe.readline(_LONGEST_LINE):
        with suppress(OSError):  # a full disk: who writes would wait for its reader
            log.write(raw)
            log.flush()
        line = raw.decode(errors="replace").strip()
        if line:
            lines.append(line)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it started; nothing when it has ended."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            break
        try:
            os.killpg(process.pid, sign)
            process.wait(timeout=_GRACE_S)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
    process.wait()


def _die_with_parent() -> None:
    """In the child: be killed when the bot is, so that nobody measures next to the next worker."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
