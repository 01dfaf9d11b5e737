"""The forge that needs no account: a bare git repository with merge requests filed in it.

Merge requests are files in `<bare repository>/merge-requests/`: `<number>.json` is the record,
`<number>.md` the same for a person. As on any forge, the state follows git: one whose head is part
of its target branch is merged, one whose source branch was deleted is closed. So
`git push origin <source>:<target>` merges and `git push origin --delete <source>` says no.
"""

from __future__ import annotations

import copy
import getpass
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from bot.base.git import Git, GitError
from bot.base.secret import Token
from bot.forge.base import Forge, ForgeError
from bot.forge.local_store import LocalStore, StoredRequest
from bot.forge.model import (
    Access,
    Comment,
    MergeRequest,
    RateLimit,
    Reaction,
    RecentComments,
    Repository,
    Status,
)
from bot.forge.settings import ForgeSettings
from ci.model.errors import InputError

AUTHOR: Final = "ascendopt"
# As the other forges show a file that moved.
RENAMES: Final = "--find-renames"


class LocalForge(Forge):
    """A bare repository in a folder of this machine, as `user` sees it."""

    def __init__(self, bare: Path, user: str = AUTHOR) -> None:
        self._bare = bare.absolute()  # git fetches from it with other folders as the current one
        self._git = Git(self._bare)
        self._user = user
        if not bare.is_dir() or not self._is_bare():
            raise InputError(
                f"{bare} is no bare git repository; make one with: git init --bare {bare}"
            )
        self._store = LocalStore(self._bare / "merge-requests")

    @classmethod
    def opened(cls, settings: ForgeSettings, token: Token) -> LocalForge:
        """The forge at the folder that `settings` name; it takes no token."""
        return cls(Path(settings.repository))

    def as_user(self, user: str) -> LocalForge:
        """The same repository as another person sees it."""
        other = copy.copy(self)
        other._user = user
        return other

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
        head = (self._bare / "HEAD").read_text()  # git itself takes longer, and is asked often
        branch = head.strip().removeprefix("ref: refs/heads/")
        if branch == head.strip() or branch == ".invalid":  # no branch, or refs kept otherwise
            try:
                branch = self._git.run("symbolic-ref", "--short", "HEAD").strip()
            except GitError as problem:
                raise ForgeError(f"{self._bare} has no default branch: {problem}") from problem
        return Repository(name=self._name, default_branch=branch, push_url=str(self._bare))

    def viewer(self) -> str:
        """The name that was given."""
        return self._user

    def credentials(self) -> dict[str, str]:
        """Nothing: who may write the folder may push."""
        return {}

    def permission(self, user: str) -> Access:
        """Return the permission from `members.json`; whoever runs this owns the folder, anybody
        else is a stranger."""
        owner = user in (_owner(), AUTHOR)
        return self._store.members().get(user, "admin" if user and owner else "none")

    def set_permission(self, user: str, access: Access) -> None:
        """Write it to `members.json`."""
        with self._store.locked():
            self._store.write_members(self._store.members() | {user: access})

    def rate_limit(self) -> RateLimit | None:
        """None: a folder has no limit."""
        return None

    def branches(self) -> dict[str, str]:
        """Return the branches from refs/heads."""
        heads = "refs/heads/"
        return {name.removeprefix(heads): c for name, c in self._refs(heads).items()}

    def branch_head(self, name: str) -> str | None:
        """Return the branch head from refs/heads."""
        return self._git.commit(f"refs/heads/{name}")

    def delete_branch(self, name: str) -> None:
        """Delete the ref; an open merge request of it is closed thereby."""
        if self.branch_head(name) is not None:
            self._git.run("update-ref", "-d", f"refs/heads/{name}")

    def file(self, path: str, ref: str) -> bytes | None:
        """Return the file from git."""
        return self._git.show(self._known(ref), path)

    def compare(self, base: str, head: str) -> str:
        """Return the difference from git."""
        return self._git.diff(RENAMES, f"{self._known(base)}...{self._known(head)}")

    def merge_requests(
        self, state: Literal["all", "open"] = "all", source_prefix: str = ""
    ) -> Sequence[MergeRequest]:
        """Return the merge requests, by number, with the state that the branches give; a state
        once seen is kept."""
        with self._store.locked():
            found = [self._refresh(number).merge_request for number in self._store.numbers()]
        return [
            m
            for m in found
            if m.source_branch.startswith(source_prefix) and state in ("all", m.state)
        ]

    def merge_request(self, number: int) -> MergeRequest:
        """Return the current merge request."""
        with self._store.locked():
            return self._refresh(number).merge_request

    def write_issue(self, title: str, body: str, number: int = 0) -> int:
        """Write the issue as a page next to the merge requests: this forge has no issues."""
        with self._store.locked():
            self._store.write_note(title, body)
        return 0

    def diff(self, number: int) -> str:
        """Return the diff from git; of a merged one, what was merged."""
        with self._store.locked():
            record = self._refresh(number)
        return self._git.diff(RENAMES, record.base, record.merge_request.head)

    def open(
        self,
        title: str,
        body: str,
        source_branch: str,
        target_branch: str,
        *,
        draft: bool = False,
        fork: Path | None = None,
    ) -> MergeRequest:
        """File it under the next number; `fork` is the bare repository of the source branch."""
        with self._store.locked():
            target = self.branch_head(target_branch)
            head = (Git(fork) if fork else self._git).commit(f"refs/heads/{source_branch}")
            for branch, commit in ((source_branch, head), (target_branch, target)):
                if commit is None:
                    raise ForgeError(f"{self._bare} has no branch '{branch}'.", kind="not_found")
            numbers = self._store.numbers()
            place = str(fork) if fork else ""
            for other in map(self._store.read, numbers):
                made = other.merge_request
                if (made.source_branch, other.fork) != (source_branch, place):
                    continue  # asking git about all of them takes longer with each
                if self._refresh(made.number).merge_request.state == "open":
                    raise ForgeError(
                        f"Merge request {made.number} of {source_branch} is open.", kind="conflict"
                    )
            number = max(numbers, default=0) + 1
            made = MergeRequest(
                number=number,
                title=title,
                body=body,
                draft=draft,
                author=self._user,
                source_branch=source_branch,
                target_branch=target_branch,
                head=head or "",
                head_ref=_head_ref(number),
                source_repository=_name(fork) if fork else self._name,
                from_fork=fork is not None,
                place=str(self._store.page(number)),
                updated_at=_now(),
            )
            self._store.write(StoredRequest(merge_request=made, fork=place))
            return self._refresh(number).merge_request

    def update(
        self, number: int, title: str | None = None, body: str | None = None
    ) -> MergeRequest:
        """Rewrite the record and its page."""
        given = {"title": title, "body": body}
        return self._change(number, {k: v for k, v in given.items() if v is not None})

    def close(self, number: int) -> MergeRequest:
        """Mark it closed; the source branch stays."""
        return self._change(number, {}, close=True)

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add to the record."""
        old = self.merge_request(number).labels
        self._change(number, {"labels": tuple(dict.fromkeys((*old, *labels)))})

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """Return the comments from the record."""
        found = [self._seen(c) for c in self._store.read(number).comments]
        return [c for c in found if since is None or c.updated_at >= since]

    def comment(self, number: int, body: str) -> Comment:
        """Append to the record; ids count over the whole forge."""
        with self._store.locked():
            record = self._store.read(number)
            counts = [len(self._store.read(n).comments) for n in self._store.numbers()]
            now = _now()
            made = Comment(
                id=sum(counts) + 1,
                merge_request=number,
                author=self._user,
                body=body,
                created_at=now,
                updated_at=now,
                web_url=record.merge_request.place,
            )
            self._store.write(record.model_copy(update={"comments": (*record.comments, made)}))
            return self._seen(made)

    def edit_comment(self, number: int, comment_id: int, body: str) -> Comment:
        """Rewrite it in the record."""
        with self._store.locked():
            record, old = self._comment(number, comment_id)
            if old.author != self._user:
                raise ForgeError(
                    f"Comment {comment_id} is by {old.author}, not by {self._user}.",
                    kind="forbidden",
                )
            made = old.model_copy(update={"body": body, "updated_at": _now()})
            kept = tuple(made if c.id == comment_id else c for c in record.comments)
            self._store.write(record.model_copy(update={"comments": kept}))
            return self._seen(made)

    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """Add to the record, once."""
        with self._store.locked():
            record, _ = self._comment(number, comment_id)
            kept = dict.fromkeys((*record.reactions, (comment_id, self._user, reaction)))
            self._store.write(record.model_copy(update={"reactions": tuple(kept)}))

    def reactions(self, number: int, comment_id: int) -> Sequence[tuple[str, Reaction]]:
        """User and reaction of each one under a comment."""
        found = self._store.read(number).reactions
        return [(user, reaction) for key, user, reaction in found if key == comment_id]

    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """The ETag stands for the files' times."""
        stamp = self._store.stamp()
        if etag == stamp:
            return RecentComments(etag=stamp, modified=False)
        found = [c for n in self._store.numbers() for c in self.comments(n, since)]
        found.sort(key=lambda c: (c.updated_at, c.id))
        return RecentComments(comments=tuple(found), etag=stamp)

    def statuses(self, commit: str) -> Sequence[Status]:
        """Return the statuses from `merge-requests/status/<commit>.json`."""
        return self._store.statuses(self._known(commit))

    def set_status(self, commit: str, status: Status) -> None:
        """Rewrite the commit's file."""
        full = self._known(commit)
        with self._store.locked():
            self._store.write_status(full, status)

    @property
    def _name(self) -> str:
        return _name(self._bare)

    def _refs(self, *patterns: str) -> dict[str, str]:
        """Commits by the names of refs, in one call of git."""
        listed = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", *patterns)
        return {name: commit for commit, name in (r.split(" ", 1) for r in listed.splitlines())}

    def _is_bare(self) -> bool:
        try:
            return self._git.run("rev-parse", "--is-bare-repository").strip() == "true"
        except GitError:
            return False

    def _known(self, revision: str) -> str:
        """Full hash of a branch or commit."""
        full = self._git.commit(f"refs/heads/{revision}") or self._git.commit(revision)
        if full is None:
            raise ForgeError(f"{self._bare} has no commit '{revision}'.", kind="not_found")
        return full

    def _seen(self, comment: Comment) -> Comment:
        """`comment` as this account sees it."""
        return comment.model_copy(update={"author_is_bot": comment.author in (AUTHOR, self._user)})

    def _comment(self, number: int, comment_id: int) -> tuple[StoredRequest, Comment]:
        record = self._store.read(number)
        for comment in record.comments:
            if comment.id == comment_id:
                return record, comment
        raise ForgeError(f"Merge request {number} has no comment {comment_id}.", kind="not_found")

    def _change(
        self, number: int, fields: dict[str, object], *, close: bool = False
    ) -> MergeRequest:
        """Write `fields` over the record as of now; an unchanged one is not written."""
        with self._store.locked():
            record = self._refresh(number)
            old = record.merge_request
            if close and old.state == "open":
                fields = fields | {"state": "closed"}
            if old.model_copy(update=fields) == old:
                return old
            new = old.model_copy(update=fields | {"updated_at": _now()})
            self._store.write(record.model_copy(update={"merge_request": new}))
            return new

    def _refresh(self, number: int) -> StoredRequest:
        """The record as of now, written down when git moved: a branch may come and go."""
        old = self._store.read(number)
        new = self._as_of_now(old)
        if new != old:
            made = new.merge_request.model_copy(update={"updated_at": _now()})
            new = new.model_copy(update={"merge_request": made})
            self._store.write(new)
        return new

    def _as_of_now(self, record: StoredRequest) -> StoredRequest:
        """`record` with the head and state that git shows; merged and closed are for good."""
        made = record.merge_request
        if made.state != "open":
            return record
        at_source, at_target = (f"refs/heads/{b}" for b in (made.source_branch, made.target_branch))
        refs = self._refs(at_source, at_target, _head_ref(made.number))
        fork = Git(Path(record.fork)) if record.fork else None
        head = fork.commit(at_source) if fork else refs.get(at_source)
        target, seen = refs.get(at_target), head or made.head
        if refs.get(_head_ref(made.number)) != seen:
            origin = record.fork or str(self._bare)
            refspec = f"+refs/heads/{made.source_branch}:{_head_ref(made.number)}"
            self._git.run("fetch", "--quiet", "--no-tags", "--", origin, refspec)
        fields: dict[str, object] = {"head": seen}
        base, common = record.base, self._merge_base(target, seen) if target else ""
        if common == seen:
            fields |= {"state": "merged", "merged_commit": target}
        elif head is None:
            fields |= {"state": "closed"}
        elif target:
            base = common
            if not common:
                raise ForgeError(f"{seen[:12]} has no history in common with its target.")
        return record.model_copy(
            update={"merge_request": made.model_copy(update=fields), "base": base or seen}
        )

    def _merge_base(self, one: str, other: str) -> str:
        """The commit from which two commits part; empty when there is none."""
        try:
            return _merge_base(self._bare, one, other)
        except GitError:
            return ""


@lru_cache(maxsize=10_000)
def _merge_base(bare: Path, one: str, other: str) -> str:
    return Git(bare).run("merge-base", one, other).strip()


def _owner() -> str:
    """Who runs this; empty for an account that the system has no name for."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _head_ref(number: int) -> str:
    return f"refs/merge-requests/{number}/head"


def _name(bare: Path) -> str:
    return bare.name.removesuffix(".git")


def _now() -> datetime:
    return datetime.now(UTC)
