"""HTTP that does not wait for ever: uvicorn limits how long a connection idles, not slow heads."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

# A head is a few hundred bytes, and a forge sends it in one go.
HEAD_S: Final = 10.0


class ImpatientProtocol(H11Protocol):
    """Closes a connection whose next request's head is not whole after `HEAD_S` seconds."""

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
