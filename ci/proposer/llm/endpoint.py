"""Asks an OpenAI-compatible endpoint: OpenAI, DeepSeek, vLLM, Ollama and their like."""

from __future__ import annotations

import contextlib
import email.utils
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import openai
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from ci.model.errors import plainly
from ci.proposer.llm.chat import Chat, ChatFailure, Message, Reply, Usage, estimate_tokens
from ci.proposer.llm.mask import Mask
from ci.proposer.llm.settings import ModelSettings
from ci.system.model_client import model_client

TEMPORARY: Final = frozenset({402, 408, 409, 425, 429})
"""Statuses worth another try next to 5xx. 402 (no money left) too: accounts are topped up."""

_ODD: Final = (AttributeError, TypeError, ValueError, LookupError, RecursionError)
"""What an answer of another form ends in: the library believes what a server says of it."""

_STEPS: Final = {"json_schema": "json_object", "json_object": "text"}


def connect(model: ModelSettings) -> OpenAI:
    """A client for a model's endpoint. Raises InputError as `model_client` does."""
    return model_client(model.endpoint, model.secret(), model.key, model.timeout)


@dataclass(frozen=True)
class _Manner:
    """What this endpoint takes; learnt from what it refuses."""

    structured: str
    limit: str = "max_tokens"
    temperature: bool = True
    stream: bool = True
    usage: bool = True


class EndpointChat(Chat):
    """One model behind one endpoint. Remembers which parameters the endpoint refused."""

    def __init__(self, model: ModelSettings) -> None:
        self.model = model
        self._client = connect(model)
        self._mask = Mask([model.secret()])
        structured = "json_schema" if model.structured == "auto" else model.structured
        self._manner = _Manner(structured, stream=model.stream)

    def complete(self, messages: tuple[Message, ...], schema: dict[str, Any] | None) -> Reply:
        """The answer of the endpoint. A refused parameter is left out at once and for good."""
        while True:
            try:
                return self._ask(messages, schema)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as problem:
                easier = _without(self._manner, self._said(problem), self.model)
                if easier is None:
                    raise self._failure(problem) from None
                self._manner = easier
            except openai.OpenAIError as problem:
                raise self._failure(problem) from None
            except OSError as problem:  # an answer without end
                said = f"{self.model.host} cannot be used: {plainly(problem)}."
                raise ChatFailure(said, again=True) from None

    def _ask(self, messages: tuple[Message, ...], schema: dict[str, Any] | None) -> Reply:
        manner = self._manner
        given: dict[str, Any] = {
            "model": self.model.model,
            "messages": [m.model_dump() for m in messages],
            manner.limit: self.model.max_tokens,
        }
        if manner.temperature and self.model.temperature is not None:
            given["temperature"] = self.model.temperature
        if schema is not None and manner.structured == "json_schema":
            form = {"name": schema.get("title", "answer"), "strict": True, "schema": schema}
            given["response_format"] = {"type": "json_schema", "json_schema": form}
        elif schema is not None and manner.structured == "json_object":
            given["response_format"] = {"type": "json_object"}
        prompt = sum(estimate_tokens(m.content) for m in messages)
        if not manner.stream:
            try:
                return _whole(self._client.chat.completions.create(**given), prompt)
            except _ODD:
                raise ChatFailure(self._odd, again=True) from None
        if manner.usage:
            given["stream_options"] = {"include_usage": True}
        deadline = time.monotonic() + self.model.timeout
        with self._client.chat.completions.create(**given, stream=True) as stream:
            return self._gather(iter(stream), prompt, deadline)

    def _gather(self, chunks: Iterator[ChatCompletionChunk], prompt: int, deadline: float) -> Reply:
        """A reply from its pieces. Raises ChatFailure when it breaks off or takes too long."""
        parts: list[str] = []
        usage, finish, refused = None, "", False
        try:
            for chunk in chunks:
                if chunk.usage is not None:
                    usage = _usage(chunk.usage)
                for choice in chunk.choices[:1]:
                    parts.append(choice.delta.content or "")
                    refused = refused or bool(choice.delta.refusal)
                    finish = choice.finish_reason or finish
                if time.monotonic() > deadline:
                    raise ChatFailure(
                        f"{self.model.host} was still answering after {self.model.timeout:g} s.",
                        again=True,
                        usage=_guess(prompt, parts),
                    )
            if not finish:
                raise self._broken(None, prompt, parts)
            text = "".join(parts)
            used = usage or _guess(prompt, parts)
            return Reply(text=text, finish=_finish(finish, refused), usage=used)
        except (openai.OpenAIError, OSError) as problem:
            raise self._broken(problem, prompt, parts) from None
        except _ODD:
            raise ChatFailure(self._odd, again=True, usage=_guess(prompt, [])) from None

    @property
    def _odd(self) -> str:
        return f"{self.model.host} answered in another form than that of a chat completion."

    def _broken(self, problem: Exception | None, prompt: int, parts: list[str]) -> ChatFailure:
        why = f": {self._said(problem)}" if problem is not None else ""
        return ChatFailure(
            f"{self.model.host} broke off its answer{why.rstrip('.')}.",
            again=True,
            usage=_guess(prompt, parts),
        )

    def _said(self, problem: Exception) -> str:
        """What went wrong, on one line, without secrets."""
        body = getattr(problem, "body", None)
        said = body.get("message") if isinstance(body, dict) else None
        text = said if isinstance(said, str) and said else str(problem)
        return self._mask(" ".join(text.split()))[:400]

    def _failure(self, problem: openai.OpenAIError) -> ChatFailure:
        host, said = self.model.host, self._said(problem)
        if isinstance(problem, openai.APITimeoutError):
            return ChatFailure(f"{host} did not answer in time.", again=True)
        if isinstance(problem, openai.APIStatusError):
            status = problem.status_code
            return ChatFailure(
                f"{host} answered with status {status}: {said.rstrip('.')}.",
                status=status,
                again=status in TEMPORARY or status >= 500,
                wait=_retry_after(problem.response.headers),
            )
        again = isinstance(problem, openai.APIConnectionError)
        return ChatFailure(f"{host} cannot be used: {said.rstrip('.')}.", again=again)


def _without(manner: _Manner, said: str, model: ModelSettings) -> _Manner | None:
    """A manner without the parameter that a refusal names; None when it names none of ours."""
    words = said.lower()
    if "response_format" in words or "json_schema" in words or "structured output" in words:
        if model.structured == "auto" and manner.structured in _STEPS:
            return replace(manner, structured=_STEPS[manner.structured])
    elif "max_tokens" in words or "max_completion_tokens" in words:
        if manner.limit == "max_tokens":
            return replace(manner, limit="max_completion_tokens")
    elif "stream_options" in words:
        if manner.usage:
            return replace(manner, usage=False)
    elif "temperature" in words:
        if manner.temperature:
            return replace(manner, temperature=False)
    elif re.search(r"\bstream(?:ing)?\b", words) and manner.stream:
        return replace(manner, stream=False)
    return None


def _whole(answer: ChatCompletion, prompt: int) -> Reply:
    if not answer.choices:
        raise ChatFailure("The endpoint answered without a choice.", again=True)
    choice = answer.choices[0]
    text = choice.message.content or ""
    return Reply(
        text=text,
        finish=_finish(choice.finish_reason, bool(choice.message.refusal)),
        usage=_usage(answer.usage) if answer.usage is not None else _guess(prompt, [text]),
    )


def _finish(reason: str | None, refused: bool) -> Any:
    if refused or reason == "content_filter":
        return "refusal"
    return "length" if reason == "length" else "stop"


def _usage(said: Any) -> Usage:
    cached = getattr(said, "prompt_cache_hit_tokens", None)  # DeepSeek's name for it
    details = getattr(said, "prompt_tokens_details", None)
    if cached is None and details is not None:
        cached = details.cached_tokens
    prompt = said.prompt_tokens or 0
    return Usage(
        prompt=prompt, cached=min(prompt, cached or 0), completion=said.completion_tokens or 0
    )


def _guess(prompt: int, parts: list[str]) -> Usage:
    return Usage(prompt=prompt, completion=estimate_tokens("".join(parts)), said=False)


def _retry_after(headers: Any) -> float | None:
    """Seconds that the endpoint asks to wait, given as a number or as a date."""
    with contextlib.suppress(ValueError):
        return max(0.0, float(headers.get("retry-after-ms", "")) / 1000)
    value = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return None
