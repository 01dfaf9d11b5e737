"""The bot in CI remembers: each step is a run of the CI of its own, with nothing but the forge.

The forge is a real bare repository; results are made up, as in test_delivery.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from bot.events.model import Event
from bot.forge.base import ForgeError
from bot.forge.model import MergeRequest
from bot.repository.commit_pack import PACK, read_pack
from bot.repository.job import Job, Record
from bot.server import ci_mode
from bot.server.ci_mode import plan_event, plan_follow_up, report, state_of
from bot.server.nightly import refresh_bank
from bot.server.plan_folder import Tip, bank_of, planned, tip_of
from bot.server.run_folder import FAILURE, Failure
from bot.server.run_job import result_file
from bot.server.state_branch import BANK, KEEP_ENDED, STATE_BRANCH
from ci.model.errors import InputError
from ci.model.result import Result
from experience.bank.bank import Bank
from experience.bank.exchange import SHIPPED
from experience.bank.retrieve import Query
from tests.bot.make import OPERATOR_PATH, git, result
from tests.bot.operator_repository import KERNEL, Repository

SCALE_ADD = f"{OPERATOR_PATH}/op_kernel/scale_add.cpp"


class Ci:
    """Runs of the CI of one repository, each with a fresh folder and a fresh mirror."""

    def __init__(self, ops: Repository) -> None:
        self.ops = ops
        self.runs = 0

    def _folder(self) -> Path:
        self.runs += 1
        return self.ops.folder / f"ci-{self.runs}"

    def plan(self, event: Event) -> list[Job]:
        self.out = self._folder()
        return plan_event(event, self.connection(), self.out)

    def connection(self) -> Any:
        found = self.ops.connection()
        return type(found).mirrored("local", self.ops.name, self.ops.bot, self._folder())

    def follow_up(self) -> list[Job]:
        self.out = self._folder()
        return plan_follow_up(self.connection(), self.out)

    def write(self, number: int, text: str) -> list[Job]:
        """Alice writes a comment, and the CI plans what follows."""
        made = self.ops.as_user("alice").comment(number, text)
        return self.plan(
            self.ops.event(
                kind="comment", action="created", number=number, comment_id=made.id, text=text
            )
        )

    def push(self, files: dict[str, str]) -> list[Job]:
        """Alice pushes to the default branch, and the CI plans what follows."""
        return self.plan(self.pushed(files))

    def pushed(self, files: dict[str, str]) -> Event:
        before = git(self.ops.checkout, "rev-parse", "main")
        after = self.ops.commit("main", files)
        return self.ops.event(kind="push", ref="refs/heads/main", before=before, after=after)

    def report(self, job: Job, made: Result | None = None, **changed: object) -> list[str]:
        """The run left a result, and the CI reports it."""
        results = self._folder()
        if made is not None:
            told = {"run": job.run, "base_commit": job.source_commit, **changed}
            result_file(results / job.key).parent.mkdir(parents=True)
            text = made.model_copy(update=told).model_dump_json()
            result_file(results / job.key).write_text(text)
        return report(self.connection(), [job], results)

    def answers(self, number: int) -> str:
        return "\n".join(c.body for c in self.ops.bot.comments(number) if c.author == "ascendopt")

    def records(self) -> dict[str, Record]:
        with state_of(self.connection()) as state:
            return {r.job.key: r for r in state.read().jobs(limit=10_000)}


@pytest.fixture
def ci(ops: Repository) -> Ci:
    return Ci(ops)


def asked(ci: Ci) -> tuple[int, Job]:
    """A merge request under which somebody asked for scale_add, and the job of it."""
    request = ci.ops.request({"README.md": "about scale_add\n"})
    (job,) = ci.write(request.number, "/optimize op=scale_add")
    return request.number, job


def last_answer(ci: Ci, number: int) -> str:
    return ci.ops.bot.comments(number)[-1].body


def the_merge_request(ci: Ci) -> MergeRequest:
    (found,) = ci.ops.bot.merge_requests("open", "optimize/")
    return found


# Defect 3: what was done is known under the next command


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
    assert "Nothing failed or was cancelled here." in last_answer(ci, number)
    assert ci.write(number, "/optimize op=scale_add") == []
    assert "these sources were optimized already" in last_answer(ci, number)


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


def failed(ci: Ci, job: Job) -> None:
    """Report that a run failed for a reason that lasts."""
    folder = ci._folder()
    (folder / job.key).mkdir(parents=True)
    left = Failure(sentence="The operator does not build.", lasting=True)
    (folder / job.key / FAILURE).write_text(left.model_dump_json())
    report(ci.connection(), [job], folder)
    assert ci.records()[job.key].state == "failed"


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
    assert f"`/optimize retry {job.run}` starts it again" in last_answer(ci, second.number)
    assert [j.key for j in ci.write(second.number, f"/optimize retry {job.run}")] == [job.key]
    ci.write(second.number, "/optimize retry 0123456789")
    assert "I know no run `0123456789`" in last_answer(ci, second.number)


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
        state.change(lambda queue: queue.keep(record.model_copy(update=standing), ""))


def test_a_run_of_the_ci_that_never_reports_loses_nothing(ci: Ci) -> None:
    _, job = asked(ci)
    assert ci.follow_up() == []
    with state_of(ci.connection()) as state:
        lost = ci.records()[job.key].model_copy(update={"lease_until": time.time() - 1})
        state.change(lambda queue: queue.keep(lost, "ci"))
    assert [j.key for j in ci.follow_up()] == [job.key]


# Defect 6: a person's "no" survives a rebase


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
    (verify,) = ci.follow_up()
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
    assert "1 were opened within a day, which is the limit" in said


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


def test_an_event_outlives_an_outage_of_the_forge(ci: Ci, monkeypatch: pytest.MonkeyPatch) -> None:
    number, _ = asked(ci)
    out = ForgeError("The forge is out of order.", kind="unavailable")

    def away(*words: object) -> None:
        raise out

    with monkeypatch.context() as patch:
        patch.setattr(ci_mode, "plan", away)
        with pytest.raises(InputError, match="out of order. The event is kept"):
            ci.write(number, "/optimize op=scale")
    assert [j.operator for j in ci.plan(ci.ops.event(kind="other"))] == ["src/math/scale"]


def test_a_comment_that_is_no_command_stores_nothing(ci: Ci) -> None:
    number, _ = asked(ci)
    before = ci.ops.bot.branch_head(STATE_BRANCH)
    ci.plan(ci.ops.event(kind="comment", action="created", number=number, text="Nice work!"))
    assert ci.ops.bot.branch_head(STATE_BRANCH) == before


# The branch


def files_of(ops: Repository) -> dict[str, str]:
    git(ops.checkout, "fetch", "-q", "origin", STATE_BRANCH)
    listed = git(ops.checkout, "ls-tree", "-r", "--name-only", "FETCH_HEAD").splitlines()
    return {name: git(ops.checkout, "show", f"FETCH_HEAD:{name}") for name in listed}


def store(ops: Repository, files: dict[str, str]) -> None:
    """Put files on the state branch, as somebody with write access may."""
    git(ops.checkout, "fetch", "-q", "origin", STATE_BRANCH)
    git(ops.checkout, "checkout", "-q", "-f", "FETCH_HEAD")
    for name, text in files.items():
        (ops.checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (ops.checkout / name).write_text(text)
    git(ops.checkout, "add", "-A")
    git(ops.checkout, "commit", "-q", "-m", "Meddle")
    git(ops.checkout, "push", "-q", "--force", "origin", f"HEAD:{STATE_BRANCH}")
    git(ops.checkout, "checkout", "-q", "main")


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


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"job": {}}', "\x00", json.dumps({"state": "done", "created": 1})]
)
def test_what_is_no_record_is_left_out(ci: Ci, text: str) -> None:
    _, job = asked(ci)
    store(ci.ops, {"jobs/aa.json": text, "facts.json": text, "events.json": text, "x": "y"})
    assert set(ci.records()) == {job.key}


def test_records_of_another_repository_are_not_ours(ci: Ci) -> None:
    """A fork has the branch of where it came from."""
    _, job = asked(ci)
    other = ci.records()[job.key].model_copy(
        update={"job": job.model_copy(update={"repository": "up/stream", "key": "a" * 16})}
    )
    store(ci.ops, {f"jobs/{'a' * 16}.json": other.model_dump_json()})
    assert set(ci.records()) == {job.key}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"budget": 900}, "asks for 900 evaluations; 80 are allowed"),
        ({"judge_ref": "refs/heads/feature"}, "What judges it is no longer"),
        ({"workload": "src/math/scale/workload.yaml"}, "What judges it is no longer"),
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
    monkeypatch.setattr("bot.server.state_branch._TRIES", 1)
    hook = ci.ops.folder / "ops.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho protected >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(InputError, match="the token needs write access"):
        ci.plan(ci.ops.event(kind="other"))


# Experience


def test_the_bank_that_refresh_earned_is_in_the_next_plan(ci: Ci, tmp_path: Path) -> None:
    lines = SHIPPED.read_text().splitlines()[:3]
    earned = tmp_path / "earned.jsonl"
    family = "of_this_repository"
    changed = [
        json.loads(line) | {"op_family": family, "id": f"{number:012x}"}
        for number, line in enumerate(lines)
    ]
    earned.write_text("".join(json.dumps(one) + "\n" for one in changed))
    assert "is kept" in report(ci.connection(), [], tmp_path, earned)[0]
    asked(ci)
    assert (ci.out / BANK).read_text() == earned.read_text()
    with bank_of(ci.out) as bank:
        assert bank is not None
        families = [t.op_family for t in Bank(bank).all()]
    assert families.count(family) == 3
    assert len(families) > 3, "the shipped ones are in it too"


def test_what_a_person_merged_is_found_in_the_next_plan_and_nothing_before(ci: Ci) -> None:
    ci.plan(ci.ops.event(kind="other"))
    number, job = asked(ci)
    ci.report(job, result())
    ours = the_merge_request(ci)
    ci.follow_up()
    assert not (ci.out / BANK).exists(), "nobody has merged it yet"

    git(ci.ops.checkout, "fetch", "-q", "origin", ours.source_branch)
    git(ci.ops.checkout, "push", "-q", "origin", "FETCH_HEAD:feature")
    ci.follow_up()
    with bank_of(ci.out) as file:
        assert file is not None
        bank = Bank(file)
        taught = [t for t in bank.all() if t.operator == "scale_add"]
        (won,) = [t for t in taught if t.gained]
        assert (won.title, won.origin) == ("larger tile", f"local {ci.ops.name}")
        found = bank.search(Query(bottleneck=won.bottleneck, classes=won.classes))
        assert won.id in {r.tuple.id for r in found}
    kept = (ci.out / BANK).read_text()
    ci.write(number, "/optimize op=scale_add stage=tiling")
    assert (ci.out / BANK).read_text() == kept, "learnt once, and had by the next run"


def test_experience_that_two_runs_of_the_ci_leave_at_once_is_kept_of_both(
    ci: Ci, tmp_path: Path
) -> None:
    first, second, again = (
        json.dumps(json.loads(line) | {"id": name, "diff_hash": name, "operator": name}) + "\n"
        for line, name in zip(SHIPPED.read_text().splitlines(), ("aa", "bb", "aa"), strict=False)
    )
    with state_of(ci.connection()) as slow:
        slow.read().close()
        for lines in (first, second):
            earned = tmp_path / "earned.jsonl"
            earned.write_text(lines)
            report(ci.connection(), [], tmp_path, earned)
        slow.bank = again
        slow.change(lambda queue: None)
    with state_of(ci.connection()) as state:
        state.read().close()
        assert state.bank == again + second


def test_what_is_no_experience_is_not_kept(ci: Ci, tmp_path: Path) -> None:
    bad = tmp_path / "bank.jsonl"
    bad.write_text('{"title": "x"}\n')
    (said,) = report(ci.connection(), [], tmp_path, bad)
    assert "line 1 is no experience tuple" in said
    assert BANK not in files_of(ci.ops)


def test_the_bank_is_refreshed_once_a_night_with_the_default_branch(ci: Ci) -> None:
    ci.follow_up()
    tip = tip_of(ci.out)
    assert tip == Tip(git(ci.ops.checkout, "rev-parse", "main"))
    assert read_pack(ci.out / "refresh" / PACK, tip, ci.out / "unpacked").is_dir()
    ci.follow_up()
    assert tip_of(ci.out) is None
    ci.ops.commit("main", {".ascendopt.yml": "triggers: {nightly: false}\n"})
    ci.ops.bot.delete_branch(STATE_BRANCH)
    ci.follow_up()
    assert tip_of(ci.out) is None


def test_a_refresh_that_fails_says_so_and_leaves_the_bank_as_it_was(ci: Ci, tmp_path: Path) -> None:
    git(ci.ops.checkout, "rm", "-q", "-r", "src")
    ci.ops.commit("main", {"README.md": "no operator is left\n"})
    ci.follow_up()
    tip = tip_of(ci.out)
    assert tip is not None
    with bank_of(ci.out) as bank:
        assert bank is not None
        said = refresh_bank(ci.out, tip, bank, tmp_path, None)
        assert "operator" in said
    left = (tmp_path / BANK).read_text()
    assert len(left.splitlines()) == len(SHIPPED.read_text().splitlines())
    assert report(ci.connection(), [], tmp_path) == [
        "The experience that the refresh left is kept."
    ]


# Time


def test_the_jobs_of_one_run_of_the_ci_share_its_time(ci: Ci) -> None:
    _, job = asked(ci)
    assert job.within(None, 5).wall_minutes == 120
    assert job.within(60 * 60 * 10, 1).wall_minutes == 120
    share = job.within(60 * 100, 5).wall_minutes
    assert share * 5 < 100
    assert job.within(-5, 1).wall_minutes > 0
