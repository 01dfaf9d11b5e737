"""Every field of what a forge answers is missing, of another type or hostile, in turn.

What is read of it is in our form, or the answer is a sentence. One element of a list that cannot
be read is left out, and the others are read.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot.forge.errors import ForgeError
from bot.forge.http import Answer
from bot.forge.model import Comment, RecentComments, Status
from bot.forge.rest import RestForge
from bot.testing.forge import LONG_AGO
from ci.model.frozen import Frozen
from tests.bot.forge import test_gitcode, test_github, test_gitlab
from tests.bot.forge.server.base import ForgeServer
from tests.bot.forge.test_tokens import QUESTIONS as ASKED

MODULES = {"github": test_github, "gitlab": test_gitlab, "gitcode": test_gitcode}
GONE = object()
ODD: tuple[Any, ...] = (
    *(GONE, None, -1, 2**70, float("inf"), "", "²", "\ud800"),
    *("0001-01-01T00:00:00+14:00", [], [None], {"x": {}}),
)
QUESTIONS: dict[str, Callable[[RestForge], object]] = {
    **{name: ask for name, ask in ASKED.items() if name not in ("open", "issue")},
    "comments since": lambda f: f.comments(1, LONG_AGO),
    "recent comments": lambda f: f.recent_comments(LONG_AGO),
    "recent issues": lambda f: f.recent_issues(LONG_AGO),
    "diff": lambda f: f.diff(1),
    "credentials": lambda f: f.credentials(),
}


class Tape:
    """What a forge answers to a question, to be played again with changes."""

    def __init__(self, forge: RestForge) -> None:
        self.commit = forge.branches()["work"]
        self.answers: dict[tuple[str, str], Answer] = {}
        self._send = forge._send
        self.forge = forge

    def play(self, question: str) -> object:
        self.forge._home, self.forge._account, self.forge._own = None, "", set()
        if question == "statuses":
            return self.forge.statuses(self.commit)
        return QUESTIONS[question](self.forge)

    def record(self, question: str) -> None:
        self.answers.clear()

        def send(verb: str, path: str, *given: Any) -> Answer:
            answer = self._send(verb, path, *given)
            return self.answers.setdefault((verb, path.partition("?")[0]), answer)

        self._answered_by(send)
        self.play(question)

    def changed(self, where: tuple[str, str], text: str) -> None:
        """Play with another text for one of the answers."""
        answers = self.answers | {where: dataclasses.replace(self.answers[where], text=text)}
        away = Answer(404, {}, '{"message": "Not Found"}')
        self._answered_by(lambda verb, path, *_: answers.get((verb, path.partition("?")[0]), away))

    def _answered_by(self, send: Callable[..., Answer]) -> None:
        self.forge._send = self.forge._rest._send = send  # type: ignore[method-assign]


@pytest.fixture(params=MODULES)
def tape(request: pytest.FixtureRequest, checkout: Path, tmp_path: Path) -> Iterator[Tape]:
    """A forge with a merge request, comments, statuses and issues of two people."""
    module = MODULES[request.param]
    server: ForgeServer = module.SERVER(tmp_path / "origin.git", module.TOKENS)
    bot, alice = (module.connected(server, token) for token in list(module.TOKENS)[:2])
    bot.open("one", "body", "work", "main")
    for text in ("first", "second", "third"):
        alice.comment(1, text)
    for context in ("a", "b"):
        bot.set_status(bot.branches()["work"], Status(context=context, state="pending"))
    alice.write_issue("a", "b")
    bot.write_issue("c", "d")
    assert isinstance(bot, RestForge)
    yield Tape(bot)
    server.stop()


def changes(data: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The data with one part of it in each odd way, and where that part is."""
    for odd in ODD:
        if odd is not GONE:
            yield (), odd
    for key in (
        data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    ):
        for path, part in changes(data[key]):
            made = data.copy()
            made[key] = part
            yield (key, *path), made
        if isinstance(data, dict):
            yield (key,), {k: v for k, v in data.items() if k != key}


def in_our_form(found: object) -> bool:
    """Whether nothing in it is out of range, and all of it can be written."""
    if isinstance(found, RecentComments):
        found = found.comments
    for one in found if isinstance(found, (list, tuple)) else [found]:
        if isinstance(one, Frozen):
            one.model_dump_json().encode()
            numbers = [getattr(one, name, 0) for name in ("number", "id", "merge_request")]
            if not all(isinstance(n, str) or 0 <= n < 2**63 for n in numbers):
                return False
    return True


@pytest.mark.few(1)
def test_no_field_of_an_answer_ends_in_anything_but_a_sentence(tape: Tape) -> None:
    for question in ("statuses", *QUESTIONS):
        tape.record(question)
        for where, answer in tape.answers.items():
            if answer.text.startswith(("{", "[")):
                never_a_defect(tape, question, where, json.loads(answer.text))


def never_a_defect(tape: Tape, question: str, where: tuple[str, str], whole: Any) -> None:
    for path, data in changes(whole):
        tape.changed(where, json.dumps(data))
        try:
            found = tape.play(question)
        except ForgeError as problem:
            assert "Error" not in str(problem)
            one_of_several = path and isinstance(whole, list) and len(whole) > 1
            # Half of a diff would mislead.
            assert not one_of_several or question == "diff", (question, path, data)
        else:
            assert in_our_form(found), (question, path, data)


def test_comments_of_what_is_gone_or_closed_to_the_bot_are_left_out(
    tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was deleted after it was listed, or is confidential: the others' comments are read."""
    forge = tape.forge
    assert len(list(forge._said_since([99, 1], LONG_AGO))) == 3
    really = forge.comments

    def refused(number: int, since: datetime | None = None) -> Sequence[Comment]:
        if number == 2:
            raise ForgeError("Not for you.", "forbidden", token_refused=lost)
        return really(number, since)

    monkeypatch.setattr(forge, "comments", refused)
    lost = False
    assert len(list(forge._said_since([2, 1], LONG_AGO))) == 3
    lost = True
    with pytest.raises(ForgeError):
        list(forge._said_since([2, 1], LONG_AGO))
