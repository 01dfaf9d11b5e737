"""What is read of a repository once while one command works on it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

Read = TypeVar("Read")

_known: dict[Hashable, object] | None = None


@contextmanager
def reading_once() -> Iterator[None]:
    """Within it, `once` does not read again. For a command that changes nothing of what it reads,
    and has the process for itself: a check reads its operator four times, and in a repository of
    hundreds of folders each takes seconds."""
    global _known
    before = _known
    _known = {}
    try:
        yield
    finally:
        _known = before


def once(key: Hashable, read: Callable[[], Read]) -> Read:
    """What was read under a key, where one command reads once; else it is read. Two threads
    may read the same. Raises what `read` does."""
    remembered = _known
    if remembered is None:
        return read()
    if key not in remembered:
        remembered[key] = read()
    return cast(Read, remembered[key])
