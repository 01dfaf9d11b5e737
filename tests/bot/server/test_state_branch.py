"""What the branch of the bot in CI holds, and what of it is believed."""

from __future__ import annotations

import json
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from bot.base.git import Git
from bot.forge.local import LocalForge
from bot.repository.job import Record
from bot.server.ci_mode import state_of
from bot.server.queue import Queue, pause
from bot.server.refused import No
from bot.server.state_branch import KEEP_ENDED, STATE_BRANCH
from ci.model.errors import InputError
from ci.model.json_lines import json_lines
from experience.bank.exchange import SHIPPED
from tests.bot.make import OPERATOR_PATH, git, result
from tests.bot.server.ci_runs import Ci, asked, failed, files_of, store, the_merge_request


@pytest.mark.long
def test_the_branch_has_one_commit_and_starts_no_ci(ci: Ci) -> None:
    number, job = asked(ci)
    ci.report(job, result())
    ci.write(number, "/optimize status")
    assert {"README.md", "facts.json", f"jobs/{job.key}.json", f"results/{job.key}.json"} == set(
        files_of(ci.ops)
    )
    log = git(ci.ops.checkout, "log", "--format=%B", "FETCH_HEAD")
    assert log.count("Remember what the bot did") == 1
    assert "[skip ci]" in log


@pytest.mark.long
def test_old_runs_are_pruned(ci: Ci) -> None:
    _, job = asked(ci)

    def fill(queue: Any) -> None:
        for number in range(KEEP_ENDED + 20):
            one = job.model_copy(update={"key": f"{number:016x}"})
            when = time.time() - number
            queue.keep(Record(job=one, state="done", created=when, finished=when), "")
        old = job.model_copy(update={"key": "f" * 16})
        queue.keep(Record(job=old, state="done", created=1.0, finished=1.0), "")

    with state_of(ci.connection()) as state:
        state.change(fill)
    kept = ci.records()
    assert len(kept) == KEEP_ENDED + 1
    assert job.key in kept and f"{0:016x}" in kept and "f" * 16 not in kept


def test_deleting_the_branch_makes_the_bot_forget_and_nothing_else(ci: Ci) -> None:
    number, job = asked(ci)
    ci.ops.bot.delete_branch(STATE_BRANCH)
    ci.report(job, result())
    assert ci.records()[job.key].merge_request == the_merge_request(ci).number


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "text", ["{", "[]", '{"job": {}}', "\x00", json.dumps({"state": "done", "created": 1})]
)
def test_what_is_no_record_is_left_out(ci: Ci, text: str) -> None:
    _, job = asked(ci)
    store(ci.ops, {"jobs/aa.json": text, "facts.json": text, "events.json": text, "x": "y"})
    assert set(ci.records()) == {job.key}


@pytest.mark.few(2)
@pytest.mark.parametrize("key", ["../../../outside", "/outside", ".", "a\nb", "", "x" * 65])
def test_a_key_that_is_no_name_of_a_folder_is_left_out(ci: Ci, key: str) -> None:
    """A run's folder is named so: its files are read, written and taken away."""
    _, job = asked(ci)
    record = json.loads(ci.records()[job.key].model_dump_json())
    record["job"]["key"] = key
    store(ci.ops, {"jobs/aa.json": json.dumps(record)})
    assert set(ci.records()) == {job.key}
    assert ci.follow_up() is not None


def test_what_the_queue_has_no_room_for_is_left_out_and_the_rest_is_there(ci: Ci) -> None:
    number, job = asked(ci)
    record = json.loads(ci.records()[job.key].model_dump_json())
    odd: dict[str, float] = dict.fromkeys(
        ("attempts", "outages", "comment_id", "merge_request"), 2**63
    )
    odd |= {name: float("nan") for name in ("created", "started", "finished", "lease_until")}
    files = {
        f"jobs/{place:016x}.json": json.dumps(
            {**record, name: value, "job": {**record["job"], "key": f"{place:016x}"}}
        )
        for place, (name, value) in enumerate(odd.items())
    }
    push = {"forge": "local", "kind": "push", "delivery": "odd"}
    files["events.json"] = json.dumps([[push, 2**63, 0.0], [push, 1, float("nan")]])
    store(ci.ops, {**files, "results/abc": "{}", "results/abc.json": "{}", "results/é.json": "{}"})
    assert set(ci.records()) == {job.key}
    ci.write(number, "/optimize status")
    assert set(files_of(ci.ops)) == {"README.md", "facts.json", f"jobs/{job.key}.json"}


def test_an_event_that_was_tried_ever_so_often_waits_an_hour_at_most() -> None:
    assert pause(2**62) == pause(30) == 3600.0


def test_a_bank_that_others_wrote_into_stops_no_run(ci: Ci) -> None:
    known = json_lines(SHIPPED.read_text())[0]
    asked(ci)
    store(ci.ops, {"bank.jsonl": f"x\n{known}\n{{}}\n"})
    with state_of(ci.connection()) as state:
        state.read()
        assert state.bank == f"{known}\n"


def test_what_is_too_large_is_left_out_unread(ci: Ci, monkeypatch: pytest.MonkeyPatch) -> None:
    _, job = asked(ci)
    read: list[int] = []

    def blobs(git: Git, names: list[str]) -> dict[str, bytes]:
        found = Git.blobs(git, names)
        read.extend(map(len, found.values()))
        return found

    big = "x" * 1_000_001
    store(ci.ops, {"jobs/aa.json": big, "jobs/x/y.json": "{}", "facts.json": big, "other": big})
    connection = ci.connection()
    monkeypatch.setattr(connection.mirror.git, "blobs", partial(blobs, connection.mirror.git))
    with state_of(connection) as state:
        assert [r.job.key for r in state.read().jobs()] == [job.key]
    assert 0 < max(read) < 100_000


def test_long_comments_during_an_outage_take_no_others_place(ci: Ci) -> None:
    """Twenty of a stranger's would be more than is read again."""
    asked(ci)
    words = "/optimize " + "x" * 60_000
    event = ci.ops.event(kind="comment", action="created", number=1, text=words)
    with state_of(ci.connection()) as state:
        for number in range(20):
            one = event.model_copy(update={"comment_id": 900 + number, "delivery": f"d{number}"})
            state.change(partial(Queue.keep_event, event=one, attempts=1))
    with state_of(ci.connection()) as state:
        assert [w.event.comment_id for w in state.read().waiting_events()] == [*range(900, 920)]


def test_more_facts_than_are_read_again_take_no_no_away(ci: Ci) -> None:
    asked(ci)
    no = No("operator", "src/a", by="alice").fact("local", ci.ops.name)
    with state_of(ci.connection()) as state:

        def fill(queue: Queue) -> None:
            queue.set_fact(*no)
            for number in range(50):
                queue.set_fact(f"answered local {ci.ops.name} {number}", "1" * 50_000)

        state.change(fill)
    with state_of(ci.connection()) as state:
        facts = state.read().facts()
    assert facts[no[0]] == no[1]
    assert (
        facts[f"answered local {ci.ops.name} 49"] and f"answered local {ci.ops.name} 1" not in facts
    )


def test_records_of_another_repository_are_not_ours(ci: Ci) -> None:
    """A fork has the branch of where it came from."""
    _, job = asked(ci)
    other = ci.records()[job.key].model_copy(
        update={"job": job.model_copy(update={"repository": "up/stream", "key": "a" * 16})}
    )
    store(ci.ops, {f"jobs/{'a' * 16}.json": other.model_dump_json()})
    assert set(ci.records()) == {job.key}


def test_what_was_remembered_under_a_former_name_is_ours(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forge leads from that name to this one; other names are not asked for without end."""
    number, job = asked(ci)
    ci.write(number, "/ignore operator scale")
    before, names = ci.records()[job.key], list[str]()
    files = files_of(ci.ops)
    others = {
        f"jobs/{n:016x}.json": before.model_copy(
            update={
                "job": job.model_copy(
                    update={"repository": f"a/{n}" if n else "../..", "key": f"{n:016x}"}
                )
            }
        ).model_dump_json()
        for n in range(20)
    }
    old = {
        name: text.replace(f" local {ci.ops.name} ", " local old/name ").replace(
            json.dumps(ci.ops.name), '"old/name"'
        )
        for name, text in files.items()
    }
    assert '"no local old/name operator src/math/scale"' in old["facts.json"]

    def was_named(forge: LocalForge, name: str) -> bool:
        names.append(name)
        return name == "old/name"

    store(ci.ops, old | others)
    assert ci.records() == {}
    monkeypatch.setattr(LocalForge, "was_named", was_named)
    assert ci.records() == {job.key: before}
    assert len(names) <= 4 and "../.." not in names
    with state_of(ci.connection()) as state:
        facts = state.read().facts()
    assert f"no local {ci.ops.name} operator src/math/scale" in facts
    assert not any("old/name" in name for name in facts)


@pytest.mark.long
def test_after_a_rename_the_same_work_is_not_done_again(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forge knows a repository by a number, and leads from its former name to this one."""
    unnumbered, former = LocalForge.repository, ci.ops.name
    names, numbers = {"name": former}, {"number": "7"}
    monkeypatch.setattr(
        LocalForge,
        "repository",
        lambda forge: unnumbered(forge).model_copy(update={**names, **numbers}),
    )
    monkeypatch.setattr(LocalForge, "was_named", lambda forge, name: name == former)
    number, job = asked(ci)
    ci.report(job, result())
    names["name"] = "renamed"
    assert ci.write(number, "/optimize op=scale_add") == []
    assert set(ci.records()) == {job.key}
    numbers["number"] = "8"  # another repository that took the name has work of its own
    (other,) = ci.write(number, "/optimize op=scale_add")
    assert other.key != job.key


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"budget": 900}, "asks for 900 evaluations; 80 are allowed"),
        ({"judge_ref": "refs/heads/feature"}, "Its workload is no longer"),
        ({"workload": "src/math/scale/workload.yaml"}, "Its workload is no longer"),
    ],
)
def test_a_stored_job_that_says_more_than_the_default_branch_allows_is_not_run(
    ci: Ci, changed: dict[str, object], reason: str
) -> None:
    number, job = asked(ci)
    failed(ci, job)
    meddled = ci.records()[job.key]
    meddled = meddled.model_copy(update={"job": job.model_copy(update=changed)})
    store(ci.ops, {f"jobs/{job.key}.json": meddled.model_dump_json()})
    assert ci.write(number, f"/optimize retry {job.run}") == []
    assert reason in ci.records()[job.key].note
    assert reason in ci.answers(number)


def test_a_judge_that_is_not_of_the_default_branch_is_not_taken(ci: Ci) -> None:
    number, job = asked(ci)
    failed(ci, job)
    record = ci.records()[job.key]
    easy = ci.ops.commit(
        "easy", {f"{OPERATOR_PATH}/workload.yaml": "operator: ScaleAdd\ncases: 0\n"}
    )
    forged = job.model_copy(update={"judge_commit": easy})
    store(
        ci.ops,
        {f"jobs/{job.key}.json": record.model_copy(update={"job": forged}).model_dump_json()},
    )
    assert ci.write(number, f"/optimize retry {job.run}") == []
    assert ci.records()[job.key].state == "failed"


def test_a_branch_that_cannot_be_pushed_is_said_to_be_so(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    own_clock = SimpleNamespace(sleep=slept.append, time=time.time)  # subprocess sleeps, too
    monkeypatch.setattr("bot.server.state_branch.time", own_clock)
    hook = ci.ops.folder / "ops.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho protected >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(InputError, match="the token needs write access"):
        ci.plan(ci.ops.event(kind="other"))
    assert not slept, "it is no race"


def test_a_branch_that_others_change_all_the_time_is_said_to_be_so(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.server.state_branch._PAUSE_S", 0.0)
    monkeypatch.setattr("bot.server.state_branch._TRIES", 2)
    made, real = list[str](), LocalForge.push

    def raced(forge: LocalForge, mirror: Git, commit: str, branch: str, expected: str) -> None:
        made.append(ci.ops.commit(f"other-{len(made)}", {"x": str(len(made))}))
        other = f"+refs/heads/other-{len(made) - 1}:refs/heads/{branch}"
        git(ci.ops.checkout, "push", "-q", "origin", other)
        real(forge, mirror, commit, branch, expected)

    monkeypatch.setattr(LocalForge, "push", raced)
    with pytest.raises(InputError, match="other runs of the CI changed it 2 times"):
        ci.plan(ci.ops.event(kind="other"))
    assert len(made) == 2
