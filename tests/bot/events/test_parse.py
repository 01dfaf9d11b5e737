from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.events import RECEIVERS, Event, EventError, gitcode, github, gitlab, receiver
from tests.bot.events.payloads import SHA, ZERO, gitlab_merge_request, gitlab_note, raw
from tests.bot.forge.definitions import github_deliveries


def hub(name: str, data: Any) -> Event:
    return github.parse({"X-GitHub-Event": name, "X-GitHub-Delivery": "d"}, raw(data))


def recorded(name: str, action: str = "") -> dict[str, Any]:
    """The first recorded delivery of GitHub of that name and action, fresh."""
    for found, data in github_deliveries():
        if found == name and data.get("action", "") == action:
            copy: dict[str, Any] = json.loads(json.dumps(data))
            return copy
    raise AssertionError(f"GitHub records no {name} {action}")


@pytest.mark.more_programs
def test_every_recorded_delivery_of_github_is_read() -> None:
    deliveries = github_deliveries()
    assert len(deliveries) == 329
    kinds: dict[str, int] = {}
    for name, data in deliveries:
        event = hub(name, data)
        assert Event.model_validate(event.model_dump()) == event
        kinds[event.kind] = kinds.get(event.kind, 0) + 1
        if "full_name" in data.get("repository", {}):
            assert event.repository == data["repository"]["full_name"]
        if "sender" in data:
            assert event.sender == data["sender"]["login"]
        if name == "pull_request":
            assert event.kind == "merge_request"
            assert event.number == data["number"]
            assert event.head == data["pull_request"]["head"]["sha"]
            assert event.draft == data["pull_request"]["draft"]
    assert kinds == {
        "other": 253,
        "issue": 38,
        "merge_request": 29,
        "push": 7,
        "dispatch": 2,
    }


@pytest.mark.more_programs
def test_a_push_of_github() -> None:
    data = recorded("push")
    event = hub("push", data | {"ref": "refs/heads/main", "before": ZERO, "after": SHA})
    assert (event.kind, event.ref, event.before, event.after) == (
        "push",
        "refs/heads/main",
        "",
        SHA,
    )


@pytest.mark.more_programs
@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("opened", "opened"),
        ("synchronize", "updated"),
        ("reopened", "reopened"),
        ("ready_for_review", "ready"),
        ("closed", "closed"),
        ("labeled", "labeled"),
        ("unlabeled", "unlabeled"),
        ("assigned", ""),
    ],
)
def test_actions_of_github_in_our_words(action: str, expected: str) -> None:
    assert hub("pull_request", recorded("pull_request", action)).action == expected


@pytest.mark.more_programs
def test_a_closed_pull_request_may_have_been_merged() -> None:
    data = recorded("pull_request", "closed")
    data["pull_request"]["merged"] = True
    assert hub("pull_request", data).action == "merged"


@pytest.mark.more_programs
def test_a_comment_is_one_of_an_issue_or_of_a_pull_request() -> None:
    data = recorded("issue_comment", "created")
    event = hub("issue_comment", data)
    assert (event.kind, event.action, event.number) == ("issue", "created", data["issue"]["number"])
    assert (event.comment_id, event.text) == (data["comment"]["id"], data["comment"]["body"])
    data["issue"]["pull_request"] = {"url": "https://api.github.com/"}
    event = hub("issue_comment", data)
    assert (event.kind, event.action) == ("comment", "created")
    assert event.text == data["comment"]["body"]
    assert (event.number, event.comment_id) == (data["issue"]["number"], data["comment"]["id"])


@pytest.mark.more_programs
def test_a_bot_is_known_by_its_type() -> None:
    data = recorded("issue_comment", "created")
    data["sender"]["type"] = "Bot"
    assert hub("issue_comment", data).sender_is_bot


@pytest.mark.more_programs
def test_a_form_is_read_like_json() -> None:
    body = urlencode({"payload": json.dumps(recorded("push"))}).encode()
    headers = {"X-GitHub-Event": "push", "Content-Type": "application/x-www-form-urlencoded"}
    assert github.parse(headers, body).kind == "push"


@pytest.mark.more_programs
def test_the_same_content_has_the_same_digest_whatever_its_delivery() -> None:
    body = raw(recorded("push"))
    first, second = (
        github.parse({"X-GitHub-Event": "push", "X-GitHub-Delivery": d}, body) for d in "ab"
    )
    assert (first.delivery, second.delivery) == ("a", "b")
    assert first.digest == second.digest != github.parse({}, raw({"a": 1})).digest


def test_a_note_of_gitlab() -> None:
    headers = {"X-Gitlab-Event-UUID": "u", "Idempotency-Key": "k"}
    event = gitlab.parse(headers, raw(gitlab_note("/optimize op=add")))
    assert (event.kind, event.action, event.text) == ("comment", "created", "/optimize op=add")
    assert (event.repository, event.number, event.comment_id) == ("team/ops", 7, 1241)
    assert (event.sender, event.head, event.delivery) == ("alice", SHA, "k")
    assert event.at is not None
    assert event.at.isoformat() == "2026-05-17T18:08:09+00:00"


@pytest.mark.parametrize(
    "note",
    [{"noteable_type": "Snippet"}, {"noteable_type": "Commit"}, {"system": True}],
)
def test_other_notes_of_gitlab_do_not_count(note: dict[str, Any]) -> None:
    assert gitlab.parse({}, raw(gitlab_note(**note))).kind == "other"


@pytest.mark.more_programs
def test_an_issue_that_is_opened_is_one_and_no_edit_of_it() -> None:
    data = recorded("issues", "opened")
    event = hub("issues", data)
    assert (event.kind, event.action, event.comment_id) == ("issue", "created", 0)
    assert (event.number, event.text) == (data["issue"]["number"], data["issue"]["body"])
    assert hub("issues", recorded("issues", "edited")).action == "edited"
    assert hub("issue_comment", recorded("issue_comment", "edited")).action == "edited"


def test_issues_of_gitlab_and_notes_in_them_are_told_apart_by_their_ids() -> None:
    note = gitlab_note("/create", noteable_type="Issue")
    del note["merge_request"]
    event = gitlab.parse({}, raw(note | {"issue": {"iid": 3}}))
    assert (event.kind, event.action, event.number) == ("issue", "created", 3)
    assert (event.comment_id, event.text) == (1241, "/create")
    begun = {"object_kind": "issue", "project": {"path_with_namespace": "team/ops"}}
    fields = {"id": 99, "iid": 4, "action": "open", "description": "/create"}
    event = gitlab.parse({}, raw(begun | {"object_attributes": fields}))
    assert (event.kind, event.action, event.number) == ("issue", "created", 4)
    assert (event.comment_id, event.text) == (0, "/create")
    edited = gitlab.parse({}, raw(begun | {"object_attributes": fields | {"action": "update"}}))
    assert edited.action == "edited"


def test_an_edit_of_an_issue_has_the_text_before() -> None:
    edit = {"action": "edited", "issue": {"number": 4, "body": "new"}}
    event = hub("issues", edit | {"changes": {"body": {"from": "old"}}})
    assert (event.kind, event.text, event.text_before) == ("issue", "new", "old")
    assert hub("issues", edit | {"changes": {"title": {"from": "old"}}}).text_before == ""
    fields = {"id": 99, "iid": 4, "action": "update", "description": "new"}
    changes = {"description": {"previous": "old", "current": "new"}}
    data = {"object_kind": "issue", "object_attributes": fields, "changes": changes}
    assert gitlab.parse({}, raw(data)).text_before == "old"


def test_an_edited_note_of_gitlab_says_so() -> None:
    assert gitlab.parse({}, raw(gitlab_note(action="update"))).action == "edited"


@pytest.mark.parametrize(
    ("data", "action", "label"),
    [
        (gitlab_merge_request("open"), "opened", ""),
        (gitlab_merge_request("update", oldrev="b" * 40), "updated", ""),
        (gitlab_merge_request("update"), "edited", ""),
        (gitlab_merge_request("merge"), "merged", ""),
        (gitlab_merge_request("approved"), "", ""),
        (
            gitlab_merge_request("update", {"draft": {"previous": True, "current": False}}),
            "ready",
            "",
        ),
        (
            gitlab_merge_request(
                "update",
                {"labels": {"previous": [], "current": [{"title": "ok-to-optimize"}]}},
            ),
            "labeled",
            "ok-to-optimize",
        ),
        (
            gitlab_merge_request(
                "update", {"labels": {"previous": [{"title": "x"}], "current": [{"title": "x"}]}}
            ),
            "edited",
            "",
        ),
    ],
)
def test_actions_of_gitlab_in_our_words(data: dict[str, Any], action: str, label: str) -> None:
    event = gitlab.parse({}, raw(data))
    assert (event.kind, event.action, event.label) == ("merge_request", action, label)
    assert (event.number, event.head) == (7, SHA)


def test_gitcode_is_read_like_gitlab_and_finds_its_own_head() -> None:
    data = gitlab_merge_request("update", last_commit=None) | {"git_commit_no": SHA}
    event = gitcode.parse({"X-GitCode-Delivery": "d"}, raw(data))
    assert (event.forge, event.head, event.delivery) == ("gitcode", SHA, "d")


@pytest.mark.parametrize(
    "name", ["../../etc", "a", "a/../b", "a/b c", "a//b", "a/b\n", "/a/b", "a/.", "ä/b", "a/$(x)"]
)
def test_a_repository_that_could_be_another_path_is_none(name: str) -> None:
    data = gitlab_note()
    data["project"]["path_with_namespace"] = name
    assert gitlab.parse({}, raw(data)).repository == ""


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b'{"a":1e999}'])
@pytest.mark.parametrize("forge", RECEIVERS)
def test_what_is_no_object_is_a_sentence(forge: str, body: bytes) -> None:
    parse = receiver(forge).parse
    try:
        event = parse({}, body)
    except EventError as problem:
        assert str(problem).endswith(".")
    else:
        assert event.kind == "other"


def test_a_delivery_is_read_only_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.events.reading.LARGEST", 10)
    with pytest.raises(EventError, match="at most 10"):
        github.parse({}, raw({"a": "b" * 10}))


@pytest.mark.parametrize("number", [2**63, 2**70, -1, 0, 1.5, True, "7x", "\u0667", None, [7]])
def test_a_number_that_no_forge_gives_is_none(number: Any) -> None:
    data = gitlab_note()
    data["merge_request"]["iid"] = number
    assert gitlab.parse({}, raw(data)).number == 0


def test_text_that_is_no_unicode_can_still_be_written_down() -> None:
    event = gitlab.parse({}, raw(gitlab_note("/optimize \ud800 \udc00x")))
    assert event.text == "/optimize \ufffd \ufffdx"
    assert Event.model_validate_json(event.model_dump_json()) == event


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None), max_size=20)
    | st.sampled_from([SHA, ZERO, "MergeRequest", "../../x", 2**70, -1, "2026-13-99", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["iid", "id", "body", "login", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def places(data: Any, at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(data, dict):
        return [at]
    return [at, *(p for key, value in data.items() for p in places(value, (*at, key)))]


def replaced(data: dict[str, Any], place: tuple[str, ...], value: Any) -> Any:
    if not place:
        return value
    return data | {place[0]: replaced(data[place[0]], place[1:], value)}


@pytest.mark.more_programs
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_one_hostile_field_never_breaks_reading(data: st.DataObject) -> None:
    comment = recorded("issue_comment", "created")
    comment["issue"]["pull_request"] = {}
    forge, headers, payload = data.draw(
        st.sampled_from(
            [
                ("github", {"X-GitHub-Event": "issue_comment"}, comment),
                ("github", {"X-GitHub-Event": "pull_request"}, recorded("pull_request", "opened")),
                ("gitlab", {}, gitlab_note()),
                ("gitlab", {}, gitlab_merge_request("update")),
                ("gitcode", {}, gitlab_merge_request("open")),
            ]
        )
    )
    place = data.draw(st.sampled_from(places(payload)))
    hostile = replaced(payload, place, data.draw(JSON))
    parse = receiver(forge).parse
    try:
        event = parse(headers, raw(hostile))
    except EventError:
        return
    assert Event.model_validate_json(event.model_dump_json()) == event
    assert 0 <= event.number < 2**63
