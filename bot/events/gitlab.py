"""Deliveries of GitLab: the secret token in a header, or a signature over id, time and body."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from bot.events.ci import of_this_job, payload
from bot.events.model import Action, Event
from bot.events.reading import LONGEST_TEXT, Fields, digest, header, load
from bot.events.signature import SIGNING, check_standard, check_token
from bot.forge.gitlab_words import is_token_account

_ACTIONS: Final[dict[str, Action]] = {
    "open": "opened",
    "update": "edited",
    "reopen": "reopened",
    "close": "closed",
    "merge": "merged",
}


def verify(headers: Mapping[str, str], body: bytes, secret: str, now: float = 0.0) -> None:
    """Raise `SignatureError` unless GitLab sent this; `now` in seconds, the clock's when 0.

    A secret that begins with `whsec_` is a signing token: then the signature must fit and the
    token header proves nothing.
    """
    if secret.startswith(SIGNING):
        check_standard(
            header(headers, "webhook-id"),
            header(headers, "webhook-timestamp"),
            header(headers, "webhook-signature"),
            body,
            secret,
            now or time.time(),
        )
    else:
        check_token(header(headers, "X-Gitlab-Token"), secret, "X-Gitlab-Token")


def parse(headers: Mapping[str, str], body: bytes) -> Event:
    """The event of a delivery; raises `EventError` when it is none."""
    event = read(load(headers, body), "gitlab")
    names = ("webhook-id", "Idempotency-Key", "X-Gitlab-Event-UUID")
    delivery = next((header(headers, n) for n in names if header(headers, n)), "")[:255]
    return event.model_copy(update={"delivery": delivery, "digest": digest(body)})


def read(data: Fields, forge: str) -> Event:
    """The event of a payload in GitLab's form, which `forge` sent."""
    sender = data.text("user", "username") or data.text("user_username")
    common = Event(
        forge=forge,
        kind="other",
        repository=data.repository("project", "path_with_namespace"),
        sender=sender,
        sender_is_bot=data.flag("user", "bot") or is_token_account(sender),
    )
    kind = data.text("object_kind")
    if kind == "push":
        return common.model_copy(update=_push(data))
    if kind == "merge_request":
        return common.model_copy(update=_merge_request(data))
    on = data.text("object_attributes", "noteable_type")
    if kind == "note" and on == "MergeRequest" and not data.flag("object_attributes", "system"):
        return common.model_copy(update=_note(data))
    return common


def _push(data: Fields) -> dict[str, object]:
    return {
        "kind": "push",
        "ref": data.text("ref"),
        "before": data.commit("before"),
        "after": data.commit("after"),
    }


def _merge_request(data: Fields) -> dict[str, object]:
    action = _ACTIONS.get(data.text("object_attributes", "action"), "")
    label = ""
    if action == "edited":
        action, label = _what_changed(data)
    return {
        "kind": "merge_request",
        "action": action,
        "label": label,
        "number": data.number("object_attributes", "iid"),
        "draft": _draft(data, "object_attributes"),
        "head": data.commit("object_attributes", "last_commit", "id"),
        "at": data.time("object_attributes", "updated_at"),
    }


def _what_changed(data: Fields) -> tuple[Action, str]:
    """An update is a push when it has an old revision; else a label, the draft, or an edit."""
    if data.commit("object_attributes", "oldrev"):
        return "updated", ""
    before, after = (_labels(data, when) for when in ("previous", "current"))
    for more, fewer, action in ((after, before, "labeled"), (before, after, "unlabeled")):
        for name in more:
            if name not in fewer:
                return ("labeled" if action == "labeled" else "unlabeled"), name
    was = data.value("changes", "draft", "previous")
    return ("ready" if was is True and not _draft(data, "object_attributes") else "edited"), ""


def _labels(data: Fields, when: str) -> list[str]:
    found = data.value("changes", "labels", when)
    return [Fields(label).text("title") for label in found] if isinstance(found, list) else []


def _note(data: Fields) -> dict[str, object]:
    action: Action = "created"
    if data.text("object_attributes", "action") == "update":
        action = "edited"
    return {
        "kind": "comment",
        "action": action,
        "number": data.number("merge_request", "iid"),
        "comment_id": data.number("object_attributes", "id"),
        "text": data.text("object_attributes", "note", limit=LONGEST_TEXT),
        "draft": _draft(data, "merge_request"),
        "head": data.commit("merge_request", "last_commit", "id"),
        "at": data.time("object_attributes", "updated_at"),
    }


def _draft(data: Fields, where: str) -> bool:
    return data.flag(where, "draft") or data.flag(where, "work_in_progress")


def from_ci(environ: Mapping[str, str]) -> Event:
    """What started a job of GitLab CI; raises `EventError`.

    A hook that started the pipeline by its trigger left its payload; else variables tell.
    """
    job = environ.get("CI_PROJECT_PATH", "")
    if environ.get("TRIGGER_PAYLOAD"):
        body, data = payload(environ, "TRIGGER_PAYLOAD")
        event = of_this_job(read(data, "gitlab"), job, body)
    else:
        fields = Fields(dict(environ))
        event = Event(
            forge="gitlab",
            kind="other",
            repository=job,
            sender=fields.text("GITLAB_USER_LOGIN"),
        ).model_copy(update=_variables(fields))
    return event.model_copy(update={"delivery": environ.get("CI_PIPELINE_ID", "")})


def _variables(fields: Fields) -> dict[str, object]:
    source = fields.text("CI_PIPELINE_SOURCE")
    if source == "merge_request_event":
        head = fields.commit("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or fields.commit("CI_COMMIT_SHA")
        return {
            "kind": "merge_request",
            "action": "updated",
            "number": fields.number("CI_MERGE_REQUEST_IID"),
            "head": head,
            "draft": fields.text("CI_MERGE_REQUEST_DRAFT") == "true",
        }
    if source == "push":
        return {
            "kind": "push",
            "ref": f"refs/heads/{fields.text('CI_COMMIT_BRANCH')}",
            "before": fields.commit("CI_COMMIT_BEFORE_SHA"),
            "after": fields.commit("CI_COMMIT_SHA"),
        }
    if source == "schedule":
        return {"kind": "schedule"}
    if source in ("web", "api", "trigger"):
        return {
            "kind": "dispatch",
            "text": fields.text("ASCENDOPT_COMMAND", limit=4096),
            "number": fields.number("ASCENDOPT_NUMBER"),
            "ref": f"refs/heads/{fields.text('CI_COMMIT_BRANCH')}",
        }
    return {}
