"""What only seats that fail on purpose show; the contract of pools has the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ci.backend.pool.base import Answer, Pool, Question, Seat, Sent, WorkerLost
from ci.backend.pool.dispatch import Dispatcher
from ci.model.errors import EnvironmentProblem

Does = Callable[[Sent], Answer]


class Scripted(Seat):
    """A seat that does what it is told."""

    def __init__(self, name: str, does: Does) -> None:
        self.name, self.does = name, does
        self.asked: list[str] = []
        self.closed = False

    def ask(self, sent: Sent, seconds: float) -> Answer:
        self.asked.append(str(sent.text))
        return self.does(sent)

    def folders(self, folders: Mapping[str, Path]) -> dict[str, str]:
        return {}

    def close(self) -> None:
        self.closed = True


class Given(Pool):
    def __init__(self, *seats: Seat) -> None:
        self._seats = seats

    def seats(self) -> tuple[Seat, ...]:
        return self._seats

    def close(self) -> None:
        pass


def works(sent: Sent) -> Answer:
    return Answer(number=sent.number, text=sent.text)


def dies(sent: Sent) -> Answer:
    raise WorkerLost("the worker was ended by SIGSEGV")


def full(sent: Sent) -> Answer:
    return Answer(number=sent.number, kind="environment", text="The disk of /tmp is full.")


def question(text: str) -> Question:
    return Question(handler="ci.testing.pool:echo", text=text)


@pytest.mark.parametrize("bad", [dies, full])
def test_a_host_that_fails_what_others_do_is_left_out(bad: Does) -> None:
    sick, well = Scripted("sick", bad), Scripted("well", works)
    said: list[str] = []
    pool = Dispatcher(Given(sick, well), said.append)
    with ThreadPoolExecutor(2) as threads:
        names = [f"q{n}" for n in range(20)]
        assert list(threads.map(pool.ask, map(question, names))) == names
    assert sorted(well.asked) == sorted(names)
    assert len(sick.asked) <= 3
    if len(sick.asked) == 3:
        assert sick.closed and pool.size == 1
        assert any(one.startswith("Left out from now on: sick") for one in said)


def test_when_all_are_left_out_the_last_words_of_each_are_told() -> None:
    def deadly_but_one(sent: Sent) -> Answer:
        return full(sent)

    pool = Dispatcher(Given(Scripted("a", deadly_but_one), Scripted("b", full)))
    for n in range(3):
        with pytest.raises(EnvironmentProblem, match="The disk of /tmp is full"):
            pool.ask(question(f"q{n}"))
    with pytest.raises(EnvironmentProblem, match="No worker of the pool is left: .*disk of /tmp"):
        pool.ask(question("one more"))


def test_a_closed_pool_lets_nobody_wait() -> None:
    begun, leave = threading.Event(), threading.Event()

    def waits(sent: Sent) -> Answer:
        begun.set()
        assert leave.wait(20)
        raise WorkerLost("the worker was ended by SIGKILL")

    class Slow(Scripted):
        def close(self) -> None:
            leave.set()

    pool = Dispatcher(Given(Slow("slow", waits)))
    with ThreadPoolExecutor(2) as threads:
        asked = threads.submit(pool.ask, question("q"))
        waiting = threads.submit(pool.ask, question("r"))
        assert begun.wait(20)
        pool.close()
        for one in (asked, waiting):
            with pytest.raises(EnvironmentProblem, match="the pool is closed"):
                one.result(20)
