"""A month that passes in minutes: the clock that the bot and its forge go by, and sudden deaths."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import pytest

import bot.forge.local
import bot.repository.command
import tests.bot.forge.server.issues
from bot.base.git import Git
from bot.forge.http import Rest
from bot.forge.limiter import Limiter
from bot.forge.retry import patiently

DAY_S: Final = 86_400.0
START: Final = datetime(2026, 3, 2, 8, tzinfo=UTC).timestamp()


class Clock:
    """Unix time, s, which passes when it is read, when somebody waits and when it is told to."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> float:
        self.at += 0.001
        return self.at

    def wait(self, seconds: float) -> None:
        self.at += max(0.0, seconds)

    def date(self) -> datetime:
        return datetime.fromtimestamp(self(), UTC)


class Killed(BaseException):
    """The process ended here: nothing that follows is done, and nothing is cleaned up for."""


class Fuse:
    """Ends the process at one of its next writes to the forge, before it or after it."""

    def __init__(self) -> None:
        self.left = 0

    def burn(self) -> None:
        if self.left:
            self.left -= 1
            if not self.left:
                raise Killed

    def around(self, write: Callable[..., Any], is_write: Callable[..., bool]) -> Any:
        def done(*given: Any, **named: Any) -> Any:
            burns = is_write(*given)
            if burns:
                self.burn()
            made = write(*given, **named)
            if burns:
                self.burn()
            return made

        return done


class _Simulated(datetime):
    clock: Clock

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return cls.clock.date()


@contextmanager
def simulated() -> Iterator[tuple[Clock, Fuse]]:
    """Until it ends, everybody in this process reads one simulated clock, and waiting takes none
    of the real time."""
    clock, fuse = Clock(), Fuse()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", clock)
        _Simulated.clock = clock
        for place in (tests.bot.forge.server.issues, bot.repository.command):
            patch.setattr(place, "datetime", _Simulated)
        patch.setattr(bot.forge.local, "_now", clock.date)
        patch.setitem(patiently.__kwdefaults__, "sleep", clock.wait)
        patch.setitem(Limiter.__init__.__kwdefaults__, "sleep", clock.wait)
        patch.setitem(Limiter.__init__.__kwdefaults__, "clock", clock)
        asks = fuse.around(Rest.ask, lambda rest, doing, verb, *_: verb != "GET")
        patch.setattr(Rest, "ask", asks)
        patch.setattr(Git, "run", fuse.around(Git.run, lambda git, *words: words[:1] == ("push",)))
        yield clock, fuse
