"""The bot, in the CI of the forge and as a server: both get events, work, and may be killed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final, Protocol

from bot.base.git import Git
from bot.events.model import Event
from bot.forge import open_forge
from bot.forge.base import Forge, ForgeError
from bot.forge.settings import ForgeSettings
from bot.repository.connection import Connection, Connections
from bot.repository.job import Job, Record
from bot.server.ci_mode import plan_event, plan_follow_up, report, state_of
from bot.server.plan_folder import planned, repository_of
from bot.server.queue import Queue
from bot.server.service import Service
from bot.server.watch import poll
from bot.server.worker import Worker, WorkSettings
from ci.model.errors import EnvironmentProblem, InputError
from tests.bot.server.month.clock import DAY_S, Clock, Fuse, Killed
from tests.bot.server.month.evaluation import ran
from tests.bot.server.month.people import TOKEN, People

REPOSITORY: Final = "team/ops"
HOUR_S: Final = 3600.0


class Bot(Protocol):
    """What a month asks of either."""

    killed: int
    """How often it was killed."""

    def on(self, event: Event) -> None:
        """An event of the forge reaches it."""

    def work(self) -> None:
        """The work that began a while ago ends."""

    def look(self) -> bool:
        """It looks around by itself, as it does at night; whether there was anything to do."""

    def records(self) -> list[Record]:
        """All that it remembers of its jobs."""

    def facts(self) -> dict[str, str]:
        """What it remembers by name."""


def connected(people: People) -> Forge:
    url = people.server.url
    api = url if people.forge == "github" else ""
    settings = ForgeSettings(forge=people.forge, repository=REPOSITORY, url=url, api=api)
    return open_forge(settings, TOKEN)


class CiBot:
    """Each event starts a run of the CI; so does the night. A run of candidates may be lost."""

    def __init__(self, people: People, clock: Clock, fuse: Fuse, rng: random.Random) -> None:
        self.people, self.clock, self.fuse, self.rng = people, clock, fuse, rng
        self.killed = self.runs = 0
        self.red: list[str] = []
        self.under_way: list[Path] = []

    def _folder(self) -> Path:
        self.runs += 1
        return self.people.folder / f"ci-{self.runs}"

    def connection(self) -> Connection:
        made = connected(self.people)
        return Connection.mirrored(
            self.people.forge, REPOSITORY, made, self.people.folder / "mirrors"
        )

    def on(self, event: Event) -> None:
        self._step(lambda out: plan_event(event, self.connection(), out))

    def look(self) -> bool:
        return self._step(lambda out: plan_follow_up(self.connection(), out))

    def _step(self, plan: Any) -> bool:
        out = self._folder()
        try:
            made = plan(out)
        except Killed:
            self.killed += 1
            return True
        except (InputError, ForgeError) as problem:  # this run of the CI is red
            self.red.append(str(problem))
            return False
        if made:
            self.under_way.append(out)
        return bool(made)

    def work(self) -> None:
        while self.under_way:
            plan = self.under_way.pop(0)
            results, jobs = plan / "results", list[Job]()
            for job, place in planned(plan):
                jobs.append(job)
                if self.rng.random() > 0.03:  # else the machine died
                    out = results / job.key
                    ran(job, Git(repository_of(job, place, out)), out)
            results.mkdir(exist_ok=True)
            try:
                report(self.connection(), jobs, results)
            except Killed:
                self.killed += 1
            except (InputError, ForgeError, EnvironmentProblem) as problem:
                self.red.append(str(problem))

    def records(self) -> list[Record]:
        with state_of(self.connection()) as state:
            return state.read().jobs(limit=100_000)

    def facts(self) -> dict[str, str]:
        with state_of(self.connection()) as state:
            return state.read().facts()


class ServedBot:
    """`serve` with one worker, which polls, too: what a webhook does not bring it finds."""

    def __init__(self, people: People, clock: Clock, fuse: Fuse, rng: random.Random) -> None:
        self.people, self.clock, self.fuse, self.rng = people, clock, fuse, rng
        self.killed = 0
        self._start()
        poll(self.connection, self.queue, clock())

    def _start(self) -> None:
        data = self.people.folder / "data"
        self.queue = Queue(data / "queue.sqlite")
        name = self.people.forge
        makers = [(name, REPOSITORY, lambda: connected(self.people))]
        connections = Connections(data, makers)
        found = connections(name, REPOSITORY)
        assert found is not None
        self.connection = found
        work = WorkSettings(data=data)
        self.service = Service(
            self.queue, connections, work, keep_s=20 * DAY_S, clock=self.clock, workers=1
        )
        self.worker = _Worker(f"w{self.killed}", self.queue, work, connections, self.clock)

    def _guarded(self, step: Any) -> Any:
        try:
            return step()
        except Killed:
            self.killed += 1
            self.queue.close()
            self._start()
            return True

    def on(self, event: Event) -> None:
        self.queue.receive(event, self.clock())
        while self._guarded(self.service.plan_one):
            pass

    def work(self) -> None:
        while self._guarded(lambda: self.service.work_one(self.worker)):
            self.clock.wait(60)

    def look(self) -> bool:
        self._guarded(self._poll)
        while self._guarded(self.service.plan_one):
            pass
        self._guarded(self.service.look_after)
        return bool(self.queue.jobs(states=("queued", "running", "delivering")))

    def _poll(self) -> bool:
        try:
            poll(self.connection, self.queue, self.clock())
        except ForgeError:
            return False
        return True

    def records(self) -> list[Record]:
        return self.queue.jobs(limit=100_000)

    def facts(self) -> dict[str, str]:
        return self.queue.facts()


class _Worker(Worker):
    """Runs each job in this process."""

    def _process(self, job: Job, connection: Connection) -> str:
        ran(job, connection.mirror.git, self.out(job))
        return ""
