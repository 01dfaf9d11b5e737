"""GitHub's words over the state of a local forge."""

from __future__ import annotations

import base64
import time
from datetime import datetime
from typing import Any, ClassVar

from bot.forge.errors import ForgeError
from bot.forge.model import Comment, MergeRequest, Status
from tests.bot.forge.server.base import Answer, ForgeServer, Request


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


class GitHubServer(ForgeServer):
    prefix: ClassVar[str] = "(?:/repos/team/ops)?"
    head_ref: ClassVar[str] = "refs/pull/{}/head"
    routes: ClassVar[list[tuple[str, str, str]]] = [
        ("GET", "", "home"),
        ("GET", "/user", "whoami"),
        ("GET", "/branches", "branches"),
        ("GET", "/git/ref/heads/(.+)", "branch"),
        ("DELETE", "/git/refs/heads/(.+)", "delete_branch"),
        ("GET", "/collaborators/([^/]+)/permission", "permission"),
        ("GET", "/contents/(.+)", "contents"),
        ("GET", "/git/blobs/(.+)", "blob"),
        ("GET", r"/compare/(.+)\.\.\.(.+)", "compare"),
        ("GET", "/pulls", "pulls"),
        ("POST", "/pulls", "open"),
        ("GET", r"/pulls/(\d+)", "pull"),
        ("PATCH", r"/pulls/(\d+)", "edit"),
        ("POST", r"/issues/(\d+)/labels", "label"),
        ("GET", r"/issues/(\d+)/comments", "comments"),
        ("POST", r"/issues/(\d+)/comments", "say"),
        ("GET", "/issues/comments", "recent"),
        ("GET", "/issues", "listed_issues"),
        ("POST", "/issues", "open_issue"),
        ("PATCH", r"/issues/(\d+)", "edit_issue"),
        ("GET", r"/issues/(\d+)", "issue"),
        ("GET", r"/issues/comments/(\d+)", "one_comment"),
        ("PATCH", r"/issues/comments/(\d+)", "edit_comment"),
        ("POST", r"/issues/comments/(\d+)/reactions", "react"),
        ("GET", r"/commits/(\w+)/status", "statuses"),
        ("POST", r"/statuses/(\w+)", "set_status"),
        ("GET", r"/commits/(\w+)/check-runs", "check_runs"),
        ("POST", "/check-runs", "make_check_run"),
        ("PATCH", r"/check-runs/(\d+)", "edit_check_run"),
    ]

    def __init__(self, *args: Any, **more: Any) -> None:
        self.runs: list[dict[str, Any]] = []
        super().__init__(*args, **more)

    def extra_headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": "4990",
            "X-RateLimit-Reset": str(int(time.time()) + 3600),
        }

    def user(self, name: str) -> dict[str, Any]:
        return {"login": name, "type": "Bot" if name.endswith("[bot]") else "User", "id": 1}

    def repo(self, name: str) -> dict[str, Any]:
        return {
            "id": 1296269 if name == self.name else 9,
            "full_name": name,
            "default_branch": self.default_branch,
            "clone_url": f"{self.url}/{name}.git",
            "html_url": f"{self.url}/{name}",
            "url": f"{self.url}/repos/{name}",
        }

    def whoami(self, request: Request) -> Answer:
        if request.user.endswith("[bot]"):
            raise ForgeError("Resource not accessible by integration", kind="forbidden")
        return super().whoami(request)

    def branch(self, request: Request, name: str) -> Answer:
        return Answer({"ref": f"refs/heads/{name}", "object": {"sha": self.head(name)}})

    def permission(self, request: Request, user: str) -> Answer:
        return Answer({"permission": self.forge().permission(user), "user": self.user(user)})

    def contents(self, request: Request, path: str) -> Answer:
        ref = request.query.get("ref", "main")
        if len(self.content(path, ref)) <= 1_000_000:
            return super().contents(request, path)
        sha = f"{ref}:{path}".encode().hex()
        return Answer({"type": "file", "sha": sha, "encoding": "none", "content": ""})

    def blob(self, request: Request, sha: str) -> Answer:
        ref, path = bytes.fromhex(sha).decode().split(":", 1)
        found = self.forge().file(path, ref) or b""
        return Answer({"encoding": "base64", "content": base64.b64encode(found).decode()})

    def compare(self, request: Request, base: str, head: str) -> Answer:
        return Answer(self.forge().compare(base, head))

    def shown(self, m: MergeRequest) -> dict[str, Any]:
        fork = {"full_name": m.source_repository} if m.source_repository else None
        return {
            "number": m.number,
            "url": f"{self.url}/repos/{self.name}/pulls/{m.number}",
            "title": m.title,
            "body": m.body,
            "state": "open" if m.state == "open" else "closed",
            "merged_at": stamp(m.updated_at) if m.state == "merged" else None,
            "merge_commit_sha": m.merged_commit or None,
            "draft": m.draft,
            "user": self.user(m.author),
            "labels": [{"name": label} for label in m.labels],
            "head": {
                "ref": m.source_branch,
                "sha": m.head,
                "repo": fork if m.from_fork else self.repo(self.name),
            },
            "base": {"ref": m.target_branch, "repo": self.repo(self.name)},
            "html_url": f"{self.url}/{self.name}/pull/{m.number}",
            "updated_at": stamp(m.updated_at),
        }

    def pulls(self, request: Request) -> Answer:
        state = "open" if request.query.get("state", "open") == "open" else "all"
        found = [self.shown(m) for m in self.forge().merge_requests(state)]
        return self.page(found, request)

    def open(self, request: Request) -> Answer:
        body = request.body
        try:
            made = self.forge(request.user).open(
                body["title"], body.get("body", ""), body["head"], body["base"]
            )
        except ForgeError as problem:
            if problem.kind == "conflict":
                detail = {"resource": "PullRequest", "code": "custom"}
                detail["message"] = f"A pull request already exists for team:{body['head']}."
            else:
                missing = "head" if self.forge().branch_head(body["head"]) is None else "base"
                detail = {"resource": "PullRequest", "field": missing, "code": "invalid"}
            return Answer({"message": "Validation Failed", "errors": [detail]}, 422)
        return Answer(self.shown(made), 201)

    def pull(self, request: Request, number: str) -> Answer:
        if "diff" in request.headers.get("Accept", ""):
            return Answer(self.forge().diff(int(number)))
        return super().pull(request, number)

    def label(self, request: Request, number: str) -> Answer:
        self.forge(request.user).add_labels(int(number), request.body["labels"])
        return Answer([{"name": label} for label in request.body["labels"]])

    def remark(self, c: Comment) -> dict[str, Any]:
        return {
            "id": c.id,
            "url": f"{self.url}/repos/{self.name}/issues/comments/{c.id}",
            "issue_url": f"{self.url}/repos/{self.name}/issues/{c.merge_request}",
            "html_url": f"{self.url}/{self.name}/pull/{c.merge_request}#issuecomment-{c.id}",
            "user": self.user(c.author),
            "body": c.body,
            "created_at": stamp(c.created_at),
            "updated_at": stamp(c.updated_at),
        }

    def say(self, request: Request, number: str) -> Answer:
        in_issue = int(number) in self.issues.begun
        return (self.say_in_issue if in_issue else super().say)(request, number)

    def comments(self, request: Request, number: str) -> Answer:
        if int(number) in self.issues.begun:
            return Answer([self.remark(c) for c in self.issues.comments(int(number))])
        since = request.query.get("since")
        at = datetime.fromisoformat(since.replace("Z", "+00:00")) if since else None
        return Answer([self.remark(c) for c in self.forge().comments(int(number), at)])

    def recent(self, request: Request) -> Answer:
        at = datetime.fromisoformat(request.query["since"].replace("Z", "+00:00"))
        found = [self.remark(c) for c in self.forge().recent_comments(at).comments]
        if request.query["direction"] == "desc":
            found.reverse()
        return self.page(found, request)

    def react(self, request: Request, comment_id: str) -> Answer:
        old, content = self.found(comment_id), request.body["content"]
        self.forge(request.user).react(old.merge_request, old.id, content)
        return Answer({"id": 1, "content": content}, 201)

    def statuses(self, request: Request, commit: str) -> Answer:
        found = [
            {"context": s.context, "state": s.state, "description": s.description}
            | {"target_url": s.target_url or None}
            for s in self.forge().statuses(commit)
        ]
        return Answer({"state": "pending", "statuses": found, "sha": commit})

    def set_status(self, request: Request, commit: str) -> Answer:
        made = Status.model_validate(request.body)
        try:
            self.forge(request.user).set_status(commit, made)
        except ForgeError:
            return Answer({"message": f"No commit found for SHA: {commit}"}, 422)
        return Answer(request.body, 201)

    def check_runs(self, request: Request, commit: str) -> Answer:
        name = request.query.get("check_name")
        found = [r for r in self.runs if r["head_sha"] == commit and name in (None, r["name"])]
        return Answer({"total_count": len(found), "check_runs": found})

    def make_check_run(self, request: Request) -> Answer:
        if not request.user.endswith("[bot]"):
            return Answer({"message": "You must authenticate via a GitHub App."}, 403)
        commit = request.body["head_sha"]
        self.forge().compare(commit, commit)
        number = len(self.runs) + 1
        url = f"{self.url}/repos/{self.name}/check-runs/{number}"
        self.runs.append({"id": number, "url": url, "conclusion": None} | request.body)
        return Answer(self.runs[-1], 201)

    def edit_check_run(self, request: Request, number: str) -> Answer:
        self.runs[int(number) - 1] |= request.body
        return Answer(self.runs[int(number) - 1])
