"""One question to a model: ask, check, show it its mistake once, ask again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ci.judge.guard import guard
from ci.model.operator import Operator
from ci.model.trial import Candidate, Trial
from ci.proposer.llm.answer import BadAnswer, read_line
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.chat import Message, Reply
from ci.proposer.llm.prompts import repair
from ci.proposer.llm.settings import Role
from ci.proposer.llm.trial_history import told

SHOWN_ANSWER: Final = 20_000
"""Characters of a wrong answer that are sent back with its mistake."""

NO_REASON: Final = "The model gave no reason"

T = TypeVar("T")


def converse(
    caller: Caller,
    role: Role,
    start: tuple[Message, ...],
    accept: Callable[[str], T],
    schema: dict[str, Any] | None = None,
) -> T:
    """What `accept` makes of the answer, or of the second one after its mistake was shown.

    `accept` raises BadAnswer for an answer that cannot be used. Raises BadAnswer when the second
    cannot be used either, or when the model refuses, and ModelUnavailable when there is none.
    """
    number, reply = caller.ask(role, start, schema)
    try:
        return _judged(caller, number, reply, accept)
    except BadAnswer as mistake:
        if reply.finish == "refusal":
            raise
        more = repair(reply.text[:SHOWN_ANSWER], str(mistake))
    number, reply = caller.ask(role, (*start, *more), schema, repair=True)
    return _judged(caller, number, reply, accept)


def _judged(caller: Caller, number: int, reply: Reply, accept: Callable[[str], T]) -> T:
    try:
        if reply.finish == "refusal":
            raise BadAnswer("The model refused to answer.")
        if reply.finish == "length":
            raise BadAnswer(
                "The answer was cut off at the longest that is allowed; give fewer and smaller "
                "edits, and no long explanation."
            )
        found = accept(reply.text)
    except BadAnswer as mistake:
        caller.calls.judge(number, str(mistake))
        raise
    caller.calls.judge(number, "accepted")
    return found


def reason(text: str) -> str:
    """Why the model proposes something, as one line; a stand-in when it does not say."""
    return read_line(text, "RATIONALE", 400) or f"{NO_REASON}."


def nothing_left(text: str) -> bool:
    """Whether the model says that there is nothing promising left."""
    return bool(read_line(text, "NOTHING"))


def check_new(candidate: Candidate, operator: Operator, history: Sequence[Trial]) -> None:
    """Raise BadAnswer for a program that was tried before, or that the guard would refuse."""
    for trial in history:
        if trial.candidate.hash == candidate.hash:
            raise BadAnswer(
                f"This very program was tried already: {told(trial, history[0], history)}."
            )
    refused = guard(operator, candidate.files)
    if refused is not None:
        where = f" ({refused.place.source})" if refused.place.file else ""
        raise BadAnswer(f"{refused.message}{where}")
