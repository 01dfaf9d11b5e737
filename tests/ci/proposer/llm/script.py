"""A scripted model for scale_shift: real edits of that operator, one or more a role."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import yaml

from tests.ci.proposer.llm.server import Answer, Asked

ROLE_WORDS = {
    "synthesis": "Turn the host tiling of this operator",
    "mutation": "Propose one change of the host tiling",
    "rewind": "Remove exactly one optimization",
    "distillation": "Two versions of a kernel compute the same",
    "diagnosis": "Say what bounds this kernel",
    "rewriting": "Make this kernel faster",
}

ANSWERS = yaml.safe_load(Path(__file__).with_name("answers.yml").read_text(encoding="utf-8"))
SYNTHESIS, KNOB, LOGIC = (str(ANSWERS[name]) for name in ("synthesis", "knob", "logic"))
REWRITE, REWIND = (str(ANSWERS[name]) for name in ("rewrite", "rewind"))
DIAGNOSIS, LESSON = (str(ANSWERS[name]) for name in ("diagnosis", "lesson"))
NOTHING = "NOTHING: no further idea."

GOOD: dict[str, list[str]] = {
    "synthesis": [SYNTHESIS],
    "mutation": [KNOB, LOGIC, NOTHING],
    "diagnosis": [DIAGNOSIS],
    "rewriting": [REWRITE, NOTHING],
    "rewind": [REWIND, NOTHING],
    "distillation": [LESSON],
}
"""Answers by role, in the order of the requests; the last one is given again and again."""


def role_of(asked: Asked) -> str:
    """The role that a request is for, by its words."""
    first = str(asked.body["messages"][1]["content"])
    return next(role for role, words in ROLE_WORDS.items() if words in first)


class Script:
    """Answers each role's requests one after the other."""

    def __init__(self, **roles: list[str | Answer]) -> None:
        self._answers: dict[str, list[str | Answer]] = {**GOOD, **roles}  # type: ignore[dict-item]
        self._asked: dict[str, int] = defaultdict(int)

    def __call__(self, asked: Asked) -> Answer:
        role = role_of(asked)
        answers = self._answers[role]
        found = answers[min(self._asked[role], len(answers) - 1)]
        self._asked[role] += 1
        return found if isinstance(found, Answer) else Answer(found)
