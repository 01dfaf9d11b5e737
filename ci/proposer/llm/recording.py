"""Answers that an earlier run was given: what a resumed or replayed run takes instead of asking."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from ci.proposer.llm.calls import Call
from ci.proposer.llm.chat import Reply, Usage

_FINISH = {"answered": "stop", "truncated": "length", "refused": "refusal"}


class Recording:
    """The answers of earlier calls by request; equal requests are answered in their old order."""

    def __init__(self, calls: Iterable[Call] = ()) -> None:
        self._answers: dict[str, deque[Call]] = defaultdict(deque)
        for call in calls:
            if call.outcome != "failed":
                self._answers[call.key].append(call)

    def take(self, key: str) -> tuple[int, Reply] | None:
        """(number of the call, its answer), None when this request was never answered."""
        waiting = self._answers.get(key)
        if not waiting:
            return None
        call = waiting.popleft()
        usage = Usage(prompt=call.tokens_in, cached=call.tokens_cached, completion=call.tokens_out)
        reply = {"text": call.answer, "finish": _FINISH[call.outcome], "usage": usage}
        return call.number, Reply.model_validate(reply)
