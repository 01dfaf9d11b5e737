"""The repositories that the bot serves: a forge with its token, and a mirror."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.forge.base import Forge
from bot.repository.config import FILE, RepositoryConfig, parse_config
from bot.repository.mirror import Mirror
from ci.model.errors import InputError


@dataclass(frozen=True)
class Connection:
    """One repository on one forge."""

    name: str
    """What events call the forge: local, github and so on."""
    repository: str
    forge: Forge
    mirror: Mirror

    def tip(self) -> str:
        """Head commit of the default branch, fetched: what configures and judges."""
        branch = self.forge.repository().default_branch
        return self.mirror.fetch(self.forge, f"refs/heads/{branch}")

    def config(self, commit: str) -> RepositoryConfig:
        """The configuration at a commit; raises InputError when it is broken."""
        return parse_config(self.mirror.git.show(commit, FILE))

    def limits(self) -> RepositoryConfig:
        """The configuration by which a result is submitted; the defaults when it is broken now."""
        try:
            return self.config(self.tip())
        except InputError:
            return RepositoryConfig()

    @classmethod
    def mirrored(cls, name: str, repository: str, forge: Forge, data: Path) -> Connection:
        """A connection with its mirror in `data`/mirrors."""
        slug = re.sub(r"[^A-Za-z0-9_.-]", "-", f"{name}-{repository}").strip(".")
        return cls(name, repository, forge, Mirror(data / "mirrors" / f"{slug}.git"))


class Connections:
    """Every repository that is served; made when first asked for, shared by all threads."""

    def __init__(self, data: Path, makers: Sequence[tuple[str, str, Callable[[], Forge]]]) -> None:
        """`makers`: (forge, repository, how to connect)."""
        self._data = data
        self._makers = {(name, repository): make for name, repository, make in makers}
        self._made: dict[tuple[str, str], Connection] = {}
        self._lock = threading.Lock()

    def __call__(self, name: str, repository: str) -> Connection | None:
        """The connection of a repository, None when it is not served."""
        with self._lock:
            made = self._made.get((name, repository))
            maker = self._makers.get((name, repository))
            if made is None and maker is not None:
                made = Connection.mirrored(name, repository, maker(), self._data)
                self._made[name, repository] = made
            return made

    def names(self) -> list[tuple[str, str]]:
        """Forge and repository of every one of them."""
        return list(self._makers)

    def made(self) -> list[Connection]:
        """Return the connections that were asked for by now."""
        with self._lock:
            return list(self._made.values())

    def all(self) -> list[Connection]:
        """Every one of them, connected."""
        found = [self(name, repository) for name, repository in self._makers]
        return [one for one in found if one is not None]
