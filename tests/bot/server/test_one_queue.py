"""One queue by operator: what a limit leaves out waits its turn, and nothing verified is lost."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest

from bot.forge.model import MergeRequest
from bot.repository.job import Job
from bot.server.ci_mode import state_of
from tests.bot.make import KERNEL as OWN_KERNEL
from tests.bot.make import OPERATOR_PATH, SOURCES, git, result
from tests.bot.operator_repository import KERNEL
from tests.bot.server.ci_runs import SCALE_ADD, Ci, asked, last_answer, the_merge_request

HEADER = "src/common/cut.h"
SCALE, SHIFT = "src/math/scale", "src/math/shift"


def states(ci: Ci) -> dict[str, str]:
    return {r.job.operator: r.state for r in ci.records().values()}


def begun(ci: Ci) -> None:
    ci.plan(ci.ops.event(kind="other"))


# What a limit leaves out


def test_operators_beyond_the_limit_are_queued_and_start_with_the_next_runs(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "limits: {operators_per_event: 1}\n"})
    begun(ci)
    (first,) = ci.push({HEADER: "int cut = 3;\n"})
    assert states(ci) == {SCALE: "running", SHIFT: "queued"}
    assert [j.operator for j in ci.follow_up()] == [SHIFT]
    assert first.operator == SCALE and ci.follow_up() == []


def test_who_asks_is_told_how_many_wait(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "limits: {operators_per_event: 1}\n"})
    request = ci.ops.request({HEADER: "int cut = 3;\n"})
    ci.write(request.number, "/optimize")
    words = "1 of these operators are optimized first. 1 more are in the queue"
    assert words in ci.answers(request.number)


def test_the_operator_with_the_larger_share_of_the_time_goes_first(ci: Ci) -> None:
    text = "limits: {operators_per_event: 1}\noperators: {shift: {share: 0.4}}\n"
    ci.ops.commit("main", {".ascendopt.yml": text})
    begun(ci)
    assert [j.operator for j in ci.push({HEADER: "int cut = 3;\n"})] == [SHIFT]


def test_a_persons_wish_goes_before_what_pushes_left(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "limits: {operators_per_event: 1}\n"})
    begun(ci)
    ci.push({HEADER: "int cut = 3;\n"})
    request = ci.ops.request({"README.md": "about scale_add\n"})
    assert [j.operator for j in ci.write(request.number, "/optimize op=scale_add")] == [
        OPERATOR_PATH
    ]


def test_of_two_pushes_only_the_later_one_is_searched(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "limits: {operators_per_event: 1}\n"})
    begun(ci)
    ci.push({HEADER: "int cut = 3;\n"})
    ci.push({"src/math/shift/op_kernel/shift.cpp": "int kernel = 9;\n"})
    found = [r for r in ci.records().values() if r.job.operator == SHIFT]
    assert sorted(r.state for r in found) == ["cancelled", "running"]
    (old,) = (r for r in found if r.state == "cancelled")
    assert "has newer sources" in old.note


# Results that wait while their base moves


def waits(ci: Ci) -> Job:
    """A verified result on the default branch that found no place."""
    ci.ops.commit("main", {".ascendopt.yml": "limits: {open_merge_requests: 0}\n"})
    begun(ci)
    (job,) = ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// pushed\n"})
    ci.report(job, on(ci, job))
    assert ci.records()[job.key].state == "waiting"
    return job


def on(ci: Ci, job: Job, **changed: Any) -> Any:
    """A result that was made from the sources of a job."""
    hashes = dict(result().base_hashes)
    for name in hashes:
        shown = git(ci.ops.checkout, "show", f"{job.source_commit}:{OPERATOR_PATH}/{name}")
        hashes[name] = hashlib.sha256((shown + "\n").encode()).hexdigest()
    return result().model_copy(update={"base_hashes": hashes, **changed})


def room(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "limits: {open_merge_requests: 1}\n"})


def test_a_waiting_result_is_verified_on_the_moved_base_and_then_proposed(ci: Ci) -> None:
    job = waits(ci)
    ci.pushed({SCALE_ADD: SOURCES[OWN_KERNEL] + "// pushed\n// again\n"})
    room(ci)
    (again,) = ci.follow_up()
    assert (again.kind, again.patch_of, again.patch) == ("verify", 0, result().diff)
    assert f"Run `{again.run}` verifies the result again" in ci.records()[job.key].note
    ci.report(again, on(ci, again))
    assert ci.records()[again.key].merge_request == the_merge_request(ci).number


def test_a_waiting_result_whose_lines_changed_is_searched_for_anew(ci: Ci) -> None:
    job = waits(ci)
    ci.pushed({SCALE_ADD: "// another kernel\n"})
    room(ci)
    (search,) = ci.follow_up()
    assert (search.kind, search.operator) == ("optimize", OPERATOR_PATH)
    assert "has changed the same lines" in ci.records()[job.key].note


def test_a_comment_in_the_readme_costs_a_waiting_result_nothing(ci: Ci) -> None:
    job = waits(ci)
    room(ci)
    assert ci.follow_up() == []
    assert ci.records()[job.key].merge_request == the_merge_request(ci).number


# A push beside an open merge request


def proposed(ci: Ci) -> tuple[Job, MergeRequest]:
    begun(ci)
    (job,) = ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// pushed\n"})
    ci.report(job, on(ci, job))
    return job, the_merge_request(ci)


@pytest.mark.long
def test_a_push_beside_an_open_merge_request_is_verified_and_not_searched(ci: Ci) -> None:
    _, ours = proposed(ci)
    (verify,) = ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// pushed\n// again\n"})
    assert (verify.kind, verify.patch_of) == ("verify", ours.number)
    assert ci.follow_up() == []
    ci.report(verify, on(ci, verify))
    assert ci.follow_up() == []
    (left,) = (r for r in ci.records().values() if r.state == "cancelled")
    assert f"Merge request {ours.number} was verified again" in left.note


@pytest.mark.long
def test_what_is_no_longer_worth_merging_is_searched_for_again(ci: Ci) -> None:
    proposed(ci)
    (verify,) = ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// pushed\n// again\n"})
    ci.report(verify, on(ci, verify, verdict="not_improved", speedup=1.0))
    assert [j.kind for j in ci.follow_up()] == ["optimize"]


@pytest.mark.long
def test_a_branch_with_a_persons_commit_is_theirs_which_is_said_once(ci: Ci) -> None:
    _, ours = proposed(ci)
    git(ci.ops.checkout, "fetch", "-q", "origin", ours.source_branch)
    git(ci.ops.checkout, "checkout", "-q", "-b", "mine", "FETCH_HEAD")
    git(ci.ops.checkout, "commit", "-q", "--allow-empty", "-m", "Better comment")
    git(ci.ops.checkout, "push", "-q", "origin", f"mine:{ours.source_branch}")
    git(ci.ops.checkout, "checkout", "-q", "main")
    for number in range(2):
        text = SOURCES[OWN_KERNEL] + "// pushed\n" + "// again\n" * (number + 1)
        assert ci.push({SCALE_ADD: text}) == []
    said = re.findall("is not from the bot, so this branch is now yours", ci.answers(ours.number))
    assert len(said) == 1 and ci.follow_up() == []


def test_the_push_of_one_operator_does_not_wait_for_another(ci: Ci) -> None:
    begun(ci)
    (first,) = ci.push({KERNEL: "int kernel = 9;\n"})
    (second,) = ci.push({"src/math/shift/op_kernel/shift.cpp": "int kernel = 9;\n"})
    assert (first.operator, second.operator) == (SCALE, SHIFT)


def test_a_run_that_is_asked_for_does_not_wait_for_that_of_a_push(ci: Ci) -> None:
    begun(ci)
    ci.push({KERNEL: "int kernel = 9;\n"})
    number, job = asked(ci)
    assert ci.write(number, "/optimize op=scale")[0].operator == SCALE
    assert "`/optimize help`" not in last_answer(ci, number) and job.operator == OPERATOR_PATH
    with state_of(ci.connection()) as state:
        assert len(state.read().jobs(states=("running",))) == 3
