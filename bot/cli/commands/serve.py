"""`ascendopt serve`: webhooks, workers and the dashboard in one process."""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.base.secret import hide, renewed, take
from bot.cli.options import OrdinaryPath, build, options
from bot.repository.settings import read_settings
from bot.server.serving import bank_page, start_service
from ci.model.errors import InputError, plainly
from ci.model.frozen import Frozen

LOG = logging.getLogger("ascendopt.bot")


class ServeOptions(Frozen):
    """How the server starts."""

    port: int | None = Field(default=None, description="Port in place of the settings'; 0: any.")
    dry_run: bool = Field(default=False, description="Write nothing to forges; log it instead.")


@options(ServeOptions)
@click.command()
@click.argument("settings", type=OrdinaryPath())
@click.option("--json", "as_json", is_flag=True, help="Log JSON lines.")
def serve(settings: Path, as_json: bool, **given: Any) -> None:
    """Receive webhooks, run jobs and show the dashboard.

    The file SETTINGS names repositories, secrets and folders. Tokens and secrets come from the
    environment variables that SETTINGS names, or from the files that these name with _FILE at their
    end. Stops cleanly on SIGINT and SIGTERM: running jobs go back to the queue and continue at the
    next start.
    """
    import uvicorn

    from bot.cli.logs import configure
    from bot.server.connections import webhook_secrets
    from bot.web.app import make_app
    from bot.web.dashboard import Dashboard
    from bot.web.protocol import ImpatientProtocol

    configure(as_json)
    chosen = build(ServeOptions, given)
    read = read_settings(settings)
    hide()
    secrets = take(read.secret_variables)
    hooks = webhook_secrets(read, secrets)
    listening = _listening(read.host, read.port if chosen.port is None else chosen.port)
    service = start_service(read, secrets, dry_run=chosen.dry_run)
    dashboard = Dashboard(
        service.queue,
        read.data / "runs",
        renewed(read.dashboard_env, secrets[read.dashboard_env]),
        lambda query: bank_page(read.bank_file, query),
    )
    app = make_app(service.queue, hooks, lambda: service.alive, dashboard, alarms=service.alarms)
    # Only proxies that the environment names may say whom they speak for.
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        log_config=None,
        access_log=False,
        proxy_headers=False,
    )
    try:
        announcing_server(config).run(sockets=[listening])
    finally:
        service.stop()
        listening.close()


def _listening(host: str, port: int) -> socket.socket:
    """A socket bound there. It is taken before anything starts, so that a second server ends."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio switches Nagle's algorithm off.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        return bound
    except OSError as problem:
        bound.close()
        raise InputError(
            f"No server can listen on {host}, port {port}: {plainly(problem)}."
            " Name another `port` in the settings, or give --port."
        ) from None


def announcing_server(config: Any) -> Any:
    """A uvicorn server that says where it listens once it does: with port 0 nobody knows before."""
    import uvicorn

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            for one in self.servers:
                for bound in one.sockets:
                    host, port = bound.getsockname()[:2]
                    LOG.info("listening on http://%s:%d", host, port)

    return Announcing(config)
