"""GitLab, through python-gitlab."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Literal
from urllib.parse import quote

import gitlab
import requests

from bot.base.git import login
from bot.forge import gitlab_words as words
from bot.forge.base import Forge, ForgeError
from bot.forge.diff_text import unified
from bot.forge.http import TIMEOUT_S, Answer, Rest, rate_limit_of
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

HOME: Final = FORGES["gitlab"].home


class GitLabForge(Forge):
    """One project on GitLab as the account of a token sees it."""

    def __init__(self, name: str, token: str, *, url: str = HOME, account: str = "") -> None:
        """`name` is the project's path with its groups."""
        self._name = name
        self._token = token
        self._account = account
        self._client = gitlab.Gitlab(
            url, private_token=token, timeout=TIMEOUT_S, user_agent="ascendopt", keep_base_url=True
        )
        self._rest = Rest("GitLab", token, self._send, words.message)
        self._last: dict[str, str] = {}
        self._client.session.hooks["response"].append(self._remember)
        self._home: Repository | None = None
        self._projects: dict[int, str] = {}
        self._own = OwnComments()

    @classmethod
    def opened(cls, settings: ForgeSettings, token: str) -> GitLabForge:
        """The forge of `settings`."""
        return cls(settings.repository, token, url=settings.url, account=settings.account)

    def repository(self) -> Repository:
        """GET /projects/{id}, once."""
        if self._home is None:
            found = self._rest.get(f"reading the project {self._name}", self._path(""))
            self._home = words.repository(found)
            self._projects[found["id"]] = self._home.name
        return self._home

    def viewer(self) -> str:
        """GET /user, once."""
        if not self._account:
            found = self._rest.get("asking who the token belongs to", "/user")
            self._account = found["username"]
        return self._account

    def credentials(self) -> dict[str, str]:
        """Basic authentication with the token as password, for the server of the push URL."""
        return login(self.repository().push_url, "oauth2", self._token)

    def permission(self, user: str) -> Access:
        """GET /projects/{id}/members/all: also who is a member through a group."""
        path = self._path(f"/members/all?query={quote(user, safe='')}")
        found = self._rest.pages(f"looking up what {user} may do", path)
        levels = [
            int(member["access_level"])
            for member in found
            if member["username"] == user and member.get("state", "active") == "active"
        ]
        return words.access(max(levels, default=0))

    def rate_limit(self) -> RateLimit | None:
        """From the headers of the last answer."""
        return rate_limit_of(self._last)

    def branches(self) -> dict[str, str]:
        """GET /projects/{id}/repository/branches."""
        found = self._rest.pages("listing branches", self._path("/repository/branches"))
        return {branch["name"]: branch["commit"]["id"] for branch in found}

    def branch_head(self, name: str) -> str | None:
        """GET /projects/{id}/repository/branches/{branch}."""
        found = self._rest.find(f"reading branch '{name}'", self._branch(name))
        return found["commit"]["id"] if found else None

    def delete_branch(self, name: str) -> None:
        """DELETE /projects/{id}/repository/branches/{branch}."""
        if self.branch_head(name) is not None:
            self._rest.ask(f"deleting branch '{name}'", "DELETE", self._branch(name))

    def file(self, path: str, ref: str) -> bytes | None:
        """GET /projects/{id}/repository/files/{path}."""
        at = self._path(f"/repository/files/{quote(path, safe='')}?ref={quote(ref, safe='')}")
        found = self._rest.find(f"reading {path} at {ref}", at)
        return base64.b64decode(found["content"]) if found else None

    def compare(self, base: str, head: str) -> str:
        """GET /projects/{id}/repository/compare."""
        path = self._path(
            f"/repository/compare?from={quote(base, safe='')}&to={quote(head, safe='')}"
        )
        found = self._rest.get(f"comparing {base} with {head}", path)
        return unified([words.file_diff(d) for d in found["diffs"]])

    def merge_requests(
        self, state: Literal["all", "open"] = "all", source_prefix: str = ""
    ) -> Sequence[MergeRequest]:
        """GET /projects/{id}/merge_requests; GitLab cannot filter by prefix, so all are listed."""
        wanted = "opened" if state == "open" else "all"
        path = self._path(f"/merge_requests?state={wanted}&order_by=created_at&sort=asc")
        found = self._rest.pages("listing merge requests", path)
        return [self._seen(m) for m in found if m["source_branch"].startswith(source_prefix)]

    def merge_request(self, number: int) -> MergeRequest:
        """GET /projects/{id}/merge_requests/{number}."""
        path = self._path(f"/merge_requests/{number}")
        return self._seen(self._rest.get(f"reading merge request {number}", path))

    def diff(self, number: int) -> str:
        """GET /projects/{id}/merge_requests/{number}/diffs."""
        path = self._path(f"/merge_requests/{number}/diffs")
        found = self._rest.pages(f"reading the diff of merge request {number}", path)
        return unified([words.file_diff(d) for d in found])

    def open(self, title: str, body: str, source_branch: str, target_branch: str) -> MergeRequest:
        """POST /projects/{id}/merge_requests; GitLab's refusal does not say what is missing."""
        doing = f"opening a merge request from '{source_branch}' into '{target_branch}'"
        fields = {
            "title": title,
            "description": body,
            "source_branch": source_branch,
            "target_branch": target_branch,
        }
        try:
            answer = self._rest.ask(doing, "POST", self._path("/merge_requests"), fields)
        except ForgeError as problem:
            if problem.kind == "refused":
                for branch in (source_branch, target_branch):
                    if self.branch_head(branch) is None:
                        raise ForgeError(
                            f"{self._name} has no branch '{branch}'.", kind="not_found"
                        ) from problem
            raise
        return self._seen(answer.json)

    def update(
        self, number: int, title: str | None = None, body: str | None = None
    ) -> MergeRequest:
        """PUT /projects/{id}/merge_requests/{number}."""
        given = {"title": title, "description": body}
        fields = {name: value for name, value in given.items() if value is not None}
        return self._seen(self._edit(f"editing merge request {number}", number, fields))

    def close(self, number: int) -> MergeRequest:
        """PUT /projects/{id}/merge_requests/{number}, when it is open."""
        found = self.merge_request(number)
        if found.state != "open":
            return found
        fields = {"state_event": "close"}
        return self._seen(self._edit(f"closing merge request {number}", number, fields))

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """PUT /projects/{id}/merge_requests/{number} with `add_labels`."""
        fields = {"add_labels": ",".join(labels)}
        self._edit(f"labelling merge request {number}", number, fields)

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """GET …/notes, without those that GitLab writes itself; latest edits first with `since`."""
        doing = f"reading the comments of merge request {number}"
        order = "order_by=created_at&sort=asc" if since is None else "order_by=updated_at&sort=desc"
        place = f"{self.repository().web_url}/-/merge_requests/{number}"
        found: list[Comment] = []
        for note in self._rest.pages(doing, self._path(f"/merge_requests/{number}/notes?{order}")):
            if since is not None and words.when(note["updated_at"]) < since:
                break
            if not note.get("system"):
                found.append(words.comment(note, number, self.viewer(), place))
        return sorted(found, key=lambda c: (c.created_at, c.id))

    def comment(self, number: int, body: str) -> Comment:
        """POST …/notes."""
        doing = f"commenting on merge request {number}"
        path = self._path(f"/merge_requests/{number}/notes")
        made = self._rest.ask(doing, "POST", path, {"body": body}).json
        self._own.add(made["id"])
        return self._said(made, number)

    def edit_comment(self, number: int, comment_id: int, body: str) -> Comment:
        """PUT …/notes/{id}; GitLab lets maintainers edit any, we do not."""
        path = self._path(f"/merge_requests/{number}/notes/{comment_id}")
        self._own.require(
            comment_id,
            self.viewer(),
            lambda: self._said(self._rest.get(f"reading comment {comment_id}", path), number),
        )
        answer = self._rest.ask(f"editing comment {comment_id}", "PUT", path, {"body": body})
        return self._said(answer.json, number)

    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """POST …/notes/{id}/award_emoji; best effort."""
        path = self._path(f"/merge_requests/{number}/notes/{comment_id}/award_emoji")
        fields = {"name": words.EMOJI[reaction]}
        with suppress(ForgeError):
            self._rest.ask(f"reacting to comment {comment_id}", "POST", path, fields)

    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """Merge requests that were touched since, then their notes: GitLab lists no others."""
        doing = "polling for comments"
        path = self._path(
            f"/merge_requests?scope=all&order_by=updated_at&sort=desc&per_page=100"
            f"&updated_after={quote(since.isoformat(), safe='')}"
        )
        first = self._rest.ask(doing, "GET", path, None, {"If-None-Match": etag} if etag else None)
        if first.status == 304:
            return RecentComments(etag=etag, modified=False)
        touched, pages = list(first.json), 1
        while len(touched) == 100 * pages:
            pages += 1
            touched += self._rest.get(doing, f"{path}&page={pages}")
        found = [c for m in touched for c in self.comments(m["iid"], since)]
        found.sort(key=lambda c: (c.updated_at, c.id))
        return RecentComments(comments=tuple(found), etag=first.headers.get("etag", ""))

    def statuses(self, commit: str) -> Sequence[Status]:
        """GET /projects/{id}/repository/commits/{commit}/statuses."""
        path = self._path(f"/repository/commits/{commit}/statuses")
        found = self._rest.pages(f"reading the statuses of {commit}", path)
        return [words.status(s) for s in found]

    def set_status(self, commit: str, status: Status) -> None:
        """POST /projects/{id}/statuses/{commit}; saying the same state again is refused there."""
        try:
            self._rest.ask(
                f"setting the status of {commit}",
                "POST",
                self._path(f"/statuses/{commit}"),
                words.status_fields(status),
            )
        except ForgeError as problem:
            if "cannot transition" not in str(problem).lower():
                raise

    def _path(self, rest: str) -> str:
        return f"/projects/{quote(self._name, safe='')}{rest}"

    def _branch(self, name: str) -> str:
        return self._path(f"/repository/branches/{quote(name, safe='')}")

    def _edit(self, doing: str, number: int, fields: dict[str, str]) -> dict[str, Any]:
        answer = self._rest.ask(doing, "PUT", self._path(f"/merge_requests/{number}"), fields)
        found: dict[str, Any] = answer.json
        return found

    def _seen(self, found: dict[str, Any]) -> MergeRequest:
        """With the name of the project that the branch is in, looked up once a project."""
        home, source = self.repository(), found.get("source_project_id")
        if source == found["target_project_id"]:
            return words.merge_request(found, home.name)
        if source is not None and source not in self._projects:
            project = self._rest.find(f"reading the project {source}", f"/projects/{source}")
            self._projects[source] = project["path_with_namespace"] if project else ""
        return words.merge_request(found, self._projects.get(source, "") if source else "")

    def _said(self, found: dict[str, Any], number: int) -> Comment:
        place = f"{self.repository().web_url}/-/merge_requests/{number}"
        return words.comment(found, number, self.viewer(), place)

    def _remember(self, response: requests.Response, *_: Any, **__: Any) -> None:
        """python-gitlab's errors do not hold the headers."""
        self._last = {name.lower(): value for name, value in response.headers.items()}

    def _send(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        try:
            answer = self._client.http_request(
                verb.lower(), path, post_data=body, extra_headers=headers, obey_rate_limit=False
            )
        except gitlab.GitlabHttpError as problem:
            text = (problem.response_body or b"").decode(errors="replace")
            return Answer(problem.response_code or 0, self._last, text)
        except gitlab.GitlabAuthenticationError as problem:
            text = (problem.response_body or b"").decode(errors="replace")
            return Answer(problem.response_code or 401, self._last, text)
        return Answer(answer.status_code, self._last, answer.text)
