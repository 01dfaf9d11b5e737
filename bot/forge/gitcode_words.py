"""GitCode's JSON in our words. Pure functions.

It is shaped like GitHub's, with GitLab beneath: states `merged` and `opened` occur, times have an
offset, numbers come as text, and a fork's repository may lack its full name.
"""

from __future__ import annotations

from typing import Any, Final

from bot.forge import gitlab_words
from bot.forge.diff_text import FileDiff
from bot.forge.github_words import when
from bot.forge.model import Access, Comment, Repository

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
    """Return the rights of a permission; a role that an organization invented has none."""
    return _ACCESS.get(permission.lower(), "none")


def repository(found: dict[str, Any], name: str, home: str) -> Repository:
    """Return our repository from the forge's; `home` is the forge's own address."""
    if not (found.get("id") or found.get("full_name")):
        raise LookupError("a repository without a number and a name")
    page = (found.get("html_url") or found.get("web_url") or f"{home}/{name}").removesuffix(".git")
    return Repository(
        name=found.get("full_name") or name,
        default_branch=found.get("default_branch") or "main",
        push_url=f"{home}/{name}.git",
        web_url=page,
        number=str(found.get("id") or ""),
    )


def comment_id(found: dict[str, Any]) -> int:
    """Its number; what is called id may be the discussion's, which is none."""
    for name in ("note_id", "id"):
        value = str(found.get(name) or "")
        if value.isascii() and value.isdigit():
            return int(value)
    return 0


def comment(found: dict[str, Any], number: int, viewer: str, place: str) -> Comment:
    """Return our comment from the forge's on the pull request `number` at `place`."""
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
    """Return the changed file from a file of a pull request; its patch is a text, or an object in
    GitLab's form."""
    patch, name = found.get("patch"), found["filename"]
    if isinstance(patch, dict):
        return gitlab_words.file_diff(
            {"old_path": name, "new_path": name} | {k: v for k, v in patch.items() if v}
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
