from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import requests

from bot.forge import transport
from bot.forge.errors import ForgeError
from bot.forge.transport import mounted

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@contextmanager
def answering(*pieces: bytes) -> Iterator[str]:
    """The address of a server that sends the pieces to whoever asks, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.recv(10_000)
                try:
                    for piece in pieces:
                        client.sendall(piece)
                except OSError:  # the other side has had enough
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join(5)


def asked(address: str) -> requests.Response:
    with requests.Session() as session:
        mounted(session)
        return session.get(address, timeout=5)


def test_an_answer_is_read_whole() -> None:
    for length in (b"Content-Length: 6\r\n", b""):
        with answering(HEAD + length + b"\r\n", b"abc", b"def") as address:
            assert asked(address).text == "abcdef"


@pytest.mark.parametrize("length", [b"", b"Content-Length: 99999999999999\r\n"])
def test_a_body_without_end_is_given_up(length: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MOST_BYTES", 1 << 20)
    with (
        answering(HEAD + length + b"\r\n", *[b"x" * 65536] * 100) as address,
        pytest.raises(ForgeError, match="has more than 1 MiB") as refused,
    ):
        asked(address)
    assert refused.value.kind == "unavailable"


@contextmanager
def dripping(start: bytes, drop: bytes) -> Iterator[str]:
    """The address of a server whose answers begin so, and then come drop by drop without end."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.recv(10_000)
                with suppress(OSError):  # the other side has had enough
                    client.sendall(start)
                    while True:
                        client.sendall(drop)
                        time.sleep(0.02)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join(5)


CHUNKS = b"Transfer-Encoding: chunked\r\n\r\n"
DRIPPING = {
    "status": (b"HTTP/1.1 200 ", b"x"),
    "one header": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "informational": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": (HEAD + b"Content-Length: 99999\r\n\r\n", b"x"),
    "size of a chunk": (HEAD + CHUNKS + b"1;", b"x"),
    "trailer": (HEAD + CHUNKS + b"0\r\nX: ", b"x"),
}
"""Where an answer may come byte by byte: its start, and what follows for ever."""


@pytest.mark.parametrize("place", DRIPPING)
def test_an_answer_that_comes_drop_by_drop_is_given_up(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LONGEST_S", 0.5)  # without the bound it does not end
    with (
        dripping(*DRIPPING[place]) as address,
        pytest.raises(ForgeError, match="did not end within") as refused,
    ):
        asked(address)
    assert refused.value.kind == "unavailable"


def test_a_connection_that_is_kept_is_bound_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LONGEST_S", 0.5)
    first = HEAD + b"Content-Length: 1\r\n\r\n1"
    with dripping(first, b"") as address, requests.Session() as session:
        mounted(session)
        assert session.get(address, timeout=5).text == "1"
        with pytest.raises(ForgeError, match="did not end within"):
            session.get(address, timeout=60)


def test_half_an_answer_is_none() -> None:
    with (
        answering(HEAD + b"Content-Length: 9\r\n\r\nhalf") as address,
        pytest.raises(requests.RequestException),
    ):
        asked(address)
