"""The plan for an event, as data: jobs, and texts for the forge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.forge.model import Comment
from bot.repository.job import Job


@dataclass(frozen=True)
class Reply:
    """An answer to write under a merge request or in an issue, once."""

    number: int
    mark: str
    """The mark by which an answer is recognised when the event is handled again."""
    body: str
    in_issue: bool = False
    """Whether the number is that of an issue."""


@dataclass(frozen=True)
class Plan:
    """Jobs and answers that follow from an event."""

    jobs: tuple[Job, ...] = ()
    replies: tuple[Reply, ...] = ()
    seen: tuple[tuple[int, int], ...] = ()
    """(merge request, comment) to react to: the command was taken."""
    cancelled: tuple[int, ...] = ()
    """Merge requests whose jobs are to stop."""
    retried: tuple[str, ...] = ()
    """Keys to queue again."""
    facts: tuple[tuple[str, str], ...] = ()
    """(name, value) to remember, such as what a person said no to."""
    urgent: tuple[str, ...] = ()
    """Keys of jobs that wait, to be taken next."""
    closed: tuple[int, ...] = ()
    """The bot's merge requests to close."""
    base_moved: bool = False
    """Whether the bot's open merge requests are to be looked at again."""
    refresh: bool = False
    """Whether the dashboard is to be written again, for its boxes."""
    postponed: bool = False
    """Whether the event is to be handled later, however long that takes."""
    note: str = ""
    """Why nothing follows, for the log."""


def reply_key(comment: Comment) -> str:
    """Marks the answer to a comment, or to what an issue begins with."""
    return f"comment-{comment.id}" if comment.id else f"issue-{comment.merge_request}"


def reply_to(comment: Comment, body: str) -> Reply:
    """An answer to a comment."""
    return Reply(comment.merge_request, reply_key(comment), body)


def joined(plans: Sequence[Plan], comment: Comment) -> Plan:
    """The plans of a comment's commands as one, with one answer; what is asked twice is one job."""
    own = reply_key(comment)
    words = dict.fromkeys(r.body for made in plans for r in made.replies if r.mark == own)
    others = tuple(r for made in plans for r in made.replies if r.mark != own)
    acted = bool(others) or any(p.jobs or p.cancelled or p.retried or p.facts for p in plans)
    return Plan(
        jobs=tuple({j.key: j for p in plans for j in p.jobs}.values()),
        replies=(*others, *((reply_to(comment, "\n\n".join(words)),) if words else ())),
        seen=((comment.merge_request, comment.id),) if acted else (),
        cancelled=tuple(n for p in plans for n in p.cancelled),
        retried=tuple(k for p in plans for k in p.retried),
        facts=tuple(f for p in plans for f in p.facts),
        urgent=tuple(k for p in plans for k in p.urgent),
        closed=tuple(n for p in plans for n in p.closed),
        note="; ".join(p.note for p in plans if p.note),
    )
