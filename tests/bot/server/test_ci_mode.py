"""The bot in CI remembers: each step is a run of the CI of its own, with nothing but the forge.

The forge is a real bare repository; results are made up, as in test_delivery.
"""

from __future__ import annotations

import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bot.forge.base import ForgeError
from bot.forge.kinds import FORGES
from bot.forge.local import LocalForge
from bot.repository.job import Job
from bot.server import ci_mode
from bot.server.ci_mode import plan_event, report, state_of
from bot.server.delivery import NotAllowed, refuse_in_vain
from bot.server.plan_folder import planned
from bot.server.queue import ATTEMPTS
from bot.server.run_job import result_file
from bot.server.state_branch import STATE_BRANCH
from ci.model.errors import InputError
from tests.bot.make import OPERATOR_PATH, git, result
from tests.bot.operator_repository import KERNEL, Repository
from tests.bot.server.ci_runs import (
    SCALE_ADD,
    Ci,
    asked,
    failed,
    last_answer,
    store,
    the_merge_request,
)

# Defect 3: what was done is known under the next command


@pytest.mark.long
def test_status_explain_and_retry_answer_from_what_other_runs_of_the_ci_did(ci: Ci) -> None:
    number, job = asked(ci)
    assert ci.write(number, "/optimize status") == []
    assert f"`{job.run}` | `{OPERATOR_PATH}` | running" in last_answer(ci, number)
    ci.report(job, result())
    ci.write(number, "/optimize status")
    ours = the_merge_request(ci)
    assert "done" in last_answer(ci, number)
    assert f"merge request {ours.number}" in last_answer(ci, number)
    ci.write(number, f"/optimize explain {job.run}")
    assert "| trial | stage |" in last_answer(ci, number)
    ci.write(number, "/optimize retry")
    assert "No run here failed or was cancelled." in last_answer(ci, number)
    assert ci.write(number, "/optimize op=scale_add") == []
    assert "has optimized these sources already" in last_answer(ci, number)


def test_what_is_cancelled_is_not_handed_in_and_can_be_retried(ci: Ci) -> None:
    number, job = asked(ci)
    assert ci.write(number, "/optimize cancel") == []
    assert "cancelled" in ci.answers(number)
    assert "is cancelled already" in ci.report(job, result())[0]
    assert ci.ops.bot.merge_requests("all", "optimize/") == []
    assert [j.key for j in ci.write(number, "/optimize retry")] == [job.key]
    ci.report(job, result())
    assert the_merge_request(ci).target_branch == "feature"


def test_the_plan_of_a_retried_job_holds_its_commits(ci: Ci) -> None:
    number, job = asked(ci)
    ci.report(job)
    ci.write(number, f"/optimize retry {job.run}")
    ((again, place),) = planned(ci.out)
    assert again == job
    assert (place / "commits.pack").stat().st_size > 0


# Defect 7: a failed job can be retried from anywhere, one of a push too


def test_a_failed_job_of_a_push_is_retried_by_its_name(ci: Ci) -> None:
    ci.plan(ci.ops.event(kind="other"))
    (job,) = ci.push({KERNEL: "int kernel = 9;\n"})
    failed(ci, job)
    request = ci.ops.request({"README.md": "anything\n"})
    assert [j.key for j in ci.write(request.number, f"/optimize retry {job.run}")] == [job.key]
    assert f"Queued again: run `{job.run}` of `{job.operator}`." in ci.answers(request.number)


def test_a_job_that_failed_under_another_merge_request_is_retried_as_the_answer_says(
    ci: Ci,
) -> None:
    kernel = {KERNEL: "int kernel = 9;\n"}
    first = ci.ops.request(kernel, branch="shared")
    (job,) = ci.write(first.number, "/optimize")
    failed(ci, job)
    ci.ops.as_user("alice").close(first.number)
    second = ci.ops.as_user("alice").open("Again", "", "shared", "main")
    assert ci.write(second.number, "/optimize") == []
    assert f"Write `/optimize retry {job.run}` to start it again" in last_answer(ci, second.number)
    assert [j.key for j in ci.write(second.number, f"/optimize retry {job.run}")] == [job.key]
    ci.write(second.number, "/optimize retry 0123456789")
    assert "has no run `0123456789`" in last_answer(ci, second.number)


@pytest.mark.long
def test_a_runner_that_dies_is_tried_again_and_then_given_up(ci: Ci) -> None:
    number, job = asked(ci)
    for _ in range(2):
        ci.report(job)
        assert ci.records()[job.key].state == "queued"
        assert "waits for a runner" in ci.answers(number)
        _later(ci, job)
        assert [j.key for j in ci.follow_up()] == [job.key]
    ci.report(job)
    assert ci.records()[job.key].state == "failed"
    assert f"`/optimize retry {job.run}`" in ci.answers(number)


def _later(ci: Ci, job: Job, **standing: object) -> None:
    """As if the pause of a job were over, or what `standing` says."""
    with state_of(ci.connection()) as state:
        record = ci.records()[job.key]
        over = {"not_before": 0.0, **standing}
        state.change(lambda queue: queue.keep(record.model_copy(update=over), ""))


def test_a_run_of_the_ci_that_never_reports_loses_nothing(ci: Ci) -> None:
    _, job = asked(ci)
    assert ci.follow_up() == []
    with state_of(ci.connection()) as state:
        lost = ci.records()[job.key].model_copy(update={"lease_until": time.time() - 1})
        state.change(lambda queue: queue.keep(lost, "ci"))
    assert [j.key for j in ci.follow_up()] == [job.key]


# Defect 6: a person's "no" survives a rebase


@pytest.mark.long
def test_a_no_to_a_rebased_merge_request_is_remembered(ci: Ci) -> None:
    ci.plan(ci.ops.event(kind="other"))
    number, job = asked(ci)
    ci.report(job, result())
    ours = the_merge_request(ci)
    git(ci.ops.checkout, "checkout", "-q", "feature")
    kernel = ci.ops.checkout / SCALE_ADD
    kernel.write_text(kernel.read_text() + "// more\n")
    git(ci.ops.checkout, "commit", "-q", "-a", "-m", "More")
    git(ci.ops.checkout, "push", "-q", "origin", "feature")
    (verify,) = (job for job in ci.follow_up() if job.kind == "verify")
    assert verify.patch_of == ours.number
    base = {**result().base_hashes}
    moved = _hashed(kernel)
    base["op_kernel/scale_add.cpp"] = moved
    ci.report(verify, result(), base_hashes=base)
    assert the_merge_request(ci).head != ours.head
    ci.ops.as_user("alice").close(ours.number)
    (again,) = ci.write(number, "/optimize op=scale_add")
    (said,) = ci.report(again, result(), base_hashes=base)
    assert f"Merge request {ours.number} for these sources was closed" in said
    assert ci.ops.bot.merge_requests("open", "optimize/") == []


def _hashed(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


# Daily limits


def test_the_daily_limit_counts_what_other_runs_of_the_ci_opened(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "limits: {daily_merge_requests: 1}\n"})
    number, job = asked(ci)
    ci.report(job, result())
    ci.ops.as_user("alice").close(the_merge_request(ci).number)
    (other,) = ci.write(number, "/optimize op=scale_add stage=kernel")
    (said,) = ci.report(other, result())
    assert "the limit for one day is reached (1 opened)" in said


def test_a_result_that_meets_a_limit_is_kept_and_proposed_when_there_is_a_place(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "limits: {open_merge_requests: 0}\n"})
    number, job = asked(ci)
    (said,) = ci.report(job, result())
    assert "The bot proposes this result when one is closed" in said
    assert ci.records()[job.key].state == "waiting"
    assert ci.follow_up() == [] and not ci.ops.bot.merge_requests("open", "optimize/")
    ci.ops.commit("main", {".ascendopt.yml": "limits: {open_merge_requests: 1}\n"})
    ci.follow_up()
    record = ci.records()[job.key]
    assert (record.state, record.merge_request) == ("done", the_merge_request(ci).number)
    assert record.speedup == 2.0
    assert f"!{record.merge_request}" in ci.answers(number) or "was opened" in ci.answers(number)


@pytest.mark.long
def test_of_the_results_that_wait_the_largest_gain_goes_first_and_limits_hold(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "limits: {open_merge_requests: 0}\n"})
    request = ci.ops.request({"README.md": "about scale_add\n"})
    waiting = {}
    for stage, gain in (("tiling", 1.3), ("kernel", 1.6), ("both", 1.4)):
        (job,) = ci.write(request.number, f"/optimize op=scale_add stage={stage}")
        ci.report(job, result(), speedup=gain)
        waiting[gain] = job.key
    assert {r.state for r in ci.records().values()} == {"waiting"}
    ci.ops.commit("main", {".ascendopt.yml": "limits: {open_merge_requests: 1}\n"})
    ci.follow_up()
    states = {gain: ci.records()[key].state for gain, key in waiting.items()}
    assert states == {1.6: "done", 1.3: "waiting", 1.4: "waiting"}


# Defect 4: nothing is dropped


def test_two_commands_at_once_start_their_work_once_each(ci: Ci) -> None:
    """Both plan from the same state; the second to push reads it again."""
    request = ci.ops.request({"README.md": "about scale_add\n"})
    first, second = (
        ci.ops.as_user("alice").comment(request.number, "/optimize op=scale_add") for _ in "12"
    )
    events = [
        ci.ops.event(kind="comment", action="created", number=request.number, comment_id=c.id)
        for c in (first, second)
    ]
    seen: list[list[Job]] = []
    connection = ci.connection()
    push = ci.ops.bot.push

    def overtaken(*words: Any) -> None:
        if not seen:
            seen.append([])
            seen[0] = Ci(operator_view(ci.ops)).plan(events[1])
        push(*words)

    ci.ops.bot.push = overtaken  # type: ignore[method-assign]
    late = plan_event(events[0], connection, ci.ops.folder / "late")
    assert ([j.run for j in late], len(seen[0])) == ([], 1)
    assert len(ci.records()) == 1


def operator_view(ops: Repository) -> Repository:
    """The same repository, for a run of the CI beside another."""
    return Repository(
        ops.folder / "beside", type(ops.bot)(ops.folder / "ops.git"), ops.checkout, ops.queue
    )


def test_a_push_whose_run_of_the_ci_was_lost_is_planned_with_the_next(ci: Ci) -> None:
    ci.plan(ci.ops.event(kind="other"))
    ci.pushed({KERNEL: "int kernel = 9;\n"})  # cancelled by the forge, say
    jobs = ci.push({"src/math/shift/op_kernel/shift.cpp": "int kernel = 9;\n"})
    assert sorted(j.operator for j in jobs) == ["src/math/scale", "src/math/shift"]


def test_comments_and_pushes_that_no_run_handled_are_found_by_the_follow_up_once(ci: Ci) -> None:
    request = ci.ops.request({"README.md": "about scale_add\n"})
    ci.follow_up()
    ci.ops.as_user("alice").comment(request.number, "/optimize op=scale_add")
    ci.pushed({KERNEL: "int kernel = 9;\n"})
    assert sorted(j.operator for j in ci.follow_up()) == ["src/math/scale", OPERATOR_PATH]
    assert ci.follow_up() == []


def test_a_command_that_was_handled_is_not_found_again_by_the_follow_up(ci: Ci) -> None:
    number, _ = asked(ci)
    ci.write(number, "/optimize cancel")
    (job,) = ci.write(number, "/optimize retry")
    assert ci.follow_up() == []
    assert ci.records()[job.key].state == "running"


def _away(*words: object, **more: object) -> None:
    raise ForgeError("The forge is out of order.", "unavailable", retry_after=300.0)


@pytest.mark.long
def test_what_was_found_outlives_an_outage_that_its_report_met_and_is_not_searched_again(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job = asked(ci)
    with monkeypatch.context() as patch:
        patch.setattr(ci_mode, "hand_in", _away)
        with pytest.raises(ForgeError, match="out of order"):
            ci.report(job, result())
        for _ in range(ATTEMPTS + 1):
            before = time.time()
            _later(ci, job)
            assert ci.follow_up() == []
            assert ci.records()[job.key].not_before >= before + 300
    assert ci.follow_up() == [] and ci.records()[job.key].state == "queued", "the forge said when"
    _later(ci, job)
    assert ci.follow_up() == []
    assert ci.records()[job.key].merge_request == the_merge_request(ci).number


def test_what_the_forge_refuses_each_time_is_given_up_and_said_to_be_so(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, job = asked(ci)

    def refuse(*words: object) -> None:
        raise ForgeError("The forge says no.", "refused")

    monkeypatch.setattr(ci_mode, "hand_in", refuse)
    with pytest.raises(ForgeError, match="says no"):
        ci.report(job, result())
    for _ in range(ATTEMPTS - 1):
        assert "`/optimize retry" not in ci.answers(number)
        _later(ci, job)
        assert ci.follow_up() == []
    assert "The forge says no." in ci.answers(number)
    assert f"`/optimize retry {job.run}`" in ci.answers(number)


def test_a_right_that_is_missing_ends_in_a_comment_that_names_it_and_can_be_retried(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, job = asked(ci)

    def refuse(*words: object, **more: object) -> None:
        raise ForgeError("GitHub Actions is not permitted to create pull requests.", "forbidden")

    with monkeypatch.context() as patch:
        patch.setattr(LocalForge, "open", refuse)
        ci.report(job, result())
    assert ci.records()[job.key].state == "failed"
    said = ci.answers(number)
    assert (
        f"is not permitted to create pull requests. Missing permission: {FORGES['local'].right}."
        in said
    )
    assert "left no result" not in said
    assert ci.write(number, f"/optimize retry {job.run}") == [], "what was found is kept"
    assert ci.records()[job.key].merge_request == the_merge_request(ci).number


@pytest.mark.parametrize("branch", ["optimize", "optimize/scale_add"])
def test_a_branch_in_the_way_is_named_before_a_search_is_paid_for(ci: Ci, branch: str) -> None:
    request = ci.ops.request({"README.md": "about scale_add\n"})
    git(ci.ops.checkout, "push", "-q", "origin", f"main:refs/heads/{branch}")
    assert ci.write(request.number, "/optimize op=scale_add") == []
    words = ci.answers(request.number).replace("\\", "")
    assert f"A branch is named '{branch}'" in words
    git(ci.ops.checkout, "push", "-q", "origin", f":refs/heads/{branch}")
    assert len(ci.write(request.number, "/optimize retry")) == 1


class _ReadsOnly(BaseHTTPRequestHandler):
    """Takes no push."""

    def do_GET(self) -> None:
        self.send_error(403)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_token_that_may_not_push_is_told_before_a_search_is_paid_for(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, job = asked(ci)
    with ThreadingHTTPServer(("127.0.0.1", 0), _ReadsOnly) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection, home = ci.connection(), ci.ops.bot.repository()
        connection.mirror.ensure(connection.forge, job.source_ref, job.source_commit)
        url = f"http://127.0.0.1:{server.server_port}/team/ops.git"
        far = home.model_copy(update={"push_url": url})
        monkeypatch.setattr(LocalForge, "repository", lambda forge: far)
        with pytest.raises(NotAllowed, match=r"403.*Missing permission: write or admin"):
            refuse_in_vain(job, connection)
        refuse_in_vain(job.model_copy(update={"dry_run": True}), connection)
        server.shutdown()


def test_a_kept_result_that_is_not_of_its_job_is_reported_once_and_searched_again(ci: Ci) -> None:
    number, job = asked(ci)
    failed(ci, job)
    made = result(run="another", base_commit=job.source_commit).model_dump_json()
    store(ci.ops, {f"results/{job.key}.json": made})
    assert ci.write(number, f"/optimize retry {job.run}") == []
    assert "The result is not of this job" in ci.answers(number)
    assert [j.key for j in ci.write(number, f"/optimize retry {job.run}")] == [job.key]


def test_an_event_outlives_an_outage_of_the_forge_and_waits_as_long_as_it_asks(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, _ = asked(ci)
    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr(ci_mode, "plan", _away)
        with pytest.raises(InputError, match="out of order. The event is kept"):
            ci.write(number, "/optimize op=scale")
    assert ci.plan(ci.ops.event(kind="other")) == []
    monkeypatch.setattr(ci_mode.time, "time", lambda: now + 400)
    assert [j.operator for j in ci.plan(ci.ops.event(kind="other"))] == ["src/math/scale"]


def test_a_comment_that_is_no_command_stores_nothing(ci: Ci) -> None:
    number, _ = asked(ci)
    before = ci.ops.bot.branch_head(STATE_BRANCH)
    ci.plan(ci.ops.event(kind="comment", action="created", number=number, text="Nice work!"))
    assert ci.ops.bot.branch_head(STATE_BRANCH) == before


def test_a_comment_that_is_no_command_fetches_no_sources(ci: Ci) -> None:
    number, _ = asked(ci)  # runs
    connection = ci.connection()
    event = ci.ops.event(kind="comment", action="created", number=number, text="Nice work!")
    assert plan_event(event, connection, ci.ops.folder / "plan") == []
    assert connection.mirror.git.commit(ci.ops.bot.branch_head("main")) is None


# Time


def test_the_jobs_of_one_run_of_the_ci_share_its_time(ci: Ci) -> None:
    _, job = asked(ci)
    assert job.within(None, 5).wall_minutes == 120
    assert job.within(60 * 60 * 10, 1).wall_minutes == 120
    share = job.within(60 * 100, 5).wall_minutes
    assert share * 5 < 100
    assert job.within(-5, 1).wall_minutes > 0


def test_a_result_that_is_a_link_is_none(ci: Ci) -> None:
    number, job = asked(ci)
    results, theirs = ci.ops.folder / "results", ci.ops.folder / "theirs"
    result_file(theirs).parent.mkdir()
    made = result(run=job.run, base_commit=job.source_commit)
    result_file(theirs).write_text(made.model_dump_json())
    results.mkdir()
    (results / job.key).symlink_to(theirs)
    report(ci.connection(), [job], results)
    assert not [m for m in ci.ops.bot.merge_requests() if m.number != number]
