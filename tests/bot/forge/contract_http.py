"""What every forge must do that is asked over HTTP. Needs the fixtures of `ForgeContract`, and
`server` (a `ForgeServer` that holds the state) and `token` (of the bot): `conftest.py` has them."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from unidiff import PatchSet

from bot.base.git import Git, GitError
from bot.forge.base import Forge, ForgeError
from bot.forge.model import Status
from bot.server.merge_request import SubmitSettings, submit
from bot.testing.forge import LONG_AGO, ForgeContract
from tests.bot.forge.server.base import ForgeServer
from tests.bot.make import git, result


def lists(forge: Forge, number: int, issue: int) -> dict[str, object]:
    """What the bot reads of every list of a forge."""
    return {
        "branches": forge.branches(),
        "merge requests": forge.merge_requests(),
        "open ones": forge.merge_requests("open", "wo"),
        "comments": forge.comments(number),
        "recent comments": forge.comments(number, LONG_AGO),
        "files": forge.diff(number),
        "rights": forge.permission("alice"),
        "statuses": list(forge.statuses(forge.merge_request(number).head)),
        "news": forge.recent_comments(LONG_AGO).comments,
        "issue": forge.of_issues().comments(issue),
        "issues": {(c.merge_request, c.body) for c in forge.recent_issues(LONG_AGO).comments},
        "own issue": forge.write_issue("Dashboard", "- [ ] one"),
    }


class HttpForgeContract(ForgeContract):
    def test_every_list_is_read_to_its_last_page_however_short_the_pages_are(
        self, forge: Forge, person: Forge, server: ForgeServer, checkout: Path
    ) -> None:
        """Links are of GitHub's form: with a number for the repository, and at another server."""
        git(checkout, "push", "-q", "origin", "work:wonder", "work:worn")
        numbers = [forge.open(n, "", n, "main").number for n in ("work", "wonder", "worn")]
        for said in ("one", "two", "three"):
            person.comment(numbers[0], said)
        for context in ("verify", "speed", "style"):
            status = Status(context=context, state="success")
            forge.set_status(forge.branches()["work"], status)
        issues = [server.issues.open("alice", "/create") for _ in range(3)]
        for said in ("one", "two"):
            server.issues.say(issues[0], "bob", said)
        forge.write_issue("Another", "text")
        forge.write_issue("Dashboard", "- [ ] one")
        whole = lists(forge, numbers[0], issues[0])
        server.next_page = lambda number, pages: (
            f"https://evil.example/repositories/7/x?page={number + 1}" if number < pages else None
        )
        found = lists(forge, numbers[0], issues[0])
        other = [name for name, one in found.items() if one != whole[name]]
        assert not other, other
        assert len(whole["branches"]) == 4  # type: ignore[arg-type]
        assert any("page=2" in line for line in server.log)

    def test_a_text_that_is_too_long_is_cut_and_written(self, forge: Forge) -> None:
        long = "<details>\n" + "word\n" * 20_000
        number = forge.open("one", long, "work", "main").number
        assert forge.merge_request(number).body.endswith("…\n\n</details>")
        assert forge.update(number, body=long).body.startswith("<details>")
        assert forge.update(number, title="two").body.startswith("<details>")
        made = forge.comment(number, long)
        assert forge.edit_comment(number, made.id, f"new\n{long}").body.startswith("new\n")
        issue = forge.write_issue("Dashboard", long)
        assert forge.write_issue("Dashboard", f"new\n{long}", issue) == issue
        assert forge.issue(issue).body.startswith("new\n")

    def test_a_former_name_is_known_and_another_is_not(
        self, forge: Forge, server: ForgeServer
    ) -> None:
        server.former = "old-team/old"
        assert forge.was_named("old-team/old")
        assert forge.repository().lasting == forge.repository().number != ""
        assert not forge.was_named("other/ops")

    def test_no_link_leads_round_in_circles(self, forge: Forge, server: ForgeServer) -> None:
        """Nor one that always leads to a page that was not read: then the list has no end."""
        whole = forge.branches()
        assert len(whole) == 2
        # The last leads forth and back.
        for circle in ("/x?page=2", "/x?page=1", "/x", "//[/x?page=2", "/x?page={}"):
            server.next_page = lambda number, pages, circle=circle: circle.format(3 - number)  # type: ignore[misc]
            server.log.clear()
            try:
                assert set(forge.branches().items()) <= set(whole.items())
            except ForgeError as problem:
                assert "cannot be read" in str(problem)
            assert len(server.log) <= 4

    def test_what_moves_in_a_list_while_it_is_read_is_there_once(
        self, forge: Forge, server: ForgeServer, checkout: Path
    ) -> None:
        git(checkout, "push", "-q", "origin", "work:wonder")
        numbers = [forge.open(n, "", n, "main").number for n in ("work", "wonder")]
        ways = iter(("/x?page=2", "/x?page=1&again=1", None))
        server.next_page = lambda number, pages: next(ways)
        assert [m.number for m in forge.merge_requests("open")] == numbers
        assert next(ways, "end") == "end"

    def test_a_list_without_end_is_a_sentence(
        self, forge: Forge, server: ForgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("bot.forge.http.MOST_PAGES", 20)
        cursors = count()
        server.next_page = lambda number, pages: f"/x?page=9&after={next(cursors)}"
        with pytest.raises(ForgeError, match="more than 20 pages") as refused:
            forge.branches()
        assert refused.value.kind == "unavailable"
        assert len(server.log) <= 21

    def test_it_waits_when_it_is_too_fast(self, forge: Forge, server: ForgeServer) -> None:
        server.fail(429, {"Retry-After": "0"}, times=2)
        assert "work" in forge.branches()
        assert not server.failures

    def test_a_limit_longer_than_its_patience_is_handed_on(
        self, forge: Forge, server: ForgeServer
    ) -> None:
        server.fail(429, {"Retry-After": "4000"})
        with pytest.raises(ForgeError) as refused:
            forge.branches()
        assert (refused.value.kind, refused.value.retry_after) == ("rate_limited", 4000)

    def test_a_read_is_tried_again_when_the_forge_is_down_for_a_moment(
        self, forge: Forge, server: ForgeServer
    ) -> None:
        server.fail(502)
        assert "work" in forge.branches()

    def test_a_write_whose_answer_is_lost_is_not_done_twice(
        self, forge: Forge, server: ForgeServer
    ) -> None:
        number = forge.open("one", "", "work", "main").number
        server.fail(502)
        with pytest.raises(ForgeError) as refused:
            forge.comment(number, "once")
        assert refused.value.kind == "unavailable"
        assert list(forge.comments(number)) == []

    def test_a_write_that_was_too_fast_is_done_once(
        self, forge: Forge, server: ForgeServer
    ) -> None:
        number = forge.open("one", "", "work", "main").number
        server.fail(429, {"Retry-After": "0"})
        forge.comment(number, "once")
        assert [c.body for c in forge.comments(number)] == ["once"]

    def test_a_wrong_token_is_one_sentence_without_the_token(
        self, forge: Forge, server: ForgeServer, token: str
    ) -> None:
        server.tokens.clear()
        with pytest.raises(ForgeError, match="HTTP 401.*token") as refused:
            forge.branches()
        assert refused.value.kind == "forbidden"
        assert token not in str(refused.value)
        assert "\n" not in str(refused.value)

    def test_a_server_that_is_gone_is_unavailable(
        self, forge: Forge, server: ForgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("bot.forge.retry.ATTEMPTS", 1)
        server.stop()
        with pytest.raises(ForgeError) as refused:
            forge.branches()
        assert refused.value.kind == "unavailable"

    def test_an_answer_that_is_no_json_is_a_sentence(
        self, forge: Forge, server: ForgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("bot.forge.retry.ATTEMPTS", 1)
        server.fail(200)
        monkeypatch.setattr(type(server), "error", lambda *_: "<html>maintenance</html>")
        with pytest.raises(ForgeError):
            forge.branches()

    def test_an_answer_without_end_is_a_sentence(
        self, forge: Forge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("bot.forge.retry.ATTEMPTS", 1)
        monkeypatch.setattr("bot.forge.transport.MOST_BYTES", 0)
        with pytest.raises(ForgeError, match="has more than 0 MiB") as refused:
            forge.branches()
        assert refused.value.kind == "unavailable"

    def test_git_pushes_with_the_credentials_and_not_without(
        self, forge: Forge, server: ForgeServer, checkout: Path, token: str
    ) -> None:
        url = forge.repository().push_url
        assert token not in url
        with pytest.raises(GitError) as refused:
            Git(checkout).run("push", "--quiet", url, "work:refs/heads/optimize/add/1")
        assert token not in str(refused.value)
        Git(checkout).run(
            *("push", "--quiet", url, "work:refs/heads/optimize/add/1"), env=forge.credentials()
        )
        assert forge.branch_head("optimize/add/1") == forge.branch_head("work")

    def test_a_reader_may_not_push(
        self, forge: Forge, person: Forge, server: ForgeServer, checkout: Path
    ) -> None:
        server.forge().set_permission("alice", "read")
        with pytest.raises(GitError):
            Git(checkout).run(
                *("push", "--quiet", person.repository().push_url, "work:refs/heads/mine"),
                env=person.credentials(),
            )
        assert forge.branch_head("mine") is None

    def test_a_finished_run_becomes_a_merge_request_and_is_updated_in_place(
        self, forge: Forge, checkout: Path
    ) -> None:
        made = result(git(checkout, "rev-parse", "main"))
        first = submit(made, forge, checkout, SubmitSettings())
        again = submit(made, forge, checkout, SubmitSettings())
        assert (first.action, again.action) == ("opened", "updated")
        (found,) = forge.merge_requests("open", "optimize/")
        assert found.head == again.commit == forge.branch_head(found.source_branch)
        assert found.title.startswith("Optimize ScaleAdd")
        assert "```mermaid" in found.body
        assert len(PatchSet(forge.diff(found.number))) == 2
        forge.close(found.number)
        assert submit(made, forge, checkout, SubmitSettings()).action == "declined"

    def test_a_fork_is_told_from_our_own(
        self, forge: Forge, server: ForgeServer, checkout: Path, tmp_path: Path
    ) -> None:
        fork = tmp_path / "alices.git"
        git(tmp_path, "clone", "-q", "--bare", str(server.bare), str(fork))
        made = server.forge("alice").open("From outside", "", "work", "main", fork=fork)
        found = forge.merge_request(made.number)
        assert found.from_fork
        assert found.source_repository != forge.repository().name
        assert found.author == "alice"
        env = forge.credentials()
        Git(checkout).run("fetch", "--quiet", forge.repository().push_url, found.head_ref, env=env)
        assert Git(checkout).commit("FETCH_HEAD") == found.head

    def test_a_rebased_branch_has_a_new_head_and_diff(self, forge: Forge, checkout: Path) -> None:
        number = forge.open("one", "", "work", "main").number
        git(checkout, "checkout", "-q", "main")
        (checkout / "other.txt").write_text("moved on\n")
        git(checkout, "add", "other.txt")
        git(checkout, "commit", "-q", "-m", "Base moved")
        git(checkout, "push", "-q", "origin", "main")
        git(checkout, "rebase", "-q", "main", "work")
        git(checkout, "push", "-q", "--force", "origin", "work")
        found = forge.merge_request(number)
        assert found.head == forge.branch_head("work")
        assert "other.txt" not in forge.diff(number)
        assert "README.md" in forge.diff(number)

    def test_polling_without_news_costs_one_request(
        self, forge: Forge, server: ForgeServer, person: Forge
    ) -> None:
        number = forge.open("one", "", "work", "main").number
        person.comment(number, "/optimize")
        etag = forge.recent_comments(LONG_AGO).etag
        server.log.clear()
        assert not forge.recent_comments(LONG_AGO, etag).modified
        assert len(server.log) == 1

    def test_an_issue_is_read_and_answered_in_place(
        self, forge: Forge, server: ForgeServer
    ) -> None:
        number = server.issues.open("alice", "/create")
        begun = forge.issue(number)
        assert (begun.id, begun.merge_request, begun.body) == (0, number, "/create")
        assert (begun.author, begun.author_is_bot) == ("alice", False)
        inside = forge.of_issues()
        made = inside.comment(number, "Queued.")
        assert inside.edit_comment(number, made.id, "Done.").body == "Done."
        server.issues.say(number, "alice", "thanks")
        found = [(c.author, c.body, c.merge_request) for c in inside.comments(number)]
        assert found == [(forge.viewer(), "Done.", number), ("alice", "thanks", number)]
        assert inside.repository() == forge.repository()

    def test_an_issue_is_opened_once_and_then_rewritten(
        self, forge: Forge, server: ForgeServer
    ) -> None:
        number = forge.write_issue("Dashboard", "- [ ] one")
        assert forge.issue(number).body == "- [ ] one"
        assert forge.write_issue("Dashboard", "- [ ] two", number) == number
        # Its number may be forgotten: the own one of that title is found again.
        server.issues.open("alice", "not ours", "Dashboard")
        assert forge.write_issue("Dashboard", "- [ ] three") == number
        assert forge.issue(number).body == "- [ ] three"
        assert forge.issue(number).author == forge.viewer()

    def test_a_merge_request_is_no_issue(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        with pytest.raises(ForgeError) as refused:
            forge.issue(number)
        assert refused.value.kind == "not_found"

    def test_polling_sees_what_is_written_in_issues_and_then_nothing_new(
        self, forge: Forge, server: ForgeServer
    ) -> None:
        number = server.issues.open("alice", "/create")
        server.issues.say(number, "bob", "me too")
        poll = forge.recent_issues(LONG_AGO)
        found = {(c.merge_request, c.body) for c in poll.comments}
        assert found == {(number, "/create"), (number, "me too")}
        server.log.clear()
        again = forge.recent_issues(LONG_AGO, poll.etag)
        assert (again.modified, again.comments, len(server.log)) == (False, (), 1)
        server.issues.say(number, "bob", "please")
        assert [c.body for c in forge.recent_issues(LONG_AGO, again.etag).comments][-1] == "please"
