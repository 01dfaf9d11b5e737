"""What a forge is: where branches are pushed to and merge requests are filed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from bot.forge.model import Comment, MergeRequest, Repository, Status


class ForgeError(Exception):
    """The forge refused or could not be reached; a sentence for the bot's operator."""


class Forge(ABC):
    """One repository on one forge. Called by the bot only; never sees or runs candidate code."""

    @abstractmethod
    def repository(self) -> Repository:
        """Name, default branch and where to push."""

    @abstractmethod
    def branches(self) -> dict[str, str]:
        """Head commit by branch name."""

    @abstractmethod
    def merge_requests(self) -> Sequence[MergeRequest]:
        """All of them, in any state, by number; `state` and `head` are as of now."""

    @abstractmethod
    def open(self, title: str, body: str, source_branch: str, target_branch: str) -> MergeRequest:
        """File a merge request; raises ForgeError when a branch is missing or one is open."""

    @abstractmethod
    def update(self, number: int, title: str, body: str) -> MergeRequest:
        """Replace title and body; raises ForgeError when there is no such merge request."""

    @abstractmethod
    def close(self, number: int) -> MergeRequest:
        """Close without merging; closing a closed one changes nothing."""

    @abstractmethod
    def comments(self, number: int) -> Sequence[Comment]:
        """Comments of a merge request, oldest first."""

    @abstractmethod
    def comment(self, number: int, body: str) -> Comment:
        """Add a comment."""

    @abstractmethod
    def statuses(self, commit: str) -> Sequence[Status]:
        """The last status of each context of a commit."""

    @abstractmethod
    def set_status(self, commit: str, status: Status) -> None:
        """Set the status of one context, in place of its last; raises ForgeError without commit."""
