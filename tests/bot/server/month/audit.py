"""What is held against the forge each evening and at the month's end."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.repository.job import Record
from bot.server.comments.posting import MARKS
from bot.server.comments.wording import reply_mark
from bot.server.dashboard_issue import SHOWN, TITLE
from tests.bot.server.month.people import DAILY, MOST, ROBOT, People, Said

_PART = re.compile(r"^### (.+?) \((\d+)", re.MULTILINE)


def limits(people: People, opened: dict[int, float], now: float) -> list[str]:
    """`opened`: when each of the bot's merge requests was first seen; filled in here."""
    found = []
    for made in people.bots("all"):
        opened.setdefault(made.number, now)
    if len(people.bots()) > MOST:
        found.append(f"{len(people.bots())} are open, the limit is {MOST}")
    days = sorted(opened.values())
    for start in days:
        if sum(start <= at < start + 86_400 for at in days) > 2 * DAILY:
            found.append("too many were opened in a day")
    return found


def none_twice_after_a_no(people: People) -> list[str]:
    return [
        f"{made.number} proposes again what was refused in {people.noes[folder]} ({folder})"
        for made in people.bots("all")
        if (folder := people.operator(made)) in people.noes
        and made.number > people.noes[folder]
        and made.target_branch == "main"
    ]


def proposals_are_one_change(people: People) -> list[str]:
    """Each open one changes one line of its operator, and one operator has one."""
    found, seen = list[str](), dict[str, int]()
    for made in people.bots():
        folder = people.operator(made)
        if folder in seen:
            found.append(f"{made.number} and {seen[folder]} are both about {folder}")
        seen[folder] = made.number
        if folder in people.taken or people.view().branch_head(made.target_branch) is None:
            continue
        lines = [
            line
            for line in people.view().diff(made.number).splitlines()
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        if len(lines) != 2 or "TILE" not in lines[1]:
            found.append(f"{made.number} into {made.target_branch} changes {lines}")
    return found


def measured(people: People) -> list[str]:
    """Every open merge request of a person is measured at the head that it has."""
    found = []
    for made in people.open_ones():
        comments = people.view().comments(made.number)
        own = [c for c in comments if c.author == ROBOT and c.body.startswith(MARKS["measure"])]
        there = len(own) == 1 and made.head[:12] in own[0].body
        if not there and made.head not in people.cancelled:
            found.append(f"{made.number} is not measured at {made.head[:12]} ({len(own)} comments)")
    return found


def answered_once(people: People, records: list[Record]) -> list[str]:
    found = []
    by_comment = {r.job.comment_id for r in records if r.job.comment_id}
    for said in people.said:
        count = _answers(people, said)
        silent = not count and said.comment not in by_comment
        if silent and said.text.startswith("/measure"):
            silent = bool(measured(people))
        if silent or count > 1:
            found.append(f"{said.text!r} in {said.number} has {count} answers")
    return found


def _answers(people: People, said: Said) -> int:
    if said.issue:
        comments = people.server.issues.comments(said.number)
    else:
        comments = list(people.view().comments(said.number))
    mark = reply_mark(f"comment-{said.comment}")
    return sum(c.author == ROBOT and c.body.startswith(mark) for c in comments)


def dashboard(people: People, records: list[Record]) -> list[str]:
    issues = people.server.issues
    numbers = [n for n, title in issues.titles.items() if title == TITLE]
    if len(numbers) != 1:
        return [f"there are {len(numbers)} dashboards"]
    body = issues.begun[numbers[0]].body
    said = {name: int(count) for name, count in _PART.findall(body)}
    states: dict[str, Callable[[Record], bool]] = {
        "Verified results that wait for a free place": lambda r: r.state == "waiting",
        "Queue": lambda r: r.state == "queued",
        "Running": lambda r: r.state in ("running", "delivering"),
    }
    own = [r for r in records if r.job.kind in ("optimize", "create", "verify")]
    true = {name: sum(map(fits, own)) for name, fits in states.items()}
    true["Open merge requests"] = len(people.bots())
    found = [
        f"the dashboard says {said.get(name)} of '{name}', true is {count}"
        for name, count in true.items()
        if said.get(name) != count
    ]
    for made in people.bots()[:SHOWN]:
        if f"rebase {made.number} -->" not in body:
            found.append(f"the dashboard does not show {made.number}")
    refused = body.partition("### Ignored and declined")[2]
    closed = {m.number for m in people.bots("closed")}
    noes = [f for f, number in people.noes.items() if number in closed]
    if len(noes) < SHOWN:
        found += [f"the dashboard misses the no to {f}" for f in noes if f not in refused]
    return found


def nothing_lost(people: People) -> list[str]:
    """Once there is room for all: what can be gained of what was pushed is proposed, unless
    somebody said no."""
    proposed = {people.operator(m) for m in people.bots()}
    quiet = proposed | set(people.noes) | set(people.ignored) | people.taken
    return [
        f"{folder} could be {people.gain(folder):.2f}x as fast, and nothing is proposed"
        for folder in sorted(people.touched - quiet)
        if people.gain(folder) > 1
    ]
