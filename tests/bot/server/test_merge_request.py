from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from bot.base.git import Git, GitError
from bot.forge.local import LocalForge
from bot.forge.read_only import ReadOnlyForge
from bot.server.merge_request import (
    CHECK,
    Submission,
    SubmitSettings,
    body,
    branch_name,
    commit_message,
    read_result,
    refuse_unfit,
    submit,
    title,
    with_workload,
)
from ci.model.errors import InputError
from ci.model.result import Result
from tests.bot.base.test_text import HOSTILE, IN_A_COMMIT
from tests.bot.make import DIFF, KERNEL, OPERATOR_PATH, TILING, git, repository, result


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return repository(tmp_path)


@pytest.fixture
def made(checkout: Path) -> Result:
    return result(git(checkout, "rev-parse", "HEAD"))


def hand_in(made: Result, checkout: Path, **settings: object) -> Submission:
    forge = LocalForge.of_remote(checkout, "origin")
    return submit(made, forge, checkout, SubmitSettings.model_validate(settings))


def test_the_branch_holds_the_patch_and_nothing_else(made: Result, checkout: Path) -> None:
    done = hand_in(made, checkout)
    origin = Git(checkout.parent / "origin.git")
    assert done.action == "opened"
    assert done.branch.startswith("optimize/scale_add/")
    assert origin.run("rev-parse", done.branch).strip() == done.commit
    assert origin.run("rev-parse", f"{done.branch}^").strip() == made.base_commit
    assert origin.run("diff", "--name-only", "main", done.branch).split() == [
        f"{OPERATOR_PATH}/{TILING}",
        f"{OPERATOR_PATH}/{KERNEL}",
    ]
    assert "TILE = 8192" in origin.run("show", f"{done.branch}:{OPERATOR_PATH}/{TILING}")


WORKLOAD = "operator: ScaleAdd\ncases:\n  - {name: a, inputs: {x: {shape: [8], dtype: int8}}}\n"
PLACE = f"{OPERATOR_PATH}/workload.yaml"


def test_a_derived_workload_is_a_file_of_the_merge_request_where_that_is_wanted(
    made: Result, checkout: Path
) -> None:
    derived = made.model_copy(update={"derived_workload": WORKLOAD})
    done = hand_in(derived, checkout, propose_workload=True)
    origin = Git(checkout.parent / "origin.git")
    assert PLACE in origin.run("diff", "--name-only", "main", done.branch).split()
    assert origin.run("show", f"{done.branch}:{PLACE}") == WORKLOAD
    assert done.merge_request is not None
    text = done.merge_request.body
    assert "compared with the original operator on derived shapes" in text
    assert f"adds these shapes as `{PLACE}`" in text and "name: a" not in text


def test_a_derived_workload_is_told_where_it_is_not_wanted(made: Result, checkout: Path) -> None:
    derived = made.model_copy(update={"derived_workload": WORKLOAD})
    done = hand_in(derived, checkout)
    origin = Git(checkout.parent / "origin.git")
    assert PLACE not in origin.run("diff", "--name-only", "main", done.branch).split()
    assert done.merge_request is not None
    text = done.merge_request.body
    assert "on derived shapes" in text and "propose_workloads: true" in text and "name: a" in text


@pytest.mark.parametrize("text", ["- a\n", "cases: []\n", f"golden: evil.py:run\n{WORKLOAD}"])
def test_what_is_no_derived_workload_is_not_handed_in(
    made: Result, checkout: Path, text: str
) -> None:
    derived = made.model_copy(update={"derived_workload": text})
    with pytest.raises(InputError, match="derived workload is not valid"):
        hand_in(derived, checkout, propose_workload=True)


def test_a_workload_that_is_there_is_left_alone(made: Result, checkout: Path) -> None:
    (checkout / PLACE).write_text("operator: ScaleAdd\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "Add a workload")
    git(checkout, "push", "-q", "origin", "HEAD:main")
    derived = made.model_copy(update={"derived_workload": WORKLOAD})
    done = hand_in(derived, checkout, propose_workload=True)
    origin = Git(checkout.parent / "origin.git")
    assert origin.run("show", f"{done.branch}:{PLACE}") == "operator: ScaleAdd\n"


def test_a_dry_run_checks_everything_and_writes_nothing(made: Result, checkout: Path) -> None:
    forge, told = LocalForge.of_remote(checkout, "origin"), []
    settings = SubmitSettings(dry_run=True)
    done = submit(made, ReadOnlyForge(forge, told.append), checkout, settings)
    assert done.reason == "A merge request would be opened; nothing was written."
    assert list(forge.branches()) == ["main"]
    assert list(forge.merge_requests()) == []
    assert [line.split()[1] for line in told] == ["push", "open", "set"]
    with pytest.raises(InputError):
        submit(made.model_copy(update={"verification": None}), forge, checkout, settings)


def test_the_users_checkout_is_left_alone(made: Result, checkout: Path) -> None:
    (checkout / "mine.txt").write_text("unsaved work\n")
    (checkout / "README.md").write_text("half an edit\n")
    git(checkout, "add", "mine.txt")
    before = git(checkout, "status", "--porcelain"), git(checkout, "branch", "-a")
    hand_in(made, checkout)
    assert (git(checkout, "status", "--porcelain"), git(checkout, "branch", "-a")) == before
    assert git(checkout, "worktree", "list").count("\n") == 0


def test_the_commit_names_run_device_and_figures_in_trailers(made: Result, checkout: Path) -> None:
    done = hand_in(made, checkout)
    origin = Git(checkout.parent / "origin.git")
    trailers = origin.run("show", "-s", "--format=%(trailers)", done.commit)
    assert f"Ascendopt-Operator: {OPERATOR_PATH}" in trailers
    assert "Ascendopt-Speedup: 2.0000" in trailers
    assert "Ascendopt-Backend: sim 910B4 (simulated time)" in trailers
    assert "Ascendopt-Tuples: abcdef012345" in trailers
    assert "Signed-off-by: ascendopt <" in trailers
    assert origin.run("show", "-s", "--format=%an", done.commit).strip() == "ascendopt"


def test_the_commit_is_by_whom_the_repository_names_and_in_its_form(
    made: Result, checkout: Path
) -> None:
    for number in range(3):
        git(checkout, "commit", "--allow-empty", "-qm", f"fix(abs): mend {number}")
    git(checkout, "push", "-q", "origin", "HEAD")
    author = "Operator Bot <bot@example.org>"
    done = hand_in(made, checkout, author=author)
    shown = Git(checkout.parent / "origin.git").run(
        "show", "-s", "--format=%an <%ae>%n%cn <%ce>%n%s%n%(trailers)", done.commit
    )
    assert shown.startswith(f"{author}\n{author}\nperf({made.operator}): 2.00x faster (simulated)")
    assert f"Signed-off-by: {author}" in shown
    assert done.merge_request and done.merge_request.title.startswith("perf(")
    again = hand_in(made, checkout, subject="plain", sign_off=False)
    shown = Git(checkout.parent / "origin.git").run("show", "-s", "--format=%B", again.commit)
    assert shown.startswith("Optimize ") and "Signed-off-by" not in shown


def test_the_commit_has_a_status(made: Result, checkout: Path) -> None:
    done = hand_in(made, checkout)
    statuses = LocalForge.of_remote(checkout, "origin").statuses(done.commit)
    assert [(s.context, s.state) for s in statuses] == [(CHECK, "success")]


def test_a_newer_result_updates_the_open_one_in_place(made: Result, checkout: Path) -> None:
    first = hand_in(made, checkout)
    second = hand_in(made.model_copy(update={"speedup": 2.5, "run": "later"}), checkout)
    assert second.action == "updated"
    assert second.branch == first.branch
    assert second.commit != first.commit
    filed = LocalForge.of_remote(checkout, "origin").merge_requests()
    assert [m.title for m in filed] == ["Optimize ScaleAdd: 2.50x faster (simulated)"]
    assert filed[0].head == second.commit


def test_a_closed_one_is_a_no_until_asked_again(made: Result, checkout: Path) -> None:
    branch = hand_in(made, checkout).branch
    git(checkout, "push", "-q", "origin", "--delete", branch)
    declined = hand_in(made, checkout)
    assert declined.action == "declined"
    assert "closed without merging" in declined.reason
    assert branch not in LocalForge.of_remote(checkout, "origin").branches()
    assert hand_in(made, checkout, again=True).action == "opened"
    states = [m.state for m in LocalForge.of_remote(checkout, "origin").merge_requests()]
    assert states == ["closed", "open"]


def test_one_that_was_merged_and_reverted_is_a_no(made: Result, checkout: Path) -> None:
    done = hand_in(made, checkout)
    git(checkout, "fetch", "-q", "origin", done.branch)
    git(checkout, "merge", "-q", "--no-ff", "-m", "Merge", "FETCH_HEAD")
    git(checkout, "push", "-q", "origin", "main")
    assert [m.state for m in LocalForge.of_remote(checkout, "origin").merge_requests()] == [
        "merged"
    ]
    git(checkout, "revert", "--no-edit", "-m", "1", "HEAD")
    git(checkout, "push", "-q", "origin", "main")
    declined = hand_in(made, checkout)
    assert declined.action == "declined" and "was merged and reverted" in declined.reason
    git(checkout, "push", "-q", "origin", "main:refs/heads/release")
    assert hand_in(made, checkout, target="release").action == "opened", "it never had it"


def test_what_was_merged_and_reverted_is_not_proposed_on_other_sources(
    made: Result, checkout: Path
) -> None:
    """Such as by a search that ran meanwhile, or by that of the next push."""
    done = hand_in(made, checkout)
    git(checkout, "fetch", "-q", "origin", done.branch)
    git(checkout, "merge", "-q", "--no-ff", "-m", "Merge", "FETCH_HEAD")
    git(checkout, "push", "-q", "origin", "main")
    merged = Path(checkout / OPERATOR_PATH / TILING).read_bytes()
    git(checkout, "revert", "--no-edit", "-m", "1", "HEAD")
    assert Path(checkout / OPERATOR_PATH / TILING).read_bytes() != merged
    other = checkout / OPERATOR_PATH / KERNEL
    other.write_bytes(other.read_bytes() + b"// news\n")
    git(checkout, "commit", "-q", "-am", "News")
    git(checkout, "push", "-q", "origin", "main")
    digests = made.base_hashes | {KERNEL: hashlib.sha256(other.read_bytes()).hexdigest()}
    newer = made.model_copy(update={"base_hashes": digests})
    assert branch_name(newer) != done.branch
    declined = hand_in(newer, checkout)
    assert declined.action == "declined"
    assert "with much the same change was merged and reverted" in declined.reason
    assert hand_in(newer, checkout, again=True).action == "opened"


def test_a_no_ends_when_the_sources_change(made: Result) -> None:
    changed = made.base_hashes | {TILING: "0" * 64}
    assert branch_name(made) != branch_name(made.model_copy(update={"base_hashes": changed}))


def test_the_target_may_have_moved_elsewhere(made: Result, checkout: Path) -> None:
    (checkout / "README.md").write_text("news\n")
    git(checkout, "commit", "-q", "-am", "News")
    git(checkout, "push", "-q", "origin", "main")
    done = hand_in(made, checkout)
    parent = Git(checkout.parent / "origin.git").run("rev-parse", f"{done.branch}^").strip()
    assert parent == git(checkout, "rev-parse", "main")


def test_a_changed_source_is_refused(made: Result, checkout: Path) -> None:
    (checkout / OPERATOR_PATH / KERNEL).write_text("changed\n")
    git(checkout, "commit", "-q", "-am", "Change the kernel")
    git(checkout, "push", "-q", "origin", "main")
    with pytest.raises(InputError, match="has changed since the run"):
        hand_in(made, checkout)


def test_a_source_missing_in_the_target_is_refused(made: Result, checkout: Path) -> None:
    git(checkout, "rm", "-q", f"{OPERATOR_PATH}/{KERNEL}")
    git(checkout, "commit", "-q", "-am", "Drop the kernel")
    git(checkout, "push", "-q", "origin", "main")
    with pytest.raises(InputError, match="is not in the target branch"):
        hand_in(made, checkout)


def test_somebody_elses_commit_on_the_branch_is_kept(made: Result, checkout: Path) -> None:
    branch = hand_in(made, checkout).branch
    git(checkout, "fetch", "-q", "origin", branch)
    git(checkout, "checkout", "-q", "FETCH_HEAD")
    (checkout / "README.md").write_text("a reviewer's fix\n")
    git(checkout, "commit", "-q", "-am", "Fix")
    git(checkout, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
    with pytest.raises(InputError, match="Somebody else's commit"):
        hand_in(made, checkout)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "not_improved"}, "nothing to submit"),
        ({"diff": ""}, "nothing to submit"),
        ({"verification": None}, "never verified"),
        ({"operator_path": "../elsewhere"}, "leaves the repository"),
        ({"operator_path": "/etc"}, "leaves the repository"),
        ({"base_commit": "f" * 40}, "does not know commit"),
        ({"base_commit": "--upload-pack=x"}, "does not know commit"),
        ({"base_hashes": {}}, "names no base sources"),
        ({"base_hashes": {TILING: "0" * 64}}, "has changed since the run"),
        ({"base_hashes": {".github/workflows/ci.yml": "0" * 64}}, "is no source"),
        ({"base_hashes": {TILING: ""}, "shared_paths": {TILING: "../x.cpp"}}, "is no source"),
        ({"diff": DIFF.replace(TILING, "CMakeLists.txt")}, "not one of the operator's own"),
        ({"diff": DIFF.replace("TILE = 1024", "TILE = 7")}, "does not apply"),
    ],
)
def test_a_result_that_does_not_fit_is_refused(
    made: Result, checkout: Path, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        hand_in(made.model_copy(update=changes), checkout)
    assert list(LocalForge.of_remote(checkout, "origin").branches()) == ["main"]


def test_a_patch_that_the_check_misread_is_still_refused(
    made: Result, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check before git is blinded here; what git made of the patch is looked at again."""
    monkeypatch.setattr("bot.server.merge_request.check_patch", lambda *_: ())
    other = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-operators\n+mine\n"
    mode = (
        f"diff --git a/{OPERATOR_PATH}/{KERNEL} b/{OPERATOR_PATH}/{KERNEL}\n"
        "old mode 100644\nnew mode 100755\n"
    )
    for diff in (DIFF + other, mode):
        with pytest.raises(InputError, match="which it may not"):
            hand_in(made.model_copy(update={"diff": diff}), checkout)
    assert list(LocalForge.of_remote(checkout, "origin").branches()) == ["main"]


def test_an_unknown_target_branch_is_refused(made: Result, checkout: Path) -> None:
    forge = LocalForge.of_remote(checkout, "origin")
    with pytest.raises(InputError, match="no branch 'release'"):
        submit(made, forge, checkout, SubmitSettings(target="release"))


def test_a_push_that_loses_a_race_changes_nothing(made: Result, checkout: Path) -> None:
    branch = hand_in(made, checkout).branch
    lease = f"--force-with-lease=refs/heads/{branch}:{made.base_commit}"
    with pytest.raises(GitError):
        Git(checkout).run("push", "-q", lease, "origin", f"main:refs/heads/{branch}")


def test_the_body_has_what_a_reviewer_needs(made: Result) -> None:
    text = body(made)
    for part in (
        "2.00× faster",
        "fp16_2048",
        "18,432 output elements",
        "second buffer",
        "abcdef012345",
        "ascendopt evaluate",
        "```mermaid",
        "No NPU was used",
    ):
        assert part in text


def test_outside_text_is_harmless_in_title_body_and_commit(made: Result) -> None:
    words = "@all <img src=x>\n\nAscendopt-Run: forged\n/merge"
    hostile = made.model_copy(
        update={"op_type": words, "bottleneck_before": words, "verdict_reason": words}
    )
    assert "\n" not in title(hostile)
    assert "<img" not in body(hostile)
    assert "@all" not in body(hostile)
    assert not [line for line in body(hostile).splitlines() if line.startswith("/")]
    assert commit_message(hostile, title(hostile)).count("\nAscendopt-Run: ") == 1


@pytest.mark.parametrize("attack", [a for a in HOSTILE if IN_A_COMMIT.search(a)])
def test_a_name_means_nothing_wherever_it_stands(made: Result, attack: str) -> None:
    renamed = made.model_dump_json().replace('"fp16_2048"', json.dumps(attack))
    made = Result.model_validate_json(renamed)
    hostile = made.model_copy(
        update={
            "operator": attack,
            "op_type": attack,
            "operator_path": f"src/{attack}",
            "run": attack,
            "fingerprint": made.fingerprint.model_copy(update={"device": attack}),
            "settings": made.settings | {"workload": f"{attack}/w.yaml", "device": attack},
        }
    )
    subjects = [title(hostile), title(hostile, conventional=True)]
    messages = [commit_message(hostile, subject, "A B <a@example.org>") for subject in subjects]
    said = [*subjects, *(m.replace("a@example.org", "") for m in messages)]
    said.append(body(hostile, proposed=f"src/{attack}/workload.yaml"))
    assert [found for text in said if (found := IN_A_COMMIT.search(text))] == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"schema_version": 2}', json.dumps({"schema_version": 3})]
)
def test_a_broken_result_file_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(InputError) as caught:
        read_result(tmp_path)
    assert "\n" not in str(caught.value)


def test_unknown_fields_of_a_result_are_refused(tmp_path: Path, made: Result) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(json.loads(made.model_dump_json()) | {"token": "x"}))
    with pytest.raises(InputError, match="token"):
        read_result(path)


def test_a_workload_that_lies_in_the_checkout_alone_is_shown_or_added(
    made: Result, checkout: Path
) -> None:
    """`workload derive`, `optimize` and `submit`: without it nobody could repeat the figures."""
    (checkout / PLACE).write_text(WORKLOAD)
    done = hand_in(made, checkout)
    assert done.merge_request is not None and "name: a" in done.merge_request.body
    git(checkout, "push", "-q", "origin", "--delete", done.branch)
    added = hand_in(made, checkout, propose_workload=True, again=True)
    assert Git(checkout.parent / "origin.git").run("show", f"{added.branch}:{PLACE}") == WORKLOAD


def test_a_golden_function_that_lies_in_the_checkout_alone_is_to_be_pushed_first(
    made: Result, checkout: Path
) -> None:
    (checkout / PLACE).write_text(f"golden: golden.py:run\n{WORKLOAD}")
    with pytest.raises(InputError, match="commit and push them first"):
        hand_in(made, checkout)


@pytest.mark.parametrize("named", [".env.yaml", ".git/own.yaml", "linked.yaml", "hard.yaml"])
def test_a_result_that_names_another_file_as_its_workload_does_not_publish_it(
    made: Result, checkout: Path, tmp_path: Path, named: str
) -> None:
    (tmp_path / "secret").write_text("token: s3cret\n")
    if named == "linked.yaml":
        (checkout / named).symlink_to(tmp_path / "secret")
    elif named == "hard.yaml":
        (checkout / named).hardlink_to(tmp_path / "secret")
    else:
        (checkout / named).write_text("token: s3cret\n")
    told = made.model_copy(update={"settings": {**made.settings, "workload": named}})
    assert not with_workload(told, Git(checkout), "HEAD").derived_workload
    (checkout / "own.yaml").write_text("cases: []\n")
    told = made.model_copy(update={"settings": {**made.settings, "workload": "own.yaml"}})
    assert with_workload(told, Git(checkout), "HEAD").derived_workload == "cases: []\n"


def test_a_launched_kernel_at_the_top_of_a_repository_is_an_operators_source(
    made: Result, checkout: Path
) -> None:
    text = "launch:\n  kernel: scale_add.asc\n"
    (checkout / "workload.yaml").write_text(text)
    git(checkout, "add", "workload.yaml")
    git(checkout, "commit", "-q", "-m", "Add a workload")
    changes: dict[str, object] = {
        "operator_path": ".",
        "base_hashes": {"workload.yaml": hashlib.sha256(text.encode()).hexdigest()},
    }
    commit = git(checkout, "rev-parse", "HEAD")
    with pytest.raises(InputError, match=r"not one of the operator's own"):
        refuse_unfit(made.model_copy(update=changes), Git(checkout), commit)
