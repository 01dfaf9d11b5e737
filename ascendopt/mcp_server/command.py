"""`ascendopt mcp`: the judge, the bank and the moves for any agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.cli.options import build, options
from ci.model.errors import EnvironmentProblem
from ci.model.folder import Folder
from ci.model.frozen import Frozen


class McpOptions(Frozen):
    """How the server is reached, and what its clients may spend."""

    http: bool = Field(
        default=False,
        description="Serve streamable HTTP on a free port of 127.0.0.1 instead of stdio; the"
        " address is printed on stderr.",
    )
    budget: int = Field(default=200, ge=1, description="Evaluations that all calls may spend.")
    bank: Path | None = Field(default=None, description="Experience bank; the user's own if none.")
    out: Folder = Field(
        default=Path("ascendopt-out/mcp"), description="Folder for trials, profiles and reports."
    )


@options(McpOptions)
@click.command()
def mcp(**given: Any) -> None:
    """Serve the judge, the bank and the moves to an agent.

    It speaks the Model Context Protocol.
    """
    own = build(McpOptions, given)
    try:
        from ascendopt.mcp_server.server import make_server, serve_http
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("mcp", "anyio"):
            raise
        raise EnvironmentProblem(
            "`ascendopt mcp` needs the official MCP package: pip install 'ascendopt[mcp]'."
        ) from None
    from ascendopt.mcp_server.desk import Desk

    server = make_server(Desk(own.out, own.budget, own.bank))
    if own.http:
        serve_http(server, lambda address: click.echo(f"Serving MCP on {address}", err=True))
    else:
        server.run("stdio")
