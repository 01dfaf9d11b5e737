"""Dry run: a forge that is read as usual and never written; each write is logged instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from bot.base.git import Git
from bot.forge.base import Forge
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

_LOG: Final = logging.getLogger(__name__)
# Number and id of what was not made.
NOWHERE: Final = 0


class ReadOnlyForge(Forge):
    """Wraps `forge`: its writes go to `tell` and are not done.

    What would be made is returned as it would look, with number or id 0; reading 0 finds nothing.
    """

    def __init__(self, forge: Forge, tell: Callable[[str], None] = _LOG.info) -> None:
        self._forge = forge
        self._tell = tell

    def repository(self) -> Repository:
        """Answer as the wrapped forge."""
        return self._forge.repository()

    def was_named(self, name: str) -> bool:
        """Answer as the wrapped forge."""
        return self._forge.was_named(name)

    def viewer(self) -> str:
        """Answer as the wrapped forge."""
        return self._forge.viewer()

    def token_refused(self) -> bool:
        """Answer as the wrapped forge."""
        return self._forge.token_refused()

    def credentials(self) -> dict[str, str]:
        """Answer as the wrapped forge, for fetching; pushes go through `push`."""
        return self._forge.credentials()

    def push(self, git: Git, commit: str, branch: str, expected: str) -> None:
        """Log the write only."""
        self._tell(f"would push {commit[:12]} to {branch}")

    def permission(self, user: str) -> Access:
        """Answer as the wrapped forge."""
        return self._forge.permission(user)

    def rate_limit(self) -> RateLimit | None:
        """Answer as the wrapped forge."""
        return self._forge.rate_limit()

    def branches(self) -> dict[str, str]:
        """Answer as the wrapped forge."""
        return self._forge.branches()

    def branch_head(self, name: str) -> str | None:
        """Answer as the wrapped forge."""
        return self._forge.branch_head(name)

    def delete_branch(self, name: str) -> None:
        """Log the write only."""
        self._tell(f"would delete branch {name}")

    def file(self, path: str, ref: str) -> bytes | None:
        """Answer as the wrapped forge."""
        return self._forge.file(path, ref)

    def compare(self, base: str, head: str) -> str:
        """Answer as the wrapped forge."""
        return self._forge.compare(base, head)

    def merge_requests(
        self, state: Literal["all", "open"] = "all", source_prefix: str = ""
    ) -> Sequence[MergeRequest]:
        """Answer as the wrapped forge."""
        return self._forge.merge_requests(state, source_prefix)

    def merge_request(self, number: int) -> MergeRequest:
        """Answer as the wrapped forge."""
        return self._forge.merge_request(number)

    def diff(self, number: int) -> str:
        """Answer as the wrapped forge."""
        return self._forge.diff(number)

    def open(self, title: str, body: str, source_branch: str, target_branch: str) -> MergeRequest:
        """Log the write only."""
        self._tell(f"would open a merge request from {source_branch} into {target_branch}: {title}")
        home = self._forge.repository()
        return MergeRequest(
            number=NOWHERE,
            title=title,
            body=body,
            author=self._forge.viewer(),
            source_branch=source_branch,
            target_branch=target_branch,
            head=self._forge.branch_head(source_branch) or "",
            source_repository=home.name,
            place="(dry run)",
            updated_at=datetime.now(UTC),
        )

    def update(
        self, number: int, title: str | None = None, body: str | None = None
    ) -> MergeRequest:
        """Log the write only."""
        self._tell(f"would edit merge request {number}")
        given = {"title": title, "body": body}
        fields = {name: value for name, value in given.items() if value is not None}
        return self._forge.merge_request(number).model_copy(update=fields)

    def close(self, number: int) -> MergeRequest:
        """Log the write only."""
        found = self._forge.merge_request(number)
        if found.state != "open":
            return found
        self._tell(f"would close merge request {number}")
        return found.model_copy(update={"state": "closed"})

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Log the write only."""
        self._tell(f"would label merge request {number}: {', '.join(labels)}")

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """Answer as the wrapped forge."""
        return self._forge.comments(number, since)

    def comment(self, number: int, body: str) -> Comment:
        """Log the write only."""
        self._tell(f"would comment on merge request {number}:\n{body}")
        return self._unsaid(number, NOWHERE, body)

    def edit_comment(self, number: int, comment_id: int, body: str) -> Comment:
        """Log the write only."""
        self._tell(f"would edit comment {comment_id} of merge request {number}:\n{body}")
        return self._unsaid(number, comment_id, body)

    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """Log the write only."""
        self._tell(f"would react to comment {comment_id} with {reaction}")

    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """Answer as the wrapped forge."""
        return self._forge.recent_comments(since, etag)

    def of_issues(self) -> Forge:
        """Log the write only."""
        return ReadOnlyForge(self._forge.of_issues(), self._tell)

    def issue(self, number: int) -> Comment:
        """Answer as the wrapped forge."""
        return self._forge.issue(number)

    def write_issue(self, title: str, body: str, number: int = 0) -> int:
        """Log the write only."""
        self._tell(f"would write the issue '{title}':\n{body}")
        return number

    def recent_issues(self, since: datetime, etag: str = "") -> RecentComments:
        """Answer as the wrapped forge."""
        return self._forge.recent_issues(since, etag)

    def statuses(self, commit: str) -> Sequence[Status]:
        """Answer as the wrapped forge."""
        return self._forge.statuses(commit)

    def set_status(self, commit: str, status: Status) -> None:
        """Log the write only."""
        self._tell(f"would set {status.context} of {commit[:12]} to {status.state}")

    def _unsaid(self, number: int, comment_id: int, body: str) -> Comment:
        now = datetime.now(UTC)
        return Comment(
            id=comment_id,
            merge_request=number,
            author=self._forge.viewer(),
            author_is_bot=True,
            body=body,
            created_at=now,
            updated_at=now,
        )
