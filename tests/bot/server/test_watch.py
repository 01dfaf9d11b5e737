import logging
import time

import pytest

from bot.events.model import Event
from bot.forge.errors import ForgeError
from bot.server import watch
from bot.server.queue import Queue
from bot.server.watch import poll
from tests.bot.operator_repository import KERNEL, Repository


def look(ops: Repository) -> list[Event]:
    return poll(ops.connection(), ops.queue, time.time())


def test_the_first_poll_only_notes_how_things_stand(ops: Repository) -> None:
    request = ops.request()
    ops.as_user("alice").comment(request.number, "/optimize")
    assert look(ops) == []
    assert look(ops) == []


def test_new_comments_pushes_and_merge_requests_are_found_once(ops: Repository) -> None:
    look(ops)
    request = ops.request()
    comment = ops.as_user("alice").comment(request.number, "/optimize")
    head = ops.commit("main", {KERNEL: "int main_now;\n"})
    found = {e.kind: e for e in look(ops)}
    assert set(found) == {"comment", "merge_request", "push"}
    assert (found["comment"].number, found["comment"].comment_id) == (request.number, comment.id)
    assert found["push"].after == head
    assert found["merge_request"].action == "opened"
    assert look(ops) == []


def test_a_new_head_of_a_merge_request_is_an_update(ops: Repository) -> None:
    look(ops)
    ops.request()
    look(ops)
    head = ops.commit("feature", {KERNEL: "int newer;\n"})
    (event,) = look(ops)
    assert (event.kind, event.action, event.head) == ("merge_request", "updated", head)


def test_what_a_killed_poll_had_stored_is_not_stored_twice(ops: Repository) -> None:
    look(ops)
    request = ops.request()
    ops.as_user("alice").comment(request.number, "/optimize")
    assert look(ops)
    where = f"local {ops.name}"
    # As if the process had died before it noted how far it was.
    ops.queue.set_fact(f"comments since {where}", "2020-01-01T00:00:00+00:00")
    ops.queue.set_fact(f"comments etag {where}", "")
    ops.queue.set_fact(f"request head {where} {request.number}", "")
    assert look(ops) == []


def test_an_old_comment_that_is_edited_starts_nothing(ops: Repository) -> None:
    request = ops.request()
    comment = ops.as_user("alice").comment(request.number, "words")
    time.sleep(1.1)  # the forge's times are whole seconds
    look(ops)
    ops.as_user("alice").edit_comment(request.number, comment.id, "/optimize")
    assert [e for e in look(ops) if e.kind == "comment"] == []


def test_a_polled_command_is_planned_like_a_delivered_one(ops: Repository) -> None:
    look(ops)
    request = ops.request()
    ops.as_user("alice").comment(request.number, "/optimize")
    (event,) = [e for e in look(ops) if e.kind == "comment"]
    made = ops.plan(**event.model_dump(exclude={"forge", "repository"}))
    assert [job.operator for job in made.jobs] == ["src/math/scale"]


def failing(
    monkeypatch: pytest.MonkeyPatch, kind: str, number: int, fault: Exception
) -> list[Event]:
    """Events of a kind and of one merge request meet a fault; those that did so far."""
    right, met = watch._store, list[Event]()

    def store(queue: Queue, event: Event, now: float) -> list[Event]:
        if (event.kind, event.number) == (kind, number):
            met.append(event)
            raise fault
        return right(queue, event, now)

    monkeypatch.setattr(watch, "_store", store)
    return met


@pytest.mark.parametrize("kind", ["comment", "merge_request"])
def test_what_always_meets_a_defect_is_said_once_and_passed_over_from_then_on(
    kind: str, ops: Repository, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    look(ops)
    bad = ops.request({"README.md": "one\n"}, branch="bad")
    good = ops.request({"README.md": "two\n"}, branch="good")
    for request in (bad, good):
        ops.as_user("alice").comment(request.number, "/optimize")
    met = failing(monkeypatch, kind, bad.number, KeyError("state"))
    with pytest.raises(KeyError):
        look(ops)
    assert [e.event.number for e in ops.queue.waiting_events() if e.event.kind == kind] == [
        good.number
    ]
    said = len(caplog.records)
    assert said and look(ops) == [] and look(ops) == []
    assert (len(met), len(caplog.records)) == (1, said)


def test_what_meets_something_that_passes_is_found_again(
    ops: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(ops)
    request = ops.request()
    ops.as_user("alice").comment(request.number, "/optimize")
    away = ForgeError("The forge is away.", "unavailable")
    with monkeypatch.context() as meanwhile:
        failing(meanwhile, "comment", request.number, away)
        with pytest.raises(ForgeError):
            look(ops)
    assert [e.kind for e in look(ops)] == ["comment"]
