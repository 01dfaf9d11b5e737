"""A month of a repository, replayed against its bot on loopback: nothing verified is lost, nobody
is bothered twice. Only the runs that would take hours are replaced (`month/evaluation.py`)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.bot.forge.server.base import ForgeServer
from tests.bot.forge.server.gitcode import GitCodeServer
from tests.bot.forge.server.github import GitHubServer
from tests.bot.forge.server.gitlab import GitLabServer
from tests.bot.server.month import audit
from tests.bot.server.month.bots import HOUR_S, Bot, CiBot, ServedBot
from tests.bot.server.month.clock import DAY_S, START, Clock, Fuse, simulated
from tests.bot.server.month.people import LIMITS, People

SERVERS: dict[str, type[ForgeServer]] = {
    "github": GitHubServer,
    "gitlab": GitLabServer,
    "gitcode": GitCodeServer,
}


class Month:
    """`days` days of so many things that people do each."""

    def __init__(self, people: People, bot: Bot, clock: Clock, fuse: Fuse) -> None:
        self.people, self.bot, self.clock, self.fuse = people, bot, clock, fuse
        self.rng = random.Random(people.rng.random())
        self.opened: dict[int, float] = {}

    def day(self, number: int, things: int) -> None:
        self.clock.at = START + number * DAY_S
        for _ in range(things):
            self.clock.wait(self.rng.uniform(60, 2 * HOUR_S))
            chance = self.rng.random()
            self.people.server.down = chance < 0.04
            if 0.04 <= chance < 0.08:
                self.people.server.fail(403, {"Retry-After": "60"}, times=2)
            if 0.08 <= chance < 0.14:
                self.fuse.left = self.rng.randint(1, 9)
            for event in self.people.act():
                if chance < 0.97:  # else it is never delivered
                    self.bot.on(event)
            if self.rng.random() < 0.6:
                self.bot.work()
            self.fuse.left = 0
            self.people.server.failures.clear()
        self.evening()

    def evening(self) -> None:
        """All is in order again, and the bot looks around until it has nothing to do."""
        self.people.server.down = False
        for event in self.people.mend_settings():
            self.bot.on(event)
        self.quiet()
        self.check(f"on day {(self.clock.at - START) / DAY_S:.1f}")

    def quiet(self) -> None:
        for _ in range(12):
            self.bot.work()
            self.clock.wait(HOUR_S)
            if not self.bot.look():
                break

    def check(self, when: str) -> None:
        people, records = self.people, self.bot.records()
        found = [
            *audit.limits(people, self.opened, self.clock.at),
            *audit.none_twice_after_a_no(people),
            *audit.proposals_are_one_change(people),
            *audit.measured(people),
            *audit.answered_once(people, records),
            *audit.dashboard(people, records),
        ]
        assert not found, "\n".join([when, *found, "", *people.done[-40:]])

    def end(self) -> None:
        """With room for all, everything that was found is proposed."""
        self.people.push({".ascendopt.yml": LIMITS.format(100, 1000, 100)})
        for _ in range(30):
            self.quiet()
            if not audit.nothing_lost(self.people):
                break
        lost = audit.nothing_lost(self.people)
        assert not lost, "\n".join([*lost, "", *self.people.done])


def month(
    folder: Path,
    forge: str,
    bot: type[CiBot] | type[ServedBot],
    *,
    days: int,
    things: int,
    operators: int,
    seed: int,
) -> Month:
    with simulated() as (clock, fuse):
        people = People.of(
            folder, forge, SERVERS[forge], clock, operators, searches=operators // 4, seed=seed
        )
        try:
            made = Month(people, bot(people, clock, fuse, random.Random(seed)), clock, fuse)
            made.bot.look()
            for number in range(days):
                made.day(number, things)
            made.end()
        finally:
            people.server.stop()
    return made


KINDS = pytest.mark.parametrize(
    ("forge", "bot"), [("github", CiBot), ("gitlab", ServedBot), ("gitcode", CiBot)]
)


@pytest.mark.long
@KINDS
def test_a_day_of_eight_operators(
    forge: str, bot: type[CiBot] | type[ServedBot], tmp_path: Path
) -> None:
    month(tmp_path, forge, bot, days=1, things=8, operators=8, seed=1)


@pytest.mark.nightly
@KINDS
def test_a_month_of_three_hundred_operators(
    forge: str, bot: type[CiBot] | type[ServedBot], tmp_path: Path
) -> None:
    """About 110 pushes, 60 merge requests and 60 comments."""
    month(tmp_path, forge, bot, days=30, things=11, operators=300, seed=2)
