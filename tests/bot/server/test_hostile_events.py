"""Whatever fields an event has, together with those of others: it waits or is done, no defect."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.repository.connection import Connections
from bot.server.one_item import DEFECT
from bot.server.service import Service
from bot.server.worker import WorkSettings
from tests.bot.make import git
from tests.bot.operator_repository import Repository, operator_repository

BIG = 2**63 - 1
WORDS = ("", "alice", "mallory", "../..", "@everyone", "-x", "a\n\x00b\u202e", "x" * 300)
TEXTS = (
    "/optimize",
    "/optimize op=scale budget=x",
    "/optimize op=\x00",
    "/optimize retry ../..",
    "/optimize explain %",
    "/ok-to-optimize",
    "/measure op=-rf",
    "/ignore idea=[",
    "/create x\n```python\n\x00\n```",
)


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = operator_repository(tmp_path_factory.mktemp("events"))
    request = made.request()
    for text in TEXTS:
        made.as_user("alice").comment(request.number, text)
    return made


def commits(folder: Path) -> tuple[str, ...]:
    return ("", "0" * 40, "f" * 40, git(folder, "rev-parse", "main"), "main", "-x", "\x00")


def good(ops: Repository) -> dict[str, dict[str, object]]:
    """An event of each kind as a forge would send it."""
    tip = git(ops.checkout, "rev-parse", "main")
    push = {
        "ref": "refs/heads/main",
        "before": git(ops.checkout, "rev-parse", "main"),
        "after": tip,
    }
    return {
        "push": push,
        "merge_request": {"action": "updated", "number": 1},
        "comment": {"action": "created", "number": 1, "comment_id": 1, "text": TEXTS[0]},
        "issue": {"action": "created", "number": 1, "text": TEXTS[0]},
        "dispatch": {"number": 1, "text": "op=scale"},
        "schedule": {},
        "other": {},
    }


@given(data=st.data())
@settings(
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_event_ends_in_a_defect(ops: Repository, data: st.DataObject) -> None:
    named = commits(ops.checkout)
    values: dict[str, tuple[object, ...]] = {
        "action": ("", "created", "edited", "opened", "updated", "closed"),
        "number": (0, 1, 2, 99, BIG),
        "comment_id": (*range(len(TEXTS) + 1), BIG),
        "text": (*TEXTS, *WORDS),
        "label": WORDS,
        "sender": WORDS,
        "ref": ("", "refs/heads/main", "refs/heads/", "main", "refs/heads/\x00"),
        **dict.fromkeys(("before", "after", "head"), named),
    }
    kind, fields = data.draw(st.sampled_from(sorted(good(ops).items())))
    odd = data.draw(st.lists(st.sampled_from(sorted(values)), max_size=3, unique=True))
    drawn = {name: data.draw(st.sampled_from(values[name])) for name in odd}
    never_a_defect(ops, {"kind": kind, "sender": "alice", **fields, **drawn})


def never_a_defect(ops: Repository, values: dict[str, object]) -> None:
    event = ops.event(**values)
    makers = [("local", ops.name, lambda: ops.bot)]
    work = WorkSettings(data=ops.folder / "data")
    bot = Service(ops.queue, Connections(ops.folder / "data", makers), work, workers=0)
    assert ops.queue.receive(event, time.time()) and bot.plan_one()
    with sqlite3.connect(ops.queue.file) as db:
        (note,) = db.execute("SELECT note FROM events ORDER BY id DESC LIMIT 1").fetchone()
    assert note != DEFECT, event


def test_no_text_of_a_comment_ends_in_a_defect(ops: Repository) -> None:
    for place, text in enumerate(TEXTS, 1):
        comment = {"kind": "comment", "action": "created", "number": 1, "sender": "alice"}
        never_a_defect(ops, {**comment, "comment_id": place, "text": text})
