"""Answers that an earlier run was given: what a resumed or replayed run takes instead of asking."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from ci.proposer.llm.call_log import Call
from ci.proposer.llm.chat import Reply, Usage

ENDED = "NOTHING: the recording holds no further answer."
_FINISH = {"answered": "stop", "truncated": "length", "refused": "refusal"}


class Recording:
    """The answers of earlier calls by request; equal requests are answered in their old order."""

    def __init__(self, calls: Iterable[Call] = (), *, by_role: bool = False) -> None:
        """`by_role`: a role's answers come in their order, whatever it is asked: edits by
        position hold their own against any other program than theirs."""
        self._answers: dict[str, deque[Call]] = defaultdict(deque)
        self._by_role = by_role
        for call in calls:
            if call.outcome != "failed":
                self._answers[call.role if by_role else call.key].append(call)

    def answer(self, role: str, key: str) -> tuple[int, Reply] | None:
        """What `take` gives for a request of a role; by role, its end is an answer too."""
        if not self._by_role:
            return self.take(key)
        return self.take(role) or (0, Reply(text=ENDED, usage=Usage()))

    def take(self, key: str) -> tuple[int, Reply] | None:
        """(number of the call, its answer), None when this request was never answered."""
        waiting = self._answers.get(key)
        if not waiting:
            return None
        call = waiting.popleft()
        usage = Usage(prompt=call.tokens_in, cached=call.tokens_cached, completion=call.tokens_out)
        reply = {"text": call.answer, "finish": _FINISH[call.outcome], "usage": usage}
        return call.number, Reply.model_validate(reply)
