"""`/create` from the words of a person to a merge request, on the local forge; what a run makes is
data here."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from bot.forge.local import LocalForge
from bot.forge.model import Comment
from bot.repository.job import Job
from bot.server.create_plan import folder_for
from bot.server.created_operator import TRAILER, Made, branch_of, check_made, read_made
from bot.server.delivery import deliver_made
from bot.server.plan_model import Plan
from bot.server.run_create import run_create
from bot.server.run_job import left_file
from ci.model.created import Created, CreatedCase, Judged
from ci.model.errors import InputError
from ci.model.workload import Tolerance
from tests.bot.forge.server.issues import Issues
from tests.bot.make import SIMULATED, git, measurement
from tests.bot.operator_repository import Repository, operator_repository

GOLDEN = "def halved(x):\n    return x * 0.5\n"
SHAPES = "shapes: {x: [4, 96]}\n"
ASK = f"/create\n\n```python\n{GOLDEN}```\n\n```yaml\n{SHAPES}```\n"


def asked(ops: Repository, text: str = ASK, **more: str) -> Job:
    """The job of a comment on a merge request."""
    number = ops.request().number
    (job,) = ops.comment(number, text, **more).jobs
    return job


def made(job: Job, **changed: object) -> Made:
    """What a run of the job leaves."""
    found = measurement(6.0).model_copy(update={"fingerprint": SIMULATED})
    names = [c.case for c in found.cases]
    name = job.operator.rpartition("/")[2]
    files = {
        *("CMakeLists.txt", "README.md", "workload.yaml"),
        *(f"op_host/{name}.cpp", f"op_host/{name}_tiling.h", f"op_kernel/{name}.cpp"),
    }
    told: dict[str, object] = {
        "run": job.run,
        "operator": job.operator,
        "commit": job.source_commit,
        "created": Created(
            operator="Halved",
            folder=job.operator,
            program="y = x * 0.5",
            cases=tuple(
                CreatedCase(name=n, microseconds=6.0, cores=8, tiling_key=1, floor_us=2.0)
                for n in names
            ),
            varied=64,
            declined=0,
            device=job.device,
        ),
        "judged": Judged(
            fingerprint=found.fingerprint,
            cases=found.cases,
            floors_us=dict.fromkeys(names, 2.0),
            tolerances={"float32": Tolerance(relative=1e-4, absolute=1e-5)},
        ),
        "files": {**dict.fromkeys(files, "text\n"), "golden.py": f"{job.golden}# and more\n"},
    }
    return Made.model_validate(told | changed)


def test_a_comment_becomes_a_job_that_carries_the_golden_as_text(ops: Repository) -> None:
    job = asked(ops)
    assert (job.kind, job.operator, job.function) == ("create", "src/math/halved", "halved")
    assert job.golden == GOLDEN and "shape: [4, 96]" in job.shapes
    assert (job.source_commit, job.target_branch) == (job.judge_commit, "main")
    again = ops.comment(1, ASK)
    assert [j.key for j in again.jobs] == [job.key], "the same words are the same work"
    assert asked_name(ops, "/create other") == "src/math/other"


def asked_name(ops: Repository, line: str) -> str:
    (job,) = ops.comment(1, ASK.replace("/create", line, 1)).jobs
    return job.operator


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("/create\n\n```yaml\nshapes: {x: [4]}\n```\n", "one code block of python"),
        (f"/create\n\n```python\n{GOLDEN}```\n", "one code block of yaml"),
        (ASK.replace("def halved", "halved = lambda"), "defines none"),
        (ASK.replace("[4, 96]", "[99999, 99999]"), "elements"),
        (ASK.replace("shapes:", "shape:"), "not a known key"),
        (ASK.replace("/create", "/create scale"), "`src/math/scale` exists already"),
        (ASK.replace("/create", "/create ../evil"), "no name for an operator"),
        (ASK.replace("/create", "/create budget=5"), "`budget` is not known"),
        (ASK.replace("/create", "/create target=910C"), "`target` cannot be `910C`"),
    ],
)
def test_what_cannot_be_made_is_answered_with_one_sentence(
    ops: Repository, text: str, answer: str
) -> None:
    plan = ops.comment(ops.request().number, text)
    (reply,) = plan.replies
    assert not plan.jobs and answer in reply.body


def test_only_who_may_write_may_ask(ops: Repository) -> None:
    plan = ops.comment(ops.request().number, ASK, user="mallory", access="read")
    assert not plan.jobs and "needs write permission" in plan.replies[0].body


class WithIssues(LocalForge):
    """The local forge with issues beside it, as forges over HTTP have them."""

    book = Issues()

    def of_issues(self) -> WithIssues:
        other = self.as_user(self.viewer())
        other.comments = lambda number, since=None: self.book.comments(number)
        return other

    def issue(self, number: int) -> Comment:
        return self.book.beginning(number)


def in_issue(ops: Repository, user: str, access: str, text: str, begun: str = "") -> Plan:
    """What the bot plans for a comment in an issue, or for the issue itself if it holds `begun`."""
    ops.bot.set_permission(user, access)  # type: ignore[arg-type]
    ops.bot = WithIssues(ops.folder / "ops.git")
    number = WithIssues.book.open(user, begun)
    comment = WithIssues.book.say(number, user, text).id if text else 0
    told = {"kind": "issue", "action": "created", "number": number, "comment_id": comment}
    return ops.plan(**told, text=text or begun)


def test_an_issue_asks_by_its_text_and_by_its_comments(ops: Repository) -> None:
    for plan in (in_issue(ops, "alice", "write", "", ASK), in_issue(ops, "alice", "write", ASK)):
        (job,) = plan.jobs
        assert (job.number, job.operator) == (0, "src/math/halved") and job.issue >= 101


def test_in_an_issue_only_who_may_write_may_ask_and_only_for_operators(ops: Repository) -> None:
    for begun, text in ((ASK, ""), ("", ASK)):
        plan = in_issue(ops, "mallory", "read", text, begun)
        (reply,) = plan.replies
        assert not plan.jobs and reply.in_issue and "needs write" in reply.body
    (reply,) = in_issue(ops, "alice", "write", "/optimize stage=kernel").replies
    assert "An issue accepts `/create`" in reply.body


def test_talk_in_an_issue_asks_the_forge_nothing(ops: Repository) -> None:
    plan = ops.plan(kind="issue", action="created", number=7, text="create a thing, please")
    assert plan.note == "no command"


def test_the_configuration_switches_it_off_and_says_where_operators_go(tmp_path: Path) -> None:
    off = operator_repository(tmp_path / "off", "triggers: {create: false}\n")
    (reply,) = off.comment(off.request().number, ASK).replies
    assert "`/create` is switched off" in reply.body
    there = operator_repository(tmp_path / "there", "created: src/made\n")
    assert asked(there).operator == "src/made/halved"
    closed = operator_repository(tmp_path / "closed", "exclude: ['src/*']\n")
    (reply,) = closed.comment(closed.request().number, ASK).replies
    assert "is excluded in" in reply.body


def test_an_operator_goes_where_most_are(ops: Repository) -> None:
    connection = ops.connection()
    judge, config = connection.mirror.commit(connection.tip()), connection.limits()
    assert folder_for(judge, config) == "src/math"


def test_what_was_made_is_proposed_as_a_new_folder_and_nothing_else(ops: Repository) -> None:
    job = asked(ops)
    done = deliver_made(job, made(job), ops.connection(), 0)
    assert done.opened and done.merge_request
    (request,) = ops.bot.merge_requests("open", "create/")
    assert (request.target_branch, request.source_branch) == ("main", branch_of(job.operator))
    git(ops.checkout, "fetch", "-q", "origin", request.source_branch)
    changed = git(ops.checkout, "diff", "--name-only", "main", "FETCH_HEAD").split()
    assert len(changed) == 7 and all(p.startswith("src/math/halved/") for p in changed)
    assert f"{TRAILER}: {job.run}" in git(ops.checkout, "log", "-1", "--format=%B", "FETCH_HEAD")
    for words in (GOLDEN, "shape: [4, 96]", "`float32` 0.0001 of the value plus 1e-05", "`sim`"):
        assert words in request.body
    assert "| 6.000 | 2.000 | 3.0 |" in request.body
    (told,) = [c for c in ops.bot.comments(job.number) if "ascendopt-run" in c.body]
    assert "Merge request" in told.body and "is correct on 2 cases" in told.body


def test_another_golden_of_the_name_updates_the_open_merge_request(ops: Repository) -> None:
    first, second = asked(ops), None
    deliver_made(first, made(first), ops.connection(), 0)
    (second,) = ops.comment(first.number, ASK.replace("0.5", "0.25")).jobs
    done = deliver_made(second, made(second), ops.connection(), 1)
    assert not done.opened
    (request,) = ops.bot.merge_requests("open", "create/")
    assert "x * 0.25" in request.body


def test_what_a_person_retargeted_gets_no_commits_of_the_default_branch(ops: Repository) -> None:
    job = asked(ops)
    deliver_made(job, made(job), ops.connection(), 0)
    (request,) = ops.bot.merge_requests("open", "create/")
    ops.commit("release", {"README.md": "released\n"})
    store = ops.bot._store
    record = store.read(request.number)
    elsewhere = request.model_copy(update={"target_branch": "release"})
    store.write(record.model_copy(update={"merge_request": elsewhere}))
    ops.commit("main", {"README.md": "later\n"})
    done = deliver_made(job, made(job), ops.connection(), 0)
    assert "into release is open" in done.note
    assert ops.bot.merge_request(request.number).head == request.head


def test_a_persons_commit_on_the_branch_is_not_overwritten(ops: Repository) -> None:
    job = asked(ops)
    deliver_made(job, made(job), ops.connection(), 0)
    (request,) = ops.bot.merge_requests("open", "create/")
    git(ops.checkout, "fetch", "-q", "origin", request.source_branch)
    git(ops.checkout, "checkout", "-q", "FETCH_HEAD")
    git(ops.checkout, "commit", "-q", "--allow-empty", "-m", "By hand")
    git(ops.checkout, "push", "-q", "origin", f"HEAD:{request.source_branch}")
    done = deliver_made(job, made(job), ops.connection(), 0)
    assert "Somebody else's commit" in done.note


def test_limits_and_dry_runs_hold_as_for_any_merge_request(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "limits: {open_merge_requests: 0}\n")
    job = asked(ops)
    assert (
        "limit of open merge requests is reached"
        in deliver_made(job, made(job), ops.connection(), 0).note
    )
    (dry,) = ops.comment(job.number, ASK.replace("/create", "/create dry-run")).jobs
    assert "dry run" in deliver_made(dry, made(dry), ops.connection(), 0).note
    assert not ops.bot.merge_requests("open", "create/")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"files": {"../../.github/workflows/x.yml": "on: push"}}, "lacks a file or has one"),
        ({"operator": "src/math/scale"}, "its operator's folder"),
        ({"run": "another"}, "its run is"),
        ({"commit": "f" * 40}, "its commit is"),
    ],
)
def test_what_a_run_leaves_is_held_against_the_job(
    ops: Repository, changed: dict[str, object], said: str
) -> None:
    job = asked(ops)
    with pytest.raises(InputError, match=said):
        check_made(job, made(job, **changed))


def test_a_golden_that_is_not_the_given_one_is_refused(ops: Repository) -> None:
    job = asked(ops)
    whole = made(job)
    other = whole.model_copy(update={"files": {**whole.files, "golden.py": "import os\n"}})
    with pytest.raises(InputError, match="another golden function"):
        check_made(job, other)


def test_a_folder_that_appeared_meanwhile_is_not_touched(ops: Repository) -> None:
    job = asked(ops)
    git(ops.checkout, "checkout", "-q", "main")
    ops.commit("main", {"src/math/halved/README.md": "mine\n"})
    assert "src/math/halved exists by now" in deliver_made(job, made(job), ops.connection(), 0).note


@pytest.mark.parametrize("mode", ["160000", "120000", "100644"])
def test_a_folder_that_is_a_submodule_a_link_or_a_file_takes_no_operator(
    ops: Repository, mode: str
) -> None:
    """git cannot commit below one; as a failure of git it would be tried again and again."""
    job = asked(ops)
    git(ops.checkout, "checkout", "-q", "main")
    git(ops.checkout, "rm", "-rq", "src/math")
    blob = git(ops.checkout, "rev-parse", "HEAD" if mode == "160000" else "HEAD:README.md")
    git(ops.checkout, "update-index", "--add", "--cacheinfo", f"{mode},{blob},src/math")
    git(ops.checkout, "commit", "-q", "-m", "Odd")
    git(ops.checkout, "push", "-q", "origin", "main")
    done = deliver_made(job, made(job), ops.connection(), 0)
    assert "src/math is no folder" in done.note and not ops.bot.merge_requests("open", "create/")


def test_what_was_made_is_read_back_or_said_to_be_none(ops: Repository, tmp_path: Path) -> None:
    job = asked(ops)
    with pytest.raises(InputError, match="made nothing"):
        read_made(tmp_path)
    left_file(job, tmp_path).write_text(made(job).model_dump_json())
    assert read_made(tmp_path) == made(job)


def test_a_golden_is_not_run_where_files_are_open(
    ops: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"golden": "raise SystemExit\n" + GOLDEN, "number": 0, "issue": 101}
    job = asked(ops).model_copy(update=told)
    monkeypatch.setattr("ci.session.facts.sandbox_level", lambda: "limits")
    console = Console(quiet=True)
    with pytest.raises(InputError, match="Nothing of a merge request or a comment is run"):
        run_create(job, tmp_path / "work", tmp_path / "out", console)
    assert not [*tmp_path.glob("work"), *tmp_path.glob("out")]


def test_a_merged_operator_is_new_to_the_bot(ops: Repository) -> None:
    """So that it goes on to optimize it."""
    job = asked(ops)
    deliver_made(job, made(job), ops.connection(), 0)
    (request,) = ops.bot.merge_requests("open", "create/")
    before = git(ops.checkout, "rev-parse", "main")
    git(ops.checkout, "fetch", "-q", "origin", request.source_branch)
    git(ops.checkout, "push", "-q", "origin", "FETCH_HEAD:main")
    after = git(ops.checkout, "rev-parse", "FETCH_HEAD")
    plan = ops.plan(kind="push", ref="refs/heads/main", before=before, after=after)
    assert [j.operator for j in plan.jobs] == ["src/math/halved"]
