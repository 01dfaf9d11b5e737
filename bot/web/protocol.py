"""HTTP for anybody: uvicorn bounds how long a connection idles, not slow heads nor tiny pieces."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# A head is a few hundred bytes, and a forge sends it in one go.
HEAD_S: Final = 10.0

# Each piece of a body costs some 30 µs of the one thread that answers everybody. A few are free,
# more of them must carry this many bytes on average. Proxies cut bodies into pieces of kilobytes.
FREE_PIECES: Final = 500
PIECE_BYTES: Final = 512


class Pieces(h11.Connection):
    """Finds fault with a body that comes in many small pieces, while it comes."""

    _pieces = _bytes = 0

    def next_event(self) -> Any:
        """Return h11's next event; raises h11.RemoteProtocolError also for the piece
        that is too many."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._pieces = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._pieces += 1
            self._bytes += len(event.data)
            if self._pieces > FREE_PIECES + self._bytes // PIECE_BYTES:
                raise h11.RemoteProtocolError("The body comes in too small pieces.")
        return event


class ImpatientProtocol(H11Protocol):
    """Closes a connection whose next request's head is not whole after `HEAD_S` seconds, and one
    with a body in pieces that cost more than what they carry (`Pieces`)."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn = Pieces(h11.SERVER)

    def send_400_response(self, msg: str) -> None:
        """Say it while there is no answer yet; close the connection in any case."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def connection_made(self, transport: Any) -> None:
        """Count from here for the first request."""
        super().connection_made(transport)
        self._late: asyncio.TimerHandle | None = None
        self._count()

    def data_received(self, data: bytes) -> None:
        """Count from the first byte for a further request; stop when its head is whole."""
        super().data_received(data)
        self._count()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to count any more."""
        self._stop()
        super().connection_lost(exc)

    def _count(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_S, self._close)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close(self) -> None:
        self._late = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
