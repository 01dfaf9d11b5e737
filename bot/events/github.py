"""Deliveries of GitHub: HMAC-SHA256 over the body; the time is not signed, so digests guard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.events.ci import actions_event
from bot.events.model import Action, Event
from bot.events.reading import LONGEST_TEXT, Fields, digest, header, load
from bot.events.signature import check_hex

_ACTIONS: Final[dict[str, Action]] = {
    "opened": "opened",
    "synchronize": "updated",
    "reopened": "reopened",
    "ready_for_review": "ready",
    "closed": "closed",
    "labeled": "labeled",
    "unlabeled": "unlabeled",
    "edited": "edited",
}
_REMARKS: Final[dict[str, Action]] = {
    "created": "created",
    "edited": "edited",
    "deleted": "deleted",
}


def verify(headers: Mapping[str, str], body: bytes, secret: str, now: float = 0.0) -> None:
    """Raise `SignatureError` unless GitHub signed `body` with `secret`; `now` is not needed."""
    name = "X-Hub-Signature-256"
    check_hex(header(headers, name), body, secret, name)


def parse(headers: Mapping[str, str], body: bytes) -> Event:
    """The event of a delivery; raises `EventError` when it is none."""
    event = read(header(headers, "X-GitHub-Event"), load(headers, body))
    delivery = header(headers, "X-GitHub-Delivery")[:255]
    return event.model_copy(update={"delivery": delivery, "digest": digest(body)})


def read(name: str, data: Fields) -> Event:
    """The event called `name` (push, pull_request, issue_comment …) with its payload."""
    common = Event(
        forge="github",
        kind="other",
        repository=data.repository("repository", "full_name"),
        sender=data.text("sender", "login"),
        sender_is_bot=data.text("sender", "type") == "Bot",
    )
    if name == "push":
        return common.model_copy(update=_push(data))
    if name in ("pull_request", "pull_request_target"):
        return common.model_copy(update=_pull_request(data))
    if name == "issue_comment" and data.value("issue", "pull_request") is not None:
        return common.model_copy(update=_comment(data))
    if name == "schedule":
        return common.model_copy(update={"kind": "schedule"})
    if name == "workflow_dispatch":
        return common.model_copy(update=dispatch(data))
    return common


def _push(data: Fields) -> dict[str, object]:
    return {
        "kind": "push",
        "ref": data.text("ref"),
        "before": data.commit("before"),
        "after": data.commit("after"),
        "at": data.time("head_commit", "timestamp"),
    }


def _pull_request(data: Fields) -> dict[str, object]:
    action = _ACTIONS.get(data.text("action"), "")
    if action == "closed" and data.flag("pull_request", "merged"):
        action = "merged"
    return {
        "kind": "merge_request",
        "action": action,
        "number": data.number("number") or data.number("pull_request", "number"),
        "label": data.text("label", "name"),
        "draft": data.flag("pull_request", "draft"),
        "head": data.commit("pull_request", "head", "sha"),
        "at": data.time("pull_request", "updated_at"),
    }


def _comment(data: Fields) -> dict[str, object]:
    return {
        "kind": "comment",
        "action": _REMARKS.get(data.text("action"), ""),
        "number": data.number("issue", "number"),
        "comment_id": data.number("comment", "id"),
        "text": data.text("comment", "body", limit=LONGEST_TEXT),
        "draft": data.flag("issue", "draft"),
        "at": data.time("comment", "updated_at"),
    }


def dispatch(data: Fields) -> dict[str, object]:
    """A job that a person started, with the inputs `command` and `number` of our workflows."""
    return {
        "kind": "dispatch",
        "text": data.text("inputs", "command", limit=LONGEST_TEXT),
        "number": data.number("inputs", "number"),
        "ref": data.text("ref"),
    }


def from_ci(environ: Mapping[str, str]) -> Event:
    """What started a job of GitHub Actions; raises `EventError`."""
    return actions_event(environ, "GITHUB", read)
