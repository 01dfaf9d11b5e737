"""Deliveries of GitHub: HMAC-SHA256 over the body; the time is not signed, so digests guard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.events.ci import actions_event
from bot.events.model import Action, Event
from bot.events.reading import Fields, delivered, event_of, header, load
from bot.events.signature import check_hex

# Of a pull request and of a comment, in GitHub's and GitCode's words.
_ACTIONS: Final[Mapping[str, Mapping[str, Action]]] = {
    "merge_request": {
        "opened": "opened",
        "open": "opened",
        "synchronize": "updated",
        "update": "updated",
        "reopened": "reopened",
        "reopen": "reopened",
        "ready_for_review": "ready",
        "closed": "closed",
        "close": "closed",
        "merge": "merged",
        "labeled": "labeled",
        "unlabeled": "unlabeled",
        "edited": "edited",
    },
    "comment": {"created": "created", "edited": "edited", "deleted": "deleted"},
    "issue": {
        "opened": "created",
        "open": "created",
        "created": "created",
        "edited": "edited",
    },
}
_KINDS: Final = {
    "push": "push",
    "pull_request": "merge_request",
    "pull_request_target": "merge_request",
    "pull_request_comment": "comment",
    "issue_comment": "comment",
    "issues": "issue",
    "schedule": "schedule",
    "workflow_dispatch": "dispatch",
}
_COMMON: Final = {"repository": "repository.full_name"}
# Where an event of a kind has its fields; a dispatch has the inputs of our workflows.
_PLACES: Final[Mapping[str, Mapping[str, str]]] = {
    "push": {"ref": "ref", "before": "before", "after": "after", "at": "head_commit.timestamp"},
    "merge_request": {
        "number": "pull_request.number|number",
        "label": "label.name",
        "draft": "pull_request.draft",
        "head": "pull_request.head.sha",
        "at": "pull_request.updated_at",
    },
    "comment": {
        "number": "pull_request.number|issue.number",
        "comment_id": "comment.id",
        "text": "comment.body",
        "draft": "issue.draft",
        "head": "pull_request.head.sha",
        "at": "comment.updated_at|comment.created_at",
    },
    "issue": {
        "number": "issue.number",
        "comment_id": "comment.id",
        "text": "comment.body|issue.body",
        "text_before": "changes.body.from",
        "at": "comment.created_at|issue.created_at",
    },
    "dispatch": {"text": "inputs.command", "number": "inputs.number", "ref": "ref"},
}


def verify(headers: Mapping[str, str], body: bytes, secret: str, now: float = 0.0) -> None:
    """Raise `SignatureError` unless GitHub signed `body` with `secret`; `now` is not needed."""
    name = "X-Hub-Signature-256"
    check_hex(header(headers, name), body, secret, name)


def parse(headers: Mapping[str, str], body: bytes) -> Event:
    """The event of a delivery; raises `EventError` when it is none."""
    event = read(header(headers, "X-GitHub-Event"), load(headers, body))
    return delivered(event, headers, body, "X-GitHub-Delivery")


def read(
    name: str,
    data: Fields,
    forge: str = "github",
    sender: str = "sender.login",
    remark: Action = "",
) -> Event:
    """The event called `name` (push, pull_request, issue_comment …) with its payload.

    `sender`: where its login stands; `remark`: what a comment's action that is not known means.
    """
    kind = _KINDS.get(name, "other")
    if name == "issue_comment" and data.value("issue", "pull_request") is None:
        kind = "issue"
    spoken = kind == "comment" or name == "issue_comment"
    action = _ACTIONS.get(kind, {}).get(data.text("action"), remark if spoken else "")
    if action == "closed" and data.flag("pull_request", "merged"):
        action = "merged"
    places = {**_COMMON, "sender": sender, **_PLACES.get(kind, {})}
    bot = data.text("sender", "type") == "Bot"
    return event_of(forge, kind, data, places, action=action, sender_is_bot=bot)


def from_ci(environ: Mapping[str, str]) -> Event:
    """Return the event that started a job of GitHub Actions. Raises `EventError`."""
    return actions_event(environ, "GITHUB", read)
