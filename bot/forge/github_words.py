"""GitHub's JSON in our words, and our words in GitHub's. Pure functions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, Literal

from bot.forge.kinds import folded
from bot.forge.model import LEVELS, Access, Comment, MergeRequest, Repository, Status

# Longest description of a commit status that GitHub takes, in characters.
DESCRIPTION: Final = 140
State = Literal["pending", "success", "failure", "error", "neutral"]


def access(permission: str) -> Access:
    """GitHub's legacy permission field; maintain counts as write there, triage as read."""
    return next((level for level in LEVELS if level == permission), "none")


def when(text: str) -> datetime:
    """An ISO 8601 time, in UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)


def stamp(at: datetime) -> str:
    """A time as queries want it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def repository(found: dict[str, Any]) -> Repository:
    """Return our repository from the forge's."""
    return Repository(
        name=found["full_name"],
        default_branch=found["default_branch"],
        push_url=found["clone_url"],
        web_url=found["html_url"],
        number=str(found.get("id") or ""),
    )


def merge_request(found: dict[str, Any], name: str, head_ref: str) -> MergeRequest:
    """Return the merge request from a pull request of the repository `name`, listed or single;
    `head_ref` with a gap.

    A fork that was deleted has no repository. GitCode's numbers may come as text, its states in
    GitLab's words, its branches next to head and base.
    """
    head, base = found.get("head") or {}, found.get("base") or {}
    repo, home = head.get("repo") or {}, base.get("repo") or {}
    source = repo.get("full_name") or repo.get("path_with_namespace") or ""
    # GitCode's answer may lack the names of both, and says by numbers whether they are one.
    projects = found.get("source_project_id"), found.get("target_project_id")
    same = str(projects[0]) == str(projects[1]) if None not in projects else None
    if same is None:
        same = folded(source) == folded(home.get("full_name") or name)
    merged = bool(found.get("merged_at")) or found["state"] == "merged"
    return MergeRequest(
        number=int(found["number"]),
        title=found["title"],
        body=found.get("body") or "",
        state="merged" if merged else "closed" if found["state"] == "closed" else "open",
        draft=bool(found.get("draft") or found.get("work_in_progress")),
        author=(found.get("user") or {}).get("login", ""),
        source_branch=head.get("ref") or found.get("source_branch") or "",
        target_branch=base.get("ref") or found.get("target_branch") or "",
        head=head.get("sha") or found.get("sha") or "",
        head_ref=head_ref.format(found["number"]),
        source_repository=source,
        from_fork=not same,
        labels=tuple(label["name"] for label in found.get("labels") or ()),
        place=found["html_url"],
        merged_commit=(found.get("merge_commit_sha") or "") if merged else "",
        updated_at=when(found["updated_at"]),
    )


def comment(found: dict[str, Any], viewer: str) -> Comment:
    """Return the comment from an issue comment, as the account `viewer` sees it."""
    user = found.get("user") or {}
    return Comment(
        id=found["id"],
        merge_request=int(found["issue_url"].rsplit("/", 1)[1]),
        author=user.get("login", ""),
        author_is_bot=user.get("login") == viewer or user.get("type") == "Bot",
        body=found.get("body") or "",
        created_at=when(found["created_at"]),
        updated_at=when(found["updated_at"]),
        web_url=found.get("html_url", ""),
    )


def beginning(found: dict[str, Any], viewer: str) -> Comment:
    """Return the text that an issue begins with, in the words of any of the
    forges."""
    user = found.get("user") or found.get("author") or {}
    author = user.get("login") or user.get("username") or ""
    return Comment(
        id=0,
        merge_request=int(found.get("iid") or found["number"]),
        author=author,
        author_is_bot=author == viewer or user.get("type") == "Bot",
        body=found.get("body") or found.get("description") or "",
        created_at=when(found["created_at"]),
        updated_at=when(found["updated_at"]),
        web_url=found.get("html_url") or found.get("web_url") or "",
    )


def status(found: dict[str, Any]) -> Status:
    """Return our status from a commit status."""
    return Status(
        context=found["context"],
        state=found["state"],
        description=found.get("description") or "",
        target_url=found.get("target_url") or "",
    )


def status_fields(made: Status) -> dict[str, Any]:
    """For a commit status, which knows no neutral: nothing is wrong, so success."""
    fields = {
        "state": "success" if made.state == "neutral" else made.state,
        "context": made.context,
        "description": made.description[:DESCRIPTION],
    }
    return fields | ({"target_url": made.target_url} if made.target_url else {})


def check_run(found: dict[str, Any]) -> Status:
    """Return our status from a check run; whatever conclusion is no success, neutral or skipped
    is a failure."""
    states: dict[str, State] = {"success": "success", "neutral": "neutral", "skipped": "neutral"}
    conclusion = found.get("conclusion") or "failure"
    output = found.get("output") or {}
    done = found["status"] == "completed"
    return Status(
        context=found["name"],
        state=states.get(conclusion, "failure") if done else "pending",
        description=output.get("title") or "",
        target_url=found.get("details_url") or "",
        summary=output.get("summary") or "",
    )


def check_run_fields(made: Status) -> dict[str, Any]:
    """For a check run, which knows no error: a failure."""
    fields: dict[str, Any] = {
        "name": made.context,
        "output": {
            "title": made.description[:DESCRIPTION] or made.context,
            "summary": made.summary or made.description,
        },
    }
    if made.state == "pending":
        fields["status"] = "in_progress"
    else:
        fields["status"] = "completed"
        fields["conclusion"] = "failure" if made.state == "error" else made.state
    return fields | ({"details_url": made.target_url} if made.target_url else {})


def message(data: Any) -> str:
    """The sentence of an error's JSON, with the sentences and fields of its parts."""
    if not isinstance(data, dict):
        return ""
    parts = [str(data.get("message") or "")]
    for part in data.get("errors") or ():
        if isinstance(part, dict):
            said = part.get("message") or f"{part.get('field', '')} {part.get('code', '')}"
            parts.append(str(said).strip())
        else:
            parts.append(str(part))
    return ": ".join(p for p in parts if p)
