"""`ascendopt watch`: the bot by polling, without webhooks."""

from __future__ import annotations

import logging
import signal
import threading
import time
from pathlib import Path
from typing import Any, Final

import click
from pydantic import Field

from bot.base.secret import hide, take
from bot.cli.options import OrdinaryPath, build, options
from bot.repository.settings import checkout_settings, read_settings
from bot.server.one_item import told
from bot.server.serving import start_service
from bot.server.watch import poll
from ci.model.frozen import Frozen

LOG: Final = logging.getLogger("ascendopt.bot")


class WatchOptions(Frozen):
    """How long to watch."""

    once: bool = Field(default=False, description="Poll once, finish what waits and end; for cron.")
    dry_run: bool = Field(default=False, description="Write nothing to forges; log it instead.")


@options(WatchOptions)
@click.command()
@click.argument("settings", type=OrdinaryPath())
@click.option("--json", "as_json", is_flag=True, help="Log JSON lines.")
def watch(settings: Path, as_json: bool, **given: Any) -> None:
    """Poll the repositories of SETTINGS and run jobs.

    It answers comments, pushes and merge requests. SETTINGS is a file, or a checkout: then the
    repository is that of its remote `origin`, and what the bot remembers lies next to the user's
    bank.

    The first poll of a repository only notes how it stands. Polls carry ETags, so that one without
    news costs next to nothing.
    """
    from bot.cli.logs import configure
    from ci.session.open_bank import default_bank

    configure(as_json)
    chosen = build(WatchOptions, given)
    home = default_bank().parent / "bot"
    read = checkout_settings(settings, home) if settings.is_dir() else read_settings(settings)
    stop = threading.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stop.set())
    hide()
    service = start_service(read, take(read.secret_variables), dry_run=chosen.dry_run)
    try:
        while not stop.is_set():
            for name, repository in service.connections.names():
                try:
                    connection = service.connections(name, repository)
                    assert connection is not None
                    found = poll(connection, service.queue, time.time())
                    LOG.info("%s: %d new events", repository, len(found))
                except Exception as problem:  # of this repository; the others have their turn
                    LOG.warning("%s: %s", repository, told(problem))
            if chosen.once:
                _drain(service.queue, stop)
                return
            stop.wait(read.poll_seconds)
    finally:
        service.stop()


def _drain(queue: Any, stop: threading.Event) -> None:
    """Wait until no event or job is left to do."""
    while not stop.is_set():
        counts = queue.counts()
        active = counts["events"].get("new", 0) + sum(
            counts["jobs"].get(state, 0) for state in ("queued", "running", "delivering")
        )
        if not active:
            return
        stop.wait(0.5)
