"""One item's failure is one item's, whichever function of the bot meets it.

Two merge requests ask for the same. Each function of the bot that is handed the first, or what
belongs to it, fails in turn: the second gets all that it would have got, and nobody reads the words
of a defect. The functions are those that a run without a fault calls.
"""

from __future__ import annotations

import functools
import inspect
import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

from bot.base.git import GitError
from bot.events.model import Event
from bot.forge.base import ForgeError
from bot.forge.model import Comment, MergeRequest
from bot.repository.connection import Connection, Connections
from bot.repository.job import Job
from bot.server import ci_mode
from bot.server.one_item import apart
from bot.server.own_requests import path_mark
from bot.server.run_job import result_file
from bot.server.service import Service
from bot.server.watch import poll
from bot.server.worker import Worker, WorkSettings
from ci.model.errors import EnvironmentProblem, InputError
from tests.bot.make import git, result
from tests.bot.operator_repository import Repository, operator_repository
from tests.bot.server.ci_runs import Ci

WORDS: Final = "d3fect"
FAULTS: Final[tuple[Callable[[], Exception], ...]] = (
    lambda: KeyError(WORDS),
    lambda: TypeError(WORDS),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, WORDS),
    lambda: OSError(28, "No space left on device", WORDS),
    lambda: ForgeError("The forge says no.", "forbidden"),
    lambda: GitError("git says no."),
    lambda: RecursionError(WORDS),
    lambda: MemoryError(WORDS),
    lambda: duckdb.IOException(WORDS),
)
DEFECTS: Final = FAULTS[:3]
"""What the queue may meet with one entry: its disk is everybody's."""
OF_ALL: Final = ("bot.server.own_requests.is_bots",)
"""Whose they are is known of all merge requests or of none: else the bot would open too many."""
SENTENCES: Final = (InputError, EnvironmentProblem, ForgeError, GitError)
ASKED: Final = {"bad": "scale_add", "good": "shift"}
"""Operators that are asked for under the merge requests from branches of these names."""


@dataclass
class World:
    """A repository with both merge requests, as it is before a step of the bot."""

    ops: Repository
    numbers: dict[str, int]
    jobs: tuple[Job, ...] = ()

    @property
    def ci(self) -> Ci:
        return Ci(self.ops)

    def answers(self, branch: str) -> str:
        return "\n".join(
            c.body for c in self.ops.bot.comments(self.numbers[branch]) if c.author == "ascendopt"
        )

    def service(self) -> Service:
        makers = [("local", self.ops.name, lambda: self.ops.bot)]
        data = self.ops.folder / "data"
        return Service(
            self.ops.queue, Connections(data, makers), WorkSettings(data=data), workers=0
        )


def asked(folder: Path) -> World:
    """People have asked in comments; nobody has read them."""
    world = World(operator_repository(folder), {})
    for branch in ASKED:
        number = world.ops.request({"README.md": f"{branch}\n"}, branch=branch).number
        world.numbers[branch] = number
    poll(world.ops.connection(), world.ops.queue, time.time())
    for branch, name in ASKED.items():
        world.ops.as_user("alice").comment(world.numbers[branch], f"/optimize op={name}")
    return world


def received(folder: Path) -> World:
    """Both comments wait in the queue."""
    world = asked(folder)
    poll(world.ops.connection(), world.ops.queue, time.time())
    return world


def queued(folder: Path) -> World:
    """Both jobs wait in the queue."""
    world = received(folder)
    while world.service().plan_one():
        pass
    jobs = world.ops.queue.jobs(limit=9)
    return World(world.ops, world.numbers, tuple(record.job for record in jobs))


def closed(folder: Path) -> World:
    """People have closed two merge requests of the bot."""
    world = World(operator_repository(folder), {})
    for branch, name in {"bad": "scale", "good": "shift"}.items():
        source = f"optimize/{name}/{path_mark(f'src/math/{name}')[:6]}0123456789"
        world.ops.commit(source, {"README.md": f"{branch}\n"})
        world.numbers[branch] = world.ops.bot.open("Faster", "", source, "main").number
        world.ops.as_user("alice").close(world.numbers[branch])
    git(world.ops.checkout, "checkout", "-q", "main")
    return world


def in_ci(folder: Path) -> World:
    """Both comments wait in the state branch, for a run of the CI."""
    world = received(folder)
    events = [waiting.event for waiting in world.ops.queue.waiting_events()]
    with ci_mode.state_of(world.ci.connection()) as state:
        state.change(lambda queue: [queue.receive(event, 1.0) for event in events])
    return world


def planned(folder: Path) -> World:
    """Both jobs were planned by a run of the CI."""
    world = in_ci(folder)
    jobs = world.ci.follow_up()
    return World(world.ops, world.numbers, tuple(jobs))


def left(job: Job, folder: Path) -> None:
    """What a run of a job leaves in its folder."""
    told: dict[str, Any] = {"run": job.run, "base_commit": job.source_commit}
    folder.mkdir(parents=True, exist_ok=True)
    told |= {"operator": job.operator.rpartition("/")[2], "operator_path": job.operator}
    made = result(verdict="not_improved", diff="", **told)
    settings = made.settings | {"workload": job.workload}
    text = made.model_copy(update={"settings": settings}).model_dump_json()
    result_file(folder).write_text(text)


def do_poll(world: World) -> None:
    with apart("a repository that is polled"):  # as `watch` and the CI do
        poll(world.ops.connection(), world.ops.queue, time.time())


def do_plan(world: World) -> None:
    service = world.service()
    while service.plan_one():
        pass


def do_work(world: World) -> None:
    """All jobs are worked off, without the processes that run candidates."""

    def process(self: Worker, job: Job, connection: Connection) -> str:
        left(job, self.out(job))
        return ""

    service, queue, way = world.service(), world.ops.queue, Worker._process
    worker = Worker("w", queue, WorkSettings(data=queue.runs), service.connections)
    Worker._process = process  # type: ignore[method-assign]
    try:
        while service.work_one(worker):
            pass
    finally:
        Worker._process = way  # type: ignore[method-assign]


def do_look_after(world: World) -> None:
    world.service().look_after()


def do_follow_up(world: World) -> None:
    world.ci.follow_up()


def do_report(world: World) -> None:
    results = world.ops.folder / "results"
    for job in world.jobs:
        left(job, results / job.key)
    ci_mode.report(world.ci.connection(), world.jobs, results)


def heard(world: World) -> bool:
    numbers = [waiting.event.number for waiting in world.ops.queue.waiting_events()]
    return world.numbers["good"] in numbers


def answered(world: World) -> bool:
    return "waits for a runner" in world.answers("good")


def told(world: World) -> bool:
    return "tried, no improvement" in world.answers("good")


def asked_why(world: World) -> bool:
    return "closed" in world.answers("good")


STEPS: Final[Mapping[str, tuple[Callable[[Path], World], Any, Callable[[World], bool]]]] = {
    "watch: poll": (asked, do_poll, heard),
    "serve: events": (received, do_plan, answered),
    "serve: jobs": (queued, do_work, told),
    "serve: merge requests": (closed, do_look_after, asked_why),
    "ci follow-up": (closed, do_follow_up, asked_why),
    "ci plan": (in_ci, do_follow_up, answered),
    "ci report": (planned, do_report, told),
}


def belongs(one: object, number: int) -> bool:
    """Whether a value is the merge request, or something of it."""
    for name in ("event", "job", "request"):
        one = getattr(one, name, one)
    if isinstance(one, Comment):
        return one.merge_request == number
    return isinstance(one, Event | MergeRequest | Job) and one.number == number


Place = tuple[Any, str, Callable[..., Any]]


def functions() -> Iterator[Place]:
    """Every function and method of the bot that is loaded, with where it is looked up; those of the
    forges have tables of their own."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("bot.") or name.startswith(("bot.testing", "bot.cli", "bot.forge")):
            continue
        for key, value in list(vars(module).items()):
            if inspect.isfunction(value) and value.__module__.startswith("bot."):
                yield module, key, value
            elif inspect.isclass(value) and value.__module__ == name:
                own = [(k, v) for k, v in vars(value).items() if inspect.isfunction(v)]
                yield from ((value, k, v) for k, v in own if not k.startswith("__"))


@contextmanager
def instead(make: Callable[[Callable[..., Any]], Any], wanted: object = None) -> Iterator[None]:
    """Meanwhile functions are what `make` makes of them: all, or the one that is wanted."""
    places = [p for p in functions() if wanted is None or called(p[2]) == wanted]
    made = {id(value): functools.wraps(value)(make(value)) for _, _, value in places}
    for holder, key, value in places:
        setattr(holder, key, made[id(value)])
    try:
        yield
    finally:
        for holder, key, value in places:
            setattr(holder, key, value)


def called(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def handed(world: World, do: Callable[[World], None]) -> list[str]:
    """The functions that are handed what belongs to the bad merge request, in order."""
    found: dict[str, None] = {}

    def make(function: Callable[..., Any]) -> Any:
        def noting(*given: Any, **named: Any) -> Any:
            if any(belongs(one, world.numbers["bad"]) for one in (*given, *named.values())):
                found[called(function)] = None
            return function(*given, **named)

        return noting

    with instead(make):
        do(world)
    return list(found)


def fails(world: World, do: Callable[[World], None], name: str, fault: Exception) -> str:
    """What a person reads of a step in which that function fails for the bad merge request."""

    def make(function: Callable[..., Any]) -> Any:
        def failing(*given: Any, **named: Any) -> Any:
            if any(belongs(one, world.numbers["bad"]) for one in (*given, *named.values())):
                raise fault
            return function(*given, **named)

        return failing

    try:
        with instead(make, name):
            do(world)
    except SENTENCES as problem:
        return str(problem)
    return ""


RARELY: Final[tuple[list[pytest.MarkDecorator], ...]] = (
    [],
    [pytest.mark.long],
    [pytest.mark.nightly],
    [pytest.mark.nightly],
)
# Each function meets one of the faults, most of them in long tests; in the night it meets all.
ROWS: Final = [
    pytest.param(step, turn, shift, marks=RARELY[bool(turn) + 2 * bool(shift)])
    for shift in range(len(FAULTS))
    for turn in range(len(FAULTS))
    for step in STEPS
]


@pytest.mark.parametrize(("step", "turn", "shift"), ROWS)
def test_a_function_that_fails_for_one_merge_request_keeps_nothing_from_another(
    step: str, turn: int, shift: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    make, do, done = STEPS[step]
    home, kept = tmp_path / "ops", tmp_path / "kept"
    world = make(home)
    world.ops.queue.close()
    shutil.copytree(home, kept)
    names = [name for name in handed(world, do) if name not in OF_ALL]
    assert done(world) and names
    odd = []
    for name in names[turn :: len(FAULTS)]:
        world.ops.queue.close()
        shutil.rmtree(home)
        shutil.copytree(kept, home)
        faults = DEFECTS if name.startswith("bot.server.queue.") else FAULTS
        fault = faults[(turn + shift) % len(faults)]()
        try:
            words = fails(world, do, name, fault)
        except Exception as problem:
            odd.append(f"{name}: {problem!r}")
            continue
        words += world.answers("bad") + world.answers("good")
        if not done(world) or WORDS in words:
            odd.append(f"{name}, {fault!r}: {words}")
    assert not odd, "\n".join(odd)
