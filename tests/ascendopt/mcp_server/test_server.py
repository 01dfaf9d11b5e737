"""The MCP server, driven by the official client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

anyio = pytest.importorskip("anyio")
pytest.importorskip("mcp", reason="the MCP server needs: pip install 'ascendopt[mcp]'")

from mcp.client import Client  # noqa: E402

from ascendopt.mcp_server.desk import Desk  # noqa: E402
from ascendopt.mcp_server.server import make_server  # noqa: E402
from tests.places import SAMPLE  # noqa: E402

OPERATOR = SAMPLE / "src" / "math" / "affine_clamp"

TOOLS = {
    "load_operator": {"path", "workload", "device"},
    "read_source": {"operator", "path"},
    "evaluate_patch": {"operator", "patch"},
    "check": {"operator", "seconds", "page"},
    "profile": {"operator", "patch"},
    "compare": {"operator", "patch"},
    "search_experience": {"query", "operator", "page"},
    "list_moves": {"page"},
    "propose_rules": {"operator", "stage", "count"},
    "create_operator": {"function", "shapes", "out", "dtype"},
    "run_census": {"repository", "page"},
    "record_win": {"operator", "patch", "rationale"},
}
"""Every tool with its arguments: a change breaks agents' configurations."""


async def call(client: Client, tool: str, **given: Any) -> Any:
    answer = await client.call_tool(tool, given)
    assert not answer.is_error, answer.content
    return answer.structured_content


def test_the_tools_and_their_arguments_are_these(tmp_path: Path) -> None:
    async def ask() -> dict[str, set[str]]:
        async with Client(make_server(Desk(tmp_path, 5))) as client:
            listed = await client.list_tools()
            return {t.name: set(t.input_schema["properties"]) for t in listed.tools}

    assert anyio.run(ask) == TOOLS


@pytest.mark.long
def test_a_client_finds_measures_and_records_a_gain(tmp_path: Path) -> None:
    async def work() -> None:
        async with Client(make_server(Desk(tmp_path, 20, tmp_path / "bank.duckdb"))) as client:
            loaded = await call(client, "load_operator", path=str(OPERATOR))
            assert loaded["outcome"] == "ok" and loaded["time"] == "simulated, 910B4"
            name = loaded["operator"]
            profiled = await call(client, "profile", operator=name)
            assert profiled["bottleneck"] and profiled["busy"]
            made = await call(client, "propose_rules", operator=name, stage="tiling", count=1)
            patch = made["proposals"][0]["patch"]
            tried = await call(client, "evaluate_patch", operator=name, patch=patch)
            assert tried["outcome"] == "ok" and tried["speedup"] > 1.01
            sure = await call(client, "compare", operator=name, patch=patch)
            assert sure["least"] <= sure["speedup"] <= sure["most"]
            won = await call(
                client, "record_win", operator=name, patch=patch, rationale="Larger tiles."
            )
            assert won["verdict"] == "improved"
            assert won["submit"] == f"ascendopt submit {won['folder']}"
            assert (Path(won["folder"]) / "best.patch").is_file()
            report = await client.read_resource(f"ascendopt://report/{Path(won['folder']).name}")
            assert "Larger tiles." in report.contents[0].text

    anyio.run(work)


@pytest.mark.long
def test_problems_are_sentences_and_cost_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        desk = Desk(tmp_path, 1)
        async with Client(make_server(desk)) as client:
            bad = await client.call_tool("evaluate_patch", {"operator": "x", "patch": "y"})
            assert bad.is_error and "x is not loaded" in bad.content[0].text
            await call(client, "load_operator", path=str(OPERATOR))
            wrong = {"operator": "affine_clamp", "patch": "no\ndiff\n"}
            assert (await client.call_tool("evaluate_patch", wrong)).is_error
            assert desk.left == 0
            spent = await client.call_tool("profile", {"operator": "affine_clamp"})
            assert spent.is_error and "budget is spent" in spent.content[0].text

    anyio.run(work)


def test_resources_and_prompts_can_be_read(tmp_path: Path) -> None:
    async def work() -> None:
        async with Client(make_server(Desk(tmp_path, 1))) as client:
            listed = await client.list_resources()
            for one in listed.resources:
                assert (await client.read_resource(one.uri)).contents[0].text
            card = await client.read_resource("ascendopt://machine/910B4")
            assert "vector cores" in card.contents[0].text
            prompts = (await client.list_prompts()).prompts
            assert {p.name for p in prompts} == {"optimize_operator", "fix_race"}
            for prompt in prompts:
                said = await client.get_prompt(prompt.name, {"path": "here"})
                assert "here" in said.messages[0].content.text

    anyio.run(work)
