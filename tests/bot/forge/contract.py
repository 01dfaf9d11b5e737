"""What every forge must do. A forge's test module subclasses `ForgeContract` and gives fixtures."""

from __future__ import annotations

import pytest

from bot.forge.base import Forge, ForgeError
from bot.forge.model import Status


class ForgeContract:
    """Needs fixtures `forge` (with branches main and work, work ahead of main), `merge` and
    `delete` (functions of a branch name that a person would do by hand)."""

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
        with pytest.raises(ForgeError):
            forge.open("two", "", "work", "main")

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

    def test_what_git_merged_is_merged(self, forge: Forge, merge: object) -> None:
        number = forge.open("one", "", "work", "main").number
        merge("work")  # type: ignore[operator]
        assert forge.merge_requests()[0].state == "merged"
        assert forge.close(number).state == "merged"

    def test_a_deleted_branch_means_closed_and_stays_so(
        self, forge: Forge, delete: object, restore: object
    ) -> None:
        forge.open("one", "", "work", "main")
        delete("work")  # type: ignore[operator]
        assert forge.merge_requests()[0].state == "closed"
        restore("work")  # type: ignore[operator]
        assert forge.merge_requests()[0].state == "closed"

    def test_comments_come_in_order(self, forge: Forge) -> None:
        number = forge.open("one", "", "work", "main").number
        assert list(forge.comments(number)) == []
        made = [forge.comment(number, text) for text in ("first", "second")]
        assert list(forge.comments(number)) == made
        assert [c.body for c in made] == ["first", "second"]

    def test_an_unknown_number_is_refused(self, forge: Forge) -> None:
        for act in (forge.close, forge.comments):
            with pytest.raises(ForgeError, match="99"):
                act(99)

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
