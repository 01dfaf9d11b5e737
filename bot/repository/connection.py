"""The repositories that the bot serves: a forge with its token, and a mirror."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from bot.forge.base import Forge
from bot.forge.kinds import identity
from bot.repository.config import FILE, RepositoryConfig, parse_config
from bot.repository.mirror import Mirror
from ci.model.errors import InputError


@dataclass(frozen=True)
class Connection:
    """One repository on one forge."""

    name: str
    """The forge's name in events: local, github and so on."""
    repository: str
    """Name in the spelling of the settings: jobs and facts carry this one and no other."""
    forge: Forge
    mirror: Mirror
    tips: dict[str, str] | None = None
    """Heads of default branches that were seen by now, where these are to stay; see `steady`."""

    def steady(self) -> Connection:
        """The same for one short piece of work: it fetches the default branch once."""
        return replace(self, tips={})

    @property
    def here(self) -> tuple[str, str]:
        """Return the names by which jobs and facts of this repository are kept."""
        return self.name, self.repository

    @property
    def lasting(self) -> tuple[str, str]:
        """What keys of jobs hold: it stays when the repository is named otherwise."""
        return self.name, self.forge.repository().lasting

    def tip(self) -> str:
        """Head commit of the default branch, fetched: what configures and judges."""
        branch = self.forge.repository().default_branch
        if self.tips is None:
            return self.mirror.fetch(self.forge, f"refs/heads/{branch}")
        if branch not in self.tips:
            self.tips[branch] = self.mirror.fetch(self.forge, f"refs/heads/{branch}")
        return self.tips[branch]

    def config(self, commit: str) -> RepositoryConfig:
        """The configuration at a commit; raises InputError when it is broken."""
        return _config_at(self.mirror, commit)

    def limits(self) -> RepositoryConfig:
        """The configuration by which a result is submitted; the defaults when it is broken now."""
        try:
            return self.config(self.tip())
        except InputError:
            return RepositoryConfig()

    @classmethod
    def mirrored(cls, name: str, repository: str, forge: Forge, data: Path) -> Connection:
        """A connection with its mirror in `data`/mirrors, which no other repository has."""
        slug = re.sub(r"[^A-Za-z0-9_.-]", "-", f"{name}-{repository}").strip(".")
        mark = sha256("\0".join(identity(name, repository)).encode()).hexdigest()[:8]
        return cls(name, repository, forge, Mirror(data / "mirrors" / f"{slug[:150]}-{mark}.git"))


class Connections:
    """Every repository that is served; made when first asked for, shared by all threads."""

    def __init__(self, data: Path, makers: Sequence[tuple[str, str, Callable[[], Forge]]]) -> None:
        """`makers`: (forge, repository, how to connect)."""
        self._data = data
        self._makers = {identity(n, r): ((n, r), make) for n, r, make in makers}
        self._made: dict[tuple[str, str], Connection] = {}
        self._lock = threading.Lock()

    def __call__(self, name: str, repository: str) -> Connection | None:
        """The connection of a repository, however its name is spelt; None when it is not served."""
        which = identity(name, repository)
        with self._lock:
            made, known = self._made.get(which), self._makers.get(which)
            if made is None and known is not None:
                (name, repository), maker = known
                made = Connection.mirrored(name, repository, maker(), self._data)
                self._made[which] = made
            return made

    def names(self) -> list[tuple[str, str]]:
        """Forge and repository of every one of them."""
        return [(name, repository) for (name, repository), _ in self._makers.values()]

    def made(self) -> list[Connection]:
        """Return the connections that were asked for by now."""
        with self._lock:
            return list(self._made.values())

    def all(self) -> list[Connection]:
        """Every one of them, connected."""
        found = [self(name, repository) for name, repository in self.names()]
        return [one for one in found if one is not None]


@lru_cache(maxsize=64)
def _config_at(mirror: Mirror, commit: str) -> RepositoryConfig:
    """Read once: a step of the work asks for it several times, and a commit does not change."""
    return parse_config(mirror.git.show(commit, FILE))
