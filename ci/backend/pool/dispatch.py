"""Hands questions to seats: each is answered once, whatever becomes of the workers.

A question whose worker is lost, or whose host is not fit (a dead device, a full disk), is asked
again at another seat. One that two workers were lost over is quarantined: it is not asked again,
and whoever asks it learns so; likewise one that takes longer than it may. A seat that fails three
different questions in a row, which others answer, is retired.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pydantic import JsonValue

from ci.backend.pool.base import Answer, Pool, Question, Seat, Sent, WorkerLate, WorkerLost
from ci.model.errors import EnvironmentProblem, InputError

T = TypeVar("T")

MOST_LOST: Final = 2
"""Workers that a question may cost before it is quarantined."""

MOST_FAILED: Final = 3
"""Different questions in a row that a seat may fail before it is retired."""


class Quarantined(Exception):
    """A question that no worker answers; the sentence says why."""


@dataclass(eq=False)
class _Place:
    """A seat with what is known of it."""

    seat: Seat
    failed: list[str] = field(default_factory=list)
    """Names of the questions that it failed since it answered one."""
    said: str = ""
    """What was wrong last."""


class Dispatcher:
    """The seats of a pool, for any number of threads."""

    def __init__(self, pool: Pool, tell: Callable[[str], None] = lambda said: None) -> None:
        """`tell` gets a sentence for each question that is asked again and each seat retired."""
        self._pool = pool
        self._free = [_Place(seat) for seat in pool.seats()]
        self._living = list(self._free)
        self._retired: list[str] = []
        self._quarantined: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._tell = tell

    @property
    def size(self) -> int:
        """Seats that are not retired."""
        return len(self._living)

    @property
    def idle(self) -> int:
        """Seats at which nobody works."""
        return len(self._free)

    def ahead(self, question: Question) -> Future[JsonValue]:
        """`ask` in the background."""
        return in_background(lambda: self.ask(question))

    def ask(self, question: Question) -> JsonValue:
        """What the handler returned, from whichever seat is free first.

        Raises Quarantined; InputError as the handler did; EnvironmentProblem when no seat is left
        that is fit for it; RuntimeError for a defect of ours.
        """
        name = question.name
        tried: list[_Place] = []
        lost: list[str] = []
        while True:
            if name in self._quarantined:
                raise Quarantined(self._quarantined[name])
            with self._place(tried) as place:
                why, answer = self._asked(place, question)
                if answer is not None and answer.kind != "environment":
                    place.failed.clear()
                    return _told(answer)
                unfit = answer is not None
                why = (str(answer.text) if answer is not None else why).rstrip(".")
                place.said = why
                place.failed += [name] if name not in place.failed else []
                tried.append(place)
            where = f"{place.seat.name}: {why}"
            if unfit and not self._untried(tried):
                raise EnvironmentProblem(f"{why}.")
            if not unfit:
                lost.append(where)
                if len(lost) == MOST_LOST:
                    said = "Two workers were lost over it, so it is not tried again: "
                    self._quarantined[name] = f"{said}{'; '.join(lost)}."
                    for one in tried:  # the question was to blame
                        one.failed = [other for other in one.failed if other != name]
                    continue
            if name not in self._quarantined:
                self._tell(f"Asked again elsewhere: {where}.")

    def close(self) -> None:
        """End all workers, in the midst of work too; questions that wait fail."""
        with self._changed:
            places, self._free, self._living = self._living, [], []
            self._retired.append("the pool is closed")
            self._changed.notify_all()
        for place in places:
            place.seat.close()
        self._pool.close()

    def _asked(self, place: _Place, question: Question) -> tuple[str, Answer | None]:
        """Why there is no answer, or the answer."""
        try:
            folders = place.seat.folders(question.folders)
            sent = Sent(
                number=next(self._numbers),
                handler=question.handler,
                text=question.text,
                folders=folders,
            )
            return "", place.seat.ask(sent, question.seconds)
        except WorkerLate as problem:
            self._quarantined[question.name] = f"{problem}."
            return str(problem), None
        except WorkerLost as problem:
            return str(problem), None
        except EnvironmentProblem as problem:
            return "", Answer(number=0, kind="environment", text=str(problem))

    def _untried(self, tried: list[_Place]) -> list[_Place]:
        return [one for one in self._living if one not in tried]

    @contextmanager
    def _place(self, tried: list[_Place]) -> Iterator[_Place]:
        """A free seat, one that was not tried before others; retired afterwards if it is unfit."""
        with self._changed:
            while True:
                if not self._living:
                    raise EnvironmentProblem(
                        f"No worker of the pool is left: {'; '.join(self._retired)}."
                    )
                fit = self._untried(tried) or self._living
                free = [one for one in self._free if one in fit]
                if free:
                    break
                self._changed.wait()
            place = min(free, key=lambda one: len(one.failed))
            self._free.remove(place)
        try:
            yield place
        finally:
            with self._changed:
                stays = place in self._living and len(place.failed) < MOST_FAILED
                if stays:
                    self._free.append(place)
                elif place in self._living:
                    self._living.remove(place)
                    self._retired.append(f"{place.seat.name}: {place.said}")
                self._changed.notify_all()
            if not stays:
                place.seat.close()
                self._tell(f"Left out from now on: {place.seat.name}: {place.said}.")


def in_background(work: Callable[[], T]) -> Future[T]:
    """Do it in a thread of its own, for which nobody waits at the end of the program."""
    future: Future[T] = Future()

    def done() -> None:
        try:
            future.set_result(work())
        except Exception as problem:
            future.set_exception(problem)

    threading.Thread(target=done, name="ahead", daemon=True).start()
    return future


def _told(answer: Answer) -> JsonValue:
    if answer.kind == "input":
        raise InputError(str(answer.text))
    if answer.kind == "defect":
        raise RuntimeError(str(answer.text))
    return answer.text
