"""A real server on loopback for the application under test, and a browser to look at it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import uvicorn
from matplotlib.image import imread
from starlette.applications import Starlette


class Answer(NamedTuple):
    status: int
    body: str
    headers: dict[str, str]

    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """Where the application listens."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes = b"",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body or None, headers or {})
            answer = connection.getresponse()
            found = {k.lower(): v for k, v in answer.getheaders()}
            return Answer(answer.status, answer.read().decode(), found)
        finally:
            connection.close()


@contextlib.contextmanager
def running(app: Starlette, **settings: Any) -> Iterator[Server]:
    # With the protocol named, asyncio switches Nagle's algorithm off: 40 ms a request less.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, access_log=False, proxy_headers=False, **settings)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.02)
    try:
        yield Server(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()


FRAME_COLOURS = 100
"""A page whose report is shown has more than this many colours where the report stands."""

PICTURES = 3
"""Taken at most, until a frame is seen: a loaded machine may be late with one."""


def colours_shown(server: Server, path: str, folder: Path, width: int) -> int | None:
    """How many colours the page has below, where reports stand; None without a browser."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        return None
    picture = folder / f"{width}.png"
    arguments = [
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        f"--user-data-dir={folder / 'profile'}",
        f"--screenshot={picture}",
        f"--window-size={width},2400",
        "--hide-scrollbars",
        "--virtual-time-budget=5000",
        "--disable-features=IsolateSandboxedIframes",  # a frame elsewhere is not waited for
        f"http://127.0.0.1:{server.port}{path}",
    ]
    colours = 0
    for _ in range(PICTURES):
        subprocess.run(
            [program, *arguments], env=short(), capture_output=True, timeout=120, check=True
        )
        pixels = (imread(picture)[1400:, :, :3] * 255).astype(np.uint32)
        colours = max(colours, len(np.unique(pixels @ np.array([1 << 16, 1 << 8, 1], np.uint32))))
        if colours > FRAME_COLOURS:
            break
    return colours


def browse(server: Server, path: str, folder: Path) -> str:
    """The page at `path` as headless Chromium built it, or as it was sent where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        return server.ask(path).body
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    url = f"http://127.0.0.1:{server.port}{path}"
    done = subprocess.run(
        [program, *arguments, f"--user-data-dir={folder}", "--dump-dom", url],
        env=short(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def short() -> dict[str, str]:
    """Chromium's environment: it makes a socket in TMPDIR, whose name must be short."""
    return {**os.environ, "TMPDIR": "/tmp"}
