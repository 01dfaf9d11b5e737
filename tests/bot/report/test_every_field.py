"""Whatever text a result holds, in whichever field: nothing of it is live where it is shown.

A result comes from where candidates ran, so each of its texts may be hostile.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.cli.commands.optimize import _tell
from bot.cli.say import say
from bot.report.html import html
from bot.report.markdown import markdown
from bot.repository.job import Record
from bot.server.comments.wording import concluded, history
from bot.server.merge_request import body, commit_message, read_result, title
from ci.model.errors import InputError
from ci.model.result import Result
from tests.bot.base.test_text import IN_A_COMMIT
from tests.bot.make import job, result

ATTACK = "zq fixes #1 @everyone <b>zq</b> [skip ci] GH-1 https://x.example ``` --> \u202e\x1bc"
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)[^`].*?\1")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def places(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each text in JSON data."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*here, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from places(value, (*here, number))
    elif isinstance(data, str):
        yield here


def with_text(data: Any, place: tuple[Any, ...], text: str) -> Any:
    made = json.loads(json.dumps(data))
    inner = made
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = text
    return made


def hostile() -> Iterator[tuple[str, Result]]:
    """The result with the attack in one field, for each field that takes any text."""
    data = json.loads(result().model_dump_json())
    seen = set()
    for place in places(data):
        kind = ".".join("*" if isinstance(part, int) else str(part) for part in place)
        if kind in seen:
            continue
        seen.add(kind)
        try:
            yield kind, Result.model_validate(with_text(data, place, ATTACK))
        except ValidationError:
            continue  # not every text is taken there


FIELDS = list(hostile())


RAW = ("title", "subject", "message")
"""Texts in which no HTML is read."""


def live(name: str, text: str) -> list[str]:
    """What of the attack means something in the text of that name."""
    outside = FENCED.sub("", text)
    found = [*IN_A_COMMIT.findall(outside), *re.findall(r"[\u202e\x1b]", text)]
    found += [] if name in RAW else re.findall("<b>zq", CODE.sub("", outside))
    return [*found, *(one for one in COMMENT.findall(text) if "zq" in one)]


class Page(HTMLParser):
    """What a page has besides words: elements, where they lead, and what a terminal would obey."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements = Counter[str]()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.links += [v or "" for k, v in attrs if k in ("href", "src", "style") or k[:2] == "on"]


def read(field: str, folder: Path) -> Result | None:
    """The result with the attack in a field, as a person's command reads it."""
    (folder / "result.json").write_text(dict(FIELDS)[field].model_dump_json())
    try:
        return read_result(folder)
    except InputError as problem:
        assert "cannot be compared" in str(problem)
        return None


@pytest.mark.parametrize("field", [name for name, _ in FIELDS])
def test_no_field_of_a_result_is_live_on_the_page_of_a_report(field: str, tmp_path: Path) -> None:
    made = read(field, tmp_path)
    if made is None:
        return
    text = html(made)
    page = Page(text)
    assert not page.elements["b"]
    assert not page.elements["script"]
    assert not [link for link in page.links if "zq" in link or "x.example" in link]
    assert not re.findall(r"[\u202e\x1b]", text)


@pytest.mark.parametrize("field", [name for name, _ in FIELDS])
@pytest.mark.parametrize("as_json", [False, True])
def test_no_field_of_a_result_steers_a_terminal(
    field: str, as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = read(field, tmp_path)
    if made is None:
        return
    if as_json:
        say(made.model_dump_json(indent=2))
    else:
        _tell(made, tmp_path, None)
    said = capsys.readouterr().out
    assert not re.findall(r"[\u202e\x1b]", said)
    assert not as_json or Result.model_validate_json(said) == made


@pytest.mark.parametrize("field", [name for name, _ in FIELDS])
def test_no_field_of_a_result_is_live_in_any_outlet(field: str, tmp_path: Path) -> None:
    made = read(field, tmp_path)
    if made is None:
        return
    record = Record(job=job(), state="done", created=0.0, note=ATTACK)
    shown = {
        "title": title(made),
        "subject": title(made, conventional=True),
        "message": commit_message(made, title(made)),
        "body": body(made),
        "comment": concluded(job(), made, "An outcome.", show_patch=True),
        "history": history(record, made),
    }
    shown["report"] = markdown(made)
    assert {name: found for name, text in shown.items() if (found := live(name, text))} == {}
