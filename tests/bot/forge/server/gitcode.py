"""GitCode's words over the state of a local forge."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar

from bot.forge.errors import ForgeError
from bot.forge.model import Comment, MergeRequest
from tests.bot.forge.server.base import Answer, ForgeServer, Request
from tests.bot.forge.server.split import split

BEIJING = timezone(timedelta(hours=8))
PERMISSIONS = {"read": "pull", "write": "push", "admin": "admin"}


class GitCodeServer(ForgeServer):
    prefix: ClassVar[str] = "/api/v5(?:/repos/team/ops)?"
    routes: ClassVar[list[tuple[str, str, str]]] = [
        ("GET", "", "home"),
        ("GET", "/user", "whoami"),
        ("GET", "/branches", "branches"),
        ("GET", "/branches/(.+)", "branch"),
        ("GET", "/collaborators/([^/]+)/permission", "permission"),
        ("GET", "/contents/(.+)", "contents"),
        ("GET", "/pulls", "pulls"),
        ("POST", "/pulls", "open"),
        ("GET", r"/pulls/(\d+)", "pull"),
        ("PATCH", r"/pulls/(\d+)", "edit"),
        ("GET", r"/pulls/(\d+)/files", "files"),
        ("POST", r"/pulls/(\d+)/labels", "label"),
        ("GET", r"/pulls/(\d+)/comments", "comments"),
        ("POST", r"/pulls/(\d+)/comments", "say"),
        ("GET", r"/pulls/comments/(\d+)", "one_comment"),
        ("PATCH", r"/pulls/comments/(\d+)", "edit_comment"),
        ("GET", "/issues", "listed_issues"),
        ("POST", "/repos/team/issues", "open_issue"),
        ("PATCH", r"/repos/team/issues/(\d+)", "edit_issue"),
        ("GET", r"/issues/(\d+)", "issue"),
        ("GET", r"/issues/(\d+)/comments", "issue_comments"),
        ("POST", r"/issues/(\d+)/comments", "say_in_issue"),
        ("GET", r"/issues/comments/(\d+)", "one_comment"),
        ("PATCH", r"/issues/comments/(\d+)", "edit_comment"),
    ]

    def error(self, status: int, message: str) -> Any:
        return {"error_code": status, "error_message": message}

    def stamp(self, at: datetime) -> str:
        return at.astimezone(BEIJING).isoformat()

    def user(self, name: str) -> dict[str, Any]:
        return {"id": "5f1", "login": name, "name": name}

    def repo(self, name: str) -> dict[str, Any]:
        page = f"{self.url}/{name}.git"
        return {
            "id": 7 if name == self.name else 9,
            "full_name": name,
            "html_url": page,
            "default_branch": self.default_branch,
        }

    def permission(self, request: Request, user: str) -> Answer:
        access = self.forge().permission(user)
        if access == "none":
            return Answer(self.error(404, "Not Found"), 404)
        return Answer({"id": "1", "login": user, "permission": PERMISSIONS[access]})

    def shown(self, m: MergeRequest) -> dict[str, Any]:
        source = {"full_name": m.source_repository} if m.from_fork else self.repo(self.name)
        return {
            "number": m.number,
            "html_url": f"{self.url}/{self.name}/merge_requests/{m.number}",
            "title": m.title,
            "body": m.body,
            "state": m.state,
            "draft": m.draft,
            "user": self.user(m.author),
            "labels": [{"id": 1, "name": label} for label in m.labels],
            "head": {"ref": m.source_branch, "sha": m.head, "repo": source},
            "base": {"ref": m.target_branch, "repo": self.repo(self.name)},
            "merged_at": self.stamp(m.updated_at) if m.state == "merged" else None,
            "merge_commit_sha": m.merged_commit or None,
            "updated_at": self.stamp(m.updated_at),
            "user_notes_count": len(self.forge().comments(m.number)),
        }

    def pulls(self, request: Request) -> Answer:
        state = "open" if request.query.get("state") == "open" else "all"
        return Answer([self.shown(m) for m in self.forge().merge_requests(state)])

    def open(self, request: Request) -> Answer:
        body = request.body
        try:
            made = self.forge(request.user).open(
                body["title"], body["body"], body["head"], body["base"]
            )
        except ForgeError as problem:
            if problem.kind == "conflict":
                said = "Another open merge request already exists for this source branch"
                return Answer(self.error(409, said), 409)
            return Answer(self.error(400, "branch is invalid"), 400)
        return Answer(self.shown(made), 201)

    def edit(self, request: Request, number: str) -> Answer:
        super().edit(request, number)
        return Answer({"number": int(number)})

    def files(self, request: Request, number: str) -> Answer:
        found = split(self.forge().diff(int(number)))
        return Answer([{"filename": f["new_path"], "status": None, "patch": f} for f in found])

    def label(self, request: Request, number: str) -> Answer:
        self.forge(request.user).add_labels(int(number), request.body)
        return Answer([{"name": label} for label in request.body])

    def remark(self, c: Comment) -> dict[str, Any]:
        return {
            "id": c.id,
            "body": c.body,
            "user": self.user(c.author),
            "comment_type": "pr_comment",
            "created_at": self.stamp(c.created_at),
            "updated_at": self.stamp(c.updated_at),
        }

    def comments(self, request: Request, number: str) -> Answer:
        found = [self.remark(c) for c in self.forge().comments(int(number))]
        on_a_line = [found[0] | {"id": 9999, "comment_type": "diff_comment"}] if found else []
        return Answer([*reversed(found), *on_a_line])

    def issue_comments(self, request: Request, number: str) -> Answer:
        return Answer([self.remark(c) for c in self.issues.comments(int(number))])

    def begun(self, c: Comment) -> dict[str, Any]:
        return super().begun(c) | {"number": str(c.merge_request)}

    def say(self, request: Request, number: str) -> Answer:
        """The answer's id is that of the discussion."""
        made = self.forge(request.user).comment(int(number), request.body["body"])
        return Answer({"id": "a" * 40, "note_id": made.id, "body": made.body}, 201)
