"""The dashboard issue and a no that lasts, in each forge's words on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.events.model import Event
from bot.forge.base import Forge
from bot.repository.connection import Connection
from bot.repository.job import Job
from bot.server.dashboard_issue import TITLE, ticks
from tests.bot.forge import test_gitcode, test_github, test_gitlab
from tests.bot.forge.server.base import ForgeServer
from tests.bot.forge.server.gitcode import GitCodeServer
from tests.bot.forge.server.github import GitHubServer
from tests.bot.forge.server.gitlab import GitLabServer
from tests.bot.forge.server.issues import FIRST
from tests.bot.make import KERNEL as OWN_KERNEL
from tests.bot.make import OPERATOR_PATH, SOURCES, result
from tests.bot.operator_repository import KERNEL, Repository, operator_repository
from tests.bot.server.ci_runs import SCALE_ADD, Ci, failed, the_merge_request
from tests.bot.server.test_one_queue import HEADER, SCALE, SHIFT, on

TOKEN = "token-of-the-bot"
SHAPES: dict[str, tuple[type[ForgeServer], Any]] = {
    "github": (GitHubServer, test_github.connected),
    "gitlab": (GitLabServer, test_gitlab.connected),
    "gitcode": (GitCodeServer, test_gitcode.connected),
}


class OnForge(Ci):
    """Runs of the CI of a repository that is on a server in a forge's words."""

    def __init__(self, ops: Repository, name: str) -> None:
        super().__init__(ops)
        server, connect = SHAPES[name]
        self.name = name
        self.server: ForgeServer = server(ops.folder / "ops.git", {TOKEN: "ascendopt"})
        self.forge: Forge = connect(self.server, TOKEN)

    def connection(self) -> Connection:
        return Connection.mirrored(self.name, "team/ops", self.forge, self._folder())

    def plan(self, event: Event) -> list[Job]:
        return super().plan(event.model_copy(update={"forge": self.name, "repository": "team/ops"}))

    def dashboard(self) -> str:
        return self.server.issues.beginning(FIRST).body

    def tick(self, words: str, who: str = "alice", access: str = "write") -> list[Job]:
        """A person ticks the box of a line with these words, and the CI plans what follows."""
        return self.plan(self.ticked(words, who, access))

    def ticked(self, words: str, who: str = "alice", access: str = "write") -> Event:
        """The event that the forge sends for it."""
        self.ops.as_user(who, access)
        old = self.dashboard()
        (line,) = (x for x in old.splitlines() if words in x and "- [ ]" in x)
        text = old.replace(line, line.replace("- [ ]", "- [x]"))
        self.server.issues.rewrite(FIRST, TITLE, text)
        given = {"action": "edited", "number": FIRST, "text": text, "text_before": old}
        return self.ops.event(kind="issue", sender=who, **given)


@pytest.fixture(params=SHAPES)
def shaped(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OnForge]:
    made = OnForge(operator_repository(tmp_path), request.param)
    yield made
    made.server.stop()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[OnForge]:
    made = OnForge(operator_repository(tmp_path), "github")
    yield made
    made.server.stop()


def pushed_header(ci: Ci) -> list[Job]:
    """A change of two operators where one run starts one search."""
    ci.ops.commit("main", {".ascendopt.yml": "limits: {operators_per_event: 1}\n"})
    ci.plan(ci.ops.event(kind="other"))
    return ci.push({HEADER: "int cut = 3;\n"})


@pytest.mark.few(1)
def test_one_issue_says_what_runs_and_waits_and_is_rewritten_in_place(shaped: OnForge) -> None:
    (job,) = pushed_header(shaped)
    assert "### Running (1)" in shaped.dashboard() and "### Queue (1)" in shaped.dashboard()
    assert f"Try next: `{SHIFT}`" in shaped.dashboard()
    failed(shaped, job)
    assert "### Failed runs (1)" in shaped.dashboard()
    assert "The operator does not build." in shaped.dashboard()
    assert list(shaped.server.issues.begun) == [FIRST]
    assert shaped.server.issues.titles[FIRST] == TITLE


@pytest.mark.long
@pytest.mark.few(1)
def test_a_ticked_box_retries_what_failed_and_is_empty_again(shaped: OnForge) -> None:
    (job,) = pushed_header(shaped)
    failed(shaped, job)
    (again,) = shaped.tick("Try again:")
    assert again.key == job.key
    assert "[x]" not in shaped.dashboard() and "### Failed runs (0)" in shaped.dashboard()


@pytest.mark.long
def test_a_tick_of_somebody_without_the_right_does_nothing(hub: OnForge) -> None:
    (job,) = pushed_header(hub)
    failed(hub, job)
    hub.tick("Try again:", who="mallory", access="read")
    assert hub.records()[job.key].state == "failed"


def test_a_tick_is_not_lost_when_the_bot_writes_the_page_meanwhile(hub: OnForge) -> None:
    (job,) = pushed_header(hub)
    failed(hub, job)
    event = hub.ticked("Try again:")
    hub.server.issues.rewrite(FIRST, TITLE, event.text_before)
    assert [again.key for again in hub.plan(event)] == [job.key]


def test_nobody_lends_a_stranger_the_right_by_an_edit_of_their_own(hub: OnForge) -> None:
    (job,) = pushed_header(hub)
    failed(hub, job)
    hub.ticked("Try again:", who="mallory", access="read")
    theirs = hub.dashboard()
    assert "[x]" in theirs
    edit = {"action": "edited", "number": FIRST, "sender": "alice", "text": theirs}
    hub.ops.as_user("alice", "write")
    for before in (theirs, ""):  # other words of the text, and the title alone
        planned = hub.plan(hub.ops.event(kind="issue", text_before=before, **edit))
        assert job.key not in [one.key for one in planned]
    assert hub.records()[job.key].state == "failed"


def test_a_tick_of_which_nobody_knows_whose_it_is_is_answered_and_counts_for_nobody(
    shaped: OnForge,
) -> None:
    """GitCode's event of an edit lacks the text before."""
    (job,) = pushed_header(shaped)
    failed(shaped, job)
    for who, access in (("mallory", "read"), ("alice", "write"), ("alice", "write")):
        event = shaped.ticked("Try again:", who, access)
        unsaid = event.model_copy(update={"text_before": "", "digest": who * 4})
        assert job.key not in [one.key for one in shaped.plan(unsaid)]
        assert "[x]" not in shaped.dashboard()
        answers = [c.body for c in shaped.forge.of_issues().comments(FIRST)]
        assert len(answers) == (who == "alice")
        assert all("does not say who ticked it" in body for body in answers)
    assert shaped.records()[job.key].state == "failed"


def test_what_is_queued_goes_first_when_its_box_is_ticked(hub: OnForge) -> None:
    hub.ops.commit("main", {".ascendopt.yml": "limits: {operators_per_event: 1}\n"})
    hub.plan(hub.ops.event(kind="other"))
    hub.push({HEADER: "int cut = 3;\n", SCALE_ADD: SOURCES[OWN_KERNEL] + "// more\n"})
    (job,) = hub.tick(OPERATOR_PATH)
    assert job.operator == OPERATOR_PATH


@pytest.mark.long
def test_never_keeps_an_operator_from_being_searched_until_it_is_allowed_again(
    hub: OnForge,
) -> None:
    (job,) = pushed_header(hub)
    failed(hub, job)
    hub.tick("Never try this operator.")
    hub.follow_up()
    assert f"Allow again: operator `{SCALE}`, requested by `alice`" in hub.dashboard()
    assert SCALE not in {j.operator for j in hub.push({KERNEL: "int kernel = 9;\n"})}
    hub.tick("Allow again:")
    assert hub.push({KERNEL: "int kernel = 10;\n"})[0].operator == SCALE


@pytest.mark.long
def test_a_dashboard_that_a_person_deleted_is_made_anew(hub: OnForge) -> None:
    (job,) = pushed_header(hub)
    hub.server.issues.begun.clear()
    failed(hub, job)
    hub.follow_up()
    assert list(hub.server.issues.begun) == [FIRST]


def test_no_dashboard_where_it_is_switched_off(hub: OnForge) -> None:
    text = "dashboard: false\n"
    hub.ops.commit("main", {".ascendopt.yml": text})
    hub.plan(hub.ops.event(kind="other"))
    hub.push({KERNEL: "int kernel = 9;\n"})
    assert not hub.server.issues.begun


def test_the_local_forge_has_a_page_in_place_of_the_issue(ci: Ci) -> None:
    pushed_header(ci)
    page = ci.ops.folder / "ops.git" / "merge-requests" / "dashboard-of-ascendopt.md"
    assert f"Try next: `{SHIFT}`" in page.read_text()


def test_what_is_no_box_of_ours_is_no_tick() -> None:
    line = "- [x] <!-- ascendopt-do: retry 0123456789abcdef --> add"
    assert [t.action for t in ticks(line + "\n" + line)] == ["retry"]
    assert ticks("- [ ] <!-- ascendopt-do: retry 0123 -->") == []
    assert ticks("- [x] <!-- ascendopt-do: delete 0123 -->\n> - [x] x") == []
    # Looked through once, and not from each line anew: forges take a million characters.
    assert len(ticks("\r\n" * 500_000 + line)) == 1


# A no that lasts


def proposed(ci: Ci) -> Job:
    ci.plan(ci.ops.event(kind="other"))
    (job,) = ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// pushed\n"})
    ci.report(job, on(ci, job))
    return job


def test_a_closed_change_is_not_proposed_again_when_a_comment_was_edited(ci: Ci) -> None:
    proposed(ci)
    ours = the_merge_request(ci)
    ci.ops.as_user("alice").close(ours.number)
    (again,) = ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// pushed\n// a comment\n"})
    (said,) = ci.report(again, on(ci, again))
    assert f"Merge request {ours.number} with much the same change was closed" in said
    assert ci.ops.bot.merge_requests("open", "optimize/") == []


def test_another_number_on_the_same_line_is_the_same_idea_and_another_change_is_not(
    ci: Ci,
) -> None:
    proposed(ci)
    ci.ops.as_user("alice").close(the_merge_request(ci).number)
    (job,) = ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// pushed\n// a comment\n"})
    other = result().diff.replace("TILE = 8192", "TILE = 4096").replace("M = 2", "M = 4")
    assert "much the same change" in ci.report(job, on(ci, job, diff=other))[0]


def test_closing_is_answered_once_with_what_it_means(ci: Ci) -> None:
    proposed(ci)
    ours = the_merge_request(ci)
    ci.ops.as_user("alice").close(ours.number)
    ci.follow_up()
    ci.follow_up()
    assert ci.answers(ours.number).count("Closed without merging") == 1
    assert f"all proposals for `{OPERATOR_PATH}`" in ci.answers(ours.number)


def test_ignore_under_a_merge_request_of_the_bot_closes_it_and_is_kept(ci: Ci) -> None:
    proposed(ci)
    ours = the_merge_request(ci)
    assert ci.write(ours.number, "/ignore operator until 2999-01-31") == []
    assert f"`{OPERATOR_PATH}` is ignored until 2999-01-31" in ci.answers(ours.number)
    assert ci.ops.bot.merge_request(ours.number).state == "closed"
    assert ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// new\n"}) == []
    ci.write(ours.number, "/unignore operator scale_add")
    assert ci.push({SCALE_ADD: SOURCES[OWN_KERNEL] + "// newer\n"})[0].operator == OPERATOR_PATH


def test_an_ignored_idea_is_proposed_for_no_operator(ci: Ci) -> None:
    request = ci.ops.request({"README.md": "words\n"})
    ci.write(request.number, "/ignore idea double-buffer")
    (job,) = ci.write(request.number, "/optimize op=scale_add")
    assert job.without == ("double-buffer",)
    (said,) = ci.report(job, result())
    assert "ideas that somebody ignored: `double-buffer`" in said


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("/ignore", "Name what to ignore"),
        ("/ignore until 2001-01-01", "a day that is to come"),
        ("/ignore until soon", "a day that is to come"),
        ("/ignore forever", "`forever` is not known."),
        ("/ignore operator nothing_like_it", "This repository has no operator"),
        ("/ignore operator a idea b", "One operator or one idea at a time."),
        ("/unignore operator scale until 2999-01-01", "takes no `until`"),
    ],
)
def test_what_is_unclear_is_answered_and_changes_nothing(ci: Ci, words: str, answer: str) -> None:
    request = ci.ops.request({"README.md": "words\n"})
    ci.write(request.number, words)
    assert answer in ci.answers(request.number)
