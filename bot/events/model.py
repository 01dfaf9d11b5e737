"""Events on a forge, in one form for all forges."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from bot.forge.kinds import ForgeName
from ci.model.frozen import Frozen

Action = Literal[
    "",  # push, and whatever the bot has no use for
    "created",  # comment
    "deleted",  # comment
    "edited",  # comment; merge request: title, body or such
    "opened",
    "updated",  # commits were pushed to its source branch
    "reopened",
    "ready",  # no draft any more
    "closed",
    "merged",
    "labeled",
    "unlabeled",
]


class EventError(Exception):
    """A delivery that nobody can read; one sentence, without content that could be a secret."""


class SignatureError(EventError):
    """A delivery that does not come from the forge, or comes again too late."""


class Event(Frozen):
    """One delivery of a webhook, or the event of one CI job. Text in it is data of a stranger."""

    forge: ForgeName
    delivery: str = Field(
        default="", description="The forge's id of the delivery; the same when it is sent again."
    )
    digest: str = Field(
        default="", description="SHA-256 of the body: the same content twice is a replay."
    )
    kind: Literal["push", "merge_request", "comment", "issue", "dispatch", "schedule", "other"] = (
        Field(
            description="comment: on a merge request. issue: one that was opened, or with a"
            " comment_id a comment in one. dispatch: a person started a CI job by hand."
            " other: answered, then forgotten."
        )
    )
    action: Action = ""
    repository: str = Field(default="", description="owner/name that the event is about.")
    number: int = Field(default=0, description="Of the merge request or issue; 0 of a push.")
    comment_id: int = 0
    text: str = Field(
        default="", description="The comment's text; of a dispatch, what stands after /optimize."
    )
    text_before: str = Field(
        default="", description="What an edit of an issue's own text replaced, where it did."
    )
    label: str = Field(default="", description="The label that was added or removed.")
    sender: str = Field(default="", description="Login of who did it.")
    sender_is_bot: bool = Field(default=False, description="As far as the forge says so.")
    draft: bool = False
    ref: str = Field(default="", description="Of a push: refs/heads/<branch>.")
    before: str = Field(default="", description="Of a push: old commit; empty for a new branch.")
    after: str = Field(default="", description="Of a push: new commit; empty when deleted.")
    head: str = Field(default="", description="Head commit of the merge request, where given.")
    at: datetime | None = Field(default=None, description="When, as the forge says.")
