"""The event that started a CI job, from its environment, in the same form as a webhook's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot.events import gitcode, github, gitlab
from bot.events.model import Event, EventError
from bot.events.reading import LARGEST, Fields, digest, load


def from_ci(environ: Mapping[str, str]) -> Event:
    """What started the job of GitHub Actions, GitLab CI or GitCode Actions that we run in.

    Raises `EventError` when this is none of them, or its payload cannot be read or is about
    another repository than the job.
    """
    if environ.get("ATOMGIT_EVENT_NAME"):
        return _actions(environ, "ATOMGIT")
    if environ.get("GITHUB_ACTIONS") == "true":
        return _actions(environ, "GITHUB")
    if environ.get("GITLAB_CI") == "true":
        return _gitlab(environ)
    raise EventError(
        "This is no job of GitHub Actions, GitLab CI or GitCode Actions: none of"
        " GITHUB_ACTIONS, GITLAB_CI and ATOMGIT_EVENT_NAME is set."
    )


def _actions(environ: Mapping[str, str], prefix: str) -> Event:
    name = environ.get(f"{prefix}_EVENT_NAME", "")
    body, data = _payload(environ, f"{prefix}_EVENT_PATH")
    event = github.read(name, data) if prefix == "GITHUB" else gitcode.read_ci(name, data)
    event = _of_this_job(event, environ.get(f"{prefix}_REPOSITORY", ""), body)
    run = environ.get(f"{prefix}_RUN_ID", ""), environ.get(f"{prefix}_RUN_ATTEMPT", "")
    sender = event.sender or environ.get(f"{prefix}_ACTOR", "")
    return event.model_copy(update={"delivery": "-".join(filter(None, run)), "sender": sender})


def _gitlab(environ: Mapping[str, str]) -> Event:
    """A hook that started the pipeline by its trigger left its payload; else variables tell."""
    job = environ.get("CI_PROJECT_PATH", "")
    if environ.get("TRIGGER_PAYLOAD"):
        body, data = _payload(environ, "TRIGGER_PAYLOAD")
        event = _of_this_job(gitlab.read(data, "gitlab"), job, body)
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


def _payload(environ: Mapping[str, str], variable: str) -> tuple[bytes, Fields]:
    path = Path(environ.get(variable, ""))
    try:
        if path.stat().st_size > LARGEST:
            raise EventError(f"{variable} names a file of more than {LARGEST} bytes.")
        body = path.read_bytes()
    except (OSError, ValueError):
        raise EventError(f"{variable} names no file that can be read.") from None
    return body, load({}, body)


def _of_this_job(event: Event, repository: str, body: bytes) -> Event:
    if event.repository and repository and event.repository != repository:
        raise EventError("The payload is about another repository than the job's own.")
    return event.model_copy(
        update={"repository": event.repository or repository, "digest": digest(body)}
    )
