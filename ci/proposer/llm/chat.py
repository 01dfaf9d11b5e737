"""What asking a model is: a request, a reply, and how it fails. One variant a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

from pydantic import Field

from ci.model.frozen import Frozen


class Message(Frozen):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Usage(Frozen):
    """Tokens of one reply."""

    prompt: int = Field(default=0, ge=0)
    cached: int = Field(
        default=0, ge=0, description="Of the prompt, served from the provider's cache."
    )
    completion: int = Field(default=0, ge=0)
    said: bool = Field(default=True, description="Said by the endpoint; else our estimate.")


class Reply(Frozen):
    """What a model answered."""

    text: str
    finish: Literal["stop", "length", "refusal"] = "stop"
    usage: Usage


class ChatFailure(Exception):
    """A request without a usable answer; the message is one sentence without secrets."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        again: bool = False,
        wait: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        """`again`: worth repeating, not before `wait` s. `usage`: what was served all the same."""
        super().__init__(message)
        self.status = status
        self.again = again
        self.wait = wait
        self.usage = usage or Usage()


class Chat(ABC):
    """Answers messages. Never retries: the caller keeps count of requests and money."""

    @abstractmethod
    def complete(self, messages: tuple[Message, ...], schema: dict[str, Any] | None) -> Reply:
        """The answer; JSON of `schema` where the endpoint can be held to it.

        Raises ChatFailure.
        """


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: one for every four bytes, as for code and English."""
    return (len(text.encode()) + 3) // 4


def most_tokens(messages: tuple[Message, ...]) -> int:
    """More tokens than the messages can have: a token is never shorter than a byte."""
    return sum(len(m.content.encode()) + 16 for m in messages)
