"""GitLab's JSON in our words, and our words in GitLab's. Pure functions."""

from __future__ import annotations

from typing import Any, Final, Literal

from bot.forge import github_words
from bot.forge.diff_text import FileDiff
from bot.forge.github_words import when
from bot.forge.model import Access, Comment, MergeRequest, Reaction, Repository, Status

# Access levels of GitLab from which on a member may do something.
_DEVELOPER: Final = 30
_MAINTAINER: Final = 40
_MINIMAL: Final = 5
# Longest description of a commit status that GitLab takes, in characters.
DESCRIPTION: Final = 255
EMOJI: Final[dict[Reaction, str]] = {
    "eyes": "eyes",
    "+1": "thumbsup",
    "-1": "thumbsdown",
    "confused": "confused",
    "rocket": "rocket",
}
_SENT: Final = {
    "pending": "pending",
    "success": "success",
    "neutral": "success",
    "failure": "failed",
    "error": "failed",
}
_SEEN: Final[dict[str, Literal["pending", "success", "failure"]]] = {
    "success": "success",
    "failed": "failure",
    "canceled": "failure",
}
_STATES: Final[dict[str, Literal["open", "closed", "merged"]]] = {
    "closed": "closed",
    "merged": "merged",
}


def access(level: int) -> Access:
    """Return the access from a member's access level: developers may push, maintainers
    administer."""
    if level >= _MAINTAINER:
        return "admin"
    if level >= _DEVELOPER:
        return "write"
    return "read" if level > _MINIMAL else "none"


def level(member: dict[str, Any], user: str) -> int:
    """Return the access level of `user` from a member of a project; 0 for that of another."""
    active = {member.get(name, "active") for name in ("state", "membership_state")} == {"active"}
    return int(member["access_level"]) if member["username"] == user and active else 0


def repository(found: dict[str, Any]) -> Repository:
    """Return the repository from a project."""
    return Repository(
        name=found["path_with_namespace"],
        default_branch=found.get("default_branch") or "main",
        push_url=found["http_url_to_repo"],
        web_url=found["web_url"],
        number=str(found.get("id") or ""),
    )


def merge_request(found: dict[str, Any], source_repository: str) -> MergeRequest:
    """Return our merge request from the forge's, listed or single. `locked` is what merging
    looks like: still open."""
    state = _STATES.get(found["state"], "open")
    merged = found.get("merge_commit_sha") or found.get("squash_commit_sha") or found.get("sha")
    return MergeRequest(
        number=found["iid"],
        title=found["title"],
        body=found.get("description") or "",
        state=state,
        draft=bool(found.get("draft") or found.get("work_in_progress")),
        author=(found.get("author") or {}).get("username", ""),
        source_branch=found["source_branch"],
        target_branch=found["target_branch"],
        head=found.get("sha") or "",
        head_ref=f"refs/merge-requests/{found['iid']}/head",
        source_repository=source_repository,
        from_fork=found["source_project_id"] != found["target_project_id"],
        labels=tuple(found.get("labels") or ()),
        place=found["web_url"],
        merged_commit=(merged or "") if state == "merged" else "",
        updated_at=when(found["updated_at"]),
    )


def comment(found: dict[str, Any], number: int, viewer: str, place: str = "") -> Comment:
    """Return the comment from a note; `place` is the address of the merge request that it is on."""
    author = found["author"]["username"]
    bot = author == viewer or bool(found["author"].get("bot")) or is_token_account(author)
    return Comment(
        id=found["id"],
        merge_request=number,
        author=author,
        author_is_bot=bot,
        body=found["body"],
        created_at=when(found["created_at"]),
        updated_at=when(found["updated_at"]),
        web_url=f"{place}#note_{found['id']}" if place else "",
    )


def beginning(found: dict[str, Any], viewer: str) -> Comment:
    """Return the text that an issue begins with."""
    made, author = github_words.beginning(found, viewer), found.get("author") or {}
    bot = bool(author.get("bot")) or is_token_account(made.author)
    return made.model_copy(update={"author_is_bot": made.author_is_bot or bot})


def is_token_account(username: str) -> bool:
    """The accounts that GitLab makes for the access tokens of projects and groups."""
    kind, _, rest = username.partition("_")
    return kind in ("project", "group") and "_bot" in rest and rest.split("_")[0].isdigit()


def status(found: dict[str, Any]) -> Status:
    """Return our status from a commit status or a job; what is created, waiting or running is
    pending."""
    return Status(
        context=found["name"],
        state=_SEEN.get(found["status"], "pending"),
        description=found.get("description") or "",
        target_url=found.get("target_url") or "",
    )


def status_fields(made: Status) -> dict[str, Any]:
    """For a commit status, which knows neither neutral nor error."""
    fields = {
        "state": _SENT[made.state],
        "name": made.context,
        "description": made.description[:DESCRIPTION],
    }
    return fields | ({"target_url": made.target_url} if made.target_url else {})


def file_diff(found: dict[str, Any]) -> FileDiff:
    """Return the file diff from one element of a list of diffs. One that is too large has no
    hunks."""
    return FileDiff(
        old=found["old_path"],
        new=found["new_path"],
        hunks=found.get("diff") or "",
        added=bool(found.get("new_file")),
        deleted=bool(found.get("deleted_file")),
        old_mode=str(found.get("a_mode") or ""),
        new_mode=str(found.get("b_mode") or ""),
    )


def message(data: Any) -> str:
    """The sentence of an error's JSON, which may be a text, a list or a list by field."""
    if not isinstance(data, dict):
        return str(data)
    said = data.get("message") or data.get("error_description") or data.get("error") or ""
    if isinstance(said, dict):
        return "; ".join(f"{field} {message({'message': text})}" for field, text in said.items())
    if isinstance(said, list):
        return "; ".join(map(str, said))
    return str(said)
