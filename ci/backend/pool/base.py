"""What a pool is: seats, each with one worker process that answers questions with data.

A question names a function of this program, which the worker calls; question and answer are JSON.
`ci.backend.pool.dispatch` hands questions to seats and copes with those that are lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue

from ci.model.frozen import Frozen

MOST_SECONDS: Final = 7200.0
"""Wall time after which a worker counts as lost where the question sets no other limit."""

Kind: TypeAlias = Literal["done", "input", "environment", "defect"]


class Question(Frozen):
    """What a worker is asked. Paths in `text` are relative to one of the folders."""

    handler: str
    """`module:function` below `ci`: takes the text and the folders as paths, returns a text."""
    text: JsonValue = None
    folders: dict[str, Path] = {}
    """Folders by the name that the handler knows it by, as it is on this host."""
    seconds: float = MOST_SECONDS

    @property
    def name(self) -> str:
        """Equal for equal questions: one that is quarantined is not asked again."""
        return self.model_dump_json(exclude={"seconds"})


class Sent(Frozen):
    """A question as it reaches a worker, with folders as they are on its host."""

    number: int
    handler: str
    text: JsonValue = None
    folders: dict[str, str] = {}


class Answer(Frozen):
    """What a worker answers."""

    number: int
    kind: Kind = "done"
    text: JsonValue = None
    """What the handler returned, or a sentence that says why it did not."""


class WorkerLost(Exception):
    """A worker died, does not answer in time or answers nonsense; the sentence says which."""


class WorkerLate(WorkerLost):
    """A worker was not done in time and was ended."""


class Seat(ABC):
    """A place for one worker: a device, or a share of a processor, on some host."""

    name: str
    """For people: the host, and the device if there is one."""

    @abstractmethod
    def ask(self, sent: Sent, seconds: float) -> Answer:
        """The worker's answer; starts one first where none is at work.

        Raises WorkerLost, after which the worker is gone and nothing of it comes any more, and
        EnvironmentProblem when no worker can be started here.
        """

    @abstractmethod
    def folders(self, folders: Mapping[str, Path]) -> dict[str, str]:
        """The same folders where the worker finds them. Raises WorkerLost, EnvironmentProblem."""

    @abstractmethod
    def close(self) -> None:
        """End the worker, whatever it does, and give the place back."""


class Pool(ABC):
    """Makes seats; one variant a kind of cluster."""

    @abstractmethod
    def seats(self) -> Sequence[Seat]:
        """The seats, at least one. Raises EnvironmentProblem or InputError when there is none."""

    @abstractmethod
    def close(self) -> None:
        """Leave what the seats were taken from; their owner has closed them."""
