"""Issues of a server: the local forge, which holds everything else, has none."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.forge.errors import ForgeError
from bot.forge.model import Comment

FIRST = 101
"""Their numbers and comments' ids are none of a merge request, as on GitHub."""


@dataclass
class Issues:
    begun: dict[int, Comment] = field(default_factory=dict)
    said: dict[int, list[Comment]] = field(default_factory=dict)
    ids: int = 5000

    titles: dict[int, str] = field(default_factory=dict)

    def open(self, author: str, body: str, title: str = "") -> int:
        number = FIRST + len(self.begun)
        self.titles[number] = title
        self.begun[number] = self._made(0, number, author, body)
        self.said[number] = []
        return number

    def say(self, number: int, author: str, body: str) -> Comment:
        self.ids += 1
        made = self._made(self.ids, number, author, body)
        self.comments(number).append(made)
        self._touch(number, made.updated_at)
        return made

    def rewrite(self, number: int, title: str, body: str) -> None:
        self.beginning(number)
        self.titles[number] = title
        self.begun[number] = self.begun[number].model_copy(update={"body": body})
        self._touch(number, datetime.now(UTC))

    def edit(self, comment: int, body: str) -> Comment:
        old = self.find(comment)
        assert old is not None
        made = old.model_copy(update={"body": body, "updated_at": datetime.now(UTC)})
        row = self.said[old.merge_request]
        row[row.index(old)] = made
        self._touch(old.merge_request, made.updated_at)
        return made

    def find(self, comment: int) -> Comment | None:
        return next((c for row in self.said.values() for c in row if c.id == comment), None)

    def beginning(self, number: int) -> Comment:
        if number not in self.begun:
            raise ForgeError(f"No issue {number}.", kind="not_found")
        return self.begun[number]

    def comments(self, number: int) -> list[Comment]:
        self.beginning(number)
        return self.said[number]

    def since(self, at: datetime) -> list[Comment]:
        """Beginnings of those touched since, the last one first."""
        found = [b for b in self.begun.values() if b.updated_at >= at]
        return sorted(found, key=lambda b: b.updated_at, reverse=True)

    def _touch(self, number: int, at: datetime) -> None:
        self.begun[number] = self.begun[number].model_copy(update={"updated_at": at})

    def _made(self, key: int, number: int, author: str, body: str) -> Comment:
        now = datetime.now(UTC)
        return Comment(
            id=key, merge_request=number, author=author, body=body, created_at=now, updated_at=now
        )
