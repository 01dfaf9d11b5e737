"""GitHub and GitHub Enterprise Server, through PyGithub.

PyGithub brings the login of tokens and Apps, the pause between writes and the addresses of
Enterprise. Its objects are not used: they ask again for what a list has already brought.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final
from urllib.parse import quote

from github import Auth, Github

from bot.base.secret import Token
from bot.base.text import visible
from bot.forge import github_words as words
from bot.forge.base import ForgeError
from bot.forge.http import TIMEOUT_S, Answer, masked
from bot.forge.kinds import FORGES, ForgeKind
from bot.forge.model import Comment, RecentComments, Status
from bot.forge.rest import RestForge
from bot.forge.settings import ForgeSettings
from bot.forge.transport import pygithub

API: Final = "https://api.github.com"
# GitHub asks for a second between writes; more makes it answer with its secondary limit.
BETWEEN_WRITES_S: Final = 1.0
# The account of the token that GitHub Actions gives a job.
ACTIONS: Final = "github-actions[bot]"
# What tokens of Apps and of Actions begin with; only those may make check runs.
_APP_TOKEN: Final = "ghs_"
# An address of a comment on a pull request; a repository may be called pull.
_OF_REQUEST: Final = re.compile(r"/pull/\d+(?:#|$)")
_DIFF: Final = {"Accept": "application/vnd.github.diff"}


class _Token(Auth.Token):
    """A token that may be renewed."""

    def __init__(self, now: Callable[[], str]) -> None:
        super().__init__(now())
        self._now = now

    @property
    def token(self) -> str:
        """The token as it is now."""
        return self._now()


class GitHubForge(RestForge):
    """One repository on GitHub as the account of a token sees it."""

    kind: ClassVar[ForgeKind] = FORGES["github"]
    comment_list: ClassVar[str] = "/issues/{number}/comments"
    one_comment: ClassVar[str] = "/issues/comments/{id}"
    head_ref: ClassVar[str] = "refs/pull/{}/head"
    git_user: ClassVar[str] = "x-access-token"

    def __init__(
        self,
        name: str,
        token: Token,
        *,
        api: str = API,
        url: str = "",
        account: str = "",
        checks: bool | None = None,
        between_writes_s: float = BETWEEN_WRITES_S,
    ) -> None:
        """`name` is owner/name; `account` is the login of an App, which cannot ask for its own;
        `url` the server that the token belongs to, that of `api` when not given.

        `checks` chooses check runs (True) or commit statuses (False) for `set_status`; by default
        the token's kind does.
        """
        super().__init__(name, token, account, url or (self.kind.home if api == API else api))
        self._checks = self._token().startswith(_APP_TOKEN) if checks is None else checks
        with pygithub():
            self._requester = Github(
                auth=_Token(self._token),
                base_url=api,
                user_agent="ascendopt",
                timeout=TIMEOUT_S,
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=between_writes_s,
            ).requester

    @classmethod
    def opened(cls, settings: ForgeSettings, token: Token) -> GitHubForge:
        """The forge of `settings`; GitHub itself has its API at another host."""
        api = settings.api or (API if settings.url == cls.kind.home else f"{settings.url}/api/v3")
        return cls(settings.repository, token, api=api, url=settings.url, account=settings.account)

    def viewer(self) -> str:
        """GET /user; a token of Actions has no user, an App must have been given its name."""
        try:
            return super().viewer()
        except ForgeError as problem:
            if problem.kind != "forbidden" or os.environ.get("GITHUB_ACTIONS") != "true":
                raise
            self._account = ACTIONS
        return self._account

    def branch_head(self, name: str) -> str | None:
        """GET …/git/ref/heads/{branch}: unlike …/branches, no former name leads to the new one."""
        path = self._path(f"/git/ref/heads/{quote(name)}")
        found = self._rest.find(f"reading branch '{name}'", path)
        return None if found is None else found["object"]["sha"]

    def compare(self, base: str, head: str) -> str:
        """GET …/compare/{base}...{head} as a diff."""
        path = self._path(f"/compare/{quote(base)}...{quote(head)}")
        return self._diff(f"comparing {base} with {head}", path)

    def diff(self, number: int) -> str:
        """GET …/pulls/{number} as a diff."""
        return self._diff(f"reading the diff of pull request {number}", self._one(number))

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """POST …/issues/{number}/labels."""
        path = self._path(f"/issues/{number}/labels")
        fields = {"labels": list(labels)}
        self._rest.ask(f"labelling pull request {number}", "POST", path, fields)

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """GET …/issues/{number}/comments."""
        path = self._path(self.comment_list.format(number=number))
        if since is not None:
            path += f"?since={words.stamp(since)}"
        doing = f"reading the comments of {self.noun} {number}"
        return list(self._each(self._rest.pages(doing, path), self._said))

    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """GET …/issues/comments, newest first so that news changes the first page."""
        path = f"/issues/comments?sort=updated&direction=desc&since={words.stamp(since)}"
        news = self._poll(self._path(path), etag)
        if news is None:
            return RecentComments(etag=etag, modified=False)
        found = self._each(reversed(news[0]), self._said)
        of_requests = tuple(c for c in found if _OF_REQUEST.search(c.web_url))
        return RecentComments(comments=of_requests, etag=news[1])

    def statuses(self, commit: str) -> Sequence[Status]:
        """GET …/commits/{commit}/check-runs or …/status."""
        doing = f"reading the statuses of {commit}"
        if self._checks:
            found = self._rest.pages(
                doing, self._path(f"/commits/{commit}/check-runs"), "check_runs"
            )
            return list(self._each(found, words.check_run))
        found = self._rest.pages(doing, self._path(f"/commits/{commit}/status"), "statuses")
        return list(self._each(found, words.status))

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

    def _diff(self, doing: str, path: str) -> str:
        found = self._rest.ask(doing, "GET", path, None, _DIFF).text
        if found.strip() and not found.startswith("diff --git "):
            raise ValueError("no diff")
        return found

    def _branch(self, name: str) -> str:
        return self._path(f"/git/refs/heads/{quote(name)}")

    def _said(self, found: Any, number: int = 0, comment_id: int = 0) -> Comment:
        return words.comment(found, self.viewer())

    def _send(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        try:
            status, got, text = self._requester.requestJson(verb, path, headers=headers, input=body)
        except (RuntimeError, RecursionError) as problem:  # PyGithub's, of a redirection
            raise ForgeError(
                f"GitHub leads elsewhere: {visible(masked(str(problem), self._token()), 200)}."
            ) from problem
        return Answer(status, {name.lower(): str(value) for name, value in got.items()}, text)
