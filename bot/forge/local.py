"""The forge that needs no account: a bare git repository with merge requests filed in it.

Merge requests are files in `<bare repository>/merge-requests/`: `<number>.json` is the record,
`<number>.md` the same for a person. As on any forge, the state follows git: one whose head is part
of its target branch is merged, one whose source branch was deleted is closed. So
`git push origin <source>:<target>` merges and `git push origin --delete <source>` says no.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from bot.forge.base import Forge, ForgeError
from bot.forge.model import Comment, MergeRequest, Repository, Status
from bot.git import Git, GitError
from ci.errors import InputError
from ci.trial import Frozen

AUTHOR: Final = "ascendopt"


class _Record(Frozen):
    merge_request: MergeRequest
    comments: tuple[Comment, ...] = ()


class _Statuses(Frozen):
    statuses: tuple[Status, ...] = ()


class LocalForge(Forge):
    """A bare repository in a folder of this machine."""

    def __init__(self, bare: Path) -> None:
        self._git = Git(bare)
        self._bare = bare
        if not bare.is_dir() or not self._is_bare():
            raise InputError(
                f"{bare} is no bare git repository; make one with: git init --bare {bare}"
            )
        self._folder = bare / "merge-requests"

    @classmethod
    def of_remote(cls, checkout: Path, remote: str) -> LocalForge:
        """The forge at the folder that `remote` of `checkout` names, or at `remote` itself."""
        try:
            url = Git(checkout).run("remote", "get-url", "--", remote).strip()
        except GitError:
            if not Path(remote).is_dir():
                raise InputError(
                    f"{checkout} has no remote '{remote}'; the local forge needs one that is a"
                    " bare repository on this machine."
                ) from None
            url = remote
        if url.startswith("file://"):
            url = unquote(urlsplit(url).path)
        path = Path(url) if Path(url).is_absolute() else checkout / url
        if not path.is_dir():
            raise InputError(
                f"Remote '{remote}' of {checkout} is {url}, which is no folder of this machine;"
                " the local forge needs a bare repository."
            )
        return cls(path.resolve())

    def repository(self) -> Repository:
        """Named after the folder."""
        try:
            branch = self._git.run("symbolic-ref", "--short", "HEAD").strip()
        except GitError as problem:
            raise ForgeError(f"{self._bare} has no default branch: {problem}") from problem
        name = self._bare.name.removesuffix(".git")
        return Repository(name=name, default_branch=branch, push_url=str(self._bare))

    def branches(self) -> dict[str, str]:
        """From refs/heads."""
        listed = self._git.run(
            "for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads"
        )
        pairs = (line.split(" ", 1) for line in listed.splitlines())
        return {name: commit for commit, name in pairs}

    def merge_requests(self) -> Sequence[MergeRequest]:
        """By number, with the state that the branches give; a state once seen is kept."""
        with self._locked():
            return self._all()

    def open(self, title: str, body: str, source_branch: str, target_branch: str) -> MergeRequest:
        """File it under the next number."""
        with self._locked():
            branches = self.branches()
            for branch in (source_branch, target_branch):
                if branch not in branches:
                    raise ForgeError(f"{self._bare} has no branch '{branch}'.")
            existing = self._all()
            for other in existing:
                if other.state == "open" and other.source_branch == source_branch:
                    raise ForgeError(f"Merge request {other.number} of {source_branch} is open.")
            number = max((m.number for m in existing), default=0) + 1
            made = MergeRequest(
                number=number,
                title=title,
                body=body,
                source_branch=source_branch,
                target_branch=target_branch,
                head=branches[source_branch],
                place=str(self._folder / f"{number}.md"),
            )
            self._write(_Record(merge_request=made))
            return made

    def update(self, number: int, title: str, body: str) -> MergeRequest:
        """Rewrite the record and its page."""
        with self._locked():
            record = self._read(number)
            now = self._as_of_now(record.merge_request, self.branches())
            changed = now.model_copy(update={"title": title, "body": body})
            self._write(record.model_copy(update={"merge_request": changed}))
            return changed

    def close(self, number: int) -> MergeRequest:
        """Mark it closed; the source branch stays."""
        with self._locked():
            record = self._read(number)
            now = self._as_of_now(record.merge_request, self.branches())
            if now.state == "open":
                now = now.model_copy(update={"state": "closed"})
            self._write(record.model_copy(update={"merge_request": now}))
            return now

    def comments(self, number: int) -> Sequence[Comment]:
        """From the record."""
        return self._read(number).comments

    def comment(self, number: int, body: str) -> Comment:
        """Append to the record."""
        with self._locked():
            record = self._read(number)
            made = Comment(id=len(record.comments) + 1, author=AUTHOR, body=body)
            self._write(record.model_copy(update={"comments": (*record.comments, made)}))
            return made

    def statuses(self, commit: str) -> Sequence[Status]:
        """From `merge-requests/status/<commit>.json`."""
        path = self._status_path(commit)
        if not path.is_file():
            return ()
        return _Statuses.model_validate_json(path.read_text(encoding="utf-8")).statuses

    def set_status(self, commit: str, status: Status) -> None:
        """Rewrite the commit's file."""
        path = self._status_path(commit)
        with self._locked():
            others = [s for s in self.statuses(commit) if s.context != status.context]
            _replace(path, _Statuses(statuses=(*others, status)).model_dump_json(indent=2))

    def _all(self) -> list[MergeRequest]:
        """Every record as of now. A branch may be deleted and pushed again: write the no down."""
        numbers = sorted(int(p.stem) for p in self._folder.glob("*.json") if p.stem.isdigit())
        branches = self.branches()
        found = []
        for number in numbers:
            record = self._read(number)
            now = self._as_of_now(record.merge_request, branches)
            if now != record.merge_request:
                self._write(record.model_copy(update={"merge_request": now}))
            found.append(now)
        return found

    def _is_bare(self) -> bool:
        try:
            return self._git.run("rev-parse", "--is-bare-repository").strip() == "true"
        except GitError:
            return False

    def _as_of_now(self, made: MergeRequest, branches: dict[str, str]) -> MergeRequest:
        """`made` with the head and state that git shows; merged and closed are for good."""
        if made.state != "open":
            return made
        head = branches.get(made.source_branch, made.head)
        target = branches.get(made.target_branch)
        known = self._git.succeeds("cat-file", "-e", head)
        if target and known and self._git.succeeds("merge-base", "--is-ancestor", head, target):
            return made.model_copy(update={"state": "merged", "head": head})
        if made.source_branch not in branches:
            return made.model_copy(update={"state": "closed"})
        return made.model_copy(update={"head": head})

    def _read(self, number: int) -> _Record:
        path = self._folder / f"{number}.json"
        if not path.is_file():
            raise ForgeError(f"{self._bare} has no merge request {number}.")
        try:
            return _Record.model_validate_json(path.read_text(encoding="utf-8"))
        except ValidationError as problem:
            raise ForgeError(f"{path} is damaged: {problem.errors()[0]['msg']}.") from problem

    def _write(self, record: _Record) -> None:
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
            lines += [
                "",
                "---",
                "",
                f"**{comment.author}**, comment {comment.id}:",
                "",
                comment.body.rstrip(),
            ]
        _replace(self._folder / f"{made.number}.json", record.model_dump_json(indent=2))
        _replace(self._folder / f"{made.number}.md", "\n".join(lines) + "\n")

    def _status_path(self, commit: str) -> Path:
        full = self._git.commit(commit)
        if full is None:
            raise ForgeError(f"{self._bare} has no commit '{commit}'.")
        return self._folder / "status" / f"{full}.json"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, across processes."""
        self._folder.mkdir(exist_ok=True)
        with (self._folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _replace(path: Path, text: str) -> None:
    """Write so that a reader sees the old or the new file, never a half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
