"""Every field of a forge's event is missing, of another type or hostile, in turn.

What is read is an event, or the answer is a sentence: in webhooks and in jobs of each forge's CI.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.events import RECEIVERS, Event, EventError, from_ci, receiver
from bot.events.github import _KINDS
from tests.bot.events.payloads import SHA, ZERO, gitlab_merge_request, gitlab_note, hub_comment, raw

GONE = object()
ODD: tuple[Any, ...] = (
    *(GONE, None, True, -1, 0, 2**70, 1.5, float("inf"), "", "7", "9" * 30, "x" * 700, ZERO),
    *("\ud800", "a\x00\u202e\x1b", "../..", "2026-13-99T99:99:99Z", "0001-01-01T00:00:00+14:00"),
    *([], {}, [[]], [None], ["x"], [{"title": 1}], {"x": {}}, SHA, "-x"),
)
HUB = {
    **hub_comment(7, 9),
    "ref": "refs/heads/main",
    "before": SHA,
    "after": SHA,
    "number": 7,
    "head_commit": {"timestamp": "2026-05-17T18:08:09Z"},
    "pull_request": {
        "number": 7,
        "draft": False,
        "merged": True,
        "updated_at": "2026-05-17T18:08:09Z",
        "head": {"sha": SHA},
    },
    "label": {"name": "fast"},
    "inputs": {"command": "op=scale", "number": "7"},
}
LABELS = {"labels": {"previous": [{"title": "a"}], "current": [{"title": "b"}]}}
LAB = [
    gitlab_note(),
    gitlab_note(noteable_type="Issue") | {"issue": {"iid": 3}},
    gitlab_merge_request("update", LABELS),
    gitlab_merge_request("update", {"draft": {"previous": True}}, oldrev=SHA),
    gitlab_merge_request("merge") | {"git_commit_no": SHA},
    {"object_kind": "issue", **gitlab_note(action="open", description="/create")},
    {"object_kind": "push", "ref": "refs/heads/main", "before": SHA, "after": SHA},
]
JOBS = {"github": "GITHUB", "gitcode": "ATOMGIT"}


def changed(data: Any, whole: bool = True) -> Iterator[Any]:
    """The data with one part of it in each odd way."""
    if not whole:
        yield from ODD
    if isinstance(data, dict):
        for key, value in data.items():
            for odd in changed(value, whole=False):
                rest = {k: v for k, v in data.items() if k != key}
                yield rest if odd is GONE else {**rest, key: odd}
    elif isinstance(data, list):
        for odd in changed(data[0], whole=False):
            yield [] if odd is GONE else [odd]


def good(event: Event) -> None:
    assert Event.model_validate_json(event.model_dump_json()) == event
    assert 0 <= event.number < 2**63 and 0 <= event.comment_id < 2**63
    assert len(event.sender) <= 255 and ".." not in event.repository.split("/")


def test_every_forge_that_sends_events_is_tried() -> None:
    assert set(RECEIVERS) == {"github", "gitlab", "gitcode"}


@pytest.mark.parametrize("name", ["other", *{kind: name for name, kind in _KINDS.items()}.values()])
def test_no_field_of_githubs_form_breaks_a_webhook(name: str) -> None:
    for data in changed(HUB):
        good(receiver("github").parse({"X-GitHub-Event": name}, raw(data)))


@pytest.mark.parametrize("payload", LAB, ids=str)
@pytest.mark.parametrize("forge", ["gitlab", "gitcode"])
def test_no_field_of_gitlabs_form_breaks_a_webhook(forge: str, payload: dict[str, Any]) -> None:
    for data in changed(payload):
        good(receiver(forge).parse({}, raw(data)))


@pytest.mark.parametrize("forge", JOBS)
@pytest.mark.parametrize("name", ["push", "pull_request", "issue_comment", "workflow_dispatch"])
def test_no_field_of_githubs_form_breaks_a_job_of_a_ci(
    forge: str, name: str, tmp_path: Path
) -> None:
    file, prefix = tmp_path / "event.json", JOBS[forge]
    given = {"GITHUB_ACTIONS": "true"} if forge == "github" else {}
    given |= {f"{prefix}_EVENT_NAME": name, f"{prefix}_EVENT_PATH": str(file)}
    odd = list(changed(HUB))[:: len(name)]  # the fields are read as those of a webhook
    for data in (*odd, *(LAB if forge == "gitcode" else ())):
        file.write_bytes(raw(data))
        try:
            good(from_ci({**given, f"{prefix}_REPOSITORY": "team/ops"}))
        except EventError as problem:
            assert "another repository" in str(problem)


@pytest.mark.parametrize("payload", LAB, ids=str)
def test_no_field_of_a_trigger_breaks_a_pipeline(payload: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    job = {"GITLAB_CI": "true", "CI_PROJECT_PATH": "team/ops", "TRIGGER_PAYLOAD": str(file)}
    for data in list(changed(payload))[::9]:
        file.write_bytes(raw(data))
        try:
            good(from_ci(job))
        except EventError as problem:
            assert "another repository" in str(problem)


@pytest.mark.parametrize("kind", ["push", "merge_request_event", "web", "schedule", "x", ""])
def test_no_variable_breaks_a_pipeline(kind: str) -> None:
    names = ("CI_MERGE_REQUEST_IID", "CI_COMMIT_SHA", "CI_COMMIT_BEFORE_SHA", "CI_COMMIT_BRANCH")
    names += ("GITLAB_USER_LOGIN", "ASCENDOPT_COMMAND", "ASCENDOPT_NUMBER", "CI_PIPELINE_ID")
    job = {"GITLAB_CI": "true", "CI_PROJECT_PATH": "team/ops", "CI_PIPELINE_SOURCE": kind}
    for value in ("", "x" * 70_000, "-1", "9" * 30, "\udcff", ZERO, SHA, "refs/../..", "\u202e"):
        good(from_ci({**job, **dict.fromkeys(names, value)}))


@pytest.mark.parametrize(
    "body", [b"", b"[" * 100_000, b"{" * 9, b"\xff", b"1", b'{"a":' + b"1" * 9000 + b"}"]
)
@pytest.mark.parametrize("forge", RECEIVERS)
def test_no_body_is_more_than_a_sentence(forge: str, body: bytes) -> None:
    with pytest.raises(EventError, match="JSON"):
        receiver(forge).parse({"X-GitHub-Event": "push"}, body)
