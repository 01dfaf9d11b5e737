"""The local forge's records on disk: one JSON file a merge request, and a page for a person."""

from __future__ import annotations

import fcntl
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from bot.forge.errors import ForgeError
from bot.forge.model import LEVELS, Access, Comment, MergeRequest, Reaction, Status
from ci.model.errors import worded
from ci.model.frozen import Frozen


class StoredRequest(Frozen):
    """One merge request, as its file holds it."""

    merge_request: MergeRequest
    comments: tuple[Comment, ...] = ()
    reactions: tuple[tuple[int, str, Reaction], ...] = Field(
        default=(), description="Comment, user and reaction."
    )
    base: str = Field(default="", description="Commit at which the branch left its target.")
    fork: str = Field(default="", description="Folder that the source branch is in, if another.")


class _Statuses(Frozen):
    statuses: tuple[Status, ...] = ()


Model = TypeVar("Model", bound=BaseModel)

_MEMBERS: TypeAdapter[dict[str, Access]] = TypeAdapter(dict[str, Access])


class LocalStore:
    """The folder `merge-requests` of a bare repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def numbers(self) -> list[int]:
        """Return the numbers of all merge requests, ascending."""
        return sorted(
            int(p.stem) for p in self.folder.glob("*.json") if p.stem.isascii() and p.stem.isdigit()
        )

    def read(self, number: int) -> StoredRequest:
        """One record; raises `ForgeError` when there is none or it is damaged."""
        path = self.folder / f"{number}.json"
        if not path.is_file():
            raise ForgeError(
                f"{self.folder.parent} has no merge request {number}.", kind="not_found"
            )
        return _load(StoredRequest, path)

    def write(self, record: StoredRequest) -> None:
        """Replace one record and its page."""
        number = record.merge_request.number
        _replace(self.folder / f"{number}.json", record.model_dump_json(indent=2))
        _replace(self.folder / f"{number}.md", _page(record))

    def page(self, number: int) -> Path:
        """Where a person reads one."""
        return self.folder / f"{number}.md"

    def write_note(self, title: str, body: str) -> None:
        """A page that is about no merge request, named after its title."""
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        _replace(self.folder / f"{name}.md", f"# {title}\n\n{body}")

    def statuses(self, commit: str) -> tuple[Status, ...]:
        """Return the statuses from `status/<commit>.json`."""
        path = self.folder / "status" / f"{commit}.json"
        return _load(_Statuses, path).statuses if path.is_file() else ()

    def write_status(self, commit: str, status: Status) -> None:
        """Rewrite the commit's file."""
        others = [s for s in self.statuses(commit) if s.context != status.context]
        made = _Statuses(statuses=(*others, status))
        _replace(self.folder / "status" / f"{commit}.json", made.model_dump_json(indent=2))

    def members(self) -> dict[str, Access]:
        """Return the members from `members.json`: user name to one of none, read, write, admin."""
        path = self.folder / "members.json"
        if not path.is_file():
            return {}
        try:
            return _MEMBERS.validate_json(path.read_bytes())
        except ValidationError as problem:
            raise ForgeError(
                f"{path} must map user names to one of {', '.join(LEVELS)}: {worded(problem)}."
            ) from problem

    def write_members(self, members: dict[str, Access]) -> None:
        """Replace `members.json`."""
        _replace(self.folder / "members.json", _MEMBERS.dump_json(members, indent=2).decode())

    def stamp(self) -> str:
        """Changes whenever any record does."""
        digest = hashlib.sha256()
        for number in self.numbers():
            seen = (self.folder / f"{number}.json").stat()
            digest.update(f"{number} {seen.st_mtime_ns} {seen.st_ino}\n".encode())
        return digest.hexdigest()[:16]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One writer at a time, across processes."""
        self.folder.mkdir(exist_ok=True)
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _load(model: type[Model], path: Path) -> Model:
    try:
        return model.model_validate_json(path.read_bytes())
    except ValidationError as problem:
        raise ForgeError(f"{path} is damaged: {worded(problem)}.") from problem


def _page(record: StoredRequest) -> str:
    made = record.merge_request
    lines = [
        f"# {made.title}",
        "",
        f"Merge request {made.number} ({made.state}): `{made.source_branch}` → "
        f"`{made.target_branch}`, commit `{made.head}`.",
        "",
        made.body.rstrip(),
    ]
    for comment in record.comments:
        head = f"**{comment.author}**, comment {comment.id}:"
        lines += ["", "---", "", head, "", comment.body.rstrip()]
    return "\n".join(lines) + "\n"


def _replace(path: Path, text: str) -> None:
    """Write so that a reader sees the old or the new file, never a half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
