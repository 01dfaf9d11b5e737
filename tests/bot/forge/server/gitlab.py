"""GitLab's words over the state of a local forge."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, ClassVar

from bot.forge.errors import ForgeError
from bot.forge.model import Comment, MergeRequest, Status
from tests.bot.forge.server.base import Answer, ForgeServer, Request
from tests.bot.forge.server.split import split

HOME_ID = 3
LEVELS = {"none": 0, "read": 20, "write": 30, "admin": 40}
SENT = {"success": "success", "failure": "failed", "pending": "pending"}


class GitLabServer(ForgeServer):
    prefix: ClassVar[str] = "/api/v4(?:/projects/(?:team%2Fops|3))?"
    commit: ClassVar[str] = "id"
    routes: ClassVar[list[tuple[str, str, str]]] = [
        ("GET", "", "home"),
        ("GET", "/projects/9", "fork"),
        ("GET", "/user", "whoami"),
        ("GET", "/members/all", "members"),
        ("GET", "/repository/branches", "branches"),
        ("GET", "/repository/branches/([^/]+)", "branch"),
        ("DELETE", "/repository/branches/([^/]+)", "delete_branch"),
        ("GET", "/repository/files/([^/]+)", "contents"),
        ("GET", "/repository/compare", "compare"),
        ("GET", "/merge_requests", "merge_requests"),
        ("POST", "/merge_requests", "open"),
        ("GET", r"/merge_requests/(\d+)", "pull"),
        ("PUT", r"/merge_requests/(\d+)", "edit"),
        ("GET", r"/merge_requests/(\d+)/diffs", "diffs"),
        ("GET", r"/merge_requests/(\d+)/notes", "notes"),
        ("POST", r"/merge_requests/(\d+)/notes", "say"),
        ("GET", r"/merge_requests/(\d+)/notes/(\d+)", "one_comment"),
        ("PUT", r"/merge_requests/(\d+)/notes/(\d+)", "edit_comment"),
        ("POST", r"/merge_requests/(\d+)/notes/(\d+)/award_emoji", "award"),
        ("GET", "/issues", "listed_issues"),
        ("POST", "/issues", "open_issue"),
        ("PUT", r"/issues/(\d+)", "edit_issue"),
        ("GET", r"/issues/(\d+)", "issue"),
        ("GET", r"/issues/(\d+)/notes", "issue_notes"),
        ("POST", r"/issues/(\d+)/notes", "say_in_issue"),
        ("GET", r"/issues/(\d+)/notes/(\d+)", "one_comment"),
        ("PUT", r"/issues/(\d+)/notes/(\d+)", "edit_comment"),
        ("GET", r"/repository/commits/(\w+)/statuses", "statuses"),
        ("POST", r"/statuses/(\w+)", "set_status"),
    ]

    def extra_headers(self) -> dict[str, str]:
        reset = str(int(time.time()) + 60)
        return {"RateLimit-Limit": "600", "RateLimit-Remaining": "599", "RateLimit-Reset": reset}

    def repo(self, name: str) -> dict[str, Any]:
        return {
            "id": HOME_ID if name == self.name else 9,
            "path_with_namespace": name,
            "default_branch": self.default_branch,
            "http_url_to_repo": f"{self.url}/{name}.git",
            "web_url": f"{self.url}/{name}",
        }

    def fork(self, request: Request) -> Answer:
        return Answer(self.repo("alice/ops"))

    def user(self, name: str) -> dict[str, Any]:
        return {"id": 1, "username": name, "name": name, "state": "active"}

    def members(self, request: Request) -> Answer:
        """Like the real query, which matches parts of names: others come back too."""
        asked = request.query["query"]
        level = LEVELS[self.forge().permission(asked)]
        found = [self.user(f"{asked}-the-other") | {"access_level": 50}]
        if level:
            found.append(self.user(asked) | {"access_level": 10})
            found.append(self.user(asked) | {"access_level": level})
        return Answer(found)

    def compare(self, request: Request) -> Answer:
        text = self.forge().compare(request.query["from"], request.query["to"])
        return Answer({"diffs": split(text), "commits": []})

    def shown(self, m: MergeRequest) -> dict[str, Any]:
        return {
            "id": 1000 + m.number,
            "iid": m.number,
            "title": m.title,
            "description": m.body,
            "state": "opened" if m.state == "open" else m.state,
            "draft": m.title.startswith("Draft: "),
            "author": self.user(m.author),
            "source_branch": m.source_branch,
            "target_branch": m.target_branch,
            "sha": m.head,
            "source_project_id": 9 if m.from_fork else HOME_ID,
            "target_project_id": HOME_ID,
            "labels": list(m.labels),
            "web_url": f"{self.url}/{self.name}/-/merge_requests/{m.number}",
            "merge_commit_sha": m.merged_commit or None,
            "updated_at": m.updated_at.isoformat(),
        }

    def merge_requests(self, request: Request) -> Answer:
        state = "open" if request.query.get("state") == "opened" else "all"
        found = list(self.forge().merge_requests(state))
        after = request.query.get("updated_after")
        if after:
            found.sort(key=lambda m: m.updated_at, reverse=True)
            since = datetime.fromisoformat(after)
            touched = {c.merge_request for c in self.forge().recent_comments(since).comments}
            found = [m for m in found if m.updated_at >= since or m.number in touched]
        return Answer([self.shown(m) | {"user_notes_count": self.count(m.number)} for m in found])

    def count(self, number: int) -> int:
        return len(self.forge().comments(number))

    def open(self, request: Request) -> Answer:
        body = request.body
        try:
            made = self.forge(request.user).open(
                body["title"], body["description"], body["source_branch"], body["target_branch"]
            )
        except ForgeError as problem:
            if problem.kind == "conflict":
                said = ["Another open merge request already exists for this source branch: !1"]
                return Answer({"message": said}, 409)
            return Answer({"message": {"base": ["is invalid"]}}, 422)
        return Answer(self.shown(made), 201)

    def edit(self, request: Request, number: str) -> Answer:
        forge, body, iid = self.forge(request.user), request.body, int(number)
        if body.get("state_event") == "close":
            forge.close(iid)
        if body.get("add_labels"):
            forge.add_labels(iid, body["add_labels"].split(","))
        return Answer(self.shown(forge.update(iid, body.get("title"), body.get("description"))))

    def diffs(self, request: Request, number: str) -> Answer:
        return Answer(split(self.forge().diff(int(number))))

    def remark(self, c: Comment) -> dict[str, Any]:
        return {
            "id": c.id,
            "body": c.body,
            "author": self.user(c.author),
            "created_at": c.created_at.isoformat(),
            "updated_at": c.updated_at.isoformat(),
            "system": False,
            "noteable_iid": c.merge_request,
        }

    def notes(self, request: Request, number: str) -> Answer:
        found = [self.remark(c) for c in self.forge().comments(int(number))]
        if found:
            found.append(found[-1] | {"id": 10_000, "system": True, "body": "added 1 commit"})
        if request.query["sort"] == "desc":
            found.sort(key=lambda n: n[request.query["order_by"]], reverse=True)
        return self.page(found, request, 20)

    def issue_notes(self, request: Request, number: str) -> Answer:
        found = [self.remark(c) for c in self.issues.comments(int(number))]
        if request.query["sort"] == "desc":
            found.reverse()
        return self.page(found, request, 20)

    def begun(self, c: Comment) -> dict[str, Any]:
        shown = super().begun(c)
        return shown | {"id": 9, "iid": shown.pop("number"), "description": shown.pop("body")}

    def award(self, request: Request, number: str, note: str) -> Answer:
        self.forge(request.user).react(int(number), int(note), "eyes")
        return Answer(request.body, 201)

    def statuses(self, request: Request, commit: str) -> Answer:
        return Answer(
            [
                {"name": s.context, "status": SENT[s.state], "description": s.description}
                for s in self.forge().statuses(commit)
            ]
        )

    def set_status(self, request: Request, commit: str) -> Answer:
        body = request.body
        state = "failure" if body["state"] == "failed" else body["state"]
        old = {s.context: s.state for s in self.forge().statuses(commit)}
        if state == "pending" and old.get(body["name"]) == "pending":
            return Answer({"message": "Cannot transition status via :enqueue from :pending"}, 400)
        made = Status(context=body["name"], state=state, description=body["description"])
        self.forge().set_status(commit, made)
        return Answer(body, 201)
