"""The meaning of a forge's HTTP answers, the same for every forge with a REST interface."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import requests
from requests.utils import parse_header_links

from bot.base.text import visible
from bot.forge.errors import ForgeError, Kind
from bot.forge.kinds import server_of
from bot.forge.model import RateLimit
from bot.forge.retry import patiently
from bot.forge.transport import mounted

TIMEOUT_S: Final = 30
PAGE: Final = 100
"""Elements of a page: the most that any forge gives."""
MOST_PAGES: Final = 1000
"""Pages of a list that are read; a longer one is an error, for half of a list would mislead."""

_KINDS: Final[dict[int, Kind]] = {
    401: "forbidden",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    410: "not_found",
    429: "rate_limited",
}
# Words of a 403 that mean "too fast", not "not allowed" (GitHub's secondary limits).
_TOO_FAST: Final = ("rate limit", "abuse", "too many requests")
UNSAID_S: Final = 60.0
"""Seconds to wait where a forge that limits the rate names no time: GitHub asks for a minute."""
MOST_PATIENCE_S: Final = 24 * 3600.0
"""The longest that a forge is believed to want to be left alone, in seconds."""
UNREADABLE: Final = (
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
    ArithmeticError,
    RecursionError,
)
"""What an answer meets that lacks a field, or has one of another form."""
_EXISTS: Final = ("already exists", "already open")
# Words of a validation that mean that a branch or commit is not there.
_MISSING: Final = ("head invalid", "base invalid", "no commit found")


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    text: str

    def without(self, token: str) -> Answer:
        """The answer as if it did not repeat the token that it was asked with."""
        headers = {name: masked(value, token) for name, value in self.headers.items()}
        return Answer(self.status, headers, masked(self.text, token))

    def done(self) -> Answer:
        """The answer to a write: the page of somebody on the way does not mean that it is done."""
        if self.text:
            json_of(self.text)
        return self

    @property
    def json(self) -> Any:
        """The text as JSON, whose texts are Unicode; raises `ForgeError` when it is none."""
        return json_of(self.text)


def json_of(text: str) -> Any:
    """A text as JSON; raises `ForgeError` when it is none."""
    try:
        return _unicode(json.loads(text))
    except (ValueError, RecursionError):
        raise ForgeError(
            f"The forge answered with something that is no JSON: {visible(text, 80)}.",
            kind="unavailable",
        ) from None


def _unicode(found: Any) -> Any:
    """JSON without halves of surrogates and NUL, which no file, database or program takes."""
    if isinstance(found, str):
        shown = found.replace("\0", "\ufffd").encode("utf-16", "surrogatepass")
        return shown.decode("utf-16", "replace")
    if isinstance(found, list):
        return [_unicode(one) for one in found]
    if isinstance(found, dict):
        return {_unicode(name): _unicode(one) for name, one in found.items()}
    return found


def masked(text: str, token: str) -> str:
    """`text` with stars for the token; to be called before anything is cut off."""
    return text.replace(token, "***") if token else text


class OneServer(requests.Session):
    """Sends the token with every request, and follows no redirection to another server.

    Nor one of a write, which would become a read of something else.
    """

    def __init__(self, signed: Callable[[], Mapping[str, str]]) -> None:
        """`signed`: the headers with the token as it is now."""
        super().__init__()
        self._signed = signed
        self.auth = self._sign
        mounted(self)

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(self._signed())
        return request

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Where a redirection leads, None where it is not followed."""
        target = super().get_redirect_target(resp)
        if target is None or resp.request.method != "GET":
            return None
        here = resp.url or ""
        return target if server_of(urljoin(here, target)) == server_of(here) else None

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Keep the token, for the server stays the same; requests would take that of a .netrc."""


class Send(Protocol):
    """Sends one request and returns whatever came back, also a refusal."""

    def __call__(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """`path` begins after the address of the API; `body` is sent as JSON."""


class Rest:
    """Requests to one forge: retried with patience, refusals as `ForgeError`."""

    def __init__(
        self, forge: str, token: Callable[[], str], send: Send, message: Callable[[Any], str]
    ) -> None:
        """`token`: as it is now, so that no message has it; `message` reads the sentence of an
        error's JSON."""
        self._forge = forge
        self._token = token
        self._send = send
        self._message = message
        self.last: dict[str, str] = {}
        """Headers of the last answer."""
        self.token_refused = False
        """Whether the token was not taken, and nothing was answered since."""

    def ask(
        self,
        doing: str,
        verb: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """The answer; `doing` completes "<forge> failed at …" in the sentence of an error."""

        def once() -> Answer:
            token = self._token()
            if not (token.isascii() and token.isprintable()):
                self.token_refused = True
                raise ForgeError(
                    f"{self._forge} failed at {doing}: the token holds a character that no token"
                    " has, such as a line's end or a byte order mark.",
                    kind="forbidden",
                    token_refused=True,
                )
            try:
                answer = self._send(verb, path, body, headers).without(token)
            except requests.RequestException as problem:
                raise unreachable(self._forge, doing, problem) from None
            self.last = answer.headers
            if 200 <= answer.status < 300 or answer.status == 304:
                self.token_refused = False
                return answer if verb == "GET" else answer.done()
            self.token_refused = self.token_refused or answer.status == 401
            raise refusal(
                self._forge,
                doing,
                answer.status,
                self._said(answer.text),
                answer.headers,
            )

        return patiently(once, write=verb != "GET")

    def get(self, doing: str, path: str) -> Any:
        """The JSON at `path`, an object or a list."""
        found = self.ask(doing, "GET", path).json
        if not isinstance(found, (dict, list)):
            raise TypeError("no object")
        return found

    def find(self, doing: str, path: str) -> Any:
        """The JSON at `path`, or None when it is not there."""
        try:
            return self.get(doing, path)
        except ForgeError as problem:
            if problem.kind == "not_found":
                return None
            raise

    def pages(self, doing: str, path: str, within: str = "") -> Iterator[Any]:
        """Every element of a list that comes in pages, as `following`."""
        first = f"{path}{'&' if '?' in path else '?'}per_page={PAGE}"
        return self.following(doing, first, self.ask(doing, "GET", first), within)

    def following(self, doing: str, path: str, answer: Answer, within: str = "") -> Iterator[Any]:
        """Every element of the page that `path` answered with, and of all pages after it.

        `within` names the field that holds the list, where it is not the whole answer. Raises
        `ForgeError` when the list has more than `MOST_PAGES` pages.
        """
        seen, before = {_query(path)}, None
        for _ in range(MOST_PAGES):
            found = answer.json[within] if within else answer.json
            if not isinstance(found, list):
                raise TypeError("no list")
            if found and found == before:
                return
            yield from found
            after = _after(path, answer.headers.get("link", ""), len(found) >= PAGE, seen)
            if after is None:
                return
            seen.add(_query(after))
            path, before = after, found
            answer = self.ask(doing, "GET", path)
        raise ForgeError(
            f"{self._forge} failed at {doing}: the list has more than {MOST_PAGES} pages.",
            kind="unavailable",
        )

    def _said(self, text: str) -> str:
        try:
            return self._message(json.loads(text))
        except UNREADABLE:
            return text[:200]


def _query(path: str) -> frozenset[tuple[str, str]]:
    """The parameters of an address, without the number of a first page."""
    return frozenset(parse_qsl(urlsplit(path).query, keep_blank_values=True)) - {("page", "1")}


def _after(path: str, link: str, full: bool, seen: Set[frozenset[tuple[str, str]]]) -> str | None:
    """The address of the page after that of `path`, None when it is the last.

    The next page is what `Link` says. Only its parameters count, so that it leads to no other list
    and no other server; they must not have been asked for. Without such a link a `full` page has a
    next one.
    """
    address, _, query = path.partition("?")
    here = dict(parse_qsl(query, keep_blank_values=True))
    links = parse_header_links(link)
    leading = [one["url"] for one in links if one.get("rel") == "next"]
    for url in leading:
        led = f"{address}?{urlencode(here | dict(parse_qsl(urlsplit(url).query)))}"
        if _query(led) not in seen:
            return led
    if not full or (links and not leading):
        return None
    return f"{address}?{urlencode(here | {'page': str(int(here.get('page', '1')) + 1)})}"


def refusal(
    forge: str, doing: str, status: int, message: str, headers: Mapping[str, str]
) -> ForgeError:
    """The error for an answer with `status`; `doing` completes "<forge> failed at …"."""
    lower = message.lower()
    known = {name.lower(): value for name, value in headers.items()}
    kind = _KINDS.get(status, "unavailable" if status >= 500 else "refused")
    spent = known.get("x-ratelimit-remaining") == "0" or any(w in lower for w in _TOO_FAST)
    if status == 403 and spent:
        kind = "rate_limited"
    elif status in (400, 422) and any(w in lower for w in _EXISTS):
        kind = "conflict"
    elif status == 422 and any(w in lower for w in _MISSING):
        kind = "not_found"
    said = visible(message, 200)
    text = f"{forge} failed at {doing}: HTTP {status}{', ' + said if said else ''}."
    if status == 401:
        text += " Is the token still valid?"
    elif status < 400:
        to = visible(known.get("location", "another address"), 200)
        text += f" It leads to {to}: give the name that the repository has now."
    after = _retry_after(known) if kind == "rate_limited" else None
    if kind == "rate_limited" and after is None:
        after = UNSAID_S
    return ForgeError(text, kind=kind, retry_after=after, token_refused=status == 401)


def unreachable(forge: str, doing: str, problem: Exception) -> ForgeError:
    """The error for no answer at all; an exception's text may hold an address: only its kind."""
    return ForgeError(
        f"{forge} could not be reached for {doing} ({type(problem).__name__}).", kind="unavailable"
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: `Retry-After` in seconds or as a date, or until the window ends."""
    given = headers.get("retry-after", "")
    asked: float | None = _whole(given)
    if asked is None and given:
        with suppress(*UNREADABLE):
            asked = max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
    reset = _whole(headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset", ""))
    if asked is None and reset is not None and headers.get("x-ratelimit-remaining", "0") == "0":
        asked = max(1.0, reset - time.time() + 1)
    return None if asked is None else min(asked, MOST_PATIENCE_S)


def _whole(text: str) -> int | None:
    """A number of seconds or requests in a header; None when it is none that can be meant."""
    return int(text) if re.fullmatch(r"[0-9]{1,11}", text) else None


def rate_limit_of(headers: Mapping[str, str]) -> RateLimit | None:
    """Return the rate limit from headers in lower case, in GitHub's or GitLab's spelling; None
    when they have none."""
    limit, remaining, reset = (
        _whole(headers.get(f"x-ratelimit-{part}") or headers.get(f"ratelimit-{part}", ""))
        for part in ("limit", "remaining", "reset")
    )
    if limit is None or remaining is None or reset is None:
        return None
    return RateLimit(limit=limit, remaining=remaining, reset_at=datetime.fromtimestamp(reset, UTC))
