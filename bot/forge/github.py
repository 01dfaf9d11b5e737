"""GitHub and GitHub Enterprise Server, through PyGithub.

PyGithub brings the login of tokens and Apps, the pause between writes and the addresses of
Enterprise. Its objects are not used: they ask again for what a list has already brought.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, Literal
from urllib.parse import quote

from github import Auth, Github

from bot.base.git import login
from bot.forge import github_words as words
from bot.forge.base import Forge, ForgeError
from bot.forge.http import TIMEOUT_S, Answer, Rest
from bot.forge.kinds import FORGES
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

API: Final = "https://api.github.com"
# GitHub asks for a second between writes; more makes it answer with its secondary limit.
BETWEEN_WRITES_S: Final = 1.0
# The account of the token that GitHub Actions gives a job.
ACTIONS: Final = "github-actions[bot]"
# What tokens of Apps and of Actions begin with; only those may make check runs.
_APP_TOKEN: Final = "ghs_"
_DIFF: Final = {"Accept": "application/vnd.github.diff"}


class GitHubForge(Forge):
    """One repository on GitHub as the account of a token sees it."""

    def __init__(
        self,
        name: str,
        token: str,
        *,
        api: str = API,
        account: str = "",
        checks: bool | None = None,
        between_writes_s: float = BETWEEN_WRITES_S,
    ) -> None:
        """`name` is owner/name; `account` is the login of an App, which cannot ask for its own.

        `checks` chooses check runs (True) or commit statuses (False) for `set_status`; by default
        the token's kind does.
        """
        self._name = name
        self._token = token
        self._account = account
        self._checks = token.startswith(_APP_TOKEN) if checks is None else checks
        self._requester = Github(
            auth=Auth.Token(token),
            base_url=api,
            user_agent="ascendopt",
            timeout=TIMEOUT_S,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=between_writes_s,
        ).requester
        self._rest = Rest("GitHub", token, self._send, words.message)
        self._home: Repository | None = None
        self._own = OwnComments()

    @classmethod
    def opened(cls, settings: ForgeSettings, token: str) -> GitHubForge:
        """The forge of `settings`; GitHub itself has its API at another host."""
        public = settings.url == FORGES["github"].home
        api = settings.api or (API if public else f"{settings.url}/api/v3")
        return cls(settings.repository, token, api=api, account=settings.account)

    def repository(self) -> Repository:
        """GET /repos/{name}, once."""
        if self._home is None:
            doing = f"reading the repository {self._name}"
            self._home = words.repository(self._rest.get(doing, self._path("")))
        return self._home

    def viewer(self) -> str:
        """GET /user; a token of Actions has no user, an App must have been given its name."""
        if not self._account:
            try:
                found = self._rest.get("asking who the token belongs to", "/user")
                self._account = found["login"]
            except ForgeError as problem:
                if problem.kind != "forbidden" or os.environ.get("GITHUB_ACTIONS") != "true":
                    raise
                self._account = ACTIONS
        return self._account

    def credentials(self) -> dict[str, str]:
        """Basic authentication with the token as password, for the server of the push URL."""
        return login(self.repository().push_url, "x-access-token", self._token)

    def permission(self, user: str) -> Access:
        """GET /repos/{name}/collaborators/{user}/permission."""
        path = self._path(f"/collaborators/{quote(user, safe='')}/permission")
        found = self._rest.find(f"looking up what {user} may do", path)
        return words.access(found["permission"]) if found else "none"

    def rate_limit(self) -> RateLimit | None:
        """From the headers of the last answer."""
        remaining, limit = self._requester.rate_limiting
        if limit < 0:
            return None
        reset = datetime.fromtimestamp(self._requester.rate_limiting_resettime, UTC)
        return RateLimit(limit=limit, remaining=remaining, reset_at=reset)

    def branches(self) -> dict[str, str]:
        """GET /repos/{name}/branches."""
        found = self._rest.pages("listing branches", self._path("/branches"))
        return {branch["name"]: branch["commit"]["sha"] for branch in found}

    def branch_head(self, name: str) -> str | None:
        """GET /repos/{name}/git/ref/heads/{branch}."""
        path = self._path(f"/git/ref/heads/{quote(name)}")
        found = self._rest.find(f"reading branch '{name}'", path)
        return found["object"]["sha"] if found else None

    def delete_branch(self, name: str) -> None:
        """DELETE /repos/{name}/git/refs/heads/{branch}."""
        if self.branch_head(name) is not None:
            path = self._path(f"/git/refs/heads/{quote(name)}")
            self._rest.ask(f"deleting branch '{name}'", "DELETE", path)

    def file(self, path: str, ref: str) -> bytes | None:
        """GET /repos/{name}/contents/{path}; above 1 MB, GET /repos/{name}/git/blobs/{sha}."""
        doing = f"reading {path} at {ref}"
        at = self._path(f"/contents/{quote(path)}?ref={quote(ref, safe='')}")
        found = self._rest.find(doing, at)
        if not isinstance(found, dict) or found["type"] != "file":
            return None
        if found["encoding"] != "base64":
            found = self._rest.get(doing, self._path(f"/git/blobs/{found['sha']}"))
        return base64.b64decode(found["content"])

    def compare(self, base: str, head: str) -> str:
        """GET /repos/{name}/compare/{base}...{head} as a diff."""
        path = self._path(f"/compare/{quote(base)}...{quote(head)}")
        return self._rest.ask(f"comparing {base} with {head}", "GET", path, None, _DIFF).text

    def merge_requests(
        self, state: Literal["all", "open"] = "all", source_prefix: str = ""
    ) -> Sequence[MergeRequest]:
        """GET /repos/{name}/pulls; GitHub cannot filter by prefix, so all are listed."""
        path = self._path(f"/pulls?state={state}&sort=created&direction=asc")
        found = map(words.merge_request, self._rest.pages("listing pull requests", path))
        return [m for m in found if m.source_branch.startswith(source_prefix)]

    def merge_request(self, number: int) -> MergeRequest:
        """GET /repos/{name}/pulls/{number}."""
        path = self._path(f"/pulls/{number}")
        return words.merge_request(self._rest.get(f"reading pull request {number}", path))

    def diff(self, number: int) -> str:
        """GET /repos/{name}/pulls/{number} as a diff."""
        doing = f"reading the diff of pull request {number}"
        return self._rest.ask(doing, "GET", self._path(f"/pulls/{number}"), None, _DIFF).text

    def open(self, title: str, body: str, source_branch: str, target_branch: str) -> MergeRequest:
        """POST /repos/{name}/pulls."""
        doing = f"opening a pull request from '{source_branch}' into '{target_branch}'"
        fields = {"title": title, "body": body, "head": source_branch, "base": target_branch}
        return words.merge_request(self._rest.ask(doing, "POST", self._path("/pulls"), fields).json)

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
        """POST /repos/{name}/issues/{number}/labels."""
        path = self._path(f"/issues/{number}/labels")
        fields = {"labels": list(labels)}
        self._rest.ask(f"labelling pull request {number}", "POST", path, fields)

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """GET /repos/{name}/issues/{number}/comments."""
        path = self._path(f"/issues/{number}/comments")
        if since is not None:
            path += f"?since={words.stamp(since)}"
        doing = f"reading the comments of pull request {number}"
        return [self._comment(c) for c in self._rest.pages(doing, path)]

    def comment(self, number: int, body: str) -> Comment:
        """POST /repos/{name}/issues/{number}/comments."""
        path = self._path(f"/issues/{number}/comments")
        doing = f"commenting on pull request {number}"
        made = self._rest.ask(doing, "POST", path, {"body": body}).json
        self._own.add(made["id"])
        return self._comment(made)

    def edit_comment(self, number: int, comment_id: int, body: str) -> Comment:
        """PATCH /repos/{name}/issues/comments/{id}; GitHub lets maintainers edit any, we do not."""
        path = self._path(f"/issues/comments/{comment_id}")
        self._own.require(
            comment_id,
            self.viewer(),
            lambda: self._comment(self._rest.get(f"reading comment {comment_id}", path)),
        )
        doing = f"editing comment {comment_id}"
        return self._comment(self._rest.ask(doing, "PATCH", path, {"body": body}).json)

    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """POST /repos/{name}/issues/comments/{id}/reactions; best effort."""
        path = self._path(f"/issues/comments/{comment_id}/reactions")
        with suppress(ForgeError):
            self._rest.ask(f"reacting to comment {comment_id}", "POST", path, {"content": reaction})

    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """GET /repos/{name}/issues/comments, newest first so that news changes the first page."""
        doing = "polling for comments"
        path = self._path(
            f"/issues/comments?sort=updated&direction=desc&since={words.stamp(since)}&per_page=100"
        )
        first = self._rest.ask(doing, "GET", path, None, {"If-None-Match": etag} if etag else {})
        if first.status == 304:
            return RecentComments(etag=etag, modified=False)
        found, pages = list(first.json), 1
        while len(found) == 100 * pages:
            pages += 1
            found += self._rest.get(doing, f"{path}&page={pages}")
        on_pulls = [c for c in reversed(found) if "/pull/" in c["html_url"]]
        return RecentComments(
            comments=tuple(self._comment(c) for c in on_pulls),
            etag=first.headers.get("etag", ""),
        )

    def statuses(self, commit: str) -> Sequence[Status]:
        """GET /repos/{name}/commits/{commit}/check-runs or …/status."""
        doing = f"reading the statuses of {commit}"
        if self._checks:
            path = self._path(f"/commits/{commit}/check-runs?per_page=100")
            return [words.check_run(run) for run in self._rest.get(doing, path)["check_runs"]]
        path = self._path(f"/commits/{commit}/status?per_page=100")
        return [words.status(status) for status in self._rest.get(doing, path)["statuses"]]

    def set_status(self, commit: str, status: Status) -> None:
        """A check run where the token may make one, else a commit status."""
        doing = f"setting the status of {commit}"
        if not self._checks:
            path = self._path(f"/statuses/{commit}")
            self._rest.ask(doing, "POST", path, words.status_fields(status))
            return
        name = quote(status.context, safe="")
        path = self._path(f"/commits/{commit}/check-runs?check_name={name}")
        runs = self._rest.get(doing, path)["check_runs"]
        fields = words.check_run_fields(status)
        if runs:
            path = self._path(f"/check-runs/{runs[0]['id']}")
            self._rest.ask(doing, "PATCH", path, fields)
        else:
            fields["head_sha"] = commit
            self._rest.ask(doing, "POST", self._path("/check-runs"), fields)

    def _path(self, rest: str) -> str:
        return f"/repos/{self._name}{rest}"

    def _edit(self, doing: str, number: int, fields: dict[str, str]) -> MergeRequest:
        answer = self._rest.ask(doing, "PATCH", self._path(f"/pulls/{number}"), fields)
        return words.merge_request(answer.json)

    def _comment(self, found: dict[str, Any]) -> Comment:
        return words.comment(found, self.viewer())

    def _send(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        status, got, text = self._requester.requestJson(verb, path, headers=headers, input=body)
        return Answer(status, {name.lower(): str(value) for name, value in got.items()}, text)
