"""Every call at a forge meets every fault: what comes of it is an error of ours, or an answer.

The calls are those of the protocol. The fault is met at each request that a call makes in turn:
by this one alone, and by all from there on.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from requests.adapters import HTTPAdapter

from bot.base.git import Git, GitError
from bot.forge import retry
from bot.forge.base import Forge, ForgeError
from bot.forge.errors import Kind
from bot.forge.model import Status
from bot.testing.forge import LONG_AGO
from tests.bot.forge.server.base import ForgeServer
from tests.bot.forge.test_every_field import MODULES, in_our_form
from tests.bot.make import git

CALLS: Final = [n for n, one in vars(Forge).items() if callable(one) and not n.startswith("_")]
PATIENCE_S: Final = 0.2


def answer(status: int, body: str, kind: str = "application/json", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status} Odd\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n{more}\r\n{body}".encode()


def said(status: int, message: str = "no", more: str = "") -> bytes:
    return answer(status, json.dumps({"message": message}), more=more)


NOW: Final = "Retry-After: 0\r\n"
PAGE: Final = "<html><h1>Out of order</h1>\n<hr></html>"
SLOW: Final = b"slow"
ODD: Final = ("null", "5", '""', '"x"', "{}", "[]", "[5]", "[[]]", '{"x": {}}')
# What is sent, and of which kind the error then is.
FAULTS: Final[dict[str, tuple[bytes, Kind]]] = {
    "401": (said(401), "forbidden"),
    "403": (said(403), "forbidden"),
    "403, too fast": (said(403, "You have exceeded a secondary rate limit.", NOW), "rate_limited"),
    "404": (said(404), "not_found"),
    "409": (said(409), "conflict"),
    "422": (said(422), "refused"),
    "429": (said(429, more=NOW), "rate_limited"),
    "500": (said(500), "unavailable"),
    "502 with a page": (answer(502, PAGE, "text/html"), "unavailable"),
    "hung up": (b"", "unavailable"),
    "hung up amid": (answer(200, '{"a": 1}')[:-3], "unavailable"),
    "no HTTP": (b"\x16\x03\x01\n", "unavailable"),
    "slow": (SLOW, "unavailable"),
    "half of JSON": (answer(200, '{"a": '), "unavailable"),
    "a page": (answer(200, PAGE, "text/html"), "unavailable"),
    "nothing": (answer(200, ""), "unavailable"),
    **{f"JSON {text}": (answer(200, text), "unavailable") for text in ODD},
}


class World:
    """A forge with a merge request, comments and issues of two people."""

    def __init__(self, module: ModuleType, checkout: Path, folder: Path) -> None:
        self.server: ForgeServer = module.SERVER(folder / "origin.git", module.TOKENS)
        self.token, alice = list(module.TOKENS)[:2]
        self.connected: Callable[[], Forge] = lambda: module.connected(self.server, self.token)
        bot, person = self.connected(), module.connected(self.server, alice)
        self.number = bot.open("one", "body", "work", "main").number
        self.issue = bot.write_issue("Dashboard", "text")
        for number, forge in ((self.number, person), (self.issue, person.of_issues())):
            forge.comment(number, "first")
        commit = bot.branches()["work"]
        bot.set_status(commit, Status(context="a", state="pending"))
        git(checkout, "push", "-q", "origin", "work:old", "work:spare")
        self.given: dict[str, Any] = {
            "name": "spare",
            "user": "alice",
            "login": "alice",
            "path": "README.md",
            "git": Git(checkout),
            "commit": commit,
            "branch": "new",
            "expected": "",
            "ref": "main",
            "base": "main",
            "head": "work",
            "state": "open",
            "source_prefix": "wo",
            "source_branch": "old",
            "target_branch": "main",
            "title": "Title",
            "body": "Text",
            "labels": ["fast"],
            "reaction": "eyes",
            "since": LONG_AGO,
            "etag": 'W/"0"',
            "status": Status(context="b", state="success"),
        }
        self.ours = bot.comment(self.number, "ours").id
        self.ours_inside = bot.of_issues().comment(self.issue, "ours").id

    def call(self, name: str, inside: bool, whole: bool) -> object:
        """Ask a new connection; `inside`: of issues; `whole`: with what may be left out, too."""
        given = self.given | {
            "number": self.issue if inside or "issue" in name else self.number,
            "comment_id": self.ours_inside if inside else self.ours,
        }
        wanted = list(inspect.signature(getattr(Forge, name)).parameters.values())[1:]
        named = {p.name: given[p.name] for p in wanted if whole or p.default is p.empty}
        forge = self.connected()
        return getattr(forge.of_issues() if inside else forge, name)(**named)

    def met(self, ask: Callable[[], object], *faulty: bytes | None) -> ForgeError | GitError | None:
        """What a call ends with whose requests meet these in turn, and the last for good."""
        left = list(faulty)

        def instead() -> bytes | None:
            now = left.pop(0) if len(left) > 1 else left[0]
            if now is SLOW:
                time.sleep(2 * PATIENCE_S)
                return b""
            return now

        self.server.log.clear()
        self.server.instead = instead
        try:
            found = ask()
        except (ForgeError, GitError) as problem:
            return problem
        finally:
            self.server.instead = lambda: None
        assert in_our_form(found)
        return None


@pytest.fixture
def world(
    request: pytest.FixtureRequest, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    monkeypatch.setattr(retry, "ATTEMPTS", 1)
    made = World(MODULES[request.param], checkout, tmp_path)
    yield made
    made.server.stop()


def as_it_should(
    world: World, name: str, request: str, fault: str, found: ForgeError | GitError | None
) -> bool:
    """Whether a call may end so whose `request` meets a fault."""
    kind = FAULTS[fault][1]
    writes = not request.startswith("GET ")
    if name == "react":  # best effort
        return found is None
    if found is None:
        listed = name in ("recent_comments", "recent_issues")
        return (
            fault == "404"  # it is not there
            or (fault == "403" and listed)  # one of several, which is not for this account
            or (fault == "nothing" and name in ("compare", "diff"))  # no difference
            or (
                writes and (fault == "nothing" or fault.startswith("JSON"))
            )  # nothing is read of it
            or fault == "JSON []"  # a list without elements
            or (fault.startswith("JSON [") and name == "file")  # a folder
            or (fault.startswith("JSON") and name == "edit_comment")  # read again, of GitCode
        )
    if isinstance(found, GitError) or isinstance(found.__cause__, GitError):
        return True
    if request.startswith("git "):
        return True
    of_viewer = fault == "404" and request.endswith("/user")
    return found.kind == ("unavailable" if of_viewer else kind)


def never_other(world: World, fault: str, name: str, ask: Callable[[], object]) -> Iterator[str]:
    """What a call ends in that is none of ours, for each of its requests."""
    sent = FAULTS[fault][0]
    world.met(ask, None)  # again: what the first did may be done
    requests = list(world.server.log)
    for place, request in enumerate(requests):
        last = place == len(requests) - 1
        for faulty in ((sent,),) if last or request.startswith("git ") else ((sent,), (sent, None)):
            found = world.met(ask, *[None] * place, *faulty)
            words = str(found or "Fine.")
            good = as_it_should(world, name, request.partition("?")[0], fault, found)
            if not good or world.token in words or "\n" in words or "Traceback" in words:
                yield f"{name} at {request}: {found!r}"


# Each fault at one of the forges comes first; every fourth of these is tried before a change lands,
# and all at all forges by night: they take ten minutes.
ROWS: Final = [
    pytest.param(forge, fault, marks=[pytest.mark.nightly] if turn or place % 4 else [])
    for turn in range(len(MODULES))
    for place, fault in enumerate(FAULTS)
    for shift, forge in enumerate(MODULES)
    if (place + shift) % len(MODULES) == turn
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("world", "fault"), ROWS, indirect=["world"])
def test_a_call_that_meets_a_fault_ends_in_an_error_of_ours(
    world: World, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "slow":
        send = HTTPAdapter.send
        impatient = {"timeout": PATIENCE_S}
        monkeypatch.setattr(HTTPAdapter, "send", lambda *a, **named: send(*a, **named | impatient))
    seen = set()
    odd: list[str] = []
    for name, inside, whole in product(CALLS, (False, True), (False, True)):
        ask = partial(world.call, name, inside, whole)
        world.met(ask, None)
        asked = (name, *world.server.log)
        if asked not in seen:
            odd += never_other(world, fault, name, ask)
        seen.add(asked)
    assert len(seen) > len(CALLS) and not odd, "\n".join(odd)
