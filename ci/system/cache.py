"""Things built once and kept on disk, safe against several builders at the same time.

An entry is a folder named by the hash of everything that its content follows from. It is made in
a private folder next to its place and renamed into it, so that a reader sees all of it or nothing,
also after a kill.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ci.model.errors import EnvironmentProblem

KEEP_BYTES = 8 << 30
"""The cache is trimmed to this, least recently used entries first, but for those that were used
within an hour: somebody may work with them."""

HOUR_SECONDS = 3600.0
"""How long an entry stays after its last use, and the time between two trims. A private folder this
old belongs to a builder that was killed."""


def default_root() -> Path:
    """`$XDG_CACHE_HOME/ascendopt`, or `~/.cache/ascendopt`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "ascendopt"


def digest(parts: Iterable[str | bytes]) -> str:
    """32 hex digits over the parts, boundaries included."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()[:32]


def digest_tree(folder: Path, endings: tuple[str, ...]) -> str:
    """Digest of the names and contents of a folder's files with one of the endings; without hidden
    folders, such as a repository's own."""
    parts: list[str | bytes] = []
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for path in (Path(top, name) for name in sorted(files) if name.endswith(endings)):
            if path.suffix in endings and path.is_file():
                parts += [path.relative_to(folder).as_posix(), path.read_bytes()]
    return digest(parts)


class BuildCache:
    """Folders by key below `root`; `get` makes what is not there yet."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or default_root()

    def get(self, kind: str, key: str, make: Callable[[Path], None]) -> Path:
        """The entry of `kind` and `key`; `make` fills a private folder when it is missing.

        `kind` is a plain word, part of the path. One builder works at a time for one key, the
        others wait and find its entry. What `make` raises passes on and leaves no entry.
        Raises EnvironmentProblem where nothing can be kept.
        """
        place = self.root / kind / key
        if place.is_dir():
            with suppress(OSError):
                os.utime(place)
            return place
        with self._writing():
            place.parent.mkdir(parents=True, exist_ok=True)
        with self._lock(kind, key):
            if place.is_dir():
                return place
            with self._writing():
                private = Path(tempfile.mkdtemp(prefix=f".{key[:12]}.", dir=place.parent))
            try:
                make(private)
                private.chmod(0o755)
                private.rename(place)
            finally:
                shutil.rmtree(private, ignore_errors=True)
        return place

    def trim(self, keep_bytes: int = KEEP_BYTES) -> None:
        """Remove what killed builders left, and the least recently used entries of all kinds
        beyond `keep_bytes`; nothing that was used within an hour."""
        aged = []
        for entry in self.root.glob("*/*"):
            with suppress(OSError):
                if entry.is_dir():
                    aged.append((entry.stat().st_mtime, _bytes_in(entry), entry))
        total = sum(size for _, size, _ in aged)
        now = time.time()
        for modified, size, entry in sorted(aged):
            private = entry.name.startswith(".")
            if now - modified > HOUR_SECONDS and (private or total > keep_bytes):
                shutil.rmtree(entry, ignore_errors=True)
                total -= size

    def trim_hourly(self) -> None:
        """`trim`, unless that was done within an hour.

        Raises EnvironmentProblem where nothing can be kept.
        """
        stamp = self.root / "trimmed"
        with suppress(OSError):
            if time.time() - stamp.stat().st_mtime < HOUR_SECONDS:
                return
        with self._writing():
            self.root.mkdir(parents=True, exist_ok=True)
            stamp.touch()
        self.trim()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise EnvironmentProblem(
                f"What is built is kept in {self.root}, which cannot be written"
                f" ({problem.strerror}); set XDG_CACHE_HOME to a folder of your own."
            ) from problem

    @contextmanager
    def _lock(self, kind: str, key: str) -> Iterator[None]:
        """Held by one builder of the key, in this process or another; freed when it dies."""
        locks = self.root / "locks"
        with self._writing():
            locks.mkdir(parents=True, exist_ok=True)
            handle = (locks / f"{kind}-{key[:4]}").open("a")
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _bytes_in(folder: str | Path) -> int:
    """Bytes of the files below a folder."""
    with os.scandir(folder) as found:
        return sum(
            _bytes_in(one.path)
            if one.is_dir(follow_symlinks=False)
            else one.stat(follow_symlinks=False).st_size
            for one in found
        )
