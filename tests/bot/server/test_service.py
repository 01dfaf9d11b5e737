"""What the service does beside events and jobs."""

from pathlib import Path

from bot.repository.connection import Connections
from bot.server.queue import Queue
from bot.server.service import STUCK_S, Service
from bot.server.worker import WorkSettings
from experience.bank.exchange import open_default_bank
from tests.bot.make import job

DAY_S = 86400.0


def test_runs_that_ended_too_long_ago_are_removed_and_no_others(tmp_path: Path) -> None:
    queue = Queue(tmp_path / "queue.sqlite")
    service = Service(
        queue,
        Connections(tmp_path, []),
        WorkSettings(data=tmp_path),
        workers=0,
        keep_s=90 * DAY_S,
        clock=lambda: 100 * DAY_S,
    )
    for key, ended in (("old", 9 * DAY_S), ("new", 11 * DAY_S)):
        queue.add(job(key), 0)
        assert queue.claim("w", 0) is not None
        assert queue.finish(key, "w", ended, state="done")
    queue.add(job("waits"), 0)
    for key in ("old", "new", "waits"):
        (queue.runs / key / "checkout").mkdir(parents=True)
    service.look_after()
    assert sorted(path.name for path in queue.runs.iterdir()) == ["new", "waits"]
    assert queue.get("old") is None and queue.get("new") is not None
    assert queue.get("waits") is not None
    queue.close()


def test_a_queue_in_which_nothing_happens_is_an_alarm(tmp_path: Path) -> None:
    now = [0.0]
    queue = Queue(tmp_path / "queue.sqlite")
    bot = Service(
        queue,
        Connections(tmp_path, []),
        WorkSettings(data=tmp_path),
        workers=0,
        clock=lambda: now[0],
    )
    queue.add(job("waits"), 0)
    queue.add(job("runs"), 0)
    now[0] = STUCK_S - 1
    assert bot.alarms() == []
    now[0] = STUCK_S + 1
    (said,) = bot.alarms()
    assert "for 6 hours none began or ended" in said
    assert queue.claim("w", now[0]) is not None  # it works again
    assert bot.alarms() == []
    queue.close()


def test_an_idle_bot_has_no_alarm(tmp_path: Path) -> None:
    queue = Queue(tmp_path / "queue.sqlite")
    work = WorkSettings(data=tmp_path)
    bot = Service(queue, Connections(tmp_path, []), work, workers=0, clock=lambda: 99 * DAY_S)
    assert bot.alarms() == []
    queue.close()


def test_a_bank_that_was_set_aside_is_an_alarm_until_somebody_saw_to_it(tmp_path: Path) -> None:
    queue, bank = Queue(tmp_path / "queue.sqlite"), tmp_path / "bank.duckdb"
    bank.write_text("no bank")
    open_default_bank(bank)
    work = WorkSettings(data=tmp_path, bank=bank)
    bot = Service(queue, Connections(tmp_path, []), work, workers=0)
    (said,) = bot.alarms()
    (kept,) = tmp_path.glob("bank.duckdb.unreadable-*")
    assert kept.name in said and str(tmp_path) not in said
    kept.unlink()
    assert bot.alarms() == []
    queue.close()
