"""A loopback server that speaks the OpenAI protocol: /v1/chat/completions and /v1/embeddings.

What it answers is scripted from the request; how it misbehaves is part of the answer. It counts
the tokens that it told its clients about.
"""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What the server sends back for one request."""

    text: str = ""
    finish: str = "stop"
    refusal: str = ""
    status: int = 200
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    drop_after: int | None = None
    """Close the connection after so many pieces of a stream; 0: before the head."""
    seconds: float = 0.0
    """Wait before each piece."""
    usage: bool = True
    garbage: bool = False
    """Send something that is no JSON in the middle of the stream."""
    whole: str = ""
    """The body of an answer with embeddings, in place of good ones."""


@dataclass(frozen=True)
class Asked:
    """One request that the server saw."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def prompt(self) -> str:
        """All messages in one text."""
        return "\n".join(m["content"] for m in self.body["messages"])

    @property
    def last(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is nothing to report."""


@contextmanager
def endless(piece: bytes, pause: float, headers: str = "") -> Iterator[str]:
    """The address of a server that answers with `piece` for ever, with pauses in s."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{headers}\r\n"
    with starting(head.encode(), piece, pause) as url:
        yield url


@contextmanager
def starting(start: bytes, piece: bytes = b"", pause: float = 0.0) -> Iterator[str]:
    """The address of a server whose answer begins so, and goes on with `piece` for ever."""

    def serve(server: socket.socket) -> None:
        with suppress(OSError), server.accept()[0] as client:
            client.sendall(start)
            while piece:
                client.sendall(piece)
                time.sleep(pause)
            client.recv(1 << 20)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


Script = Callable[[Asked], Answer]


class ModelServer:
    """Runs while used as a context manager; `url` is what clients are given."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.said: list[tuple[int, int]] = []
        """(prompt, completion) tokens of each answer whose usage was sent."""
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer.handle(self)

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = _QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def tokens(self) -> tuple[int, int]:
        """(prompt, completion) tokens that clients were told of, in all."""
        return sum(p for p, _ in self.said), sum(c for _, c in self.said)

    def handle(self, http: BaseHTTPRequestHandler) -> None:
        """Answer one request as the script says."""
        body = json.loads(http.rfile.read(int(http.headers["content-length"])))
        asked = Asked(http.path, body, {k.lower(): v for k, v in http.headers.items()})
        with self._lock:
            self.asked.append(asked)
        answer = self.script(asked)
        if answer.status != 200:
            error = {"error": {"message": answer.message or "no", "type": "error", "code": None}}
            return _send(http, answer.status, error, answer.headers)
        if http.path.endswith("/embeddings"):
            good = json.loads(answer.whole) if answer.whole else _embeddings(body)
            return _send(http, 200, good, {})
        if answer.drop_after == 0:
            return _hang_up(http)
        usage = (len(asked.prompt.split()), len(answer.text.split()))
        if body.get("stream"):
            _stream(http, body, answer, usage, lambda: self._count(usage))
        else:
            time.sleep(answer.seconds)
            if answer.usage:
                self._count(usage)
            said = {"role": "assistant", "content": answer.text, "refusal": answer.refusal or None}
            choices = [{"index": 0, "message": said, "finish_reason": answer.finish}]
            told = {"usage": _usage(usage)} if answer.usage else {}
            _send(http, 200, _head(body, "", choices) | told, {})
        return None

    def _count(self, usage: tuple[int, int]) -> None:
        """Count an answer before its usage is sent: a client may read `tokens` once it has it."""
        with self._lock:
            self.said.append(usage)


def _head(body: dict[str, Any], kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    object_ = f"chat.completion{kind}"
    head = {"id": "chat-1", "created": 1, "model": body["model"], "object": object_}
    return head | {"choices": choices}


def _usage(usage: tuple[int, int]) -> dict[str, Any]:
    prompt, completion = usage
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _send(http: BaseHTTPRequestHandler, status: int, data: Any, headers: dict[str, str]) -> None:
    raw = json.dumps(data).encode()
    http.send_response(status)
    for name, value in {"content-type": "application/json", **headers}.items():
        http.send_header(name, value)
    http.send_header("content-length", str(len(raw)))
    http.end_headers()
    http.wfile.write(raw)


def _hang_up(http: BaseHTTPRequestHandler) -> None:
    http.close_connection = True
    http.connection.shutdown(socket.SHUT_RDWR)


def _stream(
    http: BaseHTTPRequestHandler,
    body: dict[str, Any],
    answer: Answer,
    usage: tuple[int, int],
    count: Callable[[], None],
) -> None:
    """Send the answer in pieces; call `count` before the piece that holds its usage."""
    http.send_response(200)
    http.send_header("content-type", "text/event-stream")
    http.send_header("transfer-encoding", "chunked")
    http.end_headers()
    told = answer.usage and bool(body.get("stream_options", {}).get("include_usage"))
    try:
        for number, piece in enumerate(_pieces(body, answer, usage if told else None), start=1):
            time.sleep(answer.seconds)
            if '"usage"' in piece:
                count()
            raw = f"data: {piece}\n\n".encode()
            http.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            http.wfile.flush()
            if number == answer.drop_after:
                _hang_up(http)
                return
        http.wfile.write(b"0\r\n\r\n")
    except OSError:
        return


def _pieces(body: dict[str, Any], answer: Answer, usage: tuple[int, int] | None) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps(_head(body, ".chunk", [choice]))

    size = max(1, len(answer.text) // 6)
    for start in range(0, len(answer.text), size):
        yield chunk({"content": answer.text[start : start + size]})
        if answer.garbage:
            yield "{this is no JSON"
    if answer.refusal:
        yield chunk({"refusal": answer.refusal})
    yield chunk({}, answer.finish)
    if usage is not None:
        yield json.dumps(_head(body, ".chunk", []) | {"usage": _usage(usage)})
    yield "[DONE]"


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """A vector for each text, in the wrong order; the model `short` leaves one out."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    rows = [
        {"object": "embedding", "index": i, "embedding": [b / 255 for b in digest[:8]]}
        for i, digest in enumerate(hashlib.sha256(t.encode()).digest() for t in texts)
    ]
    tokens = sum(len(t.split()) for t in texts)
    return {
        "object": "list",
        "data": rows[1:] if body["model"] == "short" else rows[::-1],
        "model": body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


serving = ModelServer
"""For the length of a `with`."""
