"""GitLab, through python-gitlab."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any, ClassVar, Literal
from urllib.parse import quote

import gitlab
import requests

from bot.base.secret import Token
from bot.base.text import visible
from bot.forge import gitlab_words as words
from bot.forge.base import ForgeError
from bot.forge.diff_text import unified
from bot.forge.http import TIMEOUT_S, Answer, OneServer, masked
from bot.forge.kinds import FORGES, ForgeKind
from bot.forge.model import (
    Access,
    Comment,
    MergeRequest,
    Reaction,
    RecentComments,
    Repository,
    Status,
)
from bot.forge.rest import RestForge, each_once
from bot.forge.settings import ForgeSettings


class GitLabForge(RestForge):
    """One project on GitLab as the account of a token sees it."""

    kind: ClassVar[ForgeKind] = FORGES["gitlab"]
    noun: ClassVar[str] = "merge request"
    request_list: ClassVar[str] = "/merge_requests"
    branch_list: ClassVar[str] = "/repository/branches"
    comment_list: ClassVar[str] = "/merge_requests/{number}/notes"
    one_comment: ClassVar[str] = "/merge_requests/{number}/notes/{id}"
    issue_comments: ClassVar[tuple[str, str]] = (
        "/issues/{number}/notes",
        "/issues/{number}/notes/{id}",
    )
    own_issues: ClassVar[str] = "/issues?state=opened&scope=all&author_username={}"
    page: ClassVar[str] = "/merge_requests"
    edits: ClassVar[str] = "PUT"
    names: ClassVar[Mapping[str, str]] = {
        "body": "description",
        "head": "source_branch",
        "base": "target_branch",
        "login": "username",
    }
    closing: ClassVar[Mapping[str, str]] = {"state_event": "close"}
    git_user: ClassVar[str] = "oauth2"

    def __init__(
        self, name: str, token: Token, *, url: str = FORGES["gitlab"].home, account: str = ""
    ) -> None:
        """`name` is the project's path with its groups."""
        super().__init__(name, token, account, url, words.message)
        self._client = gitlab.Gitlab(
            url,
            timeout=TIMEOUT_S,
            user_agent="ascendopt",
            keep_base_url=True,
            session=OneServer(lambda: {"PRIVATE-TOKEN": self._token()}),
        )
        self._headers: dict[str, str] = {}
        self._client.session.hooks["response"].append(self._remember)
        self._projects: dict[int, str] = {}

    @classmethod
    def opened(cls, settings: ForgeSettings, token: Token) -> GitLabForge:
        """The forge of `settings`."""
        return cls(settings.repository, token, url=settings.url, account=settings.account)

    def permission(self, user: str) -> Access:
        """GET …/members/all: also who is a member through a group."""
        path = self._path(f"/members/all?query={quote(user, safe='')}")
        found = self._rest.pages(f"looking up what {user} may do", path)
        levels = self._each(found, lambda member: words.level(member, user))
        return words.access(max(levels, default=0))

    def file(self, path: str, ref: str) -> bytes | None:
        """GET …/repository/files/{path}."""
        at = self._path(f"/repository/files/{quote(path, safe='')}?ref={quote(ref, safe='')}")
        found = self._rest.find(f"reading {path} at {ref}", at)
        return None if found is None else base64.b64decode(found["content"])

    def compare(self, base: str, head: str) -> str:
        """GET …/repository/compare."""
        path = self._path(
            f"/repository/compare?from={quote(base, safe='')}&to={quote(head, safe='')}"
        )
        found = self._rest.get(f"comparing {base} with {head}", path)
        return unified([words.file_diff(d) for d in found["diffs"]])

    def merge_requests(
        self, state: Literal["all", "open"] = "all", source_prefix: str = ""
    ) -> Sequence[MergeRequest]:
        """GET …/merge_requests; GitLab cannot filter by prefix, so all are listed."""
        wanted = "opened" if state == "open" else "all"
        path = self._path(f"/merge_requests?state={wanted}&order_by=created_at&sort=asc")
        found = self._rest.pages("listing merge requests", path)
        made = self._each(
            found,
            lambda m: self._request(m) if m["source_branch"].startswith(source_prefix) else None,
        )
        return each_once(m for m in made if m is not None)

    def update(
        self, number: int, title: str | None = None, body: str | None = None
    ) -> MergeRequest:
        """Edits what is given; a draft stays one, which GitLab tells by the title alone."""
        if title is not None and self.merge_request(number).draft:
            title = f"Draft: {title}"
        return super().update(number, title, body)

    def diff(self, number: int) -> str:
        """GET …/merge_requests/{number}/diffs."""
        path = self._path(f"/merge_requests/{number}/diffs")
        found = self._rest.pages(f"reading the diff of merge request {number}", path)
        return unified([words.file_diff(d) for d in found])

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """PUT …/merge_requests/{number} with `add_labels`."""
        fields = {"add_labels": ",".join(labels)}
        self._edit(f"labelling merge request {number}", number, fields)

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        """GET …/notes, without those that GitLab writes itself; latest edits first with `since`."""
        doing = f"reading the comments of {self.noun} {number}"
        order = "order_by=created_at&sort=asc" if since is None else "order_by=updated_at&sort=desc"
        place = f"{self.repository().web_url}/-{self.page}/{number}"
        listed = self._path(f"{self.comment_list.format(number=number)}?{order}")
        viewer = self.viewer()
        notes = self._each(
            self._rest.pages(doing, listed),
            lambda note: (note.get("system"), words.comment(note, number, viewer, place)),
        )
        fresh = takewhile(lambda one: since is None or one[1].updated_at >= since, notes)
        found = [note for system, note in fresh if not system]
        return sorted(found, key=lambda c: (c.created_at, c.id))

    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """POST …/notes/{id}/award_emoji; best effort."""
        path = f"{self._comment(number, comment_id)}/award_emoji"
        self._react(path, {"name": words.EMOJI[reaction]})

    def recent_comments(self, since: datetime, etag: str = "") -> RecentComments:
        """Merge requests that were touched since, then their notes: GitLab lists no others."""
        after = quote(since.isoformat(), safe="")
        path = "/merge_requests?scope=all&order_by=updated_at&sort=desc&updated_after="
        news = self._poll(self._path(path + after), etag)
        if news is None:
            return RecentComments(etag=etag, modified=False)
        numbers = self._each(news[0], lambda m: int(m["iid"]))
        return self._comments_of(numbers, since, news[1])

    def recent_issues(self, since: datetime, etag: str = "") -> RecentComments:
        """Issues that were touched since, then their notes."""
        after = quote(since.isoformat(), safe="")
        path = "/issues?scope=all&order_by=updated_at&sort=desc&updated_after="
        return self._recent_issues(self._poll(self._path(path + after), etag), since, etag)

    def statuses(self, commit: str) -> Sequence[Status]:
        """GET …/repository/commits/{commit}/statuses."""
        path = self._path(f"/repository/commits/{commit}/statuses")
        found = self._rest.pages(f"reading the statuses of {commit}", path)
        return list(self._each(found, words.status))

    def set_status(self, commit: str, status: Status) -> None:
        """POST …/statuses/{commit}; saying the same state again is refused there."""
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

    def _repository(self, found: dict[str, Any]) -> Repository:
        return words.repository(found)

    def _beginning(self, found: dict[str, Any]) -> Comment:
        return words.beginning(found, self.viewer())

    def _request(self, found: dict[str, Any]) -> MergeRequest:
        """The merge request with the name of its branch's project, looked up once a project."""
        home, source = self.repository(), found.get("source_project_id")
        if source == found["target_project_id"]:
            return words.merge_request(found, home.name)
        if source is not None and source not in self._projects:
            project = self._rest.find(f"reading the project {source}", f"/projects/{source}")
            self._projects[source] = project["path_with_namespace"] if project else ""
        return words.merge_request(found, self._projects.get(source, "") if source else "")

    def _said(self, found: Any, number: int, comment_id: int = 0) -> Comment:
        place = f"{self.repository().web_url}/-{self.page}/{number}"
        return words.comment(found, number, self.viewer(), place)

    def _remember(self, response: requests.Response, *_: Any, **__: Any) -> None:
        """python-gitlab's errors do not hold the headers."""
        self._headers = {name.lower(): value for name, value in response.headers.items()}

    def _send(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        try:
            answer = self._client.http_request(
                verb.lower(), path, post_data=body, extra_headers=headers, obey_rate_limit=False
            )
        except gitlab.RedirectError as problem:
            raise ForgeError(
                f"GitLab leads elsewhere: {visible(masked(str(problem), self._token()), 200)}."
            ) from problem
        except (gitlab.GitlabHttpError, gitlab.GitlabAuthenticationError) as problem:
            text = (problem.response_body or b"").decode(errors="replace")
            return Answer(problem.response_code or 0, self._headers, text)
        return Answer(answer.status_code, self._headers, answer.text)
