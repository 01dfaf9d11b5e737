"""Which comments are ours: forges let a maintainer's token edit anybody's, the bot must not."""

from __future__ import annotations

from collections.abc import Callable

from bot.forge.errors import ForgeError
from bot.forge.model import Comment


class OwnComments:
    """Ids of comments that are known to be this account's."""

    def __init__(self) -> None:
        self._known: set[int] = set()

    def add(self, comment_id: int) -> None:
        """One that was just made."""
        self._known.add(comment_id)

    def require(self, comment_id: int, viewer: str, read: Callable[[], Comment]) -> None:
        """Raise `ForgeError` unless the comment is by `viewer`; `read` fetches an unknown one."""
        if comment_id in self._known:
            return
        author = read().author
        if author != viewer:
            raise ForgeError(
                f"Comment {comment_id} is by {author}, not by {viewer}.", kind="forbidden"
            )
        self._known.add(comment_id)
