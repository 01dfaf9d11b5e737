"""A copy of the bot's memory, made while it runs, from which another one goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.repository.settings import BotSettings, read_settings
from bot.server.backup import back_up
from bot.server.queue import Queue
from bot.server.run_job import result_file
from ci.model.errors import InputError
from tests.bot.make import job, result


def settings(folder: Path) -> BotSettings:
    file = folder / "bot.yml"
    file.write_text("data: data\nrepositories: [{forge: local, repository: x}]\n")
    return read_settings(file)


def test_a_copy_holds_jobs_refusals_and_results_that_wait_while_the_bot_writes(
    tmp_path: Path,
) -> None:
    read = settings(tmp_path)
    queue = Queue(read.data / "queue.sqlite")
    for key in ("waits", "ended"):
        queue.add(job(key), 0)
        assert queue.claim("w", 0) is not None
        queue.finish(key, "w", 1, state="waiting" if key == "waits" else "done", speedup=1.5)
        result_file(queue.runs / key).parent.mkdir(parents=True)
        result_file(queue.runs / key).write_text(result().model_dump_json())
        (queue.runs / key / "checkout").mkdir()
    queue.set_fact("no github team/ops operator src/math/scale", "{}")
    with queue._writing():  # the bot is in the middle of something
        assert back_up(read, tmp_path / "copy")[0] == "queue.sqlite: 2 jobs"
    queue.close()
    found = Queue(tmp_path / "copy" / "queue.sqlite")
    assert {r.job.key: r.state for r in found.jobs()} == {"waits": "waiting", "ended": "done"}
    assert list(found.facts()) == ["no github team/ops operator src/math/scale"]
    kept = [p.relative_to(found.runs).as_posix() for p in found.runs.rglob("*") if p.is_file()]
    assert kept == ["waits/result.json"]
    found.close()


def test_where_no_bot_has_run_or_a_copy_is_already_there_nothing_is_written(
    tmp_path: Path,
) -> None:
    read = settings(tmp_path)
    with pytest.raises(InputError, match="no bot has run"):
        back_up(read, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    Queue(read.data / "queue.sqlite").close()
    with pytest.raises(InputError, match="a folder of its own"):
        back_up(read, tmp_path)
