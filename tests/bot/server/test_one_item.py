"""One item's failure is one item's, in `serve`, `watch` and CI; no KeyError reaches a person."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from bot.events.model import Event
from bot.forge.base import Forge
from bot.forge.errors import ForgeError
from bot.forge.local import LocalForge
from bot.forge.model import RecentComments, Status
from bot.repository.connection import Connection, Connections
from bot.repository.job import Job
from bot.server import ci_mode, dashboard_issue, queue, service, watch
from bot.server.ci_mode import report, state_of
from bot.server.delivery import Delivered, deliver
from bot.server.one_item import DEFECT, told
from bot.server.own_requests import path_mark
from bot.server.plan_model import Plan
from bot.server.queue import Queue
from bot.server.run_folder import leaving_reason, read_failure
from bot.server.service import Service
from bot.server.verify_again import look_again
from bot.server.watch import poll
from bot.server.worker import WorkSettings
from ci.model.errors import EnvironmentProblem, InputError
from tests.bot.forge import test_github
from tests.bot.make import OPERATOR_PATH, git, job, result
from tests.bot.operator_repository import KERNEL, Repository
from tests.bot.server.ci_runs import Ci, asked, files_of, store, the_merge_request

SCALE_ADD = f"{OPERATOR_PATH}/op_kernel/scale_add.cpp"


def orphan(ci: Ci) -> int:
    """A merge request of the bot whose target branch is gone."""
    branch = f"optimize/scale/{path_mark('src/math/scale')[:6]}0123456789"
    ci.ops.commit("old", {"README.md": "old\n"})
    ci.ops.commit(branch, {KERNEL: "int faster;\n"})
    number = ci.ops.bot.open("Faster", "", branch, "old").number
    git(ci.ops.checkout, "push", "-q", "origin", "--delete", "old")
    git(ci.ops.checkout, "checkout", "-q", "main")
    return number


def moved(ci: Ci, branch: str) -> None:
    """The base of an open merge request of scale_add moves."""
    git(ci.ops.checkout, "checkout", "-q", "-f", "main")
    ci.ops.commit(branch, {f"{OPERATOR_PATH}/op_host/more.h": "int more;\n"})
    git(ci.ops.checkout, "checkout", "-q", "main")


def test_a_merge_request_whose_target_is_gone_is_told_once_and_stops_no_other(ci: Ci) -> None:
    lost = orphan(ci)
    _, first = asked(ci)
    ci.report(first, result())
    own = the_merge_request_of(ci, first)
    ci.ops.commit("feature", {SCALE_ADD: changed(ci, "feature")})
    jobs = ci.follow_up()
    assert [j.patch_of for j in jobs if j.kind == "verify"] == [own]
    ci.follow_up()
    assert ci.answers(lost).count("is gone, so this cannot be verified again") == 1


def the_merge_request_of(ci: Ci, done: Job) -> int:
    (found,) = [m for m in ci.ops.bot.merge_requests("open") if "scale_add" in m.source_branch]
    return found.number


def changed(ci: Ci, branch: str) -> str:
    return git(ci.ops.checkout, "show", f"origin/{branch}:{SCALE_ADD}") + "\n// more\n"


class Refusing(LocalForge):
    """A forge that refuses some reads and writes."""

    unreadable = 0
    """Number of a merge request whose comments it does not show."""

    def comments(self, number: int, since: datetime | None = None) -> Sequence[object]:  # type: ignore[override]
        if number == self.unreadable:
            raise ForgeError("Not for you.", "forbidden")
        return super().comments(number, since)

    def recent_issues(self, since: datetime, etag: str = "") -> RecentComments:
        raise ForgeError("Issues are not for you.", "forbidden")

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        raise ForgeError("No labels for you.", "forbidden")

    def set_status(self, commit: str, status: Status) -> None:
        raise ForgeError("No statuses for you.", "forbidden")


def refusing(ops: Repository, unreadable: int = 0) -> None:
    ops.bot = Refusing(ops.folder / "ops.git")
    ops.bot.unreadable = unreadable


def test_a_refused_read_of_one_merge_request_stops_no_other(ci: Ci) -> None:
    branch = f"optimize/scale/{path_mark('src/math/scale')[:6]}0123456789"
    ci.ops.commit(branch, {KERNEL: "int faster;\n"})
    assert ci.ops.bot.open("Faster", "", branch, "main").number == 1
    ci.ops.bot.close(1)  # why it was closed is asked for in its comments
    git(ci.ops.checkout, "checkout", "-q", "main")
    _, first = asked(ci)
    ci.report(first, result())
    own = the_merge_request_of(ci, first)
    ci.ops.commit("feature", {SCALE_ADD: changed(ci, "feature")})
    refusing(ci.ops, unreadable=1)
    jobs = look_again(ci.ops.connection(), ci.ops.queue, 0)
    assert [j.patch_of for j in jobs] == [own]


def test_what_the_token_may_not_read_keeps_no_push_from_being_found(ops: Repository) -> None:
    refusing(ops)
    poll(ops.connection(), ops.queue, time.time())
    head = ops.commit("main", {KERNEL: "int pushed;\n"})
    found = poll(ops.connection(), ops.queue, time.time())
    assert [(e.kind, e.after) for e in found] == [("push", head)]


def test_labels_and_checks_that_are_refused_fail_no_merge_request(ops: Repository) -> None:
    request = ops.request({"README.md": "about scale_add\n"})
    ops.commit("main", {".ascendopt.yml": "merge_requests: {labels: [performance]}\n"})
    (made,) = ops.comment(request.number, "/optimize op=scale_add").jobs
    refusing(ops)
    found = result(base_commit=made.source_commit).model_copy(update={"run": made.run})
    done = deliver(made, found, ops.connection(), 0)
    assert done.opened and "opened" in done.note


# In CI


def broken(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Planning has a defect that the events of one merge request meet."""
    right = ci_mode.plan

    def plan(event: Event, connection: Connection, records: Queue) -> Plan:
        if event.number == number:
            raise KeyError("state")
        return right(event, connection, records)

    monkeypatch.setattr(ci_mode, "plan", plan)


def test_an_event_that_meets_a_defect_stops_no_other_and_names_no_keyerror(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = ci.ops.request({"README.md": "one\n"}, branch="bad")
    broken(monkeypatch, bad.number)
    with pytest.raises(InputError) as refused:
        ci.write(bad.number, "/optimize op=scale_add")
    assert DEFECT in str(refused.value) and "KeyError" not in str(refused.value)
    _, good = asked(ci)
    assert good.operator == OPERATOR_PATH


def test_a_job_whose_sources_are_gone_stops_no_other(ci: Ci) -> None:
    lost = job(
        "1" * 40,
        forge="local",
        repository=ci.ops.name,
        number=0,
        source_ref="refs/merge-requests/99/head",
        source_commit="9" * 40,
    )
    with state_of(ci.connection()) as state:
        state.change(lambda queue: queue.add(lost, 1.0))
    number, good = asked(ci)
    assert good.operator == OPERATOR_PATH
    assert ci.records()[lost.key].state in ("queued", "failed")


def test_a_result_that_meets_a_defect_stops_no_other(
    ci: Ci, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    number, first = asked(ci)
    second = first.model_copy(update={"key": "f" * 40})
    right = ci_mode.hand_in
    handed: list[str] = []

    def hand_in(given: Job, *rest: object) -> Delivered:
        if given.key == first.key:
            raise KeyError("state")
        handed.append(given.key)
        return Delivered("done")

    monkeypatch.setattr(ci_mode, "hand_in", hand_in)
    monkeypatch.setattr(ci_mode, "_remember", lambda *_: None)
    with pytest.raises(EnvironmentProblem) as refused:
        report(ci.connection(), [first, second], tmp_path)
    assert handed == [second.key] and str(refused.value) == DEFECT
    assert right is not hand_in


def test_a_dashboard_that_meets_a_defect_loses_no_result(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The merge request is open by then: what is not remembered is searched for again."""
    _, job = asked(ci)

    def render(*_: object) -> str:
        raise KeyError("title")

    monkeypatch.setattr(dashboard_issue, "render", render)
    ci.report(job, result())
    assert ci.records()[job.key].merge_request == the_merge_request(ci).number
    assert ci.follow_up() == []


def test_what_others_wrote_into_the_state_branch_stops_nothing(ci: Ci) -> None:
    asked(ci)
    here = f"local {ci.ops.name}"
    facts = (
        f'{{"dashboard {here}": "x", "comments since {here}": "y", "refreshed {here}": "z",'
        f' "issues from {here}": "-", "polled {here}": "1", "n": 5}}'
    )
    store(ci.ops, {"facts.json": facts, "events.json": '[5, [{"a": 1}, 2]]', "jobs/x.json": "{"})
    ci.follow_up()
    assert '"n"' not in files_of(ci.ops)["facts.json"]
    for number in ("9" * 5000, "9" * 30, "\u00b2"):  # of the dashboard, and of a time
        said = {f"dashboard {here}": number, f"refreshed {here}": number}
        store(ci.ops, {"facts.json": json.dumps(said)})
        ci.follow_up()


def test_an_event_that_is_handled_and_forgotten_cannot_fail(ops: Repository) -> None:
    """What was kept in the state branch is forgotten when it is done, and may fail after that."""
    ops.queue.keep_event(ops.event(kind="push"), 1)
    taken = ops.queue.next_event(1)
    assert taken is not None
    now = time.time()
    ops.queue.event_done(taken[0], now)
    assert ops.queue.event_failed(taken[0], now, "too late") is False


def test_what_another_version_left_in_the_queue_is_ended_and_the_rest_goes_on(
    ops: Repository,
) -> None:
    ops.queue.receive(ops.event(kind="push"), 0)
    ops.queue.receive(ops.event(kind="push"), 0)
    for key in ("a" * 16, "b" * 16):
        ops.queue.add(job(key), 0)
    with sqlite3.connect(ops.folder / "data" / "queue.sqlite") as db:
        db.execute("UPDATE events SET body = '{}' WHERE id = 1")
        db.execute("UPDATE jobs SET body = '{}' WHERE key = ?", ("a" * 16,))
    taken = ops.queue.next_event(1)
    assert taken is not None and taken[0] == 2
    claimed = ops.queue.claim("w", 1)
    assert claimed is not None and claimed.job.key == "b" * 16
    assert [r.job.key for r in ops.queue.jobs()] == ["b" * 16]
    assert ops.queue.get("a" * 16) is None


def test_a_comment_that_always_meets_a_defect_ends_one_run_of_the_ci_and_no_later_one(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = ci.ops.request({"README.md": "one\n"}, branch="bad")
    ci.follow_up()
    right = watch.talk

    def talk(event: Event) -> bool:
        if event.number == bad.number:
            raise KeyError("state")
        return right(event)

    monkeypatch.setattr(watch, "talk", talk)
    ci.ops.as_user("alice").comment(bad.number, "/optimize op=scale_add")
    with pytest.raises(InputError, match="defect"):
        ci.follow_up()
    assert ci.follow_up() == [] and ci.follow_up() == []


def test_an_event_that_is_given_up_is_not_found_again_by_a_poll(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = ci.ops.request({"README.md": "one\n"}, branch="bad")
    ci.follow_up()
    broken(monkeypatch, bad.number)
    monkeypatch.setattr(queue, "pause", lambda attempts: 0.0)
    with pytest.raises(InputError, match="defect"):
        ci.write(bad.number, "/optimize op=scale_add")  # all its tries
    assert ci.follow_up() == []


# In `serve`


def test_a_repository_that_cannot_be_looked_at_stops_no_other(
    ops: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def gone() -> Forge:
        return LocalForge(ops.folder / "gone.git")

    def look(connection: Connection, *_: object) -> list[Job]:
        looked.append(connection.repository)
        if connection.repository == "broken":
            raise KeyError("state")
        return []

    monkeypatch.setattr(service, "look_again", look)
    names = ["gone", "broken", "ops"]
    makers = [("local", name, gone if name == "gone" else lambda: ops.bot) for name in names]
    bot = Service(
        ops.queue,
        Connections(ops.folder / "data", makers),
        WorkSettings(data=ops.folder / "data"),
        workers=0,
    )
    bot.look_after()
    assert looked == ["broken", "ops"]


def test_an_event_that_meets_a_defect_is_kept_and_the_next_is_handled(
    ops: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(event: Event, connection: Connection, records: Queue) -> Plan:
        if event.number == 1:
            raise TypeError("cannot unpack None")
        return Plan(note="fine")

    monkeypatch.setattr(service, "plan", plan)
    makers = [("local", ops.name, lambda: ops.bot)]
    work = WorkSettings(data=ops.folder / "data")
    bot = Service(ops.queue, Connections(ops.folder / "data", makers), work, workers=0)
    for number in (1, 2):
        ops.queue.receive(ops.event(kind="merge_request", number=number), 0)
    assert bot.plan_one() and bot.plan_one()
    assert [one.event.number for one in ops.queue.waiting_events()] == [1]
    with sqlite3.connect(ops.folder / "data" / "queue.sqlite") as db:
        (note,) = db.execute("SELECT note FROM events WHERE id = 1").fetchone()
    assert note == DEFECT


def test_a_token_that_the_forge_does_not_take_is_an_alarm_until_it_is_renewed(
    ops: Repository,
) -> None:
    server = test_github.SERVER(ops.folder / "ops.git", {"good": "ascendopt"})
    token = ["old"]
    forge = test_github.GitHubForge(
        "team/ops", lambda: token[0], api=server.url, between_writes_s=0
    )
    connections = Connections(ops.folder / "data", [("github", "team/ops", lambda: forge)])
    bot = Service(ops.queue, connections, WorkSettings(data=ops.folder / "data"), workers=0)
    try:
        assert bot.alarms() == []
        bot.look_after()
        assert bot.alarms() == ["GitHub does not take the bot's token (HTTP 401): renew it."]
        token[0] = "good"
        bot.look_after()
        assert bot.alarms() == []
    finally:
        server.stop()


# Words


def test_a_defect_is_told_without_its_own_words(tmp_path: Path) -> None:
    assert told(KeyError("state")) == DEFECT
    assert told(OSError(28, "No space left on device", "/srv/secret")) == (
        "The bot's machine says: No space left on device."
    )
    assert told(ForgeError("It is away.")) == "It is away."
    with pytest.raises(KeyError), leaving_reason(tmp_path / "run"):
        raise KeyError("state")
    failure = read_failure(tmp_path / "run")
    assert failure is not None and failure.sentence == DEFECT and not failure.lasting
