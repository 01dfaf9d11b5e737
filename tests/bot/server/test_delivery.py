"""What becomes of a result, and of a merge request whose base moves; results are made up here."""

import hashlib
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bot.base.git import GitError
from bot.repository.job import Job
from bot.repository.patch import applies
from bot.server.ci_mode import report
from bot.server.comments.posting import answer, say
from bot.server.comments.wording import ended_mark, run_mark, waiting
from bot.server.dashboard_issue import update_dashboard
from bot.server.delivery import deliver
from bot.server.merge_request import SubmitSettings, submit
from bot.server.verify_again import look_again
from ci.model.errors import InputError
from ci.model.result import Result
from ci.model.trial import Change, Fingerprint, Trial
from tests.bot.make import DIFF, KERNEL, OPERATOR_PATH, SIMULATED, SOURCES, TILING, git, result
from tests.bot.operator_repository import Repository


def request_and_job(ops: Repository) -> tuple[int, Job]:
    request = ops.request({"README.md": "about scale_add\n"})
    (job,) = ops.comment(request.number, "/optimize op=scale_add").jobs
    assert ops.queue.add(job, 0)
    return request.number, job


def give(
    ops: Repository,
    job: Job,
    found: Result | None = None,
    config: str = "",
    today: int = 0,
) -> int:
    made = of_job(job, found or result(base_commit=job.source_commit))
    if config:
        ops.commit("main", {".ascendopt.yml": config})
    return deliver(job, made, ops.connection(), today).merge_request


def of_job(job: Job, made: Result) -> Result:
    return made.model_copy(update={"run": job.run})


def measured_by(fingerprint: Fingerprint) -> Trial:
    made = result().best
    assert made.measurement is not None
    measurement = made.measurement.model_copy(update={"fingerprint": fingerprint})
    return made.model_copy(update={"measurement": measurement})


def comment_of(ops: Repository, number: int, job: Job) -> str:
    (found,) = [c for c in ops.bot.comments(number) if c.body.startswith(run_mark(job))]
    return found.body


def test_an_improvement_becomes_one_merge_request_however_often_it_is_delivered(
    ops: Repository,
) -> None:
    number, job = request_and_job(ops)
    say(ops.bot, number, run_mark(job), waiting(job))
    first, second = give(ops, job), give(ops, job)
    assert first == second
    (ours,) = ops.bot.merge_requests("open", "optimize/")
    assert ours.target_branch == "feature"
    body = comment_of(ops, number, job)
    assert "2.00× faster" in body and "was updated" in body and ended_mark() in body
    (status,) = ops.bot.statuses(job.source_commit)
    assert (status.context, status.state) == ("ascendopt/scale_add", "success")


def test_nothing_found_is_an_answer_with_what_was_tried(ops: Repository) -> None:
    number, job = request_and_job(ops)
    found = result(
        verdict="not_improved",
        verdict_reason="No candidate was faster.",
        best=result().baseline,
        diff="",
        speedup=1.0,
    )
    assert give(ops, job, found) == 0
    body = comment_of(ops, number, job)
    assert "No verified improvement" in body
    assert "larger tile" in body and "drop the barrier" in body
    assert "Bottleneck now" in body
    (status,) = ops.bot.statuses(job.source_commit)
    assert status.state == "neutral"


@pytest.mark.parametrize(
    ("changes", "config", "today", "said"),
    [
        ({"dry_run": True}, "", 0, "dry run"),
        ({"from_fork": True}, "", 0, "in a fork"),
        ({"minimum_speedup": 3.0}, "", 0, "below the repository's minimum"),
        ({}, "limits: {open_merge_requests: 0}", 0, "limit of open merge requests is reached"),
        ({}, "limits: {daily_merge_requests: 2}", 2, "limit for one day"),
    ],
)
def test_without_a_merge_request_the_reason_and_the_patch_are_given(
    ops: Repository, changes: dict[str, object], config: str, today: int, said: str
) -> None:
    number, job = request_and_job(ops)
    changed = job.model_copy(update=changes)
    assert give(ops, changed, config=config, today=today) == 0
    assert not ops.bot.merge_requests("open", "optimize/")
    body = comment_of(ops, number, job)
    assert said in body and "+constexpr int32_t BUFFER_NUM = 2;" in body


def test_labels_are_put_on_the_merge_request(ops: Repository) -> None:
    _, job = request_and_job(ops)
    made = give(ops, job, config="merge_requests: {labels: [performance]}")
    assert ops.bot.merge_request(made).labels == ("performance",)


REAL = SIMULATED.model_copy(update={"backend": "cann", "simulated": False})
OTHER = SIMULATED.model_copy(update={"device": "910B1"})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"operator_path": "src/math/scale"}, "operator's folder is 'src/math/scale', not"),
        ({"operator": "scale"}, "its operator is 'scale'"),
        ({"run": "0123456789"}, "its run is '0123456789'"),
        ({"base_commit": "f" * 40}, "its commit is 'ffff"),
        ({"fingerprint": REAL}, "its backend is 'cann', not 'sim'"),
        ({"fingerprint": REAL.model_copy(update={"backend": "sim"})}, "its simulated is 'False'"),
        ({"fingerprint": OTHER}, "its device is '910B1'"),
        ({"trials": (measured_by(OTHER),)}, "its device is '910B1'"),
        ({"best": measured_by(OTHER)}, "its device is '910B1'"),
        ({"settings": {"backend": "cann"}}, "its backend is 'cann'"),
        ({"settings": {"workload": "easy.yaml"}}, "its workload is 'easy.yaml'"),
        ({"op_type": "ScaleAdd](https://evil) ["}, "is no name of a C\\+\\+ class"),
        ({"op_type": "Scäle"}, "is no name of a C\\+\\+ class"),
    ],
)
def test_a_result_that_is_not_of_the_job_is_refused(
    ops: Repository, changes: dict[str, object], words: str
) -> None:
    _, job = request_and_job(ops)
    found = of_job(job, result(base_commit=job.source_commit)).model_copy(update=changes)
    with pytest.raises(InputError, match=words):
        deliver(job, found, ops.connection(), 0)
    assert not ops.bot.merge_requests("open", "optimize/")


def test_one_bad_result_does_not_stop_the_report_of_others(ops: Repository, tmp_path: Path) -> None:
    number, job = request_and_job(ops)
    good = of_job(job, result(base_commit=job.source_commit))
    others = [job.model_copy(update={"key": f"{i}" * 16}) for i in range(3)]
    written = {
        others[0].key: good.model_copy(update={"fingerprint": REAL}).model_dump_json(),
        others[1].key: "no JSON",
        job.key: good.model_dump_json(),
    }
    for key, text in written.items():
        (tmp_path / "results" / key).mkdir(parents=True)
        (tmp_path / "results" / key / "result.json").write_text(text)
    told = report(ops.connection(), [*others, job], tmp_path / "results")
    for line, words in zip(told, ("not of this job", "is no result", "There is no"), strict=False):
        assert words in line
    assert "was opened" in told[3]
    assert ended_mark() in comment_of(ops, number, job)
    assert "not of this job" in comment_of(ops, number, others[0])


def test_a_result_whose_sources_changed_meanwhile_opens_nothing(ops: Repository) -> None:
    number, job = request_and_job(ops)
    ops.commit("feature", {f"{OPERATOR_PATH}/{KERNEL}": "int other;\n"})
    assert give(ops, job) == 0
    assert "has changed since the run" in comment_of(ops, number, job)


def test_a_closed_merge_request_is_a_remembered_no(ops: Repository) -> None:
    number, job = request_and_job(ops)
    ops.bot.close(give(ops, job))
    assert give(ops, job) == 0
    assert "was closed without" in comment_of(ops, number, job)


def test_only_the_bots_own_comment_is_edited(ops: Repository) -> None:
    number, job = request_and_job(ops)
    forged = ops.as_user("mallory").comment(number, f"{run_mark(job)}\nmine\n")
    say(ops.bot, number, run_mark(job), waiting(job))
    bodies = {c.id: c.body for c in ops.bot.comments(number)}
    assert bodies[forged.id] == f"{run_mark(job)}\nmine\n"
    assert sum("waits for a runner" in b for b in bodies.values()) == 1


def test_an_answer_is_given_once(ops: Repository) -> None:
    number, _ = request_and_job(ops)
    before = len(ops.bot.comments(number))
    for _ in range(3):
        answer(ops.bot, number, "comment-5", "Hello.")
    assert len(ops.bot.comments(number)) == before + 1


# Bases that move


def merge_request_on_main(ops: Repository) -> tuple[int, Job]:
    """A merge request of the bot against main, made by a push."""
    before = ops.bot.branch_head("main")
    ops.connection().mirror.fetch(ops.bot, "refs/heads/main")
    after = ops.commit("main", {f"{OPERATOR_PATH}/{KERNEL}": SOURCES[KERNEL] + "// later\n"})
    made = ops.plan(kind="push", ref="refs/heads/main", before=before, after=after)
    (job,) = made.jobs
    ops.queue_up(made)
    return give(ops, job, adjusted(ops, after)), job


def adjusted(ops: Repository, commit: str, **changes: object) -> Result:
    """The made-up result, for the sources as they are at a commit."""
    return result(base_commit=commit, base_hashes=hashes(ops, commit), **changes)


def hashes(ops: Repository, commit: str, place: str = OPERATOR_PATH) -> dict[str, str]:
    """Of the sources of the operator at `place`, by their names in it."""
    texts = {name: git(ops.checkout, "show", f"{commit}:{place}/{name}") + "\n" for name in SOURCES}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def again(ops: Repository) -> list[Job]:
    return look_again(ops.connection(), ops.queue, time.time())


def test_nothing_is_verified_again_while_the_base_stands_or_moves_elsewhere(
    ops: Repository,
) -> None:
    number, _ = merge_request_on_main(ops)
    assert number and not again(ops)
    ops.commit("main", {"README.md": "other\n"})
    assert not again(ops)


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_change_does_is_known_when_it_is_verified_again_while_its_run_is_kept(
    ops: Repository, kept: bool
) -> None:
    _, first = merge_request_on_main(ops)
    does = (Change(what="loads the next tile while one is computed", path=KERNEL),)
    if kept:
        folder = ops.queue.runs / first.key
        folder.mkdir(parents=True)
        made = of_job(first, adjusted(ops, first.source_commit, changes=does))
        (folder / "result.json").write_text(made.model_dump_json())
    ops.commit("main", {f"{OPERATOR_PATH}/{KERNEL}": SOURCES[KERNEL] + "// later\n// and later\n"})
    (job,) = again(ops)
    assert job.changes == (does if kept else ())


def test_a_base_that_moved_under_the_operator_is_verified_again_and_rebased(
    ops: Repository,
) -> None:
    number, _ = merge_request_on_main(ops)
    old = ops.bot.merge_request(number).head
    tip = ops.commit(
        "main", {f"{OPERATOR_PATH}/{KERNEL}": SOURCES[KERNEL] + "// later\n// and later\n"}
    )
    (job,) = again(ops)
    assert (job.kind, job.patch_of, job.source_commit) == ("verify", number, tip)
    assert "+constexpr int32_t BUFFER_NUM = 2;" in job.patch
    assert not again(ops), "it is queued once"
    done = deliver(job, of_job(job, adjusted(ops, tip)), ops.connection(), 0)
    assert done.merge_request == number
    head = ops.bot.merge_request(number).head
    assert head != old
    ops.connection().mirror.fetch(
        ops.bot, f"refs/heads/{ops.bot.merge_request(number).source_branch}"
    )
    assert ops.connection().mirror.git.commit(f"{head}^") == tip
    assert any("verified again" in c.body for c in ops.bot.comments(number))


def test_what_is_no_longer_faster_is_closed_with_the_reason(ops: Repository) -> None:
    number, _ = merge_request_on_main(ops)
    tip = ops.commit("main", {f"{OPERATOR_PATH}/{KERNEL}": SOURCES[KERNEL] + "// later\n//\n"})
    (job,) = again(ops)
    worse = adjusted(
        ops, tip, verdict="not_improved", verdict_reason="Slower.", diff="", speedup=1.0
    )
    deliver(job, of_job(job, worse), ops.connection(), 0)
    assert ops.bot.merge_request(number).state == "closed"
    assert any("no longer faster on" in c.body for c in ops.bot.comments(number))


def test_an_operator_with_a_hostile_name_is_proposed_and_verified_again(ops: Repository) -> None:
    place = "src/math/fixes #1 [skip ci]  @all-1"
    sources = {f"{place}/{name}": text for name, text in SOURCES.items()}
    before = ops.commit("main", {**sources, f"{place}/workload.yaml": "operator: ScaleAdd\n"})
    after = ops.commit("main", {f"{place}/{KERNEL}": SOURCES[KERNEL] + "// later\n"})
    ops.connection().mirror.fetch(ops.bot, "refs/heads/main")
    made = ops.plan(kind="push", ref="refs/heads/main", before=before, after=after)
    (job,) = made.jobs
    ops.queue_up(made)
    found = adjusted(ops, after)
    hostile = found.model_copy(
        update={
            "operator": place.rpartition("/")[2],
            "operator_path": place,
            "base_hashes": hashes(ops, after, place),
            "settings": found.settings | {"workload": f"{place}/workload.yaml"},
            "diff": found.diff.replace(OPERATOR_PATH, place),
        }
    )
    number = give(ops, job, hostile)
    request = ops.bot.merge_request(number)
    message = ops.connection().mirror.git.run("show", "-s", "--format=%B", request.head)
    for text in (request.title, request.body, message, *(c.body for c in ops.bot.comments(number))):
        assert not re.search(r"#1|@all|\[skip ci\]", text)
    later = SOURCES[KERNEL] + "// later\n// and later\n"
    ops.commit("main", {f"{place}/{KERNEL}": later})
    (job,) = again(ops)
    assert (job.operator, job.patch_of) == (place, number)
    assert ops.bot.merge_request(number).state == "open"


def test_a_conflict_is_said_and_closed(ops: Repository) -> None:
    number, _ = merge_request_on_main(ops)
    ops.commit("main", {f"{OPERATOR_PATH}/{TILING}": "constexpr uint32_t TILE = 2048;\n"})
    assert not again(ops)
    assert ops.bot.merge_request(number).state == "closed"
    assert any("changed the same lines" in c.body for c in ops.bot.comments(number))
    assert not again(ops)


def test_an_open_proposal_for_main_takes_no_change_of_another_branch(ops: Repository) -> None:
    number, _ = merge_request_on_main(ops)
    head = ops.bot.merge_request(number).head
    _, job = request_and_job(ops)
    assert give(ops, job, adjusted(ops, job.source_commit)) == 0
    assert ops.bot.merge_request(number).head == head


def test_what_the_bot_itself_closed_is_no_persons_no(ops: Repository) -> None:
    """The same idea, found again on the lines that a person changed, is proposed."""
    number, job = merge_request_on_main(ops)
    text = SOURCES[TILING].replace("1024", "2048")
    tip = ops.commit("main", {f"{OPERATOR_PATH}/{TILING}": text})
    again(ops)
    assert ops.bot.merge_request(number).state == "closed"
    diff = DIFF.replace("TILE = 1024", "TILE = 2048")
    found = adjusted(ops, tip, diff=diff)
    fresh = job.model_copy(update={"key": "f" * 16, "source_commit": tip})
    assert give(ops, fresh, found) > number
    again(ops)  # looks at the closed one
    update_dashboard(ops.connection(), ops.queue, time.time())
    page = (ops.folder / "ops.git/merge-requests/dashboard-of-ascendopt.md").read_text()
    assert "### Ignored and declined (0)" in page


def opened_again(ops: Repository, number: int) -> None:
    """A person opens a closed merge request again, which the local forge has no words for."""
    store = ops.bot._store
    record = store.read(number)
    request = record.merge_request.model_copy(update={"state": "open"})
    store.write(record.model_copy(update={"merge_request": request}))


def test_what_a_person_opened_again_stays_open_until_the_base_moves(ops: Repository) -> None:
    number, _ = merge_request_on_main(ops)
    ops.commit("main", {f"{OPERATOR_PATH}/{TILING}": "constexpr uint32_t TILE = 2048;\n"})
    again(ops)
    opened_again(ops, number)
    again(ops)
    assert ops.bot.merge_request(number).state == "open"
    (told,) = [c.body for c in ops.bot.comments(number) if "opened this merge request" in c.body]
    assert "changed the same lines" in told
    again(ops)
    ops.commit("main", {f"{OPERATOR_PATH}/{TILING}": "constexpr uint32_t TILE = 512;\n"})
    again(ops)
    assert ops.bot.merge_request(number).state == "closed"


def test_what_a_person_closes_after_the_bot_did_is_a_no(ops: Repository) -> None:
    """The bot closed it, a person opened it again, and later closed it for good."""
    number, job = merge_request_on_main(ops)
    sources = {f"{OPERATOR_PATH}/{name}": text for name, text in SOURCES.items()}
    sources[f"{OPERATOR_PATH}/{KERNEL}"] += "// later\n"
    ops.commit("main", {f"{OPERATOR_PATH}/{TILING}": "constexpr uint32_t TILE = 2048;\n"})
    again(ops)
    opened_again(ops, number)
    again(ops)
    ops.bot.close(number)
    again(ops)
    assert any("does not propose this change again" in c.body for c in ops.bot.comments(number))
    tip = ops.commit("main", sources)
    fresh = job.model_copy(update={"key": "f" * 16, "source_commit": tip})
    assert give(ops, fresh, adjusted(ops, tip)) == 0


def test_of_two_open_ones_that_one_is_rebased_which_was_verified(ops: Repository) -> None:
    """A person closed the first, then the second came, and the first was opened again."""
    first, _ = merge_request_on_main(ops)
    ops.bot.close(first)
    text = SOURCES[KERNEL] + "// later\n// and later\n"
    tip = ops.commit("main", {f"{OPERATOR_PATH}/{KERNEL}": text})
    other = adjusted(ops, tip, diff=DIFF.replace("BUFFER_NUM = 2", "BUFFER_NUM = 4"))
    mirror = ops.connection().mirror
    mirror.fetch(ops.bot, "refs/heads/main")
    filed = submit(other, ops.bot, mirror.folder, SubmitSettings(again=True)).merge_request
    assert filed is not None and filed.number != first
    opened_again(ops, first)
    tip = ops.commit("main", {f"{OPERATOR_PATH}/{KERNEL}": text + "// last\n"})
    (job,) = [j for j in again(ops) if j.patch_of == first]
    before = ops.bot.merge_request(filed.number)
    assert deliver(job, of_job(job, adjusted(ops, tip)), ops.connection(), 0).merge_request == first
    assert ops.bot.merge_request(filed.number) == before
    head = ops.bot.merge_request(first).head
    mirror.fetch(ops.bot, f"refs/heads/{ops.bot.merge_request(first).source_branch}")
    assert mirror.git.commit(f"{head}^") == tip


@pytest.mark.parametrize("place", ["of the machine", "of the mirror"])
def test_no_setting_of_git_makes_a_conflict(
    ops: Repository, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, _ = merge_request_on_main(ops)
    ops.commit("main", {f"{OPERATOR_PATH}/{KERNEL}": SOURCES[KERNEL] + "// later\n// and later\n"})
    settings = "[diff]\nnoprefix = true\ncontext = 0\nexternal = false\ninterHunkContext = 9\n"
    settings += '[diff "c"]\ntextconv = wc\n[apply]\nwhitespace = error\n'
    connection = ops.connection()
    if place == "of the machine":
        (tmp_path / ".gitconfig").write_text(settings)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
        monkeypatch.setenv("GIT_DIFF_OPTS", "-u0")
    else:
        with (connection.mirror.folder / "config").open("a") as file:
            file.write(settings)
    (connection.mirror.folder / "info").mkdir(exist_ok=True)
    (connection.mirror.folder / "info" / "attributes").write_text("* diff=c -diff\n")
    (job,) = look_again(connection, ops.queue, time.time())
    assert "+constexpr int32_t BUFFER_NUM = 2;" in job.patch
    assert ops.bot.merge_request(number).state == "open"


def test_a_failure_of_git_is_no_conflict(ops: Repository) -> None:
    number, _ = merge_request_on_main(ops)
    kernel = f"{OPERATOR_PATH}/{KERNEL}"
    tip = ops.commit("main", {kernel: SOURCES[KERNEL] + "// later\n// and later\n"})
    connection = ops.connection()
    mirror = connection.mirror
    mirror.fetch(ops.bot, "refs/heads/main")
    blob = mirror.git.run("rev-parse", f"{tip}:{kernel}").strip()
    (mirror.folder / "objects" / blob[:2] / blob[2:]).unlink()  # as by a disk that loses files
    with pytest.raises(GitError, match=f"read {kernel}"):
        applies(mirror.git, DIFF, tip)
    with suppress(GitError):
        look_again(connection, ops.queue, time.time())
    assert ops.bot.merge_request(number).state == "open"


def test_a_branch_that_a_person_took_over_is_left_alone(ops: Repository) -> None:
    number, _ = merge_request_on_main(ops)
    branch = ops.bot.merge_request(number).source_branch
    git(ops.checkout, "fetch", "-q", "origin", branch)
    git(ops.checkout, "checkout", "-q", "-B", branch, f"origin/{branch}")
    head = ops.commit(branch, {"NOTES.md": "mine\n"}, "By hand")
    ops.commit("main", {f"{OPERATOR_PATH}/{KERNEL}": SOURCES[KERNEL] + "// later\n//\n"})
    assert not again(ops)
    assert ops.bot.merge_request(number).head == head
    assert ops.bot.merge_request(number).state == "open"


def test_a_merged_run_goes_back_to_the_bank_once(ops: Repository) -> None:
    number, job = merge_request_on_main(ops)
    ops.queue.claim("w", 1)
    ops.queue.finish(job.key, "w", 2, state="done", merge_request=number)
    again = job.model_copy(update={"key": "verified", "kind": "verify", "patch_of": number})
    assert ops.queue.add(again, time.time() + 9)
    ops.queue.claim("w", 4)
    ops.queue.finish(again.key, "w", 5, state="done", merge_request=number)
    branch = ops.bot.merge_request(number).source_branch
    git(ops.checkout, "fetch", "-q", "origin", branch)
    git(ops.checkout, "push", "-q", "origin", f"origin/{branch}:main")
    fed: list[str] = []

    def feed(run: str) -> bool:
        fed.append(run)
        return len(fed) > 1

    for _ in range(4):
        look_again(ops.connection(), ops.queue, time.time(), feed)
    assert fed == [job.key, job.key], "tried again after it failed, then never more"
