"""Whose merge request it is: repository and account first, then the branch, last a marker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.forge.base import Forge
from bot.forge.kinds import identity
from bot.forge.local import LocalForge
from bot.repository.config import RepositoryConfig
from bot.server.delivery import deliver, free_places
from bot.server.merge_request import Submission, SubmitSettings, body, branch_name, submit, title
from bot.server.own_requests import is_about, is_bots, own_requests
from bot.server.planner import NOT_ALLOWED
from bot.server.verify_again import look_again
from ci.model.errors import InputError
from ci.model.result import Result
from tests.bot.forge import test_gitcode, test_github, test_gitlab
from tests.bot.make import OPERATOR_PATH, TILING, git, repository, result
from tests.bot.operator_repository import Repository
from tests.bot.server.ci_runs import Ci, asked, the_merge_request

FORGES = {"github": test_github, "gitlab": test_gitlab, "gitcode": test_gitcode}


class Place:
    """A checkout, its forge as the bot sees it, and the bare repository's own view of both."""

    def __init__(self, folder: Path, forge: Forge, behind: LocalForge) -> None:
        self.folder, self.forge, self.behind = folder, forge, behind
        self.checkout = folder / "ops"
        self.made = result(git(self.checkout, "rev-parse", "HEAD"))

    def hand_in(self, **changes: object) -> Submission:
        made = self.made.model_copy(update=changes)
        return submit(made, self.forge, self.checkout, SubmitSettings())

    def forged(self, number: str = "", by: str = "mallory") -> int:
        """A stranger's fork has the bot's branch, and its text all of the bot's markers."""
        fork = self.folder / f"fork{number}.git"
        git(self.folder, "clone", "-q", "--bare", str(self.folder / "origin.git"), str(fork))
        branch = branch_name(self.made)
        commit_elsewhere(self.checkout, fork, branch)
        stranger = self.behind.as_user(by)
        text = body(self.made)
        return stranger.open(title(self.made), text, branch, "main", fork=fork).number


def commit_elsewhere(checkout: Path, to: Path, branch: str) -> None:
    git(checkout, "checkout", "-q", "--detach", "main")
    (checkout / "README.md").write_text("of a stranger\n")
    git(checkout, "commit", "-q", "-am", "Change\n\nAscendopt-Run: 1\nAscendopt-Operator: x")
    git(checkout, "push", "-q", "--force", str(to), f"HEAD:refs/heads/{branch}")
    git(checkout, "checkout", "-q", "main")


@pytest.fixture(params=["local", *FORGES])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    checkout = repository(tmp_path)
    if request.param == "local":
        behind = LocalForge.of_remote(checkout, "origin")
        yield Place(tmp_path, behind, behind)
        return
    module = FORGES[request.param]
    server = module.SERVER(tmp_path / "origin.git", module.TOKENS)
    yield Place(tmp_path, module.connected(server, next(iter(module.TOKENS))), server.forge())
    server.stop()


def test_a_strangers_fork_with_the_bots_branch_and_markers_is_a_strangers(here: Place) -> None:
    number = here.forged()
    before = here.behind.merge_request(number)
    assert here.hand_in().action == "opened"
    after = here.behind.merge_request(number)
    assert (after.title, after.body, after.state) == (before.title, before.body, "open")
    assert not here.behind.comments(number)
    (ours,) = own_requests(here.forge, "open")
    assert ours.number != number


def test_a_fork_under_the_bots_own_account_is_a_strangers(here: Place) -> None:
    """The jobs of all repositories share an account on some forges: the repository decides, too."""
    number = here.forged(by=here.forge.viewer())
    before = here.behind.merge_request(number)
    assert here.forge.is_viewer(before.author) and not own_requests(here.forge)
    assert here.hand_in().action == "opened"
    assert here.behind.merge_request(number).body == before.body


@pytest.mark.parametrize(
    "branch", ["optimize/images", "optimize/a/b", "create/docs", "optimize/x/0123456789abcde"]
)
def test_another_jobs_branch_that_only_begins_as_the_bots_is_no_own(
    here: Place, branch: str
) -> None:
    """The jobs of one repository share an account on some forges, and many optimize something."""
    commit_elsewhere(here.checkout, here.folder / "origin.git", branch)
    job = here.behind.as_user(here.forge.viewer())
    number = job.open("Smaller pictures", body(here.made), branch, "main").number
    assert not own_requests(here.forge)
    assert here.hand_in().action == "opened"
    assert here.behind.merge_request(number).title == "Smaller pictures"


def test_a_strangers_closed_fork_is_no_no_of_the_repository(here: Place) -> None:
    here.behind.close(here.forged())
    assert here.hand_in().action == "opened"


def test_strangers_forks_take_none_of_the_bots_places(here: Place) -> None:
    here.forged("1")
    here.forged("2")
    config = RepositoryConfig()
    assert free_places(here.forge, config, 0) == config.limits.open_merge_requests


def test_a_persons_merge_request_from_the_bots_branch_is_left_alone_and_told(here: Place) -> None:
    branch = branch_name(here.made)
    commit_elsewhere(here.checkout, here.folder / "origin.git", branch)
    person = here.behind.as_user("alice")
    number = person.open("Mine", body(here.made), branch, "main").number
    with pytest.raises(InputError, match=f"Merge request {number} of alice is open from"):
        here.hand_in()
    assert here.behind.merge_request(number).title == "Mine"


def test_a_text_that_a_person_rewrote_does_not_hide_the_bots_own(here: Place) -> None:
    first = here.hand_in()
    assert first.merge_request is not None
    here.behind.update(first.merge_request.number, "Ours now", "rewritten")
    again = here.hand_in()
    assert again.action == "updated" and again.merge_request is not None
    assert again.merge_request.number == first.merge_request.number
    here.behind.update(first.merge_request.number, "Ours now", "rewritten")
    here.behind.close(first.merge_request.number)
    assert here.hand_in().action == "declined"


def test_a_no_stays_one_when_its_branch_is_deleted(here: Place) -> None:
    """As Renovate #2771: a person closes the merge request and deletes the branch with it."""
    first = here.hand_in().merge_request
    assert first is not None
    here.behind.close(first.number)
    git(here.checkout, "push", "-q", "origin", "--delete", first.source_branch)
    assert here.forge.branch_head(first.source_branch) is None
    assert here.hand_in().action == "declined"
    assert here.forge.branch_head(first.source_branch) is None
    assert [m.number for m in own_requests(here.forge)] == [first.number]


def test_a_text_with_another_operators_marker_is_about_the_branchs_operator(here: Place) -> None:
    filed = here.hand_in().merge_request
    assert filed is not None
    other = here.made.model_copy(update={"operator_path": "src/other/scale_add"})
    here.behind.update(filed.number, body=body(other))
    found = here.forge.merge_request(filed.number)
    assert is_about(found, OPERATOR_PATH) and not is_about(found, "src/other/scale_add")


def amended(checkout: Path, branch: str, *how: str) -> None:
    """A person amends what the bot pushed, which keeps its trailers."""
    git(checkout, "fetch", "-q", "origin", branch)
    git(checkout, "checkout", "-q", "--detach", "FETCH_HEAD")
    source = checkout / OPERATOR_PATH / TILING
    source.write_text(source.read_text() + "// mended by a person\n")
    git(checkout, "commit", "-q", "-a", "--amend", "--no-edit", *how)
    assert "Ascendopt-Run" in git(checkout, "show", "-s", "--format=%(trailers)", "HEAD")
    git(checkout, "push", "-q", "--force", "origin", f"HEAD:refs/heads/{branch}")
    git(checkout, "checkout", "-q", "main")


HOW = {
    "amended": [],
    "as its author": ["--reset-author"],
    "under the bot's name": ["--author=ascendopt <ascendopt@localhost>"],
}


@pytest.mark.parametrize("how", HOW)
def test_an_amended_commit_is_a_persons(tmp_path: Path, how: str) -> None:
    checkout = repository(tmp_path)
    behind = LocalForge.of_remote(checkout, "origin")
    here = Place(tmp_path, behind, behind)
    first = here.hand_in()
    if how == "under the bot's name":
        git(checkout, "config", "user.email", "ascendopt@localhost")
    amended(checkout, first.branch, *HOW[how])
    with pytest.raises(InputError, match="Somebody else's commit"):
        here.hand_in()


def test_a_text_of_another_author_than_before_is_still_the_bots_commit(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    forge = LocalForge.of_remote(checkout, "origin")
    made = result(git(checkout, "rev-parse", "HEAD"))
    for author in ("Ops Inc. <ops.bot.@example.org>", "other <other@example.org>"):
        submit(made, forge, checkout, SubmitSettings(author=author))
    assert len(forge.merge_requests()) == 1


def test_the_bots_account_is_known_whatever_the_case_of_its_letters(tmp_path: Path) -> None:
    forge = LocalForge.of_remote(repository(tmp_path), "origin").as_user("Ops-Bot[bot]")
    assert forge.is_viewer("ops-bot[BOT]")
    assert not forge.is_viewer("") and not forge.as_user("").is_viewer("")


@pytest.mark.parametrize("name", ["op\u017fbot", "Op\u017fBot", "opsbot\u212a"])
def test_an_account_of_look_alike_letters_is_another(tmp_path: Path, name: str) -> None:
    """Python makes `s` of the long one and `k` of the sign of Kelvin."""
    forge = LocalForge.of_remote(repository(tmp_path), "origin")
    for own in ("opsbot", "opsbotk"):
        assert not forge.as_user(own).is_viewer(name)
    assert identity("github", "team/opsbotk") != identity("github", f"team/{name}")


# In the bot


def proposed(ci: Ci) -> int:
    _, job = asked(ci)
    ci.report(job, result())
    return the_merge_request(ci).number


def test_not_a_word_is_written_under_what_another_job_of_the_account_opened(ci: Ci) -> None:
    ci.ops.commit("optimize/images", {"logo.svg": "<svg/>\n"})
    number = ci.ops.bot.open("Smaller pictures", "", "optimize/images", "main").number
    git(ci.ops.checkout, "checkout", "-q", "main")
    moved(ci.ops, "one")
    assert not look_again(ci.ops.connection(), ci.ops.queue, 0)
    ci.ops.bot.close(number)
    assert not look_again(ci.ops.connection(), ci.ops.queue, 0)
    assert not ci.ops.bot.comments(number)


def moved(ops: Repository, name: str) -> str:
    """The default branch moves, next to the operator's sources; the commit."""
    return ops.commit("main", {f"{OPERATOR_PATH}/op_kernel/{name}.h": f"int {name};\n"})


def test_an_amended_commit_is_not_verified_again_and_told(ci: Ci) -> None:
    number = proposed(ci)
    request = ci.ops.bot.merge_request(number)
    git(ci.ops.checkout, "checkout", "-q", "-f", "main")
    amended(ci.ops.checkout, request.source_branch)
    ci.ops.commit(request.target_branch, {f"{OPERATOR_PATH}/op_kernel/more.h": "int more;\n"})
    assert not look_again(ci.ops.connection(), ci.ops.queue, 0)
    assert "this branch is now yours" in ci.answers(number)


def test_ignore_under_a_strangers_fork_of_the_bots_branch_closes_nothing(ops: Repository) -> None:
    fork = ops.folder / "fork.git"
    git(ops.folder, "clone", "-q", "--bare", str(ops.folder / "ops.git"), str(fork))
    made: Result = result()
    branch = branch_name(made)
    commit_elsewhere(ops.checkout, fork, branch)
    stranger = ops.as_user("mallory", "none")
    number = stranger.open("Faster", body(made), branch, "main", fork=fork).number
    plan = ops.comment(number, "/ignore operator")
    assert not plan.closed and not plan.facts


def test_a_stored_job_rebases_no_merge_request_of_a_stranger(ops: Repository) -> None:
    """The branch that holds it can be written by others."""
    request = ops.request({"README.md": "about scale_add\n"})
    (job,) = ops.comment(request.number, "/optimize op=scale_add").jobs
    forged = job.model_copy(update={"kind": "verify", "patch_of": request.number, "patch": "x"})
    found = result(base_commit=job.source_commit, verdict="not_improved")
    with pytest.raises(InputError, match="is not the bot's own"):
        deliver(forged, found.model_copy(update={"run": job.run}), ops.connection(), 0)
    assert ops.bot.merge_request(request.number).state == "open"


def test_what_another_job_of_the_same_account_wrote_allows_no_fork(ops: Repository) -> None:
    """All jobs of a CI share an account: one that repeats a stranger's words allows nothing."""
    fork = ops.folder / "fork.git"
    git(ops.folder, "clone", "-q", "--bare", str(ops.folder / "ops.git"), str(fork))
    commit_elsewhere(ops.checkout, fork, "theirs")
    request = ops.as_user("mallory", "none").open("Theirs", "", "theirs", "main", fork=fork)
    ops.bot.comment(request.number, f"<!-- ascendopt-reply: allowed-{request.head} -->\nThanks!")
    made = ops.comment(request.number, "/optimize op=scale")
    assert (made.jobs, made.note) == ((), NOT_ALLOWED)
    assert ops.comment(request.number, f"/ok-to-optimize {request.head}\n\n/optimize op=scale").jobs


def test_the_bots_own_change_starts_no_search_when_it_was_squashed(ci: Ci) -> None:
    """Its trailers are gone then; what was merged tells."""
    assert not ci.push({"README.md": "so that this is known\n"})
    (job,) = ci.plan(
        ci.ops.event(kind="dispatch", sender=ci.ops.as_user("alice").viewer(), text="op=scale_add")
    )
    ci.report(job, result())
    request = the_merge_request(ci)
    assert is_bots(request, ci.ops.bot)
    git(ci.ops.checkout, "checkout", "-q", "-f", "main")
    git(ci.ops.checkout, "fetch", "-q", "origin", request.source_branch)
    before = git(ci.ops.checkout, "rev-parse", "HEAD")
    git(ci.ops.checkout, "merge", "-q", "--squash", "FETCH_HEAD")
    git(ci.ops.checkout, "commit", "-q", "-m", "Faster (#1)")
    git(ci.ops.checkout, "push", "-q", "origin", "main")
    after = git(ci.ops.checkout, "rev-parse", "HEAD")
    assert not ci.plan(ci.ops.event(kind="push", ref="refs/heads/main", before=before, after=after))
