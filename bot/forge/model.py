"""Data that crosses between the bot and a forge, the same for every forge."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from pydantic import Field

from ci.model.frozen import Frozen

Access = Literal["none", "read", "write", "admin"]
# What a person may do, weakest first: `LEVELS.index(a) >= LEVELS.index("write")`.
LEVELS: Final[tuple[Access, ...]] = ("none", "read", "write", "admin")

LARGEST: Final = 2**63 - 1
"""Largest number that SQLite holds, and every forge."""

CheckState = Literal["pending", "success", "failure", "error", "neutral"]
Reaction = Literal["eyes", "+1", "-1", "confused", "rocket"]


class Repository(Frozen):
    """The repository that merge requests go to."""

    name: str = Field(description="owner/name, or the folder's name on the local forge.")
    default_branch: str
    push_url: str = Field(description="What `git push` is given; never holds a token.")
    web_url: str = Field(default="", description="Its page for a person; empty when it has none.")
    number: str = Field(
        default="", description="What the forge knows it by, however it is named; empty for none."
    )

    @property
    def lasting(self) -> str:
        """What tells it from others of its forge, also after a rename where the forge can."""
        return self.number or self.name


class MergeRequest(Frozen):
    """A merge request (GitHub: pull request)."""

    number: int = Field(ge=0, le=LARGEST)
    title: str
    body: str
    state: Literal["open", "merged", "closed"] = Field(
        default="open", description="closed: a person said no without merging."
    )
    draft: bool = False
    author: str = ""
    source_branch: str
    target_branch: str
    head: str = Field(description="Commit at the top of the source branch, when last looked.")
    head_ref: str = Field(
        default="",
        description="Ref of the target repository that holds the head, also of a fork's.",
    )
    source_repository: str = Field(
        default="", description="owner/name that the source branch is in; empty when it is gone."
    )
    from_fork: bool = Field(
        default=False, description="Whether the source branch is in another repository, or gone."
    )
    labels: tuple[str, ...] = ()
    place: str = Field(description="Address, or the file on the local forge, for a person.")
    merged_commit: str = Field(
        default="", description="Commit of the target branch that merged it, where known."
    )
    updated_at: datetime


class Comment(Frozen):
    """A comment on a merge request or an issue."""

    id: int = Field(ge=0, le=LARGEST, description="0: the text that an issue begins with.")
    merge_request: int = Field(
        ge=0, le=LARGEST, description="Number of the merge request or issue that it is on."
    )
    author: str
    author_is_bot: bool = Field(
        default=False, description="Whether the forge calls the author a bot, or it is this one."
    )
    body: str
    created_at: datetime
    updated_at: datetime
    web_url: str = ""


class RecentComments(Frozen):
    """Comments that a poll found."""

    comments: tuple[Comment, ...] = Field(
        default=(), description="Made or edited since the time asked for, oldest edit first."
    )
    etag: str = Field(default="", description="What the next poll gives.")
    modified: bool = Field(default=True, description="False: nothing since the ETag given.")


class Status(Frozen):
    """A named check of a commit."""

    context: str = Field(description="Name of the check, such as ascendopt/verify.")
    state: CheckState
    description: str = Field(default="", description="One line; forges cut it at 140 characters.")
    target_url: str = Field(default="", description="Where a person reads more.")
    summary: str = Field(
        default="", description="Markdown, shown where the forge has check runs, dropped elsewhere."
    )


class RateLimit(Frozen):
    """Requests that the forge still allows this token."""

    limit: int = Field(description="Requests in a window.")
    remaining: int
    reset_at: datetime = Field(description="When the window ends.")
