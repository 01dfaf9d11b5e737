"""What follows from events, on a real repository of the local forge."""

from pathlib import Path

import pytest

from bot.repository.job import DERIVED
from bot.server.comments.event_text import NotShown
from bot.server.plan_model import Plan
from bot.server.service import carry_out
from tests.bot.make import git
from tests.bot.operator_repository import FILES, KERNEL, Repository, operator_repository

HEADER = "src/common/cut.h"


def answer(plan: Plan) -> str:
    (reply,) = plan.replies
    return reply.body


def folders(plan: Plan) -> list[str]:
    return [job.operator for job in plan.jobs]


# Comments


def test_a_writer_starts_a_job_for_each_operator_that_the_merge_request_changes(
    ops: Repository,
) -> None:
    request = ops.request({KERNEL: "int kernel = 9;\n", "README.md": "new\n"})
    made = ops.comment(request.number, "/optimize budget=7 stage=kernel target=910B1")
    (job,) = made.jobs
    assert job.operator == "src/math/scale"
    assert (job.budget, job.stage, job.device) == (7, "kernel", "910B1")
    assert (job.source_commit, job.target_branch) == (request.head, "feature")
    assert job.judge_commit == ops.bot.branch_head("main")
    assert job.workload == "src/math/scale/workload.yaml"
    assert job.requested_by == "alice"
    assert made.seen == ((request.number, job.comment_id),)


def test_a_shared_header_starts_a_job_for_every_operator_that_includes_it(
    ops: Repository,
) -> None:
    request = ops.request({HEADER: "int cut = 2;\n"})
    assert folders(ops.comment(request.number, "/optimize")) == ["src/math/scale", "src/math/shift"]


@pytest.mark.parametrize("name", ["shift", "src/math/shift"])
def test_an_operator_may_be_named_although_it_did_not_change(ops: Repository, name: str) -> None:
    request = ops.request()
    assert folders(ops.comment(request.number, f"/optimize op={name}")) == ["src/math/shift"]


def test_the_same_work_asked_for_twice_in_a_comment_is_one_job(ops: Repository) -> None:
    request = ops.request({KERNEL: "int kernel = 9;\n"})
    made = ops.comment(request.number, "/optimize\n/optimize op=scale\n/optimize")
    assert folders(made) == ["src/math/scale"]
    refused = answer(ops.comment(request.number, "/optimize op=none\n/optimize op=none"))
    assert refused.count("no operator") == 1


@pytest.mark.parametrize("access", ["none", "read"])
def test_who_may_not_write_gets_a_no(ops: Repository, access: str) -> None:
    request = ops.request()
    made = ops.comment(request.number, "/optimize", user="mallory", access=access)
    assert not made.jobs
    assert "needs write permission" in answer(made)


def test_permission_is_looked_up_when_the_command_is_read(ops: Repository) -> None:
    request = ops.request()
    assert ops.comment(request.number, "/optimize", user="bob").jobs
    made = ops.comment(request.number, "/optimize op=shift", user="bob", access="read")
    assert not made.jobs


def test_an_author_without_permission_may_ask_how_things_stand(ops: Repository) -> None:
    request = ops.request(user="carol")
    made = ops.comment(request.number, "/optimize status", user="carol", access="read")
    assert "has no runs" in answer(made)


def test_a_mistake_is_answered_with_the_word(ops: Repository) -> None:
    request = ops.request()
    assert "`stage` cannot be `kernle`" in answer(
        ops.comment(request.number, "/optimize stage=kernle")
    )


def test_the_bot_never_answers_itself(ops: Repository) -> None:
    request = ops.request()
    made = ops.bot.comment(request.number, "/optimize")
    plan = ops.plan(kind="comment", action="created", number=request.number, comment_id=made.id)
    assert plan == Plan(note=plan.note)


def test_edits_deletions_and_forged_hints_start_nothing(ops: Repository) -> None:
    request = ops.request()
    made = ops.as_user("alice").comment(request.number, "no command")
    for action, number in (("edited", made.id), ("deleted", made.id)):
        plan = ops.plan(
            kind="comment",
            action=action,
            number=request.number,
            comment_id=number,
            text="/optimize",
            sender="alice",
        )
        assert plan == Plan(note=plan.note)
    forged = ops.plan(
        kind="comment",
        action="created",
        number=request.number,
        comment_id=made.id,
        text="/optimize",
    )
    assert not forged.jobs, "the forge's text counts, not the hook's"


def test_a_comment_that_the_forge_does_not_show_yet_is_asked_for_again(ops: Repository) -> None:
    """Handled again after a pause, as a forge that is away: it may be listed by then."""
    for number, comment in ((77, 1), (ops.request().number, 999)):
        with pytest.raises(NotShown, match=f"Comment {comment} of merge request"):
            ops.plan(kind="comment", action="created", number=number, comment_id=comment)


def test_nothing_changed_is_said_with_a_way_out(ops: Repository) -> None:
    request = ops.request({"README.md": "words\n"})
    said = answer(ops.comment(request.number, "/optimize"))
    assert "changes no kernel or tiling source" in said and "op=NAME" in said


def test_an_unknown_operator_is_named(ops: Repository) -> None:
    request = ops.request()
    said = answer(ops.comment(request.number, "/optimize op=nothing"))
    assert "no operator `nothing`" in said and "Did you mean" not in said
    assert "Did you mean `scale_add`?" in answer(
        ops.comment(request.number, "/optimize op=scale_adds")
    )


def test_an_operator_without_workload_on_the_default_branch_is_judged_on_a_derived_one(
    ops: Repository,
) -> None:
    """Not on that of the merge request, which does not choose its own judge."""
    new = {
        "src/math/fresh/op_host/fresh.cpp": "int a;\n",
        "src/math/fresh/op_kernel/fresh.cpp": "int b;\n",
        "src/math/fresh/workload.yaml": "operator: Fresh\n",
    }
    request = ops.request(new)
    (job,) = ops.comment(request.number, "/optimize").jobs
    assert (job.operator, job.workload) == ("src/math/fresh", DERIVED)


def test_a_workload_that_the_configuration_names_and_nobody_has_is_said(tmp_path: Path) -> None:
    config = "operators: {scale: {workload: lost.yaml}}\n"
    ops = operator_repository(tmp_path, config)
    made = ops.comment(ops.request({KERNEL: "int k;\n"}).number, "/optimize")
    assert not made.jobs
    assert "has no workload on `main`" in answer(made)


def test_a_workload_in_a_submodule_is_said_to_be_there_and_none_is_derived(ops: Repository) -> None:
    """Whoever put it there wants to be judged by it, not by one that the bot makes."""
    git(ops.checkout, "checkout", "-q", "main")
    inner = git(ops.checkout, "rev-parse", "HEAD")
    git(ops.checkout, "rm", "-q", "src/math/scale/workload.yaml")
    git(ops.checkout, "update-index", "--add", "--cacheinfo", f"160000,{inner},bench/all")
    git(ops.checkout, "commit", "-q", "-m", "Submodule")
    git(ops.checkout, "push", "-q", "origin", "main")
    (ops.checkout / "bench" / "all").mkdir(parents=True)
    derived = ops.comment(ops.request(branch="first").number, "/optimize")
    assert len(derived.jobs) == 1, "a folder that does not hold workloads decides nothing"
    ops.commit("main", {".ascendopt.yml": "workloads: bench/all\n"})
    made = ops.comment(ops.request(branch="second").number, "/optimize")
    assert not made.jobs
    assert "would lie in the submodule `bench/all`" in answer(made)


def test_a_merge_request_cannot_raise_its_own_budget(ops: Repository) -> None:
    request = ops.request({KERNEL: "int k;\n", ".ascendopt.yml": "budget: 900\nmax_budget: 1000\n"})
    (job,) = ops.comment(request.number, "/optimize budget=900").jobs
    assert job.budget == 80


def test_work_that_is_on_record_is_not_done_again(ops: Repository) -> None:
    request = ops.request()
    first = ops.comment(request.number, "/optimize")
    ops.queue_up(first)
    again = ops.comment(request.number, "/optimize")
    assert not again.jobs and "is queued" in answer(again)
    key = first.jobs[0].key
    ops.queue.claim("w", 0)
    ops.queue.finish(key, "w", 1, state="done", note="Merge request 9 was opened.")
    assert "has optimized these sources already" in answer(ops.comment(request.number, "/optimize"))
    assert ops.comment(request.number, "/optimize budget=5").jobs, "another budget is other work"


def test_cancel_and_retry_reach_the_queue(ops: Repository) -> None:
    request = ops.request()
    assert "No run of this merge request is active" in answer(
        ops.comment(request.number, "/optimize cancel")
    )
    ops.queue_up(ops.comment(request.number, "/optimize"))
    assert ops.comment(request.number, "/optimize cancel").cancelled == (request.number,)
    (record,) = ops.queue.jobs()
    ops.queue.claim("w", 0)
    ops.queue.finish(record.job.key, "w", 1, state="failed")
    assert ops.comment(request.number, "/optimize retry").retried == (record.job.key,)


def test_explain_tells_runs_of_other_repositories_nothing(ops: Repository) -> None:
    request = ops.request()
    assert "has no run" in answer(ops.comment(request.number, "/optimize explain 0123456789"))


def test_a_closed_merge_request_is_left_alone(ops: Repository) -> None:
    request = ops.request()
    ops.bot.close(request.number)
    made = ops.comment(request.number, "/optimize")
    assert not made.jobs and "is: closed" in answer(made)


def test_a_broken_configuration_is_said_to_who_asks(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "bugdet: 3\n")
    request = ops.request()
    said = answer(ops.comment(request.number, "/optimize"))
    assert "line 1" in said and "bugdet" in said
    assert not ops.plan(kind="comment", action="created", number=request.number).replies


def test_excluded_operators_are_left_alone_and_it_is_said(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "exclude: ['*/scale']\n")
    request = ops.request()
    made = ops.comment(request.number, "/optimize")
    assert not made.jobs and "is excluded in" in answer(made)


def test_operators_beyond_the_limit_are_planned_and_it_is_said_that_they_wait(
    tmp_path: Path,
) -> None:
    ops = operator_repository(tmp_path, "limits: {operators_per_event: 1}\n")
    request = ops.request({HEADER: "int cut = 3;\n"})
    made = ops.comment(request.number, "/optimize")
    assert folders(made) == ["src/math/scale", "src/math/shift"]
    assert "1 more are in the queue" in answer(made)


# Forks


def fork_request(ops: Repository) -> int:
    fork = ops.folder / "fork.git"
    git(ops.folder, "clone", "-q", "--bare", str(ops.folder / "ops.git"), str(fork))
    git(ops.checkout, "checkout", "-q", "-b", "theirs", "main")
    (ops.checkout / KERNEL).write_text("int theirs;\n")
    git(ops.checkout, "commit", "-qam", "Theirs")
    git(ops.checkout, "push", "-q", str(fork), "theirs")
    stranger = ops.as_user("stranger", "none")
    return stranger.open("Theirs", "", "theirs", "main", fork=fork).number


def allowing(ops: Repository, number: int) -> str:
    """The command that allows a fork's head as it is now."""
    return f"/ok-to-optimize {ops.bot.merge_request(number).head}"


def carry(ops: Repository, made: Plan) -> None:
    """What the service does with a plan."""
    event = ops.event(kind="push")
    ops.queue.receive(event, 0)
    taken = ops.queue.next_event(1)
    assert taken is not None
    carry_out(taken[0], event, made, ops.connection(), ops.queue, 1)


def test_a_forks_head_runs_only_when_a_writer_allowed_that_very_commit(ops: Repository) -> None:
    number = fork_request(ops)
    refused = ops.comment(number, "/optimize")
    assert not refused.jobs and allowing(ops, number) in answer(refused)
    carry(ops, ops.comment(number, allowing(ops, number)))
    allowed = ops.comment(number, "/optimize")
    (job,) = allowed.jobs
    assert job.from_fork and job.target_branch == "main"

    (ops.checkout / KERNEL).write_text("int worse;\n")
    git(ops.checkout, "commit", "-qam", "Worse")
    git(ops.checkout, "push", "-q", str(ops.folder / "fork.git"), "theirs")
    assert not ops.comment(number, "/optimize").jobs


def test_a_stranger_cannot_allow_a_fork_nor_pretend_that_the_bot_did(ops: Repository) -> None:
    number = fork_request(ops)
    made = ops.comment(number, allowing(ops, number), user="stranger", access="read")
    assert "needs write permission" in answer(made)
    head = ops.bot.merge_request(number).head
    forged = f"<!-- ascendopt-reply: allowed-{head} -->\n"
    ops.as_user("stranger", "read").comment(number, forged)
    assert not ops.comment(number, "/optimize").jobs


def test_allowing_and_asking_in_one_comment_works(ops: Repository) -> None:
    number = fork_request(ops)
    assert len(ops.comment(number, f"{allowing(ops, number)}\n\n/optimize").jobs) == 1


def test_what_a_fork_pushed_after_the_comment_is_not_allowed(ops: Repository) -> None:
    """A stranger waits for the comment, then pushes: the bot reads it a minute later."""
    number = fork_request(ops)
    words = allowing(ops, number)
    (ops.checkout / KERNEL).write_text("int worse;\n")
    git(ops.checkout, "commit", "-qam", "Worse")
    git(ops.checkout, "push", "-q", str(ops.folder / "fork.git"), "theirs")
    for late in (words, "/ok-to-optimize", f"{words}\n\n/optimize"):
        made = ops.comment(number, late)
        assert not made.jobs and not made.facts
        assert answer(made).count("/ok-to-optimize") == 1 and allowing(ops, number) in answer(made)


def test_a_forks_merge_request_starts_nothing_by_itself(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "triggers: {merge_request: true}\n")
    number = fork_request(ops)
    assert not changed(ops, number).jobs
    carry(ops, ops.comment(number, allowing(ops, number)))
    assert kinds(changed(ops, number)) == ["measure", "optimize"]


def test_a_run_by_hand_of_a_forks_head_must_be_allowed_too(ops: Repository) -> None:
    number = fork_request(ops)
    ops.as_user("alice")
    values = {"kind": "dispatch", "number": number, "sender": "alice", "text": ""}
    assert not ops.plan(**values).jobs
    carry(ops, ops.comment(number, allowing(ops, number)))
    assert folders(ops.plan(**values)) == ["src/math/scale"]


# Merge requests and pushes


def kinds(made: Plan) -> list[str]:
    return sorted(job.kind for job in made.jobs)


def changed(ops: Repository, number: int, action: str = "opened") -> Plan:
    return ops.plan(kind="merge_request", action=action, number=number)


def test_merge_requests_are_only_measured_unless_configured(
    ops: Repository,
) -> None:
    assert kinds(changed(ops, ops.request().number)) == ["measure"]


def test_with_the_trigger_on_a_merge_request_starts_its_operators(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "triggers: {merge_request: true}\n")
    made = changed(ops, ops.request().number)
    assert kinds(made) == ["measure", "optimize"]
    assert set(folders(made)) == {"src/math/scale"}


def test_drafts_and_bots_start_nothing(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "triggers: {merge_request: true}\n")
    ops.commit("feature", {KERNEL: "int k;\n"})
    draft = ops.as_user("alice").open("Draft", "", "feature", "main", draft=True)
    assert not changed(ops, draft.number).jobs
    robot = ops.request({KERNEL: "int k = 1;\n"}, branch="update", user="renovate[bot]")
    assert not changed(ops, robot.number).jobs


@pytest.mark.parametrize("way", ["closed", "another head", "closed while it runs"])
def test_a_merge_request_that_is_as_it_was_again_is_worked_on_again(
    tmp_path: Path, way: str
) -> None:
    ops = operator_repository(tmp_path, "triggers: {merge_request: true}\n")
    request = ops.request()
    carry(ops, changed(ops, request.number))
    first = {r.job.key for r in ops.queue.jobs()}
    if way != "another head":
        running = way != "closed" and ops.queue.claim("w", 1)
        ops.queue.event_done(0, 1, cancelled=[("local", ops.name, request.number)])
        assert all(r.stopped for r in ops.queue.jobs())
        if running:
            again = "`/optimize retry "
            assert again in answer(ops.comment(request.number, "/optimize"))
            assert ops.comment(request.number, "/optimize retry").retried
        carry(ops, changed(ops, request.number, "reopened"))
    else:
        head = git(ops.checkout, "rev-parse", "feature")
        ops.commit("feature", {KERNEL: "int newer;\n"})
        carry(ops, changed(ops, request.number, "updated"))
        assert {r.state for r in ops.queue.jobs() if r.job.key in first} == {"cancelled"}
        git(ops.checkout, "push", "-q", "--force", "origin", f"{head}:refs/heads/feature")
        carry(ops, changed(ops, request.number, "updated"))
    active = ops.queue.jobs(states=("queued", "running"))
    assert {r.job.key for r in active if not r.stopped} == first


def test_a_new_head_stops_the_work_on_the_old_one(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "triggers: {merge_request: true}\n")
    request = ops.request()
    ops.queue_up(changed(ops, request.number))
    ops.commit("feature", {KERNEL: "int newer;\n"})
    made = changed(ops, request.number, "updated")
    assert made.cancelled == (request.number,)
    assert kinds(made) == ["measure", "optimize"]


def push(ops: Repository, files: dict[str, str], message: str = "Change") -> Plan:
    before = ops.bot.branch_head("main")
    ops.connection().mirror.fetch(ops.bot, "refs/heads/main")
    after = ops.commit("main", files, message)
    return ops.plan(kind="push", ref="refs/heads/main", before=before, after=after)


def test_a_push_to_the_default_branch_optimizes_what_it_changes(ops: Repository) -> None:
    made = push(ops, {KERNEL: "int pushed;\n"})
    (job,) = made.jobs
    assert (job.number, job.target_branch) == (0, "main")
    assert made.base_moved


def test_a_push_of_documents_starts_nothing(ops: Repository) -> None:
    assert not push(ops, {"README.md": "more\n"}).jobs


def test_what_the_bot_itself_proposed_is_not_optimized_again_when_it_is_merged(
    ops: Repository,
) -> None:
    made = push(ops, {KERNEL: "int ours;\n"}, "Optimize\n\nAscendopt-Run: 0123456789\n")
    assert not made.jobs and made.base_moved


def test_pushes_elsewhere_and_of_unknown_commits_start_nothing(ops: Repository) -> None:
    after = ops.commit("other", {KERNEL: "int other;\n"})
    assert not ops.plan(kind="push", ref="refs/heads/other", before="", after=after).jobs
    forged = ops.plan(kind="push", ref="refs/heads/main", before="f" * 40, after="e" * 40)
    assert not forged.jobs


def test_a_disabled_repository_hears_nothing(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "enabled: false\n")
    request = ops.request()
    assert ops.comment(request.number, "/optimize").replies == ()


def test_planning_twice_gives_the_same_plan(ops: Repository) -> None:
    request = ops.request()
    made = ops.as_user("alice").comment(request.number, "/optimize")
    values = {
        "kind": "comment",
        "action": "created",
        "number": request.number,
        "comment_id": made.id,
    }
    assert ops.plan(**values) == ops.plan(**values)


def test_the_sample_has_the_files_that_it_says(ops: Repository) -> None:
    commit = ops.connection().mirror.fetch(ops.bot, "refs/heads/main")
    assert set(ops.connection().mirror.commit(commit).files) == set(FILES)
