"""Deliveries of GitLab: the secret token in a header, or a signature over id, time and body."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from bot.events.ci import of_this_job, payload
from bot.events.model import Action, Event
from bot.events.reading import Fields, delivered, event_of, header, load
from bot.events.signature import SIGNING, check_standard, check_token
from bot.forge.gitlab_words import is_token_account

_ACTIONS: Final[dict[str, Action]] = {
    "open": "opened",
    "update": "edited",
    "reopen": "reopened",
    "close": "closed",
    "merge": "merged",
}
_COMMON: Final = {
    "repository": "project.path_with_namespace",
    "sender": "user.username|user_username",
}
# Where an event of a kind has its fields; `git_commit_no` is GitCode's.
_PLACES: Final[Mapping[str, Mapping[str, str]]] = {
    "push": {"ref": "ref", "before": "before", "after": "after"},
    "merge_request": {
        "number": "object_attributes.iid",
        "draft": "object_attributes.draft|object_attributes.work_in_progress",
        "head": "object_attributes.last_commit.id|git_commit_no",
        "at": "object_attributes.updated_at",
    },
    "comment": {
        "number": "merge_request.iid",
        "comment_id": "object_attributes.id",
        "text": "object_attributes.note",
        "draft": "merge_request.draft|merge_request.work_in_progress",
        "head": "merge_request.last_commit.id",
        "at": "object_attributes.updated_at",
    },
    "issue": {
        "number": "issue.iid|object_attributes.iid",
        "text": "object_attributes.note|object_attributes.description",
        "text_before": "changes.description.previous",
        "at": "object_attributes.updated_at",
    },
}
_OF_NOTE: Final = {"comment_id": "object_attributes.id"}
"""Field of the comment's id; an opened issue has another id."""
# The same for the variables of a pipeline, by what started it.
_STARTED: Final = {
    "merge_request_event": "merge_request",
    "push": "push",
    "schedule": "schedule",
    "web": "dispatch",
    "api": "dispatch",
    "trigger": "dispatch",
}
_VARIABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "merge_request": {
        "number": "CI_MERGE_REQUEST_IID",
        "head": "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA|CI_COMMIT_SHA",
        "draft": "draft",
    },
    "push": {"ref": "ref", "before": "CI_COMMIT_BEFORE_SHA", "after": "CI_COMMIT_SHA"},
    "dispatch": {"text": "ASCENDOPT_COMMAND", "number": "ASCENDOPT_NUMBER", "ref": "ref"},
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
    return delivered(event, headers, body, *names)


def read(data: Fields, forge: str) -> Event:
    """The event of a payload in GitLab's form, which `forge` sent."""
    kind, action, label = data.text("object_kind"), "", ""
    on, of_note = data.text("object_attributes", "noteable_type"), dict[str, str]()
    if kind == "merge_request":
        action, label = _changed(data)
    elif kind == "note" and on == "MergeRequest" and not data.flag("object_attributes", "system"):
        edited = data.text("object_attributes", "action") == "update"
        kind, action = "comment", "edited" if edited else "created"
    elif kind == "note" and on == "Issue" and not data.flag("object_attributes", "system"):
        edited = data.text("object_attributes", "action") == "update"
        kind, action, of_note = "issue", "edited" if edited else "created", _OF_NOTE
    elif kind == "issue":
        action = "created" if data.text("object_attributes", "action") == "open" else "edited"
    elif kind != "push":
        kind = "other"
    places = {**_COMMON, **_PLACES.get(kind, {}), **of_note}
    event = event_of(forge, kind, data, places, action=action, label=label)
    bot = data.flag("user", "bot") or is_token_account(event.sender)
    return event.model_copy(update={"sender_is_bot": bot})


def _changed(data: Fields) -> tuple[Action, str]:
    """Return the action on a merge request, with the label that was added or removed.

    An update is a push when it has an old revision; else a label, the draft, or an edit.
    """
    action = _ACTIONS.get(data.text("object_attributes", "action"), "")
    if action != "edited":
        return action, ""
    if data.commit("object_attributes", "oldrev"):
        return "updated", ""
    before, after = (_labels(data, when) for when in ("previous", "current"))
    for name in after:
        if name not in before:
            return "labeled", name
    for name in before:
        if name not in after:
            return "unlabeled", name
    attributes = ("draft", "work_in_progress")
    draft = any(data.flag("object_attributes", name) for name in attributes)
    return ("ready" if data.flag("changes", "draft", "previous") and not draft else "edited"), ""


def _labels(data: Fields, when: str) -> list[str]:
    found = data.value("changes", "labels", when)
    return [Fields(label).text("title") for label in found] if isinstance(found, list) else []


def from_ci(environ: Mapping[str, str]) -> Event:
    """Return the event that started a job of GitLab CI. Raises `EventError`.

    A hook that started the pipeline by its trigger left its payload; else variables tell.
    """
    job = environ.get("CI_PROJECT_PATH", "")
    if environ.get("TRIGGER_PAYLOAD"):
        body, data = payload(environ, "TRIGGER_PAYLOAD")
        event = of_this_job(read(data, "gitlab"), job, body)
    else:
        kind = _STARTED.get(environ.get("CI_PIPELINE_SOURCE", ""), "other")
        fields = Fields(
            {
                **environ,
                "ref": f"refs/heads/{environ.get('CI_COMMIT_BRANCH', '')}",
                "draft": environ.get("CI_MERGE_REQUEST_DRAFT") == "true",
            }
        )
        places = {"sender": "GITLAB_USER_LOGIN", **_VARIABLES.get(kind, {})}
        action = "updated" if kind == "merge_request" else ""
        event = event_of("gitlab", kind, fields, places, repository=job, action=action)
    pipeline = Fields(dict(environ)).text("CI_PIPELINE_ID")
    return event.model_copy(update={"delivery": pipeline})
