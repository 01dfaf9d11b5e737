"""The forge and the settings may spell a repository's name in other letters of case."""

from __future__ import annotations

import time

from bot.events.model import Event
from bot.repository.connection import Connections
from bot.server.service import Service
from bot.server.worker import WorkSettings
from tests.bot.operator_repository import Repository


def test_a_name_in_other_letters_is_the_same_repository_throughout(ops: Repository) -> None:
    connections = Connections(ops.folder / "data", [("github", "Team/Ops", lambda: ops.bot)])
    service = Service(ops.queue, connections, WorkSettings(ops.folder / "data"))
    request = ops.request()

    def written(text: str, repository: str) -> None:
        made = ops.as_user("alice").comment(request.number, text)
        event: Event = ops.event(
            forge="github",
            repository=repository,
            kind="comment",
            action="created",
            number=request.number,
            comment_id=made.id,
            text=text,
        )
        assert ops.queue.receive(event, time.time()) and service.plan_one()

    written("/optimize op=scale", "team/ops")
    (record,) = ops.queue.jobs(forge="github", repository="Team/Ops")
    assert record.state == "queued" and connections.names() == [("github", "Team/Ops")]
    written("/optimize cancel", "TEAM/ops")
    (record,) = ops.queue.jobs()
    assert record.state == "cancelled"


def test_a_folder_is_another_one_in_other_letters(ops: Repository) -> None:
    connections = Connections(ops.folder / "data", [("local", "ops", lambda: ops.bot)])
    assert connections("local", "Ops") is None and connections("local", "ops") is not None
