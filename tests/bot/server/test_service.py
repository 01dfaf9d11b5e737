"""What the service does beside events and jobs."""

from pathlib import Path

from bot.repository.connection import Connections
from bot.server.queue import Queue
from bot.server.service import Service
from bot.server.worker import WorkSettings
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
