"""GitCode: a REST interface shaped like GitHub's at /api/v5, with 50 requests a minute.

What it has no documented interface for goes through git (deleting a branch, comparing commits) or
is dropped (commit statuses, reactions); `docs/forges.md` lists both.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Final

from bot.base.git import Git, GitError
from bot.base.secret import Token
from bot.forge import gitcode_words as words
from bot.forge.base import ForgeError
from bot.forge.diff_text import unified
from bot.forge.github_words import stamp
from bot.forge.http import TIMEOUT_S, Answer, OneServer
from bot.forge.kinds import FORGES, ForgeKind
from bot.forge.limiter import Limiter
from bot.forge.local import RENAMES
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
from bot.forge.rest import RestForge
from bot.forge.settings import ForgeSettings

HOME: Final = FORGES["gitcode"].home
API: Final = "https://api.gitcode.com/api/v5"


class GitCodeForge(RestForge):
    """One repository on GitCode as the account of a token sees it."""

    kind: ClassVar[ForgeKind] = FORGES["gitcode"]
    page: ClassVar[str] = "/merge_requests"

    def __init__(
        self,
        name: str,
        token: Token,
        *,
        url: str = HOME,
        api: str = API,
        account: str = "",
        limiter: Limiter | None = None,
    ) -> None:
        """`name` is owner/name. Forges of one account share a `limiter`."""
        super().__init__(name, token, account, url, words.message)
        self._api = api
        self._limiter = limiter or Limiter(self.kind.per_minute, 60.0)
        self._session = OneServer(self._signed)
        self._session.headers.update({"Accept": "application/json", "User-Agent": "ascendopt"})

    @classmethod
    def opened(cls, settings: ForgeSettings, token: Token) -> GitCodeForge:
        """The forge of `settings`; GitCode itself has its API at another host."""
        api = settings.api or (API if settings.url == HOME else f"{settings.url}/api/v5")
        return cls(settings.repository, token, url=settings.url, api=api, account=settings.account)

    def _signed(self) -> dict[str, str]:
        token = self._token()
        return {"Authorization": f"Bearer {token}", "PRIVATE-TOKEN": token}

    def rate_limit(self) -> RateLimit | None:
        """Return the rate limit as the bot counts it: GitCode does not say."""
        reset = datetime.now(UTC) + timedelta(seconds=self._limiter.frees_in_s())
        return RateLimit(limit=self._limiter.most, remaining=self._limiter.left(), reset_at=reset)

    def delete_branch(self, name: str) -> None:
        """Work by git."""
        if self.branch_head(name) is not None:
            self._git(f"deleting branch '{name}'", ("push", f":refs/heads/{name}"))

    def compare(self, base: str, head: str) -> str:
        """Return the difference by git: GitCode compares without the changed lines."""
        wanted = [self.branch_head(r) or r for r in (base, head)]
        return self._git(
            f"comparing {base} with {head}",
            ("fetch", *wanted),
            lambda git: git.diff(RENAMES, "...".join(wanted)),
        )

    def diff(self, number: int) -> str:
        """GET …/pulls/{number}/files."""
        path = self._path(f"/pulls/{number}/files")
        found = self._rest.pages(f"reading the diff of pull request {number}", path)
        return unified([words.file_diff(f) for f in found])

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """POST …/pulls/{number}/labels."""
        path = self._path(f"/pulls/{number}/labels")
        self._rest.ask(f"labelling pull request {number}", "POST", path, list(labels))

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """GET …/pulls/{number}/comments, without those on lines of the diff."""
        path = self._path(self.comment_list.format(number=number))
        listed = self._rest.pages(f"reading the comments of {self.noun} {number}", path)
        read = self._each(
            listed,
            lambda c: self._said(c, number) if c.get("comment_type") != "diff_comment" else None,
        )
        found = [c for c in read if c is not None and (since is None or c.updated_at >= since)]
        return sorted(found, key=lambda c: (c.created_at, c.id))

    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """Nothing: GitCode documents no reactions to comments."""

    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """Pull requests that were touched since, then their comments: there is no common list."""
        path = self._path(f"/pulls?state=all&sort=updated&direction=desc&since={stamp(since)}")
        touched = self._rest.pages("polling for comments", path)
        read = self._each(
            touched, lambda p: (int(p["number"]), p["updated_at"], p.get("user_notes_count"))
        )
        seen = list(read)
        now = hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:32]
        if now == etag:
            return RecentComments(etag=etag, modified=False)
        return self._comments_of([number for number, *_ in seen], since, now)

    def recent_issues(self, since: datetime, etag: str = "") -> RecentComments:
        """Issues that were touched since, then their comments; the ETag is ours."""
        path = self._path(f"/issues?state=all&sort=updated&direction=desc&since={stamp(since)}")
        touched = list(self._rest.pages("polling for issues", path))
        seen = list(
            self._each(touched, lambda i: (i["number"], i["updated_at"], i.get("comments")))
        )
        now = hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:32]
        return self._recent_issues(None if now == etag else (touched, now), since, etag)

    def _send_issue(self, verb: str, path: str, fields: dict[str, str]) -> Any:
        """The path has the owner alone; the repository is a field."""
        owner, _, name = self._name.partition("/")
        path = path.replace(f"/repos/{self._name}/", f"/repos/{owner}/", 1)
        return super()._send_issue(verb, path, {**fields, "repo": name})

    def statuses(self, commit: str) -> Sequence[Status]:
        """None: GitCode documents no statuses of commits."""
        return ()

    def set_status(self, commit: str, status: Status) -> None:
        """Nothing: GitCode documents no statuses of commits; the status comment says it."""

    def _repository(self, found: dict[str, Any]) -> Repository:
        return words.repository(found, self._name, self._url)

    def _access(self, permission: str) -> Access:
        return words.access(permission)

    def _edit(self, doing: str, number: int, fields: Mapping[str, str]) -> MergeRequest:
        """The answer may lack fields, so it is read again."""
        self._rest.ask(doing, "PATCH", self._one(number), fields)
        return self.merge_request(number)

    def _said(self, found: Any, number: int, comment_id: int = 0) -> Comment:
        """An answer to a write may lack fields; then the comment is read again."""
        if not (isinstance(found, dict) and found.get("created_at") and found.get("user")):
            key = comment_id or words.comment_id(found)
            if not key:
                raise LookupError("a comment without a number")
            found = self._rest.get(f"reading comment {key}", self._comment(number, key))
        place = f"{self._url}/{self._name}{self.page}/{number}"
        return words.comment(found, number, self.viewer(), place)

    def _git(
        self, doing: str, remote: tuple[str, ...], then: Callable[[Git], str] = lambda git: ""
    ) -> str:
        """`git push|fetch` with the repository in a bare one that is thrown away, then `then`."""
        verb, *refs = remote
        url, env = self.repository().push_url, self.credentials()
        with tempfile.TemporaryDirectory(prefix="ascendopt-gitcode-") as folder:
            try:
                git = Git.made(Path(folder), bare=True)
                git.run(verb, "--quiet", "--", url, *refs, env=env)
                return then(git)
            except GitError as problem:
                why = str(problem).rstrip(".")
                raise ForgeError(f"{self.kind.title} failed at {doing}: {why}.") from problem

    def _send(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        self._limiter.take()
        got = self._session.request(
            verb, self._api + path, json=body, headers=headers, timeout=TIMEOUT_S
        )
        return Answer(got.status_code, {k.lower(): v for k, v in got.headers.items()}, got.text)
