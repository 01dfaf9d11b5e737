"""Polling, for those who can neither receive webhooks nor run the bot in the forge's CI.

A poll finds the same events as the webhooks would bring, with delivery ids made from what was
found, so that nothing is handled twice however polls and restarts overlap.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from bot.events.model import Event
from bot.repository.connection import Connection
from bot.server.queue import Queue
from bot.server.spoken import talk

# A comment may reach the forge's list a little after its own time stamp.
_OVERLAP: Final = timedelta(minutes=5)


def poll(connection: Connection, queue: Queue, now: float) -> list[Event]:
    """What happened since the last poll, stored in the queue; the events that are new.

    The first poll only notes how things stand: the bot does not answer what was written before it
    came. Raises ForgeError when the forge cannot be asked; the next poll finds it all again.
    """
    where = f"{connection.name} {connection.repository}"
    first = not queue.fact(f"polled {where}")
    events = [
        *_comments(connection, queue, where, now, first),
        *_issues(connection, queue, where, now, first),
        *_pushes(connection, queue, where, first),
        *_heads(connection, queue, where, first),
    ]
    queue.set_fact(f"polled {where}", str(now))
    return events


def noted(event: Event, connection: Connection, queue: Queue) -> None:
    """Note an event that came another way than by polling, so that no poll finds it again."""
    where = f"{connection.name} {connection.repository}"
    if event.kind == "comment" and event.comment_id:
        queue.set_fact(_answered(where, event.comment_id), "1")
    elif event.kind == "issue" and event.number:
        queue.set_fact(_answered_in_issue(where, event.number, event.comment_id), "1")
    elif event.kind == "merge_request" and event.number and event.head:
        queue.set_fact(f"request head {where} {event.number}", event.head)
    elif event.kind == "push" and event.after:
        branch = connection.forge.repository().default_branch
        if event.ref == f"refs/heads/{branch}":
            queue.set_fact(f"head {where}", event.after)


def _answered(where: str, comment: int) -> str:
    return f"answered {where} {comment}"


def _answered_in_issue(where: str, issue: int, comment: int) -> str:
    return f"answered issue {where} {issue} {comment}"


def _store(queue: Queue, event: Event, now: float) -> list[Event]:
    return [event] if queue.receive(event, now) else []


def _comments(
    connection: Connection, queue: Queue, where: str, now: float, first: bool
) -> list[Event]:
    last = queue.fact(f"comments since {where}")
    started = queue.fact(f"comments from {where}")
    at = datetime.fromtimestamp(now, UTC)
    if first or not last:
        queue.set_fact(f"comments since {where}", at.isoformat())
        queue.set_fact(f"comments from {where}", at.isoformat())
        return []
    since = datetime.fromisoformat(last) - _OVERLAP
    found = connection.forge.recent_comments(since, queue.fact(f"comments etag {where}"))
    events = []
    begin = datetime.fromisoformat(started) if started else at
    for comment in found.comments:
        if comment.created_at < begin:
            continue  # an old comment that was edited: edits start nothing
        if queue.fact(_answered(where, comment.id)):
            continue
        event = Event(
            forge=connection.name,
            delivery=f"poll-comment-{connection.repository}-{comment.id}",
            kind="comment",
            action="created",
            repository=connection.repository,
            number=comment.merge_request,
            comment_id=comment.id,
            text=comment.body,
            sender=comment.author,
            sender_is_bot=comment.author_is_bot,
            at=comment.created_at,
        )
        events += _store(queue, event, now)
    if found.modified:
        queue.set_fact(f"comments etag {where}", found.etag)
        queue.set_fact(f"comments since {where}", at.isoformat())
    return events


def _issues(
    connection: Connection, queue: Queue, where: str, now: float, first: bool
) -> list[Event]:
    """Issues that were opened, and comments in issues, of which only commands are kept."""
    at = datetime.fromtimestamp(now, UTC).isoformat()
    last = queue.fact(f"issues since {where}")
    if first or not last:
        queue.set_fact(f"issues since {where}", at)
        queue.set_fact(f"issues from {where}", at)
        return []
    since = datetime.fromisoformat(last) - _OVERLAP
    begin = datetime.fromisoformat(queue.fact(f"issues from {where}") or last)
    found = connection.forge.recent_issues(since, queue.fact(f"issues etag {where}"))
    events = []
    for comment in found.comments:
        event = Event(
            forge=connection.name,
            delivery=f"poll-issue-{connection.repository}-{comment.merge_request}-{comment.id}",
            kind="issue",
            action="created",
            repository=connection.repository,
            number=comment.merge_request,
            comment_id=comment.id,
            text=comment.body,
            sender=comment.author,
            sender_is_bot=comment.author_is_bot,
            at=comment.created_at,
        )
        known = queue.fact(_answered_in_issue(where, comment.merge_request, comment.id))
        if comment.created_at >= begin and not known and not talk(event):
            events += _store(queue, event, now)
    if found.modified:
        queue.set_fact(f"issues etag {where}", found.etag)
        queue.set_fact(f"issues since {where}", at)
    return events


def _pushes(connection: Connection, queue: Queue, where: str, first: bool) -> list[Event]:
    branch = connection.forge.repository().default_branch
    head = connection.forge.branch_head(branch) or ""
    before = queue.fact(f"head {where}")
    events = []
    if head and head != before and not first:
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


def _heads(connection: Connection, queue: Queue, where: str, first: bool) -> list[Event]:
    events = []
    for request in connection.forge.merge_requests("open"):
        name = f"request head {where} {request.number}"
        before = queue.fact(name)
        if before == request.head:
            continue
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
            events += _store(queue, event, 0.0)
        queue.set_fact(name, request.head)
    return events
