"""`ascendopt mcp`, started as an agent starts it, over both transports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

anyio = pytest.importorskip("anyio")
pytest.importorskip("mcp", reason="the MCP server needs: pip install 'ascendopt[mcp]'")

from mcp.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

from bot.setup.agent import agent_files  # noqa: E402
from tests.ascendopt.mcp_server.test_server import TOOLS  # noqa: E402


def test_the_server_that_an_agents_file_names_answers_over_stdio(tmp_path: Path) -> None:
    files = {file.path: file.text for file in agent_files(tmp_path, ".agents/skills")}
    server = json.loads(files[".mcp.json"])["mcpServers"]["ascendopt"]
    assert server["command"] == "ascendopt"
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ascendopt", *server["args"]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )

    async def ask() -> set[str]:
        async with Client(stdio_client(program)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert "evaluate_patch" in anyio.run(ask)


def test_http_is_served_on_loopback_at_the_printed_address(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "ascendopt", "mcp", "--http", "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        address = next(line for line in server.stderr if "Serving MCP on" in line).split()[-1]
        assert address.startswith("http://127.0.0.1:")

        async def ask() -> int:
            async with Client(address) as client:
                return len((await client.list_tools()).tools)

        assert anyio.run(ask) == len(TOOLS)
    finally:
        server.terminate()
        server.wait()
