"""What forges that are asked over REST have in common; where they differ, GitHub's form stands."""

from __future__ import annotations

import base64
import copy
import logging
import traceback
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import wraps
from typing import Any, ClassVar, Final, Literal, TypeVar
from urllib.parse import quote

from bot.base.git import login
from bot.base.secret import Token, as_of_now
from bot.base.text import shortened, visible
from bot.forge import github_words as words
from bot.forge.base import Forge, ForgeError
from bot.forge.http import PAGE, UNREADABLE, Answer, Rest, rate_limit_of
from bot.forge.kinds import ForgeKind, server_of
from bot.forge.model import (
    Access,
    Comment,
    MergeRequest,
    RateLimit,
    Reaction,
    RecentComments,
    Repository,
)

LOG: Final = logging.getLogger("ascendopt.bot")
One = TypeVar("One")
LONGEST_BODY: Final = 65_000
"""Characters of a text that is written; GitHub takes 65,536, the others as many at least."""


def _readable(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, for which an answer that lacks what it reads is one of a forge out of order."""

    @wraps(method)
    def asked(self: RestForge, *given: Any, **named: Any) -> Any:
        try:
            return method(self, *given, **named)
        except UNREADABLE as problem:
            what = method.__name__.replace("_", " ")
            LOG.warning("%s", "".join(traceback.format_exception(problem, limit=-4)))
            raise ForgeError(
                f"{self.kind.title} gave an answer that cannot be read ({what}).",
                kind="unavailable",
            ) from problem

    return asked


class RestForge(Forge):
    """One repository on one server. A forge of this kind gives its paths, its words, `_send`."""

    kind: ClassVar[ForgeKind]
    noun: ClassVar[str] = "pull request"
    """The forge's word for a merge request."""
    request_list: ClassVar[str] = "/pulls"
    branch_list: ClassVar[str] = "/branches"
    comment_list: ClassVar[str] = "/pulls/{number}/comments"
    one_comment: ClassVar[str] = "/pulls/comments/{id}"
    issue_list: ClassVar[str] = "/issues"
    own_issues: ClassVar[str] = "/issues?state=open&creator={}"
    """List of the open issues of an account."""
    issue_comments: ClassVar[tuple[str, str]] = (
        "/issues/{number}/comments",
        "/issues/comments/{id}",
    )
    """List of an issue's comments, and one of them."""
    page: ClassVar[str] = ""
    """Where a person reads a merge request, after the repository's page; where it is needed."""
    edits: ClassVar[str] = "PATCH"
    """Verb that changes a merge request or a comment."""
    names: ClassVar[Mapping[str, str]] = {}
    """The forge's name of title, body, head and base, and of login, where it has another."""
    head_ref: ClassVar[str] = "refs/merge-requests/{}/head"
    """Where the repository shows the head of a merge request of that number."""
    closing: ClassVar[Mapping[str, str]] = {"state": "closed"}
    git_user: ClassVar[str] = ""
    """User that git gives with the token; the account where empty."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, one in vars(Forge).items():
            if callable(one) and not name.startswith("_"):
                setattr(cls, name, _readable(getattr(cls, name)))

    def __init__(
        self,
        name: str,
        token: Token,
        account: str,
        url: str,
        message: Callable[[Any], str] = words.message,
    ) -> None:
        """`name` is owner/name; `account` the login of a token that cannot ask for its own; `url`
        the server that the token belongs to.

        `message` reads the sentence of an error's JSON.
        """
        self._name = name
        self._token = as_of_now(token)
        self._url = url
        self._account = account
        self._home: Repository | None = None
        self._own: set[int] = set()
        self._rest = Rest(self.kind.title, self._token, self._send, message)

    @abstractmethod
    def _send(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """One request, as `bot.forge.http.Send`."""

    @abstractmethod
    def _said(self, found: Any, number: int, comment_id: int = 0) -> Comment:
        """A comment on the merge request `number`; `comment_id` where it is known."""

    def _path(self, rest: str) -> str:
        return f"/repos/{self._name}{rest}"

    def _access(self, permission: str) -> Access:
        return words.access(permission)

    def _repository(self, found: dict[str, Any]) -> Repository:
        return words.repository(found)

    def _request(self, found: dict[str, Any]) -> MergeRequest:
        return words.merge_request(found, self._name, self.head_ref)

    def _beginning(self, found: dict[str, Any]) -> Comment:
        return words.beginning(found, self.viewer())

    def repository(self) -> Repository:
        """GET of the repository, once."""
        if self._home is None:
            found = self._rest.get(f"reading the repository {self._name}", self._path(""))
            self._home = self._repository(found)
        return self._home

    def was_named(self, name: str) -> bool:
        """GET of the repository of that name, with the forge's redirection followed."""
        former = copy.copy(self)
        former._name = name
        found = self._rest.find(f"looking up the repository {name}", former._path(""))
        led = found is not None and former._repository(found).lasting
        return led == self.repository().lasting

    def viewer(self) -> str:
        """GET /user, once; that there is no such page says nothing of what else is asked for."""
        if not self._account:
            doing = "asking who the token belongs to"
            found = self._rest.find(doing, "/user")
            if found is None:
                raise ForgeError(f"{self.kind.title} failed at {doing}: HTTP 404.", "unavailable")
            self._account = found[self.names.get("login", "login")]
        return self._account

    def credentials(self) -> dict[str, str]:
        """Basic authentication with the token as password, for the server that it belongs to."""
        home = self.repository()
        if server_of(home.push_url) != server_of(self._url):
            raise ForgeError(
                f"{self.kind.title} says that {home.name} is pushed to"
                f" {visible(home.push_url, 200)}; the token belongs to {self._url} and is not sent"
                " there. Give the address that the forge has for others."
            )
        return login(home.push_url, self.git_user or self.viewer(), self._token())

    def token_refused(self) -> bool:
        """Whether HTTP 401 was answered, and nothing good since."""
        return self._rest.token_refused

    def permission(self, user: str) -> Access:
        """GET …/collaborators/{user}/permission."""
        path = self._path(f"/collaborators/{quote(user, safe='')}/permission")
        found = self._rest.find(f"looking up what {user} may do", path)
        return "none" if found is None else self._access(str(found["permission"] or ""))

    def rate_limit(self) -> RateLimit | None:
        """Return the rate limit from the headers of the last answer."""
        return rate_limit_of(self._rest.last)

    def branches(self) -> dict[str, str]:
        """GET of the list of branches."""
        found = self._rest.pages("listing branches", self._path(self.branch_list))
        return dict(self._each(found, lambda branch: (str(branch["name"]), _commit(branch))))

    def branch_head(self, name: str) -> str | None:
        """GET of one branch."""
        found = self._rest.find(f"reading branch '{name}'", self._branch(name))
        return None if found is None else _commit(found)

    def delete_branch(self, name: str) -> None:
        """DELETE of the branch."""
        if self.branch_head(name) is not None:
            self._rest.ask(f"deleting branch '{name}'", "DELETE", self._branch(name))

    def file(self, path: str, ref: str) -> bytes | None:
        """GET …/contents/{path}; what is too large for it, GET …/git/blobs/{sha}."""
        doing = f"reading {path} at {ref}"
        at = self._path(f"/contents/{quote(path)}?ref={quote(ref, safe='')}")
        found = self._rest.find(doing, at)
        if not isinstance(found, dict) or found.get("type", "file") != "file":
            return None
        if found.get("encoding", "base64") != "base64":
            found = self._rest.get(doing, self._path(f"/git/blobs/{found['sha']}"))
        return base64.b64decode(found["content"])

    def merge_requests(
        self, state: Literal["all", "open"] = "all", source_prefix: str = ""
    ) -> Sequence[MergeRequest]:
        """GET of the list; no forge filters by prefix, so all are listed."""
        path = self._path(f"{self.request_list}?state={state}&sort=created&direction=asc")
        found = self._each(self._rest.pages(f"listing {self.noun}s", path), self._request)
        return each_once(m for m in found if m.source_branch.startswith(source_prefix))

    def merge_request(self, number: int) -> MergeRequest:
        """GET of one."""
        return self._request(self._rest.get(f"reading {self.noun} {number}", self._one(number)))

    def open(self, title: str, body: str, source_branch: str, target_branch: str) -> MergeRequest:
        """POST to the list; a refusal may not say that a branch is missing, so it is looked up."""
        doing = f"opening a {self.noun} from '{source_branch}' into '{target_branch}'"
        text = shortened(body, LONGEST_BODY)
        fields = {"title": title, "body": text, "head": source_branch, "base": target_branch}
        try:
            answer = self._rest.ask(
                doing, "POST", self._path(self.request_list), self._named(fields)
            )
        except ForgeError as problem:
            if problem.kind in ("refused", "not_found"):
                for branch in (source_branch, target_branch):
                    if self.branch_head(branch) is None:
                        raise ForgeError(
                            f"{self._name} has no branch '{branch}'.", kind="not_found"
                        ) from problem
            raise
        return self._request(answer.json)

    def update(
        self, number: int, title: str | None = None, body: str | None = None
    ) -> MergeRequest:
        """Edits what is given."""
        given = {"title": title, "body": body and shortened(body, LONGEST_BODY)}
        fields = {name: value for name, value in given.items() if value is not None}
        return self._edit(f"editing {self.noun} {number}", number, self._named(fields))

    def close(self, number: int) -> MergeRequest:
        """Edits the state, when it is open."""
        found = self.merge_request(number)
        if found.state != "open":
            return found
        return self._edit(f"closing {self.noun} {number}", number, self.closing)

    def comment(self, number: int, body: str) -> Comment:
        """POST to the list of comments."""
        path = self._path(self.comment_list.format(number=number))
        doing = f"commenting on {self.noun} {number}"
        fields = {"body": shortened(body, LONGEST_BODY)}
        made = self._said(self._rest.ask(doing, "POST", path, fields).json, number)
        self._own.add(made.id)
        return made

    def edit_comment(self, number: int, comment_id: int, body: str) -> Comment:
        """Edits a comment: forges let a maintainer's token edit anybody's, the bot must not."""
        path = self._comment(number, comment_id)
        if comment_id not in self._own:
            found = self._rest.get(f"reading comment {comment_id}", path)
            author = self._said(found, number, comment_id).author
            if not self.is_viewer(author):
                raise ForgeError(
                    f"Comment {comment_id} is by {author}, not by {self.viewer()}.",
                    kind="forbidden",
                )
            self._own.add(comment_id)
        fields = {"body": shortened(body, LONGEST_BODY)}
        answer = self._rest.ask(f"editing comment {comment_id}", self.edits, path, fields)
        return self._said(answer.json, number, comment_id)

    def of_issues(self) -> RestForge:
        """The same connection with the paths of issues' comments."""
        other = copy.copy(self)
        other._own = set()
        vars(other).update(
            zip(("comment_list", "one_comment"), self.issue_comments, strict=True),
            noun="issue",
            page=self.issue_list,
        )
        return other

    def issue(self, number: int) -> Comment:
        """GET …/issues/{number}."""
        found = self._rest.get(f"reading issue {number}", self._path(f"{self.issue_list}/{number}"))
        if found.get("pull_request"):
            raise ForgeError(f"{number} of {self._name} is no issue.", kind="not_found")
        return self._beginning(found)

    def write_issue(self, title: str, body: str, number: int = 0) -> int:
        """POST to the list of issues, or an edit of one."""
        fields = self._named({"title": title, "body": shortened(body, LONGEST_BODY)})
        if not number:
            listed = self.own_issues.format(quote(self.viewer(), safe=""))
            found = self._rest.pages("listing own issues", self._path(listed))
            begun = self._each(found, self._begun)
            ours = (b for called, b in begun if called == title and b is not None)
            number = next((b.merge_request for b in ours if self.is_viewer(b.author)), 0)
        if not number:
            verb, path = "POST", self._path(self.issue_list)
        else:
            verb, path = self.edits, self._path(f"{self.issue_list}/{number}")
        return self._issue_number(self._send_issue(verb, path, fields), number)

    def _send_issue(self, verb: str, path: str, fields: dict[str, str]) -> Any:
        return self._rest.ask("writing an issue", verb, path, fields).json

    def _issue_number(self, found: Any, number: int) -> int:
        return number or int(found.get("iid") or found["number"])

    def recent_issues(self, since: datetime, etag: str = "") -> RecentComments:
        """Issues that were touched since, then their comments."""
        path = f"{self.issue_list}?state=all&sort=updated&direction=desc&since={words.stamp(since)}"
        return self._recent_issues(self._poll(self._path(path), etag), since, etag)

    def _recent_issues(
        self, news: tuple[list[Any], str] | None, since: datetime, etag: str = ""
    ) -> RecentComments:
        """Return the new comments of a poll of the list of issues; None where nothing is new."""
        if news is None:
            return RecentComments(etag=etag, modified=False)
        begun = [b for _, b in self._each(news[0], self._begun) if b is not None]
        of_issues = self.of_issues()
        said = of_issues._said_since((b.merge_request for b in begun), since)
        found = sorted([*(b for b in begun if b.updated_at >= since), *said], key=_when)
        return RecentComments(comments=tuple(found), etag=news[1])

    def react(self, number: int, comment_id: int, reaction: Reaction) -> None:
        """POST …/reactions; best effort."""
        self._react(f"{self._comment(number, comment_id)}/reactions", {"content": reaction})

    def _react(self, path: str, fields: dict[str, str]) -> None:
        with suppress(ForgeError):
            self._rest.ask("reacting to a comment", "POST", path, fields)

    def _edit(self, doing: str, number: int, fields: Mapping[str, str]) -> MergeRequest:
        return self._request(self._rest.ask(doing, self.edits, self._one(number), fields).json)

    def _poll(self, path: str, etag: str) -> tuple[list[Any], str] | None:
        """Every element of a list and its new ETag; None when the first page is as it was."""
        doing, path = "polling for comments", f"{path}&per_page={PAGE}"
        headers = {"If-None-Match": etag} if etag else None
        first = self._rest.ask(doing, "GET", path, None, headers)
        if first.status == 304:
            return None
        return list(self._rest.following(doing, path, first)), first.headers.get("etag", "")

    def _comments_of(self, numbers: Iterable[int], since: datetime, etag: str) -> RecentComments:
        """The comments since then of merge requests that were touched."""
        found = sorted(self._said_since(numbers, since), key=_when)
        return RecentComments(comments=tuple(found), etag=etag)

    def _said_since(self, numbers: Iterable[int], since: datetime) -> Iterator[Comment]:
        """The comments since then; none of what is gone meanwhile or not for this account."""
        for number in numbers:
            try:
                yield from self.comments(number, since)
            except ForgeError as problem:
                if problem.kind not in ("not_found", "forbidden") or problem.token_refused:
                    raise
                LOG.warning("The comments of %s %d are left out: %s", self.noun, number, problem)

    def _one(self, number: int) -> str:
        return self._path(f"{self.request_list}/{number}")

    def _branch(self, name: str) -> str:
        return self._path(f"{self.branch_list}/{quote(name, safe='')}")

    def _comment(self, number: int, comment_id: int) -> str:
        return self._path(self.one_comment.format(number=number, id=comment_id))

    def _begun(self, issue: dict[str, Any]) -> tuple[Any, Comment | None]:
        """Title and beginning of an issue in a list, which may hold merge requests: None then."""
        beginning = None if issue.get("pull_request") else self._beginning(issue)
        return issue.get("title"), beginning

    def _each(self, found: Iterable[Any], read: Callable[[Any], One]) -> Iterator[One]:
        """What `read` makes of each element of a list, those left out that cannot be read.

        One is not the others' failure. Where none of several can be read, the first failure is
        raised: the list is of another form.
        """
        first: Exception | None = None
        good = False
        for one in found:
            try:
                made = read(one)
            except (*UNREADABLE, ForgeError) as problem:
                if isinstance(problem, ForgeError) and problem.kind != "not_found":
                    raise
                first = first or problem
                LOG.warning("An element of a list of %s cannot be read.", self.kind.title)
            else:
                good = True
                yield made
        if first is not None and not good:
            raise first

    def _named(self, fields: Mapping[str, str]) -> dict[str, str]:
        return {self.names.get(name, name): value for name, value in fields.items()}


def each_once(requests: Iterable[MergeRequest]) -> list[MergeRequest]:
    """The merge requests of a list: what moves in it while it is read is on two pages."""
    return list({request.number: request for request in requests}.values())


def _when(comment: Comment) -> tuple[datetime, int]:
    """Return the sort key of a comment."""
    return comment.updated_at, comment.id


def _commit(branch: dict[str, Any]) -> str:
    """The head of a branch."""
    return str(branch["commit"].get("sha") or branch["commit"].get("id") or "")
