"""Polling, for those who can neither receive webhooks nor run the bot in the forge's CI.

A poll finds the same events as the webhooks would bring, with delivery ids made from what was
found, so that nothing is handled twice however polls and restarts overlap.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeVar

from bot.events.model import Event
from bot.forge.errors import ForgeError
from bot.forge.model import Comment, MergeRequest, RecentComments
from bot.repository.connection import Connection
from bot.server.comments.event_text import talk
from bot.server.one_item import apart, is_defect
from bot.server.queue import Queue

LOG: Final = logging.getLogger("ascendopt.bot")
# A comment may reach the forge's list a little after its own time stamp.
_OVERLAP: Final = timedelta(minutes=5)

Item = TypeVar("Item")


def poll(connection: Connection, queue: Queue, now: float) -> list[Event]:
    """Store the events since the last poll in the queue, and return those that are new.

    The first poll only notes how things stand: the bot does not answer what was written before it
    came. What the token may not read, such as issues, is left out. Raises what one part or one
    item met, after it has tried the rest; the next poll finds it all again, but for an item that
    met a defect: it is passed over from then on.
    """
    where, forge = f"{connection.name} {connection.repository}", connection.forge
    events, failed = list[Event](), list[Exception]()
    parts: list[Callable[[], list[Event]]] = [
        lambda: _spoken(connection, queue, where, now, "comment", forge.recent_comments),
        lambda: _spoken(connection, queue, where, now, "issue", forge.recent_issues),
        lambda: _pushes(connection, queue, where),
        lambda: _heads(connection, queue, where),
    ]
    for part in parts:
        with apart(connection.repository, failed):
            events += part()
    for problem in failed:
        if not (isinstance(problem, ForgeError) and problem.kind in ("forbidden", "not_found")):
            raise problem
        if problem.token_refused:
            raise problem
    queue.set_fact(f"polled {where}", str(now))
    return events


def noted(event: Event, connection: Connection, queue: Queue) -> None:
    """Note an event that came another way than by polling, so that no poll finds it again."""
    where = f"{connection.name} {connection.repository}"
    if (event.kind == "comment" and event.comment_id) or (event.kind == "issue" and event.number):
        queue.set_fact(_answered(where, event), "1")
    elif event.kind == "merge_request" and event.number and event.head:
        queue.set_fact(f"request head {where} {event.number}", event.head)
    elif event.kind == "push" and event.after:
        branch = connection.forge.repository().default_branch
        if event.ref == f"refs/heads/{branch}":
            queue.set_fact(f"head {where}", event.after)


def _answered(where: str, event: Event) -> str:
    if event.kind == "issue":
        return f"answered issue {where} {event.number} {event.comment_id}"
    return f"answered {where} {event.comment_id}"


def _store(queue: Queue, event: Event, now: float) -> list[Event]:
    return [event] if queue.receive(event, now) else []


def _spoken(
    connection: Connection,
    queue: Queue,
    where: str,
    now: float,
    kind: Literal["comment", "issue"],
    recent: Callable[[datetime, str], RecentComments],
) -> list[Event]:
    """Comments on merge requests, or issues and their comments: what `recent` finds of them."""
    since, begun, etag = (f"{kind}s {word} {where}" for word in ("since", "from", "etag"))
    at, last = datetime.fromtimestamp(now, UTC).isoformat(), _time(queue.fact(since))
    if last is None:
        queue.set_fact(since, at)
        queue.set_fact(begun, at)
        return []
    found = recent(last - _OVERLAP, queue.fact(etag))
    begin = _time(queue.fact(begun)) or last
    events = list[Event]()

    def take(comment: Comment) -> None:
        own = f"{comment.merge_request}-{comment.id}" if kind == "issue" else comment.id
        event = Event(
            forge=connection.name,
            delivery=f"poll-{kind}-{connection.repository}-{own}",
            kind=kind,
            action="created",
            repository=connection.repository,
            number=comment.merge_request,
            comment_id=comment.id,
            text=comment.body,
            sender=comment.author,
            sender_is_bot=comment.author_is_bot,
            at=comment.created_at,
        )
        # An old comment that was edited starts nothing, nor does people's talk.
        old = comment.created_at < begin or queue.fact(_answered(where, event))
        if not old and not talk(event):
            events.extend(_store(queue, event, now))

    _each(queue, found.comments, take, lambda one: f"{kind} {where} {one.merge_request} {one.id}")
    if found.modified:
        queue.set_fact(etag, found.etag)
        queue.set_fact(since, at)
    return events


def _time(text: str) -> datetime | None:
    """The time in a fact, None where there is none: others can write such facts."""
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(text).astimezone(UTC)
    return None


def _pushes(connection: Connection, queue: Queue, where: str) -> list[Event]:
    branch = connection.forge.repository().default_branch
    head = connection.forge.branch_head(branch) or ""
    before = queue.fact(f"head {where}")
    events = []
    if head and before and head != before:
        event = Event(
            forge=connection.name,
            delivery=f"poll-push-{connection.repository}-{head}",
            kind="push",
            repository=connection.repository,
            ref=f"refs/heads/{branch}",
            before=before,
            after=head,
        )
        events = _store(queue, event, 0.0)
    # After the event is stored: killed in between, the next poll makes the same delivery.
    if head != before:
        queue.set_fact(f"head {where}", head)
    return events


def _heads(connection: Connection, queue: Queue, where: str) -> list[Event]:
    events, seen = list[Event](), f"request heads {where}"
    known = f"request head {where} "
    first = not queue.fact(seen) and not any(name.startswith(known) for name in queue.facts())

    def take(request: MergeRequest) -> None:
        name = f"request head {where} {request.number}"
        before = queue.fact(name)
        if before == request.head:
            return
        if not first:
            event = Event(
                forge=connection.name,
                delivery=f"poll-request-{connection.repository}-{request.number}-{request.head}",
                kind="merge_request",
                action="updated" if before else "opened",
                repository=connection.repository,
                number=request.number,
                sender=request.author,
                draft=request.draft,
                head=request.head,
            )
            events.extend(_store(queue, event, 0.0))
        queue.set_fact(name, request.head)

    requests = connection.forge.merge_requests("open")
    _each(queue, requests, take, lambda one: f"request {where} {one.number} {one.head}")
    queue.set_fact(seen, "1")
    return events


def _each(
    queue: Queue,
    items: Iterable[Item],
    take: Callable[[Item], None],
    name: Callable[[Item], str],
) -> None:
    """Take the items, whatever becomes of the others; raises the first failure.

    An item that meets a defect would do so at each poll: later ones pass it over, by its name.
    """
    failed = list[Exception]()
    for item in items:
        passed, met = f"defect {name(item)}", len(failed)
        if queue.fact(passed):
            continue
        with apart(passed.removeprefix("defect "), failed):
            take(item)
        if any(is_defect(problem) for problem in failed[met:]):
            queue.set_fact(passed, "1")
    if failed:
        raise failed[0]
