"""What the servers share: routes, tokens, ETags, planned failures, git over HTTP."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from bot.forge.errors import ForgeError
from bot.forge.local import LocalForge
from bot.forge.model import Comment, MergeRequest
from tests.bot.forge.server.issues import Issues

STATUS = {
    "not_found": 404,
    "forbidden": 403,
    "conflict": 409,
    "rate_limited": 429,
    "unavailable": 503,
    "refused": 422,
}


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: Any
    user: str


@dataclass
class Answer:
    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Route = Callable[..., Answer]
# Where the page after the one of that number is, of pages of which there are as many as the second
# number says; None: the answer has no such link.
Next = Callable[[int, int], str | None]


class ForgeServer(ABC):
    """Subclasses give `prefix` (of the API), `head_ref`, `routes` (method, pattern, our method).

    `commit` is what the forge calls the commit of a branch in a list.
    """

    prefix: ClassVar[str] = ""
    head_ref: ClassVar[str] = "refs/merge-requests/{}/head"
    commit: ClassVar[str] = "sha"
    routes: ClassVar[list[tuple[str, str, str]]] = []

    def __init__(self, bare: Path, tokens: dict[str, str], name: str = "team/ops") -> None:
        self.bare, self.tokens, self.name = bare, dict(tokens), name
        self._forge = LocalForge(bare)
        self.default_branch = self._forge.repository().default_branch
        self.issues = Issues()
        self.log: list[str] = []
        self.failures: deque[tuple[int, dict[str, str]]] = deque()
        self.down = False
        """Whether it is out of order: each request is answered with 503, git's, too."""
        self.instead: Callable[[], bytes | None] = lambda: None
        """What is sent in place of an answer, git's, too, before the connection ends."""
        self.former = ""
        """A name that the repository had once."""
        self.next_page: Next | None = None
        """With it lists come in pages of one element, each with a `Link` to the next."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        Thread(target=self._http.serve_forever, daemon=True, args=(0.05,)).start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def forge(self, user: str = "ascendopt") -> LocalForge:
        return self._forge.as_user(user)

    def fail(self, status: int, headers: dict[str, str] | None = None, times: int = 1) -> None:
        """Answer the next calls of the API with `status`."""
        self.failures.extend([(status, headers or {})] * times)

    def error(self, status: int, message: str) -> Any:
        return {"message": message}

    def user_of(self, headers: Mapping[str, str]) -> str | None:
        given = headers.get("Authorization", "")
        token = headers.get("PRIVATE-TOKEN", "")
        if given.startswith("Basic "):
            token = base64.b64decode(given[6:]).decode().partition(":")[2]
        elif given:
            token = given.partition(" ")[2]
        return self.tokens.get(token)

    def extra_headers(self) -> dict[str, str]:
        return {}

    def answer(self, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Answer:
        parts = urlsplit(target)
        query = {k: v[-1] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}
        self.log.append(f"{method} {target}")
        if self.failures:
            status, more = self.failures.popleft()
            return Answer(self.error(status, "planned failure"), status, more)
        user = self.user_of(headers)
        if user is None:
            return Answer(self.error(401, "Bad credentials"), 401)
        for spelt in filter(None, (self.former, quote(self.former, safe=""))):
            if method == "GET" and spelt in target:
                name = quote(self.name, safe="") if "%" in spelt else self.name
                location = self.url + target.replace(spelt, name)
                return Answer({"url": location}, 301, {"Location": location})
        for wanted, pattern, name in self.routes:
            match = re.fullmatch(self.prefix + pattern, parts.path)
            if match is None or wanted != method:
                continue
            body = json.loads(raw) if raw else {}
            text = isinstance(body, dict) and (body.get("body") or body.get("description"))
            if text and len(text) > 65_536:
                return Answer(
                    self.error(422, "body is too long (maximum is 65536 characters)"), 422
                )
            number = int(query.pop("page", 1)) if self.next_page else 1
            request = Request(method, parts.path, query, headers, body, user)
            try:
                made = getattr(self, name)(request, *map(unquote, match.groups()))
                return made if method != "GET" else self.in_pages(made, number, query)
            except ForgeError as problem:
                status = STATUS[problem.kind]
                return Answer(self.error(status, str(problem)), status)
        return Answer(self.error(404, f"No route for {method} {parts.path}"), 404)

    def in_pages(self, made: Answer, number: int, query: dict[str, str]) -> Answer:
        """A page of one element, with the `Link` of `next_page`, of what is or holds a list."""
        body = made.body
        field = next((k for k in ("check_runs", "statuses") if k in body), None)
        whole = body[field] if field else body
        if self.next_page is None or not isinstance(whole, list):
            return made
        page = whole[number - 1 : number]
        links = [f'<{self.url}/?{urlencode(query | {"page": 1})}>; rel="first"']
        after = self.next_page(number, len(whole))
        if after is not None:
            links.append(f'<{after}>; rel="next"')
        more = made.headers | {"Link": ", ".join(links)}
        return Answer(body | {field: page} if field else page, made.status, more)

    # What a method answers, in GitHub's form unless a forge says otherwise

    def user(self, name: str) -> dict[str, Any]:
        return {"id": 1, "login": name}

    @abstractmethod
    def repo(self, name: str) -> dict[str, Any]: ...

    @abstractmethod
    def shown(self, m: MergeRequest) -> dict[str, Any]: ...

    @abstractmethod
    def remark(self, c: Comment) -> dict[str, Any]: ...

    def page(self, found: list[Any], request: Request, size: int = 30) -> Answer:
        page, size = int(request.query.get("page", 1)), int(request.query.get("per_page", size))
        return Answer(found[(page - 1) * size : page * size])

    def home(self, request: Request) -> Answer:
        return Answer(self.repo(self.name))

    def whoami(self, request: Request) -> Answer:
        return Answer(self.user(request.user))

    def branches(self, request: Request) -> Answer:
        found = self.forge().branches().items()
        return Answer([{"name": name, "commit": {self.commit: head}} for name, head in found])

    def branch(self, request: Request, name: str) -> Answer:
        return Answer({"name": name, "commit": {"id": self.head(name)}})

    def head(self, branch: str) -> str:
        head = self.forge().branch_head(branch)
        if head is None:
            raise ForgeError("Branch Not Found", kind="not_found")
        return head

    def delete_branch(self, request: Request, name: str) -> Answer:
        self.forge(request.user).delete_branch(name)
        return Answer(status=204)

    def content(self, path: str, ref: str) -> bytes:
        found = self.forge().file(path, ref)
        if found is None:
            raise ForgeError("File Not Found", kind="not_found")
        return found

    def contents(self, request: Request, path: str) -> Answer:
        text = base64.b64encode(self.content(path, request.query["ref"])).decode()
        return Answer({"type": "file", "encoding": "base64", "content": text})

    def pull(self, request: Request, number: str) -> Answer:
        return Answer(self.shown(self.forge().merge_request(int(number))))

    def edit(self, request: Request, number: str) -> Answer:
        forge, body = self.forge(request.user), request.body
        if body.get("state") == "closed":
            forge.close(int(number))
        return Answer(self.shown(forge.update(int(number), body.get("title"), body.get("body"))))

    def say(self, request: Request, number: str) -> Answer:
        made = self.forge(request.user).comment(int(number), request.body["body"])
        return Answer(self.remark(made), 201)

    def say_in_issue(self, request: Request, number: str) -> Answer:
        return Answer(
            self.remark(self.issues.say(int(number), request.user, request.body["body"])), 201
        )

    def issue(self, request: Request, number: str) -> Answer:
        return Answer(self.begun(self.issues.beginning(int(number))))

    def begun(self, c: Comment) -> dict[str, Any]:
        """An issue, in its forge's words but for numbers and text, which differ."""
        shown = {k: v for k, v in self.remark(c).items() if k not in ("id", "issue_url")}
        count = len(self.issues.comments(c.merge_request))
        return shown | {
            "number": c.merge_request,
            "title": self.issues.titles[c.merge_request],
            "comments": count,
        }

    def listed_issues(self, request: Request) -> Answer:
        since = request.query.get("since") or request.query.get("updated_after")
        if since is None:
            author = request.query.get("creator") or request.query["author_username"]
            own = [b for b in self.issues.begun.values() if b.author == author]
            return self.page([self.begun(c) for c in own], request)
        at = datetime.fromisoformat(since.replace("Z", "+00:00"))
        return self.page([self.begun(c) for c in self.issues.since(at)], request)

    def open_issue(self, request: Request) -> Answer:
        body = request.body
        text = body.get("body") or body["description"]
        number = self.issues.open(request.user, text, body["title"])
        return Answer(self.begun(self.issues.beginning(number)), 201)

    def edit_issue(self, request: Request, number: str) -> Answer:
        body = request.body
        text = body.get("body") or body["description"]
        self.issues.rewrite(int(number), body["title"], text)
        return self.issue(request, number)

    def found(self, comment_id: str) -> Comment:
        in_issue = self.issues.find(int(comment_id))
        if in_issue is not None:
            return in_issue
        for made in self.forge().merge_requests():
            for comment in self.forge().comments(made.number):
                if comment.id == int(comment_id):
                    return comment
        raise ForgeError(f"No comment {comment_id}.", kind="not_found")

    def one_comment(self, request: Request, *ids: str) -> Answer:
        return Answer(self.remark(self.found(ids[-1])))

    def edit_comment(self, request: Request, *ids: str) -> Answer:
        """As forges do: who may write may edit anybody's comment."""
        old = self.found(ids[-1])
        if self.issues.find(old.id) is not None:
            return Answer(self.remark(self.issues.edit(old.id, request.body["body"])))
        forge = self.forge(old.author)
        made = forge.edit_comment(old.merge_request, old.id, request.body["body"])
        return Answer(self.remark(made))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                broken = server.instead()
                if broken is not None:
                    self.wfile.write(broken)
                    self.close_connection = True
                    return
                if server.down:
                    self.send_response(503)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                if ".git/" in self.path:
                    self._git(raw)
                    return
                made = server.answer(self.command, self.path, self.headers, raw)
                text = isinstance(made.body, str | bytes)
                body = made.body if text else json.dumps(made.body)
                body = body.encode() if isinstance(body, str) else body
                etag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
                status = made.status
                if self.command == "GET" and self.headers.get("If-None-Match") == etag:
                    status, body = 304, b""
                if status == 204:
                    body = b""
                self.send_response(status)
                kind = "text/plain" if text else "application/json; charset=utf-8"
                more = {"Content-Type": kind, "ETag": etag, "Content-Length": str(len(body))}
                for key, value in (more | server.extra_headers() | made.headers).items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body)

            def _git(self, raw: bytes) -> None:
                user = server.user_of(self.headers)
                server.log.append(f"git {self.command} {self.path} as {user}")
                if user is None:
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="git"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                status, headers, body = server.git(self.command, self.path, self.headers, raw, user)
                self.send_response(status)
                for key, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def write_head_refs(self) -> None:
        """Where this forge shows the heads of merge requests."""
        for made in self.forge().merge_requests():
            ref = self.head_ref.format(made.number)
            subprocess.run(["git", "update-ref", ref, made.head], cwd=self.bare, check=True)

    def git(
        self, method: str, target: str, headers: Mapping[str, str], raw: bytes, user: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Git's own CGI program; who may not write is not let push."""
        parts = urlsplit(target)
        rest = parts.path.split(".git/", 1)[1]
        if rest == "info/refs":
            self.write_head_refs()
        writes = self.forge().permission(user) in ("write", "admin")
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.bare.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{self.bare.name}/{rest}",
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": method,
            "CONTENT_TYPE": headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(raw)),
            "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
        } | ({"REMOTE_USER": user} if writes else {})
        done = subprocess.run(
            ["git", "http-backend"], input=raw, env=env, capture_output=True, check=True
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        found = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        return int(found.pop("Status", "200").split()[0]), found, body
