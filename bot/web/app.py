"""Webhooks in, as quick as a write to a local file; health and metrics out.

A delivery is checked, stored and acknowledged with 202. Nothing is asked of a forge and nothing is
planned here. What a hook says is a hint; the planner reads the forge.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.events import Event, EventError, SignatureError, receive
from bot.server.planner import talk
from bot.server.queue import Queue
from bot.web.dashboard import Dashboard
from bot.web.metrics import Metrics

LOG: Final = logging.getLogger("ascendopt.bot")
# GitHub delivers up to 25 MB; nothing larger is one.
MAX_BODY_BYTES: Final = 25_000_000


def make_app(
    queue: Queue,
    secrets: Mapping[str, Sequence[str]],
    repositories: frozenset[tuple[str, str]],
    healthy: Callable[[], bool],
    dashboard: Dashboard,
    clock: Callable[[], float] = time.time,
) -> Starlette:
    """The application.

    `secrets`: webhook secrets by forge; a delivery is good when it is signed with any of its
    forge's. `repositories`: (forge, owner/name) that are served.
    """
    metrics = Metrics(queue)

    async def webhook(request: Request) -> Response:
        forge = request.path_params["forge"]
        if forge not in secrets:
            metrics.delivery(forge="unknown", outcome="unknown_forge")
            return JSONResponse({"error": f"No webhook for '{forge[:20]}' here."}, 404)
        body = await _body(request)
        if body is None:
            metrics.delivery(forge=forge, outcome="too_large")
            return JSONResponse({"error": "The body is too large."}, 413)
        try:
            event = _received(forge, request.headers, body, secrets[forge])
        except SignatureError as problem:
            metrics.delivery(forge=forge, outcome="refused")
            return JSONResponse({"error": str(problem)}, 401)
        except EventError as problem:
            metrics.delivery(forge=forge, outcome="unreadable")
            return JSONResponse({"error": str(problem)}, 400)
        served = (forge, event.repository) in repositories
        if event.kind == "other" or talk(event) or not served:
            metrics.delivery(forge=forge, outcome="ignored")
            return JSONResponse({"accepted": False, "reason": "nothing the bot acts on"}, 202)
        new = await run_in_threadpool(queue.receive, event, clock())
        metrics.delivery(forge=forge, outcome="accepted" if new else "duplicate")
        return JSONResponse({"accepted": new}, 202)

    async def healthz(request: Request) -> Response:
        try:
            await run_in_threadpool(queue.counts)
        except Exception as problem:  # whatever it is, it is not healthy
            return PlainTextResponse(f"queue: {type(problem).__name__}\n", 503)
        return PlainTextResponse("ok\n") if healthy() else PlainTextResponse("stopped\n", 503)

    async def exposition(request: Request) -> Response:
        body, kind = await run_in_threadpool(metrics.exposition)
        return Response(body, headers={"Content-Type": kind})

    return Starlette(
        routes=[
            Route("/webhook/{forge}", webhook, methods=["POST"]),
            Route("/healthz", healthz),
            Route("/metrics", exposition),
            *dashboard.routes(),
        ]
    )


async def _body(request: Request) -> bytes | None:
    """The request's body, None when it is larger than any delivery."""
    parts, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                return None
            parts.append(chunk)
    except ClientDisconnect:
        return b""
    return b"".join(parts)


def _received(forge: str, headers: Mapping[str, str], body: bytes, secrets: Sequence[str]) -> Event:
    """The event of a delivery that one of the secrets signed; raises as `receive` does."""
    refusal = SignatureError("There is no secret to check the signature with.")
    for secret in secrets:
        try:
            return receive(forge, headers, body, secret)
        except SignatureError as problem:
            refusal = problem
    raise refusal
