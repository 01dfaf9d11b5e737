"""GitCode: a REST interface shaped like GitHub's at /api/v5, with 50 requests a minute.

What it has no documented interface for goes through git (deleting a branch, comparing commits) or
is dropped (commit statuses, reactions); `docs/forges.md` lists both.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

import requests

from bot.base.git import Git, GitError, login
from bot.forge import gitcode_words as words
from bot.forge.base import Forge, ForgeError
from bot.forge.diff_text import unified
from bot.forge.github_words import stamp
from bot.forge.http import TIMEOUT_S, Answer, Rest
from bot.forge.kinds import FORGES
from bot.forge.limiter import Limiter
from bot.forge.local import DIFF
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
from bot.forge.own_comments import OwnComments
from bot.forge.settings import ForgeSettings

HOME: Final = FORGES["gitcode"].home
API: Final = "https://api.gitcode.com/api/v5"
# GitCode's limit for one account.
REQUESTS: Final = 50
WINDOW_S: Final = 60.0


class GitCodeForge(Forge):
    """One repository on GitCode as the account of a token sees it."""

    def __init__(
        self,
        name: str,
        token: str,
        *,
        url: str = HOME,
        api: str = API,
        account: str = "",
        limiter: Limiter | None = None,
    ) -> None:
        """`name` is owner/name. Forges of one account share a `limiter`."""
        self._name = name
        self._token = token
        self._url = url
        self._api = api
        self._account = account
        self._limiter = limiter or Limiter(REQUESTS, WINDOW_S)
        self._session = requests.Session()
        self._session.headers.update(
            {
                "Accept": "application/json",
                "User-Agent": "ascendopt",
                "Authorization": f"Bearer {token}",
                "PRIVATE-TOKEN": token,
            }
        )
        self._rest = Rest("GitCode", token, self._send, words.message)
        self._home: Repository | None = None
        self._own = OwnComments()

    @classmethod
    def opened(cls, settings: ForgeSettings, token: str) -> GitCodeForge:
        """The forge of `settings`; GitCode itself has its API at another host."""
        api = settings.api or (API if settings.url == HOME else f"{settings.url}/api/v5")
        return cls(settings.repository, token, url=settings.url, api=api, account=settings.account)

    def repository(self) -> Repository:
        """GET /repos/{name}, once."""
        if self._home is None:
            found = self._rest.get(f"reading the repository {self._name}", self._path(""))
            self._home = words.repository(found, self._name, self._url)
        return self._home

    def viewer(self) -> str:
        """GET /user, once."""
        if not self._account:
            found = self._rest.get("asking who the token belongs to", "/user")
            self._account = found["login"]
        return self._account

    def credentials(self) -> dict[str, str]:
        """Basic authentication with the token as password, for the server of the push URL."""
        return login(self.repository().push_url, self.viewer(), self._token)

    def permission(self, user: str) -> Access:
        """GET /repos/{name}/collaborators/{user}/permission."""
        path = self._path(f"/collaborators/{quote(user, safe='')}/permission")
        found = self._rest.find(f"looking up what {user} may do", path)
        return words.access(str(found.get("permission") or "")) if found else "none"

    def rate_limit(self) -> RateLimit | None:
        """As counted here: GitCode does not say."""
        reset = datetime.now(UTC) + timedelta(seconds=self._limiter.frees_in_s())
        return RateLimit(limit=self._limiter.most, remaining=self._limiter.left(), reset_at=reset)

    def branches(self) -> dict[str, str]:
        """GET /repos/{name}/branches."""
        found = self._rest.pages("listing branches", self._path("/branches"))
        return {branch["name"]: words.commit(branch) for branch in found}

    def branch_head(self, name: str) -> str | None:
        """GET /repos/{name}/branches/{branch}."""
        path = self._path(f"/branches/{quote(name, safe='')}")
        found = self._rest.find(f"reading branch '{name}'", path)
        return words.commit(found) if found else None

    def delete_branch(self, name: str) -> None:
        """By git."""
        if self.branch_head(name) is not None:
            self._git(f"deleting branch '{name}'", ("push", f":refs/heads/{name}"))

    def file(self, path: str, ref: str) -> bytes | None:
        """GET /repos/{name}/contents/{path}."""
        at = self._path(f"/contents/{quote(path)}?ref={quote(ref, safe='')}")
        found = self._rest.find(f"reading {path} at {ref}", at)
        if not isinstance(found, dict) or found.get("type", "file") != "file":
            return None
        return base64.b64decode(found.get("content") or "")

    def compare(self, base: str, head: str) -> str:
        """By git: GitCode compares without the changed lines."""
        wanted = [self.branch_head(r) or r for r in (base, head)]
        diff = (*DIFF, "...".join(wanted))
        return self._git(f"comparing {base} with {head}", ("fetch", *wanted), diff)

    def merge_requests(
        self, state: Literal["all", "open"] = "all", source_prefix: str = ""
    ) -> Sequence[MergeRequest]:
        """GET /repos/{name}/pulls; GitCode cannot filter by prefix, so all are listed."""
        path = self._path(f"/pulls?state={state}&sort=created&direction=asc")
        listed = self._rest.pages("listing pull requests", path)
        found = [words.merge_request(p, self._name) for p in listed]
        return [m for m in found if m.source_branch.startswith(source_prefix)]

    def merge_request(self, number: int) -> MergeRequest:
        """GET /repos/{name}/pulls/{number}."""
        found = self._rest.get(f"reading pull request {number}", self._path(f"/pulls/{number}"))
        return words.merge_request(found, self._name)

    def diff(self, number: int) -> str:
        """GET /repos/{name}/pulls/{number}/files, which comes whole."""
        path = self._path(f"/pulls/{number}/files")
        found = self._rest.get(f"reading the diff of pull request {number}", path)
        return unified([words.file_diff(f) for f in found])

    def open(self, title: str, body: str, source_branch: str, target_branch: str) -> MergeRequest:
        """POST /repos/{name}/pulls; the refusal does not say what is missing."""
        doing = f"opening a pull request from '{source_branch}' into '{target_branch}'"
        fields = {"title": title, "body": body, "head": source_branch, "base": target_branch}
        try:
            answer = self._rest.ask(doing, "POST", self._path("/pulls"), fields)
        except ForgeError as problem:
            if problem.kind in ("refused", "not_found"):
                for branch in (source_branch, target_branch):
                    if self.branch_head(branch) is None:
                        raise ForgeError(
                            f"{self._name} has no branch '{branch}'.", kind="not_found"
                        ) from problem
            raise
        return words.merge_request(answer.json, self._name)

    def update(
        self, number: int, title: str | None = None, body: str | None = None
    ) -> MergeRequest:
        """PATCH /repos/{name}/pulls/{number}."""
        given = {"title": title, "body": body}
        fields = {name: value for name, value in given.items() if value is not None}
        return self._edit(f"editing pull request {number}", number, fields)

    def close(self, number: int) -> MergeRequest:
        """PATCH /repos/{name}/pulls/{number}, when it is open."""
        found = self.merge_request(number)
        if found.state != "open":
            return found
        return self._edit(f"closing pull request {number}", number, {"state": "closed"})

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """POST /repos/{name}/pulls/{number}/labels."""
        path = self._path(f"/pulls/{number}/labels")
        self._rest.ask(f"labelling pull request {number}", "POST", path, list(labels))

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """GET /repos/{name}/pulls/{number}/comments, without those on lines of the diff."""
        path = self._path(f"/pulls/{number}/comments")
        listed = self._rest.pages(f"reading the comments of pull request {number}", path)
        found = [self._said(c, number) for c in listed if c.get("comment_type") != "diff_comment"]
        found.sort(key=lambda c: (c.created_at, c.id))
        return [c for c in found if since is None or c.updated_at >= since]

    def comment(self, number: int, body: str) -> Comment:
        """POST /repos/{name}/pulls/{number}/comments; the answer is thin, so it is read again."""
        doing = f"commenting on pull request {number}"
        path = self._path(f"/pulls/{number}/comments")
        made = self._rest.ask(doing, "POST", path, {"body": body}).json
        self._own.add(words.comment_id(made))
        if made.get("created_at") and made.get("user"):
            return self._said(made, number)
        return self._read_comment(number, words.comment_id(made))

    def edit_comment(self, number: int, comment_id: int, body: str) -> Comment:
        """PATCH /repos/{name}/pulls/comments/{id}."""
        self._own.require(comment_id, self.viewer(), lambda: self._read_comment(number, comment_id))
        path = self._path(f"/pulls/comments/{comment_id}")
        made = self._rest.ask(f"editing comment {comment_id}", "PATCH", path, {"body": body}).json
        if isinstance(made, dict) and made.get("created_at") and made.get("user"):
            return self._said(made, number)
        return self._read_comment(number, comment_id)

    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """Nothing: GitCode documents no reactions to comments."""

    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """Pull requests that were touched since, then their comments: there is no common list."""
        path = self._path(f"/pulls?state=all&sort=updated&direction=desc&since={stamp(since)}")
        touched = list(self._rest.pages("polling for comments", path))
        seen = [(p["number"], p["updated_at"], p.get("user_notes_count")) for p in touched]
        now = hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:32]
        if now == etag:
            return RecentComments(etag=etag, modified=False)
        found = [c for p in touched for c in self.comments(int(p["number"]), since)]
        found.sort(key=lambda c: (c.updated_at, c.id))
        return RecentComments(comments=tuple(found), etag=now)

    def statuses(self, commit: str) -> Sequence[Status]:
        """None: GitCode documents no statuses of commits."""
        return ()

    def set_status(self, commit: str, status: Status) -> None:
        """Nothing: GitCode documents no statuses of commits; the status comment says it."""

    def _path(self, rest: str) -> str:
        return f"/repos/{self._name}{rest}"

    def _edit(self, doing: str, number: int, fields: dict[str, str]) -> MergeRequest:
        """The answer may lack fields, so it is read again."""
        self._rest.ask(doing, "PATCH", self._path(f"/pulls/{number}"), fields)
        return self.merge_request(number)

    def _said(self, found: dict[str, Any], number: int) -> Comment:
        place = f"{self._url}/{self._name}/merge_requests/{number}"
        return words.comment(found, number, self.viewer(), place)

    def _read_comment(self, number: int, comment_id: int) -> Comment:
        path = self._path(f"/pulls/comments/{comment_id}")
        return self._said(self._rest.get(f"reading comment {comment_id}", path), number)

    def _git(self, doing: str, remote: tuple[str, ...], then: tuple[str, ...] = ()) -> str:
        """`git push|fetch` with the repository in a bare one that is thrown away, then `then`."""
        verb, *refs = remote
        url, env = self.repository().push_url, self.credentials()
        with tempfile.TemporaryDirectory(prefix="ascendopt-gitcode-") as folder:
            git = Git(Path(folder))
            try:
                git.run("init", "--quiet", "--bare")
                git.run(verb, "--quiet", "--", url, *refs, env=env)
                return git.run(*then) if then else ""
            except GitError as problem:
                raise ForgeError(f"GitCode failed at {doing}: {problem}.") from problem

    def _send(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        self._limiter.take()
        got = self._session.request(
            verb, self._api + path, json=body, headers=headers, timeout=TIMEOUT_S
        )
        return Answer(got.status_code, {k.lower(): v for k, v in got.headers.items()}, got.text)
