"""Webhooks in, as quick as a write to a local file; health and metrics out.

A delivery is checked, stored and acknowledged with 202. Nothing is asked of a forge and nothing is
planned here. What a hook says is a hint; the planner reads the forge.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.base.secret import Token, as_of_now
from bot.base.text import visible
from bot.events import Event, EventError, SignatureError, receive
from bot.forge.kinds import identity
from bot.server.comments.event_text import talk
from bot.server.one_item import told
from bot.server.queue import Queue
from bot.web.dashboard import Dashboard
from bot.web.metrics import Metrics

LOG: Final = logging.getLogger("ascendopt.bot")
# GitHub delivers up to 25 MB; nothing larger is one.
MAX_BODY_BYTES: Final = 25_000_000
# Nobody is known before a body is whole: all that are on their way share this much memory.
MAX_PENDING_BYTES: Final = 4 * MAX_BODY_BYTES
# A forge sends a delivery in one go.
BODY_S: Final = 30.0
# Deliveries that wait in memory for the queue to take them.
MAX_KEPT: Final = 1000
# How often that is tried, next to every delivery and every look at /healthz.
FLUSH_S: Final = 10.0


class _NoBody(Exception):
    """Why a delivery's body was not read: an HTTP status, our word for it, and a sentence."""


def make_app(
    queue: Queue,
    secrets: Mapping[tuple[str, str], Token],
    healthy: Callable[[], bool],
    dashboard: Dashboard,
    clock: Callable[[], float] = time.time,
    alarms: Callable[[], Sequence[str]] = tuple,
) -> Starlette:
    """The application.

    `secrets`: the webhook secret of each (forge, owner/name) that is served; a delivery is good
    when it is signed with that of its repository. `alarms`: what makes /healthz answer 503, a
    sentence each.
    """
    metrics = Metrics(queue)
    served = {identity(*one): secret for one, secret in secrets.items()}
    forges = {forge for forge, _ in served}
    bodies, backlog = _Bodies(), Backlog(queue)

    async def webhook(request: Request) -> Response:
        forge = request.path_params["forge"]
        if forge not in forges:
            metrics.delivery(forge="unknown", outcome="unknown_forge")
            return JSONResponse({"error": f"No webhook for '{forge[:20]}' here."}, 404)
        try:
            body = await bodies.read(request)
        except _NoBody as problem:
            status, outcome, sentence = problem.args
            metrics.delivery(forge=forge, outcome=outcome)
            return JSONResponse({"error": sentence}, status, headers={"Connection": "close"})
        try:
            event = _received(forge, request.headers, body, served)
        except SignatureError as problem:
            metrics.delivery(forge=forge, outcome="refused")
            return JSONResponse({"error": str(problem)}, 401)
        except EventError as problem:
            metrics.delivery(forge=forge, outcome="unreadable")
            return JSONResponse({"error": str(problem)}, 400)
        is_served = identity(forge, event.repository) in served
        if not is_served:
            named = visible(event.repository, 200) or "no repository"
            LOG.info("a delivery of %s is about %s, which is not served", forge, named)
        if event.kind == "other" or talk(event) or not is_served:
            metrics.delivery(forge=forge, outcome="ignored")
            return JSONResponse({"accepted": False, "reason": "nothing the bot acts on"}, 202)
        try:
            new = await run_in_threadpool(backlog.store, event, clock())
        except sqlite3.Error as problem:
            LOG.error("a delivery of %s could not be stored: %s", forge, problem)
            metrics.delivery(forge=forge, outcome="not_stored")
            said = "It cannot be stored now; it is kept in memory and stored as soon as it can be."
            return JSONResponse({"error": said}, 503)
        metrics.delivery(forge=forge, outcome="accepted" if new else "duplicate")
        return JSONResponse({"accepted": new}, 202)

    async def healthz(request: Request) -> Response:
        try:
            await run_in_threadpool(backlog.flush)
            await run_in_threadpool(queue.write_something)
        except Exception as problem:  # whatever it is, it is not healthy
            said = str(problem) if isinstance(problem, sqlite3.Error) else told(problem)
            return PlainTextResponse(f"queue: {said}\n", 503)
        wrong = [*alarms(), *([] if healthy() else ["stopped"])]
        return PlainTextResponse("\n".join(wrong or ["ok"]) + "\n", 503 if wrong else 200)

    async def exposition(request: Request) -> Response:
        body, kind = await run_in_threadpool(metrics.exposition)
        return Response(body, headers={"Content-Type": kind})

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async def again() -> None:
            while True:
                await asyncio.sleep(FLUSH_S)
                with contextlib.suppress(sqlite3.Error):
                    await run_in_threadpool(backlog.flush)

        task = asyncio.create_task(again())
        yield
        task.cancel()

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/webhook/{forge}", webhook, methods=["POST"]),
            Route("/healthz", healthz),
            Route("/metrics", exposition),
            *dashboard.routes(),
        ],
    )


class Backlog:
    """Deliveries that the queue could not take, a full disk most of all: stored when it can.

    Most forges do not send a delivery again.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._kept: deque[tuple[Event, float]] = deque(maxlen=MAX_KEPT)
        self._lock = threading.Lock()

    def store(self, event: Event, now: float) -> bool:
        """Store an event after those kept; raises sqlite3.Error, and keeps it, when that fails."""
        with self._lock:
            self._kept.append((event, now))
            return self._flush()

    def flush(self) -> None:
        """Store what is kept; raises sqlite3.Error when that fails."""
        with self._lock:
            self._flush()

    def _flush(self) -> bool:
        new = False
        while self._kept:
            new = self._queue.receive(*self._kept[0])
            self._kept.popleft()
        return new


class _Bodies:
    """Reads bodies of people who are not known yet, within bounds of size, time and memory."""

    def __init__(self) -> None:
        self._pending = 0

    async def read(self, request: Request) -> bytes:
        """The request's body; raises _NoBody."""
        body = bytearray()  # one: a body may come in pieces of a byte
        try:
            async with asyncio.timeout(BODY_S):
                async for chunk in request.stream():
                    body += chunk
                    self._pending += len(chunk)
                    if len(body) > MAX_BODY_BYTES:
                        raise _NoBody(413, "too_large", "The body is too large.")
                    if self._pending > MAX_PENDING_BYTES:
                        raise _NoBody(503, "busy", "Too much is being received; send it again.")
        except ClientDisconnect:
            return b""
        except TimeoutError:
            said = f"The body did not come within {BODY_S:.0f} s."
            raise _NoBody(408, "too_slow", said) from None
        finally:
            self._pending -= len(body)
        return bytes(body)


def _received(
    forge: str,
    headers: Mapping[str, str],
    body: bytes,
    secrets: Mapping[tuple[str, str], Token],
) -> Event:
    """The event of a delivery that its repository's secret signed, any of the forge's where it has
    none; raises as `receive` does."""
    refusal = SignatureError("There is no secret to check the signature with.")
    signed = False
    for secret in dict.fromkeys(one for (of, _), one in secrets.items() if of == forge):
        try:
            event = receive(forge, headers, body, as_of_now(secret)())
        except SignatureError as problem:
            refusal = problem
            continue
        if secrets.get(identity(forge, event.repository), secret) == secret:
            return event
        signed = True
    if signed:
        raise SignatureError("The delivery is signed with another repository's secret.")
    raise refusal
