"""Deliveries of GitCode: payloads in GitLab's form, HMAC-SHA256 over the body as GitHub signs.

A hook can be set up with a password in place of a signing key; it then comes in a header as
GitLab's does. A signature that is there must fit, whatever else is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.events import gitlab
from bot.events.ci import actions_event
from bot.events.github import dispatch
from bot.events.model import Action, Event
from bot.events.reading import LONGEST_TEXT, Fields, digest, header, load
from bot.events.signature import check_hex, check_token

_SIGNATURE: Final = "X-GitCode-Signature-256"
_TOKEN: Final = "X-GitCode-Token"
_ACTIONS: Final[dict[str, Action]] = {
    "open": "opened",
    "update": "updated",
    "reopen": "reopened",
    "close": "closed",
    "merge": "merged",
}
_REMARKS: Final[dict[str, Action]] = {
    "created": "created",
    "edited": "edited",
    "deleted": "deleted",
}


def verify(headers: Mapping[str, str], body: bytes, secret: str, now: float = 0.0) -> None:
    """Raise `SignatureError` unless GitCode sent this; `now` is not needed."""
    signature, token = header(headers, _SIGNATURE), header(headers, _TOKEN)
    if signature or not token:
        check_hex(signature, body, secret, _SIGNATURE)
    else:
        check_token(token, secret, _TOKEN)


def parse(headers: Mapping[str, str], body: bytes) -> Event:
    """The event of a delivery; raises `EventError` when it is none."""
    data = load(headers, body)
    event = gitlab.read(data, "gitcode")
    update: dict[str, object] = {
        "delivery": header(headers, "X-GitCode-Delivery")[:255],
        "digest": digest(body),
    }
    if event.kind == "merge_request" and not event.head:
        update["head"] = data.commit("git_commit_no")
    return event.model_copy(update=update)


def read_ci(name: str, data: Fields) -> Event:
    """The event of a GitCode Actions job, whose payload is in GitHub's form."""
    if data.text("object_kind"):
        return gitlab.read(data, "gitcode")
    common = Event(
        forge="gitcode",
        kind="other",
        repository=data.repository("repository", "full_name"),
        sender=data.text("comment", "user", "login") or data.text("sender", "login"),
    )
    if name == "push":
        fields: dict[str, object] = {
            "kind": "push",
            "ref": data.text("ref"),
            "before": data.commit("before"),
            "after": data.commit("after"),
        }
    elif name in ("pull_request", "pull_request_target"):
        fields = {
            "kind": "merge_request",
            "action": _ACTIONS.get(data.text("action"), ""),
            "number": data.number("pull_request", "number"),
            "draft": data.flag("pull_request", "draft"),
            "head": data.commit("pull_request", "head", "sha"),
        }
    elif name == "pull_request_comment" or (
        name == "issue_comment" and data.value("issue", "pull_request") is not None
    ):
        fields = {
            "kind": "comment",
            "action": _REMARKS.get(data.text("action"), "created"),
            "number": data.number("pull_request", "number") or data.number("issue", "number"),
            "comment_id": data.number("comment", "id"),
            "text": data.text("comment", "body", limit=LONGEST_TEXT),
            "head": data.commit("pull_request", "head", "sha"),
            "at": data.time("comment", "created_at"),
        }
    elif name == "workflow_dispatch":
        fields = dispatch(data)
    else:
        fields = {"kind": "schedule"} if name == "schedule" else {}
    return common.model_copy(update=fields)


def from_ci(environ: Mapping[str, str]) -> Event:
    """What started a job of GitCode Actions; raises `EventError`."""
    return actions_event(environ, "ATOMGIT", read_ci)
