"""The dashboard: jobs, runs with their trajectories, and the bank. HTML made here, no script.

Whatever is shown came from forges, models and candidates, so it is escaped, and the pages may load
nothing from anywhere.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from bot.base.secret import Token, as_of_now
from bot.report import RESULT
from bot.report.facts import headline
from bot.report.view import environment
from bot.repository.job import Record
from bot.server.merge_request import read_result
from bot.server.queue import Queue, ended
from bot.web.trends import days
from ci.model.errors import InputError
from ci.model.loopback import is_loopback

_TEMPLATES: Final = Path(__file__).parent / "templates"
# Files of a run that a browser may be given, with their content type.
_FILES: Final = {
    "report.html": "text/html; charset=utf-8",
    "report.md": "text/plain; charset=utf-8",
    "best.patch": "text/plain; charset=utf-8",
    "result.json": "application/json",
    "run.log": "text/plain; charset=utf-8",
}
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_PER_PAGE: Final = 100
# Jobs that are searched and drawn, the latest first.
_SEARCHED: Final = 10_000
# Headers of requests that were passed on, besides those that begin with "x-".
_OF_PROXIES: Final = ("forwarded", "via")


class Dashboard:
    """Pages over one queue and its runs."""

    def __init__(
        self,
        queue: Queue,
        runs: Path,
        password: Token,
        search: Callable[[str], dict[str, Any]],
    ) -> None:
        """`runs`: folder of the runs; `password`: '' admits this machine only; `search`:
        answers a query of the bank with its figures and the tuples found."""
        self._queue = queue
        self._runs = runs
        self._password = as_of_now(password)
        self._search = search
        self._jinja = environment(html=True, folder=_TEMPLATES)
        self._jinja.filters["when"] = _when

    def routes(self) -> list[Route]:
        """The dashboard's routes."""
        return [
            Route("/", self._guarded(self._jobs)),
            Route("/api/jobs", self._guarded(self._jobs_json)),
            Route("/trends", self._guarded(self._trends)),
            Route("/runs/{key}", self._guarded(self._run)),
            Route("/runs/{key}/{file}", self._guarded(self._file)),
            Route("/bank", self._guarded(self._bank)),
        ]

    def _guarded(self, page: Callable[[Request], Response]) -> Callable[[Request], Any]:
        async def serve(request: Request) -> Response:
            refusal = self._refusal(request)
            return refusal if refusal is not None else await run_in_threadpool(page, request)

        return serve

    def _refusal(self, request: Request) -> Response | None:
        """Why a request is not answered, None when it is."""
        password = self._password()
        if not password:
            distance = _distance(request)
            said = f"{distance} Without a password this page is for its own machine only."
            return HTMLResponse(f"{said}\n", 403) if distance else None
        if _given_password(request, password):
            return None
        ask = {"WWW-Authenticate": 'Basic realm="ascendopt", charset="UTF-8"'}
        return HTMLResponse("A password is needed.\n", 401, headers=ask)

    def _page(self, name: str, status: int = 200, **values: Any) -> Response:
        text = self._jinja.get_template(name).render(values)
        return HTMLResponse(text, status, headers=_HEADERS)

    def _jobs(self, request: Request) -> Response:
        chosen = request.query_params.get("state", "")
        words = request.query_params.get("q", "")[:400].split()
        operator = request.query_params.get("operator", "")
        every = self._queue.jobs(states=(chosen,) if chosen else (), limit=_SEARCHED)
        fitting = (r for r in every if operator in ("", r.job.operator) and _holds(r, words))
        records = list(islice(fitting, _PER_PAGE))
        active = any(not ended(record) for record in records)
        return self._page(
            "jobs.html.j2",
            records=records,
            counts=self._queue.counts(),
            chosen=chosen,
            query=" ".join(words),
            operator=operator,
            live=(live := "live" in request.query_params),
            refresh=(5 if active else 30) if live else 0,
        )

    def _jobs_json(self, request: Request) -> Response:
        records = self._queue.jobs(limit=_PER_PAGE)
        # A patch is long and on its own page.
        rows = [json.loads(r.model_dump_json(exclude={"job": {"patch"}})) for r in records]
        return JSONResponse({"jobs": rows, "counts": self._queue.counts()}, headers=_HEADERS)

    def _trends(self, request: Request) -> Response:
        try:
            learnt = self._search("").get("learnt", ())
        except (InputError, OSError):
            learnt = ()
        records = self._queue.jobs(limit=_SEARCHED)
        today = datetime.now(UTC).date()
        return self._page("trends.html.j2", rows=days(records, self._queue.facts(), learnt, today))

    def _run(self, request: Request) -> Response:
        record = self._record(request)
        if record is None:
            return self._page("missing.html.j2", 404, what="run")
        folder = self._runs / record.job.key
        try:
            words = headline(read_result(folder)) if (folder / RESULT).exists() else ""
        except InputError as problem:
            words = str(problem)
        return self._page(
            "run.html.j2",
            record=record,
            headline=words,
            files=[name for name in _FILES if (folder / name).is_file()],
            ended=ended(record),
            live=(live := "live" in request.query_params),
            refresh=5 if live and not ended(record) else 0,
        )

    def _file(self, request: Request) -> Response:
        record = self._record(request)
        name = request.path_params["file"]
        if record is None or name not in _FILES:
            return self._page("missing.html.j2", 404, what="file")
        place = self._runs / record.job.key / name
        if not place.is_file():
            return self._page("missing.html.j2", 404, what="file")
        return FileResponse(place, media_type=_FILES[name], headers=_HEADERS)

    def _record(self, request: Request) -> Record | None:
        key = request.path_params["key"]
        return self._queue.get(key) if key.isalnum() else None

    def _bank(self, request: Request) -> Response:
        query = request.query_params.get("q", "")[:400]
        try:
            found = self._search(query)
        except (InputError, OSError) as problem:
            found = {"problem": str(problem)}
        return self._page("bank.html.j2", query=query, found=found)


def _holds(record: Record, words: Sequence[str]) -> bool:
    """Whether each word is in what the list shows of a job."""
    job = record.job
    shown = (job.run, job.operator, job.forge, job.repository, job.target_branch, record.note)
    told = " ".join(shown).lower()
    return all(word.lower() in told for word in words)


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M") if seconds else ""


def _distance(request: Request) -> str:
    """Why a request may not be of a person at this machine, in a sentence; '' when it is."""
    if request.client is None or not is_loopback(request.client.host):
        return "You ask from another machine."
    if not is_loopback(_name(request.headers.get("host", ""))):
        return "You ask for another name than this machine's."
    passed_on = [n for n in request.headers if n in _OF_PROXIES or n.startswith("x-")]
    if passed_on or request.scope["http_version"] == "1.0":
        return "A proxy passed the request on."
    return ""


def _name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _given_password(request: Request, password: str) -> bool:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        given = base64.b64decode(value, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(given, password.encode())
