"""What a forge is: where branches are pushed to and merge requests are filed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from bot.base.git import Git
from bot.forge.errors import ForgeError
from bot.forge.kinds import folded
from bot.forge.model import (
    Access,
    Comment,
    MergeRequest,
    RateLimit,
    Reaction,
    RecentComments,
    Repository,
    Status,
)

__all__ = ["Forge", "ForgeError"]


class Forge(ABC):
    """One repository on one forge, as the account of one token sees it.

    Called by the bot only; never sees or runs candidate code. Every method may raise `ForgeError`:
    of kind `not_found` where what it names is not there, and of kind `rate_limited` or
    `unavailable` when patience did not help.
    """

    @abstractmethod
    def repository(self) -> Repository:
        """Name, default branch and where to push."""

    def was_named(self, name: str) -> bool:
        """Whether the forge leads from `name` to this repository: it was called so once."""
        return False

    @abstractmethod
    def viewer(self) -> str:
        """Login of the account that the token belongs to: the bot's own name."""

    def is_viewer(self, login: str) -> bool:
        """Whether `login` is the bot's own account; forges do not tell letters' case apart."""
        return bool(login) and folded(login) == folded(self.viewer())

    def token_refused(self) -> bool:
        """Whether the forge did not take the bot's token when it was last asked."""
        return False

    @abstractmethod
    def credentials(self) -> dict[str, str]:
        """Environment with which `git` may fetch from and push to `push_url`; holds the token."""

    def push(self, git: Git, commit: str, branch: str, expected: str) -> None:
        """Push `commit` of `git` as `branch`, whose head must still be `expected`.

        An empty `expected` means that there is no such branch yet. Raises `GitError` when somebody
        pushed in between.
        """
        lease = f"--force-with-lease=refs/heads/{branch}:{expected}"
        refspec = f"{commit}:refs/heads/{branch}"
        url = self.repository().push_url
        git.run("push", "--quiet", lease, "--", url, refspec, env=self.credentials())

    @abstractmethod
    def permission(self, user: str) -> Access:
        """Return the present rights of `user` in the repository, never from a cache."""

    @abstractmethod
    def rate_limit(self) -> RateLimit | None:
        """Return the limit that the forge last reported; None where it has none, or none yet."""

    @abstractmethod
    def branches(self) -> dict[str, str]:
        """Head commit by branch name."""

    @abstractmethod
    def branch_head(self, name: str) -> str | None:
        """Head commit of one branch, or None when there is none of that name."""

    @abstractmethod
    def delete_branch(self, name: str) -> None:
        """Delete a branch; one that is gone already changes nothing."""

    @abstractmethod
    def file(self, path: str, ref: str) -> bytes | None:
        """Content of `path` at a branch or commit, byte for byte, or None when it is not there."""

    @abstractmethod
    def compare(self, base: str, head: str) -> str:
        """Unified diff of what `head` (branch or commit) has since it left `base`."""

    @abstractmethod
    def merge_requests(
        self, state: Literal["all", "open"] = "all", source_prefix: str = ""
    ) -> Sequence[MergeRequest]:
        """Return the merge requests, by number; only those whose source branch starts with
        `source_prefix`."""

    @abstractmethod
    def merge_request(self, number: int) -> MergeRequest:
        """One of them as of now."""

    @abstractmethod
    def diff(self, number: int) -> str:
        """Unified diff of a merge request against where its branch left the target branch."""

    @abstractmethod
    def open(self, title: str, body: str, source_branch: str, target_branch: str) -> MergeRequest:
        """File a merge request; kind `conflict` when one of that source branch is open."""

    @abstractmethod
    def update(
        self, number: int, title: str | None = None, body: str | None = None
    ) -> MergeRequest:
        """Replace title or body; None leaves it as it is."""

    @abstractmethod
    def close(self, number: int) -> MergeRequest:
        """Close without merging; closing a closed or merged one changes nothing."""

    @abstractmethod
    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add labels to those that the merge request has; makes labels that do not exist."""

    @abstractmethod
    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """Comments of a merge request, oldest first; only those edited at or after `since`."""

    @abstractmethod
    def comment(self, number: int, body: str) -> Comment:
        """Add a comment."""

    @abstractmethod
    def edit_comment(self, number: int, comment_id: int, body: str) -> Comment:
        """Replace the text of a comment of this account."""

    @abstractmethod
    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """Put a reaction under a comment; nothing happens where the forge has no such one."""

    @abstractmethod
    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """Comments of all merge requests edited at or after `since`, for polling.

        With the `etag` of the last answer, an answer without news costs next to nothing.
        """

    def of_issues(self) -> Forge:
        """The same repository, whose comments are those of issues: a number then means an issue.

        Raises `ForgeError` (not_found) where the forge has none.
        """
        raise _no_issues()

    def issue(self, number: int) -> Comment:
        """How an issue begins: its text as a comment with the id 0."""
        raise _no_issues()

    @abstractmethod
    def write_issue(self, title: str, body: str, number: int = 0) -> int:
        """Replace the text of the issue `number`, or open one where it is 0; its number.

        An open issue of this account and title is taken in place of a new one. Where a forge has
        no issues the text is put where a person finds it, and 0 is returned.
        """

    def recent_issues(self, since: datetime, etag: str = "") -> RecentComments:
        """Beginnings and comments of issues edited at or after `since`, as `recent_comments`.

        `merge_request` of each is the issue's number. Nothing where the forge has no issues.
        """
        return RecentComments(etag=etag, modified=False)

    @abstractmethod
    def statuses(self, commit: str) -> Sequence[Status]:
        """The last status of each context of a commit."""

    @abstractmethod
    def set_status(self, commit: str, status: Status) -> None:
        """Set the status of one context, in place of its last."""


def _no_issues() -> ForgeError:
    return ForgeError("This forge has no issues.", kind="not_found")
