"""What OpenEvolve takes for a model and an evaluator: an address on this machine, served by a run.

Requests are answered one after the other in the thread of the search, so that proposer, judge and
store see what they see under any other strategy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Final

POLL_SECONDS: Final = 0.2
"""How often it is looked whether OpenEvolve has ended."""

_MARK: Final = "// program {}\n"
_CURRENT: Final = re.compile(
    r"^# Current Program\n```\w*\n// program ([0-9a-f]{16})$", re.MULTILINE
)
_FIRST: Final = re.compile(r"\A\s*// program ([0-9a-f]{16})$", re.MULTILINE)


def marked(name: str, text: str) -> str:
    """A program's text under the name that it is known by, 16 hex digits."""
    return _MARK.format(name) + text


def current(prompt: str) -> str | None:
    """The name of the program that a prompt of OpenEvolve asks to rewrite."""
    found = _CURRENT.search(prompt)
    return found[1] if found else None


class Endpoint(HTTPServer):
    """Serves `/v1/chat/completions` and `/score` on a free port of the loopback interface."""

    def __init__(self, rewrite: Callable[[str], str], score: Callable[[str], float]) -> None:
        """`rewrite` gives the text that follows the named program, `score` its figure of merit."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.timeout = POLL_SECONDS
        self.rewrite = rewrite
        self.score = score
        self.problem: BaseException | None = None
        """What ended the search inside a request; whoever serves raises it."""

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str, body: bytes) -> dict[str, Any]:
        """The answer to one request."""
        if path == "/score":
            named = _FIRST.search(body.decode())
            return {"score": self.score(named[1]) if named else 0.0}
        asked = json.loads(body)
        prompt = "\n".join(str(m["content"]) for m in asked["messages"])
        name = current(prompt)
        text = "" if name is None else f"```cpp\n{self.rewrite(name)}\n```"
        message = {"role": "assistant", "content": text}
        return {
            "id": "0",
            "object": "chat.completion",
            "created": 0,
            "model": asked.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        }


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:  # noqa: N802  (the library's name)
        """Answer, or keep what ended the search for whoever serves."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            said, status = self.server.answer(self.path, body), 200
        except BaseException as problem:
            self.server.problem, said, status = problem, {"error": "The search is over."}, 503
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the run tells what happens."""
