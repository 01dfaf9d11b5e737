from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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


def test_a_body_that_comes_drop_by_drop_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LONGEST_S", -1.0)  # it is over with the first piece
    with (
        answering(HEAD + b"Content-Length: 9\r\n\r\nx") as address,
        pytest.raises(ForgeError, match="did not end within"),
    ):
        asked(address)


def test_half_an_answer_is_none() -> None:
    with (
        answering(HEAD + b"Content-Length: 9\r\n\r\nhalf") as address,
        pytest.raises(requests.RequestException),
    ):
        asked(address)
