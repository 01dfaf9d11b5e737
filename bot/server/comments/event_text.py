"""Texts of people as the forge has them: the comment or the issue that an event names."""

from __future__ import annotations

from bot.events.model import Event
from bot.forge.base import Forge, ForgeError
from bot.forge.model import Comment
from bot.repository.command import VERBS
from rules.triggers import load_triggers


class NotShown(ForgeError):
    """The forge does not show a comment that an event names, not yet or no more.

    A webhook can be faster than the forge's own pages: the event is handled again later.
    """


def talk(event: Event) -> bool:
    """Whether a comment or an issue is people talking among themselves, as most are.

    Not one question to the forge is spent on it: a signed text that names no command starts
    nothing, whatever the forge would say.
    """
    named = any(verb in event.text.lower() for verb in VERBS)
    return event.kind in ("comment", "issue") and bool(event.text) and not named


def own_comment(event: Event, forge: Forge) -> Comment | None:
    """The comment that the event is about, as the forge has it; None when it is nothing to read.

    Of an issue that was opened, its text. Raises `NotShown` when the forge does not show it.
    """
    if event.action != "created" or not event.number:
        return None
    if event.kind == "comment" and not event.comment_id:
        return None
    comment = _shown(event, forge)
    if comment.author_is_bot or forge.is_viewer(comment.author):
        return None
    return None if load_triggers().ignores(comment.author) else comment


def _shown(event: Event, forge: Forge) -> Comment:
    where = "issue" if event.kind == "issue" else "merge request"
    what = f"Comment {event.comment_id} of {where}" if event.comment_id else where.capitalize()
    missing = f"{what} {event.number} is not shown."
    try:
        if event.kind == "issue" and not event.comment_id:
            return forge.issue(event.number)
        said = forge.of_issues() if event.kind == "issue" else forge
        found = said.comments(event.number)
    except ForgeError as problem:
        if problem.kind == "not_found":
            raise NotShown(missing, "not_found") from problem
        raise
    for comment in found:
        if comment.id == event.comment_id:
            return comment
    raise NotShown(missing, "not_found")
