"""What every forge must do. A forge's test module subclasses `ForgeContract` and gives fixtures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from unidiff.patch import PatchSet

from bot.base.git import Git, GitError
from bot.forge.base import Forge, ForgeError
from bot.forge.model import Access, Status

ByHand = Callable[[str], object]
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class ForgeContract:
    """Tests that a third party runs on a forge of theirs, too. Fixtures that it needs:

    - `forge`: with branches main and work; work has one commit more, which changes README.md;
    - `merge`, `delete` and `restore`: what a person does by hand to a branch of that name;
    - `checkout`: a clone that has both branches;
    - `grant`: gives a user (alice, bob …) an access;
    - `person`: the same forge as the user alice sees it.
    """

    def test_it_names_itself_and_its_branches(self, forge: Forge) -> None:
        home = forge.repository()
        assert home.name
        assert home.default_branch == "main"
        assert {"main", "work"} <= set(forge.branches())

    def test_a_merge_request_is_found_again_as_filed(self, forge: Forge) -> None:
        made = forge.open("Faster add", "body with `code`", "work", "main")
        assert forge.merge_requests() == [made]
        assert (made.title, made.body) == ("Faster add", "body with `code`")
        assert (made.source_branch, made.target_branch) == ("work", "main")
        assert made.state == "open"
        assert made.head == forge.branches()["work"]
        assert made.place

    def test_numbers_are_never_used_twice(self, forge: Forge) -> None:
        first = forge.open("one", "", "work", "main")
        forge.close(first.number)
        second = forge.open("two", "", "work", "main")
        assert second.number != first.number
        assert [m.state for m in forge.merge_requests()] == ["closed", "open"]

    def test_a_second_one_for_an_open_branch_is_refused(self, forge: Forge) -> None:
        forge.open("one", "", "work", "main")
        with pytest.raises(ForgeError) as refused:
            forge.open("two", "", "work", "main")
        assert refused.value.kind == "conflict"

    @pytest.mark.parametrize(("source", "target"), [("none", "main"), ("work", "none")])
    def test_a_missing_branch_is_refused(self, forge: Forge, source: str, target: str) -> None:
        with pytest.raises(ForgeError, match="none"):
            forge.open("one", "", source, target)

    def test_update_replaces_title_and_body_in_place(self, forge: Forge) -> None:
        made = forge.open("one", "first", "work", "main")
        changed = forge.update(made.number, "uno", "second")
        assert forge.merge_requests() == [changed]
        assert (changed.number, changed.title, changed.body) == (made.number, "uno", "second")

    def test_closing_twice_changes_nothing(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        assert forge.close(number) == forge.close(number)
        assert forge.close(number).state == "closed"

    def test_what_git_merged_is_merged(self, forge: Forge, merge: ByHand) -> None:
        number = forge.open("one", "", "work", "main").number
        merge("work")
        assert forge.merge_requests()[0].state == "merged"
        assert forge.close(number).state == "merged"
        assert forge.merge_request(number).merged_commit == forge.branch_head("main")
        assert "README.md" in forge.diff(number)

    def test_a_deleted_branch_means_closed_and_stays_so(
        self, forge: Forge, delete: ByHand, restore: ByHand
    ) -> None:
        forge.open("one", "", "work", "main")
        delete("work")
        assert forge.merge_requests()[0].state == "closed"
        restore("work")
        assert forge.merge_requests()[0].state == "closed"

    def test_comments_come_in_order(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        assert list(forge.comments(number)) == []
        made = [forge.comment(number, text) for text in ("first", "second")]
        assert list(forge.comments(number)) == made
        assert [c.body for c in made] == ["first", "second"]

    def test_an_unknown_number_is_refused(self, forge: Forge) -> None:
        for act in (forge.close, forge.comments, forge.merge_request, forge.diff):
            with pytest.raises(ForgeError, match="99") as refused:
                act(99)
            assert refused.value.kind == "not_found"

    def test_a_status_replaces_the_one_of_its_context(self, forge: Forge) -> None:
        commit = forge.branches()["work"]
        assert list(forge.statuses(commit)) == []
        forge.set_status(commit, Status(context="verify", state="pending"))
        forge.set_status(commit, Status(context="other", state="success"))
        forge.set_status(commit, Status(context="verify", state="failure", description="race"))
        found = {s.context: s for s in forge.statuses(commit)}
        assert found["verify"].state == "failure"
        assert found["verify"].description == "race"
        assert found["other"].state == "success"

    def test_a_status_of_an_unknown_commit_is_refused(self, forge: Forge) -> None:
        with pytest.raises(ForgeError):
            forge.set_status("0" * 40, Status(context="verify", state="success"))

    def test_an_update_leaves_what_it_is_not_given(self, forge: Forge) -> None:
        made = forge.open("one", "first", "work", "main")
        assert forge.update(made.number, title="uno").body == "first"
        assert forge.update(made.number, body="second").title == "uno"

    def test_a_merge_request_says_where_it_comes_from(self, forge: Forge) -> None:
        made = forge.open("one", "", "work", "main")
        home = forge.repository()
        assert (made.source_repository, made.from_fork) == (home.name, False)
        assert made.author == forge.viewer()
        assert made.draft is False
        assert made.head_ref.endswith(f"/{made.number}/head")
        assert forge.merge_request(made.number) == made

    def test_merge_requests_are_found_by_state_and_branch(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        assert [m.number for m in forge.merge_requests("open", "wo")] == [number]
        assert list(forge.merge_requests("open", "optimize/")) == []
        forge.close(number)
        assert list(forge.merge_requests("open")) == []
        assert [m.number for m in forge.merge_requests("all", "wo")] == [number]

    def test_the_diff_is_one_that_unidiff_reads(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        for text in (forge.diff(number), forge.compare("main", "work")):
            (changed,) = PatchSet(text)
            assert changed.path == "README.md"
            assert (changed.added, changed.removed) == (1, 1)

    def test_commits_can_be_compared_too(self, forge: Forge) -> None:
        heads = forge.branches()
        assert "README.md" in forge.compare(heads["main"], heads["work"])
        assert forge.compare(heads["work"], heads["work"]).strip() == ""
        with pytest.raises(ForgeError):
            forge.compare(heads["main"], "0" * 40)

    def test_a_file_is_read_at_a_branch_and_at_a_commit(self, forge: Forge) -> None:
        heads = forge.branches()
        assert forge.file("README.md", "main") == b"operators\n"
        assert forge.file("README.md", heads["work"]) == b"changed\n"
        assert b"BUFFER_NUM" in (
            forge.file("src/math/scale_add/op_kernel/scale_add.cpp", "main") or b""
        )
        assert forge.file("none.md", "main") is None

    def test_a_branch_is_known_until_it_is_deleted(self, forge: Forge) -> None:
        assert forge.branch_head("work") == forge.branches()["work"]
        forge.delete_branch("work")
        forge.delete_branch("work")
        assert forge.branch_head("work") is None
        assert "work" not in forge.branches()

    def test_a_push_loses_the_race_against_a_person(self, forge: Forge, checkout: Path) -> None:
        head, base = (forge.branch_head(name) or "" for name in ("work", "main"))
        forge.push(Git(checkout), head, "optimize/add/1", "")
        assert forge.branch_head("optimize/add/1") == head
        for expected in ("", base):
            with pytest.raises(GitError, match="push failed"):
                forge.push(Git(checkout), base, "optimize/add/1", expected)
        assert forge.branch_head("optimize/add/1") == head
        forge.push(Git(checkout), base, "optimize/add/1", head)
        assert forge.branch_head("optimize/add/1") == base

    def test_labels_are_added_to_those_there(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        forge.add_labels(number, ["performance"])
        forge.add_labels(number, ["operators", "performance"])
        assert sorted(forge.merge_request(number).labels) == ["operators", "performance"]

    def test_a_comment_is_edited_in_place(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        made = forge.comment(number, "10 %")
        edited = forge.edit_comment(number, made.id, "100 %")
        assert (edited.id, edited.body) == (made.id, "100 %")
        assert list(forge.comments(number)) == [edited]
        assert edited.created_at == made.created_at
        assert edited.updated_at >= made.updated_at
        with pytest.raises(ForgeError):
            forge.edit_comment(number, made.id + 1000, "x")

    def test_a_comment_names_its_author_and_marks_our_own(
        self, forge: Forge, person: Forge
    ) -> None:
        number = forge.open("one", "", "work", "main").number
        forge.comment(number, "hello")
        person.comment(number, "/optimize")
        ours, theirs = forge.comments(number)
        assert (ours.author, ours.author_is_bot) == (forge.viewer(), True)
        assert (theirs.author, theirs.author_is_bot) == ("alice", False)
        assert theirs.merge_request == number

    def test_somebody_elses_comment_is_not_edited(self, forge: Forge, person: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        theirs = person.comment(number, "mine")
        with pytest.raises(ForgeError) as refused:
            forge.edit_comment(number, theirs.id, "ours")
        assert refused.value.kind == "forbidden"

    def test_reactions_are_taken_without_a_word(self, forge: Forge, person: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        made = person.comment(number, "/optimize")
        forge.react(number, made.id, "eyes")
        forge.react(number, made.id, "eyes")
        forge.react(number, made.id, "rocket")

    def test_comments_since_a_time_are_those_edited_since(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        made = forge.comment(number, "first")
        assert list(forge.comments(number, since=LONG_AGO)) == [made]
        assert list(forge.comments(number, since=made.updated_at + timedelta(hours=1))) == []

    def test_polling_sees_each_comment_and_then_nothing_new(
        self, forge: Forge, person: Forge
    ) -> None:
        number = forge.open("one", "", "work", "main").number
        first = person.comment(number, "/optimize")
        poll = forge.recent_comments(LONG_AGO)
        assert [(c.merge_request, c.body) for c in poll.comments] == [(number, "/optimize")]
        again = forge.recent_comments(LONG_AGO, poll.etag)
        assert (again.modified, again.comments) == (False, ())
        second = person.comment(number, "/optimize status")
        news = forge.recent_comments(LONG_AGO, again.etag)
        assert news.modified
        assert [c.id for c in news.comments] == [first.id, second.id]

    @pytest.mark.parametrize("access", ["none", "read", "write", "admin"])
    def test_permission_is_as_granted_now(
        self, forge: Forge, grant: Callable[[str, Access], object], access: Access
    ) -> None:
        grant("bob", "write")
        assert forge.permission("bob") == "write"
        grant("bob", access)
        assert forge.permission("bob") == access

    def test_a_stranger_may_nothing(self, forge: Forge) -> None:
        assert forge.permission("mallory") == "none"
