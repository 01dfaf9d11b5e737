"""GitCode's words over the state of a local forge."""

from __future__ import annotations

import base64
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
    head_ref: ClassVar[str] = "refs/merge-requests/{}/head"
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
    ]

    def error(self, status: int, message: str) -> Any:
        return {"error_code": status, "error_message": message}

    def stamp(self, at: datetime) -> str:
        return at.astimezone(BEIJING).isoformat()

    def user(self, name: str) -> dict[str, Any]:
        return {"id": "5f1", "login": name, "name": name}

    def repo(self, name: str) -> dict[str, Any]:
        page = f"{self.url}/{name}.git"
        return {"id": 7, "full_name": name, "html_url": page, "default_branch": "main"}

    def home(self, request: Request) -> Answer:
        return Answer(self.repo(self.name))

    def whoami(self, request: Request) -> Answer:
        return Answer(self.user(request.user))

    def branches(self, request: Request) -> Answer:
        found = self.forge().branches().items()
        return Answer([{"name": name, "commit": {"sha": commit}} for name, commit in found])

    def branch(self, request: Request, name: str) -> Answer:
        head = self.forge().branch_head(name)
        if head is None:
            return Answer(self.error(404, "404 Branch Not Found"), 404)
        return Answer({"name": name, "commit": {"id": head}})

    def permission(self, request: Request, user: str) -> Answer:
        access = self.forge().permission(user)
        if access == "none":
            return Answer(self.error(404, "Not Found"), 404)
        return Answer({"id": "1", "login": user, "permission": PERMISSIONS[access]})

    def contents(self, request: Request, path: str) -> Answer:
        found = self.forge().file(path, request.query["ref"])
        if found is None:
            return Answer(self.error(404, "Not Found"), 404)
        text = base64.b64encode(found).decode()
        return Answer({"type": "file", "encoding": "base64", "content": text})

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

    def pull(self, request: Request, number: str) -> Answer:
        return Answer(self.shown(self.forge().merge_request(int(number))))

    def edit(self, request: Request, number: str) -> Answer:
        forge, body = self.forge(request.user), request.body
        if body.get("state") == "closed":
            forge.close(int(number))
        forge.update(int(number), body.get("title"), body.get("body"))
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

    def say(self, request: Request, number: str) -> Answer:
        """The answer's id is that of the discussion."""
        made = self.forge(request.user).comment(int(number), request.body["body"])
        return Answer({"id": "a" * 40, "note_id": made.id, "body": made.body}, 201)

    def found(self, comment_id: str) -> Comment:
        for made in self.forge().merge_requests():
            for comment in self.forge().comments(made.number):
                if comment.id == int(comment_id):
                    return comment
        raise ForgeError("Note Not Found", kind="not_found")

    def one_comment(self, request: Request, comment_id: str) -> Answer:
        return Answer(self.remark(self.found(comment_id)))

    def edit_comment(self, request: Request, comment_id: str) -> Answer:
        old = self.found(comment_id)
        forge = self.forge(old.author)
        made = forge.edit_comment(old.merge_request, old.id, request.body["body"])
        return Answer(self.remark(made))
