"""Asks a model on behalf of a role: budget before, a row after, retries in between.

Order of a request: the recording answers when it can (a resumed run pays nothing twice); the most
that the request can cost is reserved; it is sent; what it did cost replaces the reservation, and
is written down. Failures that may pass are tried again with growing waits, which a Retry-After
header lengthens. When no answer can be had, `ModelUnavailable` ends the run cleanly.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any, Final

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from ci.model.errors import InputError, ModelUnavailable
from ci.proposer.base import RunContext
from ci.proposer.llm.call_log import Call, CallOutcome, Calls
from ci.proposer.llm.chat import Chat, ChatFailure, Message, Reply, Usage, most_tokens
from ci.proposer.llm.endpoint import EndpointChat
from ci.proposer.llm.mask import Mask
from ci.proposer.llm.prices import price_of
from ci.proposer.llm.recording import Recording
from ci.proposer.llm.settings import Models, ModelSettings, Price, Role

LONGEST_BACKOFF: Final = 60.0  # s
LONGEST_WAIT: Final = 300.0
"""An endpoint that asks to wait longer (s) is given up: the run can be resumed later."""

_OUTCOMES: Final[dict[str, CallOutcome]] = {
    "stop": "answered",
    "length": "truncated",
    "refusal": "refused",
}


class Caller:
    """The models of one run, with their calls and their budget."""

    def __init__(
        self,
        models: Models,
        run: RunContext,
        *,
        replayed: Recording | None = None,
        chat_of: Callable[[ModelSettings], Chat] = EndpointChat,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`replayed`: answers of another run, and no model is asked. Raises InputError."""
        self._models = models
        self._run = run
        self._replayed = replayed
        self._sleep = sleep
        self._chats = {m: chat_of(m) for m in models.in_use()} if replayed is None else {}
        self._mask = Mask(m.secret() for m in models.models.values())
        self._prices = {m: price_of(m) for m in models.in_use()}
        self.currency = _one_currency(self._prices.values())
        if run.budget.limits_money and replayed is None:
            unknown = [m.model for m, price in self._prices.items() if price is None]
            if unknown:
                raise InputError(
                    f"--max-cost needs the price of {unknown[0]}: give its `price:` in the "
                    "models file, or use --max-tokens."
                )
        self.calls = Calls(run.calls)
        earlier = self.calls.all()
        self._own = Recording(earlier)
        run.budget.charge_model(sum(c.tokens for c in earlier), sum(c.cost or 0 for c in earlier))

    def ask(
        self,
        role: Role,
        messages: tuple[Message, ...],
        schema: dict[str, Any] | None = None,
        *,
        repair: bool = False,
    ) -> tuple[int, Reply]:
        """(number of the call, answer). Raises ModelUnavailable."""
        model = self._models.of(role)
        assert model is not None, f"no model fills the role {role}"
        key = _key(role, model, messages)
        known = self._own.take(key)
        if known is not None:
            return known
        call = Call(
            trial=self._run.upcoming(),
            role=role,
            model=model.model,
            endpoint=model.host,
            key=key,
            repair=repair,
            outcome="failed",
            prompt=self._mask(json.dumps([m.model_dump() for m in messages], ensure_ascii=False)),
        )
        if self._replayed is not None:
            return self._replay(call, self._replayed)
        return self._live(model, messages, schema, call)

    def _replay(self, call: Call, replayed: Recording) -> tuple[int, Reply]:
        found = replayed.answer(call.role, call.key)
        if found is None:
            raise ModelUnavailable(
                f"The recorded run holds no answer to this {call.role} request: it ended here, or "
                "the sources, the bank, the settings or the program changed since."
            )
        reply = found[1]
        kept = call.model_copy(update={"outcome": _OUTCOMES[reply.finish], "answer": reply.text})
        return self.calls.append(kept), reply

    def _live(
        self,
        model: ModelSettings,
        messages: tuple[Message, ...],
        schema: dict[str, Any] | None,
        call: Call,
    ) -> tuple[int, Reply]:
        chat = self._chats[model]
        backoff = wait_random_exponential(multiplier=model.backoff, max=LONGEST_BACKOFF)
        retrying = Retrying(
            retry=retry_if_exception(_worth_another_try),
            stop=stop_after_attempt(model.attempts),
            wait=lambda state: _wait(state, backoff(state)),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(self._once, chat, model, messages, schema, call)
        except ChatFailure as problem:
            raise ModelUnavailable(
                f"The model {model.model} for the role {call.role} is unavailable: {problem}"
            ) from None

    def _once(
        self,
        chat: Chat,
        model: ModelSettings,
        messages: tuple[Message, ...],
        schema: dict[str, Any] | None,
        call: Call,
    ) -> tuple[int, Reply]:
        """One request: reserve, send, settle, write down."""
        price = self._prices.get(model)
        prompt = most_tokens(messages)
        most = (prompt + model.max_tokens, price.of(prompt, 0, model.max_tokens) if price else 0.0)
        if not self._run.budget.reserve_model(*most):
            raise ModelUnavailable(
                f"The budget does not cover another call of {model.model}, which may take "
                f"{most[0]} tokens: --max-tokens, --max-cost or the time is spent."
            )
        started = time.monotonic()
        usage = Usage()
        try:
            reply = chat.complete(messages, schema)
            # masked before it is used, so that a resumed run works with the very same text
            reply = reply.model_copy(update={"text": self._mask(reply.text)})
            usage = reply.usage
            call = call.model_copy(
                update={"outcome": _OUTCOMES[reply.finish], "answer": reply.text}
            )
        except ChatFailure as problem:
            usage = problem.usage
            call = call.model_copy(update={"error": self._mask(str(problem))})
            raise
        finally:
            call = _charged(call, usage, price, time.monotonic() - started)
            self._run.budget.settle_model(most, (call.tokens, call.cost or 0.0))
            number = self.calls.append(call)
        return number, reply


def _charged(call: Call, usage: Usage, price: Price | None, seconds: float) -> Call:
    """The call with its tokens and money."""
    total = usage.prompt + usage.completion
    cost = price.of(usage.prompt - usage.cached, usage.cached, usage.completion) if price else None
    return call.model_copy(
        update={
            "tokens_in": usage.prompt if usage.said else 0,
            "tokens_cached": usage.cached if usage.said else 0,
            "tokens_out": usage.completion if usage.said else 0,
            "tokens_unsaid": 0 if usage.said else total,
            "cost": cost if total else 0.0,
            "seconds": seconds,
        }
    )


def _key(role: Role, model: ModelSettings, messages: tuple[Message, ...]) -> str:
    said = json.dumps([role, model.model, [m.model_dump() for m in messages]])
    return hashlib.sha256(said.encode()).hexdigest()


def _worth_another_try(problem: BaseException) -> bool:
    return isinstance(problem, ChatFailure) and problem.again and (problem.wait or 0) < LONGEST_WAIT


def _wait(state: RetryCallState, backoff: float) -> float:
    problem = state.outcome.exception() if state.outcome is not None else None
    asked = problem.wait if isinstance(problem, ChatFailure) else None
    return max(backoff, asked or 0.0)


def _one_currency(prices: Any) -> str:
    found = {p.currency for p in prices if p is not None}
    if len(found) > 1:
        raise InputError(
            f"The models' prices are in {' and '.join(sorted(found))}; give them in one currency."
        )
    return next(iter(found), "")
