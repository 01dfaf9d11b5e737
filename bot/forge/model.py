"""What crosses between the bot and a forge: plain data, the same for every forge."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ci.trial import Frozen


class Repository(Frozen):
    """The repository that merge requests go to."""

    name: str = Field(description="owner/name, or the folder's name on the local forge.")
    default_branch: str
    push_url: str = Field(description="What `git push` is given; never holds a token.")


class MergeRequest(Frozen):
    """A merge request (GitHub: pull request)."""

    number: int
    title: str
    body: str
    source_branch: str
    target_branch: str
    head: str = Field(description="Commit at the top of the source branch, when last looked.")
    state: Literal["open", "merged", "closed"] = Field(
        default="open", description="closed: a person said no without merging."
    )
    place: str = Field(description="Address, or the file on the local forge, for a person.")


class Comment(Frozen):
    """A comment on a merge request."""

    id: int
    author: str
    body: str


class Status(Frozen):
    """A named check of a commit."""

    context: str = Field(description="Name of the check, such as ascendopt/verify.")
    state: Literal["pending", "success", "failure", "error"]
    description: str = ""
