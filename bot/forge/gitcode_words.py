"""GitCode's JSON in our words. Pure functions.

It is shaped like GitHub's, with GitLab beneath: states `merged` and `opened` occur, times have an
offset, numbers come as text, and a fork's repository may lack its full name.
"""

from __future__ import annotations

from typing import Any, Final

from bot.forge.diff_text import FileDiff
from bot.forge.github_words import when
from bot.forge.model import Access, Comment, MergeRequest, Repository

_ACCESS: Final[dict[str, Access]] = {
    "admin": "admin",
    "owner": "admin",
    "maintainer": "admin",
    "push": "write",
    "write": "write",
    "developer": "write",
    "pull": "read",
    "read": "read",
    "reporter": "read",
    "guest": "read",
}


def access(permission: str) -> Access:
    """What a permission allows; a role that an organization made up allows nothing."""
    return _ACCESS.get(permission.lower(), "none")


def repository(found: dict[str, Any], name: str, home: str) -> Repository:
    """From a repository; `home` is the forge's own address."""
    page = (found.get("html_url") or found.get("web_url") or f"{home}/{name}").removesuffix(".git")
    return Repository(
        name=found.get("full_name") or name,
        default_branch=found.get("default_branch") or "main",
        push_url=f"{home}/{name}.git",
        web_url=page,
    )


def commit(found: dict[str, Any]) -> str:
    """The commit of a branch."""
    return str(found["commit"].get("sha") or found["commit"].get("id") or "")


def merge_request(found: dict[str, Any], name: str) -> MergeRequest:
    """From a pull request of the repository `name`, listed or single."""
    head, base = found.get("head") or {}, found.get("base") or {}
    repo = head.get("repo") or {}
    source = repo.get("full_name") or repo.get("path_with_namespace") or ""
    merged = bool(found.get("merged_at")) or found["state"] == "merged"
    state = "merged" if merged else "closed" if found["state"] == "closed" else "open"
    return MergeRequest(
        number=int(found["number"]),
        title=found["title"],
        body=found.get("body") or "",
        state=state,
        draft=bool(found.get("draft") or found.get("work_in_progress")),
        author=(found.get("user") or {}).get("login", ""),
        source_branch=head.get("ref") or found.get("source_branch") or "",
        target_branch=base.get("ref") or found.get("target_branch") or "",
        head=head.get("sha") or found.get("sha") or "",
        head_ref=f"refs/merge-requests/{found['number']}/head",
        source_repository=source,
        from_fork=source.lower() != name.lower(),
        labels=tuple(label["name"] for label in found.get("labels") or ()),
        place=found["html_url"],
        merged_commit=(found.get("merge_commit_sha") or "") if merged else "",
        updated_at=when(found["updated_at"]),
    )


def comment_id(found: dict[str, Any]) -> int:
    """Its number; what is called id may be the discussion's, which is none."""
    for name in ("note_id", "id"):
        value = str(found.get(name) or "")
        if value.isascii() and value.isdigit():
            return int(value)
    return 0


def comment(found: dict[str, Any], number: int, viewer: str, place: str) -> Comment:
    """From a comment on the pull request `number` at `place`."""
    author = (found.get("user") or {}).get("login", "")
    key = comment_id(found)
    return Comment(
        id=key,
        merge_request=number,
        author=author,
        author_is_bot=author == viewer,
        body=found.get("body") or "",
        created_at=when(found["created_at"]),
        updated_at=when(found.get("updated_at") or found["created_at"]),
        web_url=f"{place}#note_{key}",
    )


def file_diff(found: dict[str, Any]) -> FileDiff:
    """From a file of a pull request; its patch is a text, or an object in GitLab's form."""
    patch, name = found.get("patch"), found["filename"]
    if isinstance(patch, dict):
        return FileDiff(
            old=patch.get("old_path") or name,
            new=patch.get("new_path") or name,
            hunks=patch.get("diff") or "",
            added=bool(patch.get("new_file")),
            deleted=bool(patch.get("deleted_file")),
            old_mode=str(patch.get("a_mode") or ""),
            new_mode=str(patch.get("b_mode") or ""),
        )
    status = found.get("status") or "modified"
    return FileDiff(
        old=found.get("previous_filename") or name,
        new=name,
        hunks=patch or "",
        added=status == "added",
        deleted=status in ("removed", "deleted"),
    )


def message(data: Any) -> str:
    """The sentence of an error's JSON."""
    if not isinstance(data, dict):
        return ""
    return str(data.get("error_message") or data.get("message") or data.get("error") or "")
