import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.events.model import Event
from bot.server.queue import ATTEMPTS, EVENT_ATTEMPTS, FORGE_ATTEMPTS, LEASE_S, Queue, ended, pause
from ci.model.errors import InputError
from tests.bot.make import job


def event(delivery: str, repository: str = "a/b") -> Event:
    return Event(forge="local", delivery=delivery, kind="push", repository=repository)


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    made = Queue(tmp_path / "queue.sqlite")
    yield made
    made.close()


def test_a_redelivered_event_is_known(queue: Queue) -> None:
    assert queue.receive(event("1"), 0)
    assert not queue.receive(event("1"), 1)
    assert queue.receive(event("2"), 2)


def test_events_come_out_in_the_order_they_came_in(queue: Queue) -> None:
    for name in "abc":
        queue.receive(event(name), 0)
    taken = []
    while (found := queue.next_event(1)) is not None:
        taken.append(found[1].delivery)
        queue.event_done(found[0], 1)
    assert taken == ["a", "b", "c"]


def test_an_event_whose_planner_died_comes_again_after_its_lease(queue: Queue) -> None:
    queue.receive(event("a"), 0)
    assert queue.next_event(0) is not None
    assert queue.next_event(LEASE_S - 1) is None
    assert queue.next_event(LEASE_S) is not None


def test_an_event_that_cannot_be_planned_is_given_up_after_some_tries(queue: Queue) -> None:
    queue.receive(event("a"), 0)
    now, tries = 0.0, 0
    while (found := queue.next_event(now)) is not None:
        tries += 1
        queue.event_failed(found[0], now, "the forge is away")
        now += pause(tries)
    assert tries == EVENT_ATTEMPTS
    assert queue.counts()["events"] == {"failed": 1}


def test_an_event_and_its_jobs_are_stored_together(queue: Queue) -> None:
    queue.receive(event("a"), 0)
    found = queue.next_event(0)
    assert found is not None
    assert queue.event_done(found[0], 0, jobs=[job("k1"), job("k2"), job("k1")]) == ["k1", "k2"]
    assert queue.counts() == {"events": {"done": 1}, "jobs": {"queued": 2}}


def test_the_same_work_is_queued_once_whatever_became_of_it(queue: Queue) -> None:
    assert queue.add(job("k"), 0)
    assert not queue.add(job("k"), 1)
    claimed = queue.claim("w", 1)
    assert claimed is not None
    queue.finish("k", "w", 2, state="done")
    assert not queue.add(job("k"), 3)


def test_one_job_at_a_time_measures_on_a_device(queue: Queue) -> None:
    for key, device in (("a", "910B4"), ("b", "910B4"), ("c", "910B1")):
        queue.add(job(key, device=device), 0)
    first, second = queue.claim("w1", 1), queue.claim("w2", 1)
    assert first is not None and second is not None
    assert [first.job.key, second.job.key] == ["a", "c"]
    assert queue.claim("w3", 1) is None
    queue.finish("a", "w1", 2, state="done")
    third = queue.claim("w3", 2)
    assert third is not None and third.job.key == "b"


def test_a_device_may_be_given_more_slots(queue: Queue) -> None:
    for key in "abc":
        queue.add(job(key), 0)
    slots = {"sim:910B4": 2}
    assert queue.claim("w1", 1, slots) is not None
    assert queue.claim("w2", 1, slots) is not None
    assert queue.claim("w3", 1, slots) is None


def test_repositories_take_turns(queue: Queue) -> None:
    for i in range(3):
        queue.add(job(f"big{i}", repository="big/one"), i)
    queue.add(job("small", repository="small/one"), 9)
    served = []
    for now in range(10, 14):
        found = queue.claim("w", now)
        assert found is not None
        served.append(found.job.key)
        queue.finish(found.job.key, "w", now, state="done")
    assert served == ["big0", "small", "big1", "big2"]


def test_a_heartbeat_keeps_a_job_and_its_absence_loses_it(queue: Queue) -> None:
    queue.add(job("k"), 0)
    queue.claim("w1", 0)
    assert queue.heartbeat("k", "w1", LEASE_S - 1, "3/40")
    assert queue.claim("w2", LEASE_S + 1) is None
    again = queue.claim("w2", 3 * LEASE_S)
    assert again is not None and again.attempts == 2 and again.progress == "3/40"
    assert not queue.heartbeat("k", "w1", 3 * LEASE_S)
    assert not queue.finish("k", "w1", 3 * LEASE_S, state="done")
    assert queue.finish("k", "w2", 3 * LEASE_S, state="done")


def test_a_job_that_ran_is_only_delivered_by_the_next_worker(queue: Queue) -> None:
    queue.add(job("k"), 0)
    queue.claim("w1", 0)
    assert queue.ran("k", "w1")
    again = queue.claim("w2", 2 * LEASE_S)
    assert again is not None and again.state == "delivering"


def test_failures_are_tried_again_after_growing_pauses_and_then_given_up(queue: Queue) -> None:
    queue.add(job("k"), 0)
    now = 0.0
    for attempt in range(1, ATTEMPTS + 1):
        assert queue.claim("w", now) is not None
        state = queue.give_back("k", "w", now, "no network")
        if attempt < ATTEMPTS:
            assert state == "queued"
            assert queue.claim("w", now + pause(attempt) - 1) is None
            now += pause(attempt)
    record = queue.get("k")
    assert record is not None and record.state == "failed" and ended(record)
    assert pause(1) < pause(2) < pause(3) <= pause(99)


def test_a_forge_that_is_away_is_waited_for_longer_than_an_hour(queue: Queue) -> None:
    queue.add(job("k"), 0)
    now = 0.0
    while queue.claim("w", now) is not None:
        state = queue.give_back("k", "w", now, "the forge is away", away=True)
        if state == "failed":
            break
        record = queue.get("k")
        assert record is not None
        now += pause(record.attempts)
    assert state == "failed" and now > 3600 and record.outages == FORGE_ATTEMPTS - 1


def test_an_outage_takes_no_attempt_of_a_job_that_fails_otherwise(queue: Queue) -> None:
    queue.add(job("k"), 0)
    told = [True] * (FORGE_ATTEMPTS - 1) + [False] * ATTEMPTS
    for number, gone in enumerate(told, 1):
        assert queue.claim("w", number * 1e5) is not None
        state = queue.give_back("k", "w", number * 1e5, "no", away=gone)
        assert state == ("failed" if number == len(told) else "queued")


def test_who_asks_for_patience_gets_it(queue: Queue) -> None:
    queue.add(job("k"), 0)
    assert queue.claim("w", 0) is not None
    queue.give_back("k", "w", 0, "slow down", wait=3600.0)
    assert queue.claim("w", 3599) is None and queue.claim("w", 3600) is not None
    queue.receive(event("a"), 0)
    found = queue.next_event(0)
    assert found is not None
    queue.event_failed(found[0], 0, "slow down", wait=3600.0)
    assert queue.next_event(3599) is None and queue.next_event(3600) is not None


def test_cancelling_drops_what_waits_and_stops_what_runs(queue: Queue) -> None:
    queue.add(job("runs", number=4), 0)
    queue.claim("w", 0)
    queue.add(job("waits", number=4), 0)
    queue.add(job("other", number=5), 0)
    queue.receive(event("e"), 0)
    found = queue.next_event(0)
    assert found is not None
    queue.event_done(found[0], 1, cancelled=[("github", "team/ops", 4)])
    states = {r.job.key: r.state for r in queue.jobs()}
    assert states == {"runs": "running", "waits": "cancelled", "other": "queued"}
    assert not queue.heartbeat("runs", "w", 2)
    assert not queue.ran("runs", "w")


@pytest.mark.parametrize("noticed", [False, True])
def test_what_is_wanted_again_while_it_is_being_cancelled_runs(queue: Queue, noticed: bool) -> None:
    """`noticed`: its worker has begun to stop it."""
    queue.add(job("k", number=4), 0)
    queue.claim("w", 0)
    queue.event_done(0, 1, cancelled=[("github", "team/ops", 4)])
    assert not queue.heartbeat("k", "w", 2)
    queue.event_done(0, 2, retried=["k"])
    if noticed:
        assert not queue.finish("k", "w", 3, state="cancelled")
        queue.release("w")
        again = queue.claim("other", 3)
        assert again is not None and again.job.key == "k"
    else:
        assert queue.heartbeat("k", "w", 3) and queue.ran("k", "w")


def test_retrying_queues_again_what_failed_and_nothing_else(queue: Queue) -> None:
    for key in ("failed", "done"):
        queue.add(job(key), 0)
        queue.claim("w", 0)
        queue.finish(key, "w", 1, state="failed" if key == "failed" else "done")
    queue.receive(event("e"), 0)
    found = queue.next_event(0)
    assert found is not None
    queue.event_done(found[0], 1, retried=["failed", "done", "unknown"])
    assert {r.job.key: r.state for r in queue.jobs()} == {"failed": "queued", "done": "done"}


def test_a_clean_stop_hands_jobs_back_at_once_and_uncounted(queue: Queue) -> None:
    queue.add(job("k"), 0)
    queue.claim("w", 0)
    queue.release("w")
    again = queue.claim("w2", 1)
    assert again is not None and again.attempts == 1


def test_a_run_is_found_by_the_name_that_comments_show(queue: Queue) -> None:
    queue.add(job("0123456789abcdef"), 0)
    found = queue.get("0123456789")
    assert found is not None and found.job.run == "0123456789"
    assert queue.get("012345") is None


def test_a_queue_from_before_a_column_was_added_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "queue.sqlite"
    Queue(file).event_done(0, 0.0, jobs=[job()])
    with sqlite3.connect(file) as db:
        db.execute("ALTER TABLE jobs DROP COLUMN outages")
    record = Queue(file).get(job().key)
    assert record is not None and (record.job, record.outages) == (job(), 0)


def test_a_queue_of_the_first_version_goes_on_with_all_that_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "queue.sqlite"
    with sqlite3.connect(file) as db:
        db.executescript(Path(__file__).with_name("first_queue.sql").read_text())
    queue = Queue(file)
    assert queue.receive(event("d2"), 7.0)
    taken = queue.next_event(8.0)
    assert taken is not None and taken[1].delivery == "d1"
    record = queue.claim("w", 8.0)
    assert record is not None and record.job == job(workload="src/math/scale_add/workload.yaml")
    assert queue.fact("head github team/ops") == "3" * 40
    queue.close()


def test_facts_outlive_the_process(queue: Queue) -> None:
    queue.set_fact("etag", "x")
    again = Queue(queue.file)
    assert again.fact("etag") == "x"
    assert again.fact("none") == ""
    again.close()


def test_a_file_that_is_no_queue_is_refused_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "queue.sqlite"
    file.write_text("not a database, though long enough to be read as one" * 30)
    with pytest.raises(InputError, match=r"queue\.sqlite cannot be used"):
        Queue(file)


def test_workers_in_many_threads_never_share_a_job(queue: Queue) -> None:
    for i in range(60):
        queue.add(job(f"k{i}"), 0)
    taken: list[str] = []
    lock = threading.Lock()

    def work(name: str) -> None:
        while (found := queue.claim(name, 1, {"sim:910B4": 100})) is not None:
            with lock:
                taken.append(found.job.key)
            queue.finish(found.job.key, name, 2, state="done")
        queue.close()

    threads = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(f"k{i}" for i in range(60))


WRITER = """
import sys, itertools
from pathlib import Path
from bot.events.model import Event
from bot.server.queue import Queue
queue = Queue(Path(sys.argv[1]))
for i in itertools.count():
    queue.receive(Event(forge="local", delivery=str(i), kind="push", repository="a/b"), 0)
    print(i, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "queue.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    acknowledged = -1
    for line in process.stdout:
        acknowledged = int(line)
        if acknowledged >= 40:
            os.kill(process.pid, signal.SIGKILL)
            break
    rest = process.stdout.read().split()
    acknowledged = max([acknowledged, *(int(n) for n in rest)])
    process.wait()
    queue = Queue(file)
    assert queue.counts()["events"]["new"] >= acknowledged + 1
    assert not queue.receive(event("0"), time.time())
    queue.close()
