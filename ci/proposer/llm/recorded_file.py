"""Recorded runs of a model without anybody's code: answers as edits by position.

A run's table `calls` holds prompts and answers that quote the operator. A recording holds, for each
answer that was used, the prompt's hash, what the model said, and its edits as LINES blocks: which
lines of the program at hand give way, a hash of these, and the new lines; a line that the program
has already stands as its number (`@12`). So it says nothing without the user's own checkout, and
cannot be applied to other sources than those it was made on.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import Field, ValidationError

from ci.model.errors import InputError, plainly, worded
from ci.model.frozen import Frozen
from ci.model.json_lines import json_lines
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.model.trial import Trial
from ci.proposer.llm.answer import read_line
from ci.proposer.llm.call_log import Call
from ci.proposer.llm.dialogue import nothing_left
from ci.proposer.llm.edits import digest
from ci.proposer.llm.settings import ROLES

SUFFIX: Final = ".jsonl"
STEPS: Final = ("mutation", "rewriting")
"""The roles whose answers are recorded; rules fill the others when it is played."""


class Head(Frozen):
    """What a recording was made of; the first line of its file."""

    operator: str
    identity: dict[str, Any] = Field(description="Hashes of sources and workload, who answered.")
    note: str = Field(default="", description="What the run came to.")


class Answer(Frozen):
    """One answer that was used; a line of the file."""

    role: str
    prompt: str = Field(description="sha256 over role, model and messages of the request.")
    answer: str
    tokens_in: int = 0
    tokens_out: int = 0


def without_code(calls: list[Call], trials: list[Trial], operator: Operator) -> Iterator[Answer]:
    """The answers of a run's steps that were used, with edits by position."""
    by_number = {t.number: t for t in trials}
    by_hash = {t.candidate.hash: t for t in reversed(trials)}
    for call in calls:
        if call.verdict != "accepted" or call.role not in STEPS:
            continue
        trial = by_number.get(call.trial)
        parent = by_hash.get(trial.candidate.parent) if trial is not None else None
        if "<<<<<" not in call.answer and nothing_left(call.answer):
            text = f"NOTHING: {read_line(call.answer, 'NOTHING')}"
        elif trial is not None and parent is not None and trial.candidate.role == call.role:
            before = operator.texts(parent.candidate.files)
            after = operator.texts(trial.candidate.files)
            text = f"RATIONALE: {trial.candidate.rationale}\n{by_position(before, after)}"
        else:
            continue
        yield Answer(
            role=call.role,
            prompt=call.key,
            answer=text,
            tokens_in=call.tokens_in,
            tokens_out=call.tokens_out,
        )


def by_position(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The changes between two sets of texts as LINES blocks, the last lines of a file first.

    No line of `before` is quoted: one that stays, or moves, is a number.
    """
    blocks = []
    for path in sorted(p for p in after if after[p] != before[p]):
        old, new = before[path].split("\n"), after[path].split("\n")
        known = {line.strip(): n for n, line in reversed(list(enumerate(old, start=1)))}
        codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for tag, a, b, c, d in reversed(codes):
            if tag == "equal":
                continue
            lines = [_told(line, known) for line in new[c:d]]
            gone = digest("\n".join(old[a:b]))
            head = f"<<<<<<< LINES {path} {a + 1}-{b} {gone}"
            blocks.append("\n".join([head, *lines, ">>>>>>> END"]))
    return "\n".join(blocks)


def _told(line: str, known: Mapping[str, int]) -> str:
    """A new line as it is; as number and indentation when the program has it."""
    bare = line.strip()
    if bare and bare in known:
        return f"@{known[bare]} {len(line) - len(line.lstrip())}"
    return line


def write_recording(path: Path, head: Head, answers: list[Answer]) -> None:
    """Write a recording. Raises InputError when it cannot be written."""
    lines = [head.model_dump_json(), *(a.model_dump_json() for a in answers)]
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as problem:
        raise InputError(f"Cannot write {path}: {problem.strerror}.") from problem


def read_recording(path: Path) -> tuple[Head, list[Call]]:
    """What a recording was made of, and its answers as calls. Raises InputError."""
    try:
        first, *rest = json_lines(file_text(path))
        head = Head.model_validate(json.loads(first))
        answers = [Answer.model_validate_json(line) for line in rest if line.strip()]
    except ValidationError as problem:
        raise InputError(f"{path} is no recording: {worded(problem)}.") from problem
    except (OSError, ValueError) as problem:
        raise InputError(f"{path} is no recording of a run: {plainly(problem)}.") from problem
    unknown = next((a.role for a in answers if a.role not in ROLES), None)
    if unknown is not None:
        raise InputError(f"{path} is no recording: there is no role {unknown[:40]}.")
    calls = [
        Call(
            number=number,
            trial=0,
            role=one.role,
            model="",
            endpoint="",
            key=one.prompt,
            outcome="answered",
            prompt="",
            answer=one.answer,
            tokens_in=one.tokens_in,
            tokens_out=one.tokens_out,
        )
        for number, one in enumerate(answers, start=1)
    ]
    return head, calls
