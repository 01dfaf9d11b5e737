"""The bot inside a forge's CI: plan with a token, run without one, report with one.

The three steps are three CI jobs that pass folders of data:

    plan (bot.server.plan_folder)                             what to do
    results/KEY/{result.json,best.patch,report.md,...}        what came of it

What was asked for and done before is in a branch of the repository (`StateBranch`). So a job
of the CI that is lost loses nothing: its jobs are planned again once their time is over, and what
it should have answered is found by the next `follow-up`.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from bot.base.text import visible
from bot.events.model import Event
from bot.repository.connection import Connection
from bot.repository.job import ENDED, Job, Record
from bot.server.bank_learning import learnt
from bot.server.comments.event_text import NotShown
from bot.server.comments.posting import TEMPORARY, asked_wait, away, set_check, tell_run
from bot.server.comments.wording import failed, said, waiting
from bot.server.create_plan import folder_for
from bot.server.dashboard_issue import remembered, update_dashboard
from bot.server.delivery import DAY_S, Delivered, NotAllowed, hand_in, refuse_in_vain
from bot.server.job_maker import judged_by
from bot.server.merge_request import read_result
from bot.server.one_item import apart, told
from bot.server.places import next_waiting, settled
from bot.server.plan_folder import write_plan
from bot.server.planner import plan
from bot.server.queue import ATTEMPTS, Queue
from bot.server.run_folder import only_files, read_failure
from bot.server.run_job import left_file, result_file
from bot.server.service import carry_out
from bot.server.state_branch import BANK, WORKER, StateBranch, checked_bank
from bot.server.verify_again import look_again
from bot.server.watch import noted, poll
from ci.model.amount import amount
from ci.model.errors import EnvironmentProblem, InputError

LOG: Final = logging.getLogger("ascendopt.bot")
# How long a run of the CI has for its jobs, waiting for a runner included, before they are planned
# again: GitHub ends a job after six hours.
CI_LEASE_S: Final = 6 * 3600.0
# Once a night, also where the follow-up runs every quarter of an hour and not on the second.
REFRESH_S: Final = 20 * 3600.0


@contextmanager
def state_of(connection: Connection) -> Iterator[StateBranch]:
    """The state branch of a repository, with a folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="ascendopt-state-"))
    try:
        yield StateBranch(connection, folder)
    finally:
        shutil.rmtree(folder)


def plan_event(event: Event, connection: Connection, out: Path) -> list[Job]:
    """Answer `event` and write the jobs that follow from it into `out`, with those that wait.

    Raises InputError when the forge could not be asked; the event is kept, and tried again with
    the next.
    """
    now = time.time()

    def step(queue: Queue, state: StateBranch) -> _Step:
        here = connection.steady()
        polled = queue.fact(f"polled {here.name} {here.repository}")
        # From now on nothing is missed.
        problems = [] if polled else _tried(lambda: poll(here, queue, now))
        queue.receive(event, now)
        made = _step(here, queue, state, now)
        return made._replace(problems=[*problems, *made.problems])

    return _planned(connection, step, out)


def plan_follow_up(connection: Connection, out: Path) -> list[Job]:
    """Find what no job of the CI has handled, look at the bot's open merge requests, and write the
    jobs that follow into `out`. Raises as `plan_event`."""
    now = time.time()

    def step(queue: Queue, state: StateBranch) -> _Step:
        here = connection.steady()
        problems = [
            *_tried(lambda: poll(here, queue, now)),
            *_tried(lambda: _look(here, queue, state, now)),
        ]
        made, tips = _step(here, queue, state, now), list[str]()
        update_dashboard(here, queue, now)
        problems += _tried(lambda: tips.append(_to_refresh(here, queue, now)))
        return made._replace(tip="".join(tips), problems=[*problems, *made.problems])

    return _planned(connection, step, out)


def _tried(part: Callable[[], object]) -> list[str]:
    """Do a part of the work; what went wrong with it, so that the other parts are done."""
    try:
        part()
    except Exception as problem:
        return [told(problem)]
    return []


def _look(connection: Connection, queue: Queue, state: StateBranch, now: float) -> None:
    look_again(connection, queue, now, lambda run: _learn(connection, queue, state, run))


def _to_refresh(connection: Connection, queue: Queue, now: float) -> str:
    """The commit to refresh the bank with, once a night where the configuration wants it."""
    name = f"refreshed {connection.name} {connection.repository}"
    tip = connection.tip()
    config = connection.limits()
    last = remembered(queue, name)
    if not config.enabled or not config.triggers.nightly or now - last < REFRESH_S:
        return ""
    queue.set_fact(name, str(int(now)))
    return tip


class _Step(NamedTuple):
    """The work of one run of the CI."""

    jobs: list[Job]
    problems: list[str]
    """Sentences about what could not be handled."""
    tip: str = ""
    """Commit of the default branch that the bank is refreshed with, or ''."""


def _planned(
    connection: Connection, step: Callable[[Queue, StateBranch], _Step], out: Path
) -> list[Job]:
    with state_of(connection) as state:
        jobs, problems, tip = state.change(lambda queue: step(queue, state))
        jobs = write_plan(jobs, connection.mirror.git, state.bank, tip, out)
    for problem in problems:
        LOG.warning("something waits for the next run of the CI: %s", problem)
    if problems and not jobs:
        raise InputError(f"{problems[0]} The event is kept and tried again later.")
    return jobs


def _step(connection: Connection, queue: Queue, state: StateBranch, now: float) -> _Step:
    """Plan every event that waits, do what follows, and take the jobs that can be run."""
    problems, changed = list[str](), list[int]()
    while (taken := queue.next_event(now)) is not None:
        number, event = taken
        try:
            _handle(number, event, connection, queue, state, now, changed)
        except InputError as problem:
            queue.event_done(number, now, note=str(problem))
        except NotShown as problem:  # no failure of the CI: people delete comments
            queue.event_failed(number, now, str(problem))
            LOG.info("an event waits for the next run of the CI: %s", problem)
        except Exception as problem:
            words = told(problem)
            if not queue.event_failed(number, now, words, wait=asked_wait(problem)):
                with apart("an event that is given up may be found again"):
                    noted(event, connection, queue)
            problems.append(words)
    deliver_waiting(connection, queue, now)
    claimed = _claimed(connection, queue, now)
    if changed:
        update_dashboard(connection, queue, now)
    return _Step(claimed, problems)


def deliver_waiting(connection: Connection, queue: Queue, now: float) -> None:
    """Propose the results for which there is a place now; a forge that is away is asked later."""
    waiting = list[Record]()
    with apart("results wait on"):
        waiting = next_waiting(connection, queue, now)
    for record in waiting:
        queue.deliver_again(record.job.key, WORKER, now + CI_LEASE_S)
        try:
            _deliver_kept(connection, queue, record.job, now)
        except Exception as problem:
            LOG.warning("run %s waits on: %s", record.job.run, told(problem))
            queue.finish(
                *(record.job.key, WORKER, now),
                state="waiting",
                note=record.note,
                speedup=record.speedup,
            )


def _deliver_kept(connection: Connection, queue: Queue, job: Job, now: float) -> None:
    """Deliver the result of a job that is kept in the state branch; raises what may pass."""
    folder = queue.runs / job.key
    try:
        connection.mirror.ensure(connection.forge, job.source_ref, job.source_commit)
        today = queue.opened_since(connection.name, connection.repository, now - DAY_S)
        _remember(queue, job, folder, hand_in(job, folder, connection, today))
    except InputError as problem:
        if not isinstance(problem, NotAllowed):
            result_file(folder).unlink(missing_ok=True)
        queue.finish(job.key, WORKER, now, state="failed", note=str(problem))
        _tell_end(connection, job, "failed", str(problem))


def _again_delivered(connection: Connection, queue: Queue, job: Job, now: float) -> bool:
    """Whether nothing is left to run of a claimed job: an earlier run of the CI did, and only what
    came of it could not be delivered."""
    if not result_file(queue.runs / job.key).is_file():
        return False
    _deliver_kept(connection, queue, job, now)
    return True


def _handle(
    number: int,
    event: Event,
    connection: Connection,
    queue: Queue,
    state: StateBranch,
    now: float,
    changed: list[int],
) -> None:
    """`changed` takes the event's number when the dashboard is to say something else."""
    made = plan(event, connection, queue)
    carry_out(number, event, made, connection, queue, now)
    if made.refresh or made.jobs or made.retried or (made.facts and event.kind != "push"):
        changed.append(number)
    noted(event, connection, queue)
    for merge_request in made.cancelled:
        _stop(connection, queue, merge_request, now)
    if made.base_moved:
        _look(connection, queue, state, now)


def _learn(connection: Connection, queue: Queue, state: StateBranch, run: str) -> bool:
    """Keep what a run taught that a person merged; whether that is done with."""
    record, mirror = queue.get(run), connection.mirror
    if record is None:
        return True
    job = record.job
    try:
        mirror.ensure(connection.forge, job.source_ref, job.source_commit)
        commit = job.source_commit
    except InputError:  # the sources as they were merged do as well
        commit = connection.tip()
    lines = learnt(job, result_file(queue.runs / run), mirror.git, commit, state.bank)
    if lines is None:
        return False
    state.bank = lines
    return True


def _stop(connection: Connection, queue: Queue, number: int, now: float) -> None:
    """Cancel what runs: nobody can stop the CI's job from here, so what it finds is dropped."""
    match = {"forge": connection.name, "repository": connection.repository, "number": number}
    for record in queue.jobs(states=("running",), **match):  # type: ignore[arg-type]
        queue.finish(record.job.key, WORKER, now, state="cancelled", note="cancelled")
    for record in queue.jobs(states=("cancelled",), **match):  # type: ignore[arg-type]
        if record.finished == now:
            _tell_end(connection, record.job, "cancelled", "")


def _claimed(connection: Connection, queue: Queue, now: float) -> list[Job]:
    """The jobs that wait, or whose run of the CI never reported, held by this run of the CI.

    Of searches only so many as the configuration lets one run start; the others stay in the queue.
    """
    waiting = queue.jobs(states=("queued", "running", "delivering"), limit=10_000)
    slots = {f"{r.job.backend}:{r.job.device}": len(waiting) for r in waiting}
    most, found, searches = 1, list[Job](), 0
    while (
        record := queue.claim(WORKER, now, slots, CI_LEASE_S, searches=searches < most)
    ) is not None:
        try:
            # Fetched no earlier: most comments are no commands.
            most = connection.limits().limits.operators_per_event
            done = _again_delivered(connection, queue, record.job, now)
            if done or not _fit(connection, queue, record, now):
                continue
        except Exception as problem:  # of this job; the others are planned all the same
            _give_back(connection, record.job, problem)(queue)
            continue
        found.append(record.job)
        searches += record.job.kind == "optimize"
    return found


def _fit(connection: Connection, queue: Queue, record: Record, now: float) -> bool:
    """Whether a job may be run, its commits fetched; ends it with the reason when it may not.

    The branch that it was stored in can be pushed by others than the default branch can: what
    judges must be of the default branch, and the limits those of its configuration.
    """
    job, forge, mirror = record.job, connection.forge, connection.mirror
    try:
        if record.tries > ATTEMPTS:
            raise InputError(f"{ATTEMPTS} runs of the CI ended without a report.")
        mirror.ensure(forge, job.source_ref, job.source_commit)
        refuse_in_vain(job, connection)
        tip = connection.tip()
        config = connection.config(tip)
        home = forge.repository()
        judged = job.judge_ref == f"refs/heads/{home.default_branch}" and mirror.git.succeeds(
            "merge-base", "--is-ancestor", job.judge_commit, tip
        )
        if job.kind == "create":
            folder, _, name = job.operator.rpartition("/")
            wanted = config.triggers.create and folder == folder_for(mirror.commit(tip), config)
            if not (judged and wanted and name.isidentifier()):
                raise InputError("The configuration no longer allows new operators there.")
            return True
        judge = mirror.commit(job.judge_commit)
        if not judged or job.workload != judged_by(judge, job.operator, config):
            raise InputError("Its workload is no longer that of the default branch.")
        most = max(config.max_budget, config.granted(job.operator, None))
        if job.kind == "optimize" and job.budget > most:
            raise InputError(f"It asks for {amount(job.budget, 'evaluation')}; {most} are allowed.")
    except InputError as problem:
        queue.finish(job.key, WORKER, now, state="failed", note=str(problem))
        _tell_end(connection, job, "failed", str(problem))
        return False
    return True


def _tell_end(connection: Connection, job: Job, state: str, reason: str) -> None:
    """Say that a job failed or was cancelled; a forge that is away loses a word."""
    forge = connection.forge
    with apart(f"run {job.run} is not said to be {state}"):
        tell_run(job, forge, failed(job, state, reason), failed=state == "failed")
        set_check(job, forge, "error", reason or "Cancelled.")


def report(
    connection: Connection,
    jobs: Sequence[Job],
    results: Path,
    bank: Path | None = None,
    page: str = "",
) -> list[str]:
    """Deliver every job's result; one sentence a job. Results are data from outside.

    `bank`: experience to be kept; what a refresh left in `results` when not given. `page`: web
    address of this run of the CI, '' when it has none. What is bad is
    reported as such. Raises what the forge refused, once every job has had its turn; such jobs are
    planned again.
    """
    only_files(results)
    sentences: list[str] = []
    refused: Exception | None = None
    ends: list[Callable[[Queue], None]] = []
    with state_of(connection) as state:
        queue = state.read()
        given = bank or results / BANK
        if given.is_file():
            try:
                state.bank = checked_bank(given)
                sentences.append("The experience that the refresh left is kept.")
            except InputError as problem:
                sentences.append(f"The experience is not kept: {problem}")
        now = time.time()
        today = queue.opened_since(connection.name, connection.repository, now - DAY_S)
        for job in jobs:
            record = queue.get(job.key)
            if record is not None and record.state in ENDED:
                sentences.append(f"{job.operator}: run {job.run} is {record.state} already.")
                continue
            try:
                tries = record.tries if record is not None else 1
                words, end, opened = _reported(connection, job, results, today, tries, page)
            except Exception as problem:
                known = isinstance(problem, TEMPORARY)
                refused = refused or (problem if known else EnvironmentProblem(told(problem)))
                ends.append(_give_back(connection, job, problem, results / job.key))
                continue
            today += opened
            sentences.append(f"{job.operator}: {words}")
            ends.append(end)
        queue.close()
        state.change(lambda queue: _ended(queue, ends, connection))
    if refused is not None:
        raise refused
    return sentences


def _ended(queue: Queue, ends: Sequence[Callable[[Queue], None]], connection: Connection) -> None:
    for end in ends:
        with apart("a run is planned again, for what became of it was not kept"):
            end(queue)
    if ends:
        update_dashboard(connection, queue, time.time())


def _held(queue: Queue, job: Job) -> None:
    """Make sure that the queue has the job as one that runs: the branch may have been deleted."""
    if queue.get(job.key) is None:
        now = time.time()
        queue.keep(Record(job=job, state="running", created=now, started=now), WORKER)


def _give_back(
    connection: Connection, job: Job, problem: Exception, left: Path | None = None
) -> Callable[[Queue], None]:
    """Return the change of the queue for a job whose result the forge did not take.

    It says so when the job is given up.
    `left`: folder of the result, which is kept: it is not searched for again.
    """
    gone, wait, note = away(problem), asked_wait(problem), told(problem)

    def give(queue: Queue) -> None:
        _held(queue, job)
        _keep_result(queue, job, left)
        if queue.give_back(job.key, WORKER, time.time(), note, away=gone, wait=wait) == "failed":
            _tell_end(connection, job, "failed", note)

    return give


def _reported(
    connection: Connection, job: Job, results: Path, today: int, tries: int, page: str
) -> tuple[str, Callable[[Queue], None], int]:
    """Deliver one result: what to say, what to remember, how many merge requests were opened."""
    forge, folder = connection.forge, results / job.key
    try:
        connection.mirror.ensure(forge, job.source_ref, job.source_commit)
        done = hand_in(job, folder, connection, today, page)
    except InputError as problem:
        failure = read_failure(folder)
        left = failure is not None or left_file(job, folder).exists()
        head, reason = "The run left no result.", str(problem)
        refused = isinstance(problem, NotAllowed)
        if refused:
            head = "No merge request could be opened."
        else:
            reason = said("no_result", visible(failure.sentence, 500) if failure else problem)
        # A runner that died, or a passing reason: once more, as long as it may be tried.
        again = tries < ATTEMPTS and (not left or (failure is not None and not failure.lasting))
        text = waiting(job, reason) if again else failed(job, "failed", reason)
        tell_run(job, forge, text, failed=not again)
        set_check(job, forge, "pending" if again else "error", head, reason)

        def fail(queue: Queue) -> None:
            _held(queue, job)
            if refused:  # `retry` delivers it once that is mended
                _keep_result(queue, job, folder)
            if again:
                queue.give_back(job.key, WORKER, time.time(), reason)
            else:
                queue.finish(job.key, WORKER, time.time(), state="failed", note=reason)

        return reason, fail, 0

    def finish(queue: Queue) -> None:
        _held(queue, job)
        _remember(queue, job, folder, done)

    return done.note, finish, int(done.opened)


def _keep_result(queue: Queue, job: Job, left: Path | None) -> None:
    """Store the result of a search; of other jobs the forge has everything, or they are short."""
    if left is None or job.kind not in ("optimize", "verify"):
        return
    with suppress(InputError):  # there is none
        text = read_result(left).model_dump_json()
        folder = queue.runs / job.key
        folder.mkdir(parents=True, exist_ok=True)
        result_file(folder).write_text(text, encoding="utf-8")


def _remember(queue: Queue, job: Job, left: Path, done: Delivered) -> None:
    _keep_result(queue, job, left)
    settled(queue, job, done, time.time())
    queue.finish(
        job.key,
        WORKER,
        time.time(),
        state="waiting" if done.waits and job.kind != "create" else "done",
        note=done.note,
        merge_request=done.merge_request,
        speedup=done.speedup,
    )
