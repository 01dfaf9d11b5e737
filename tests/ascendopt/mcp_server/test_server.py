"""The MCP server, driven by the official client."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

anyio = pytest.importorskip("anyio")
pytest.importorskip("mcp", reason="the MCP server needs: pip install 'ascendopt[mcp]'")

from mcp.client import Client  # noqa: E402
from mcp.server.mcpserver import Context  # noqa: E402

from ascendopt.mcp_server.desk import Desk  # noqa: E402
from ascendopt.mcp_server.server import Worker, make_server  # noqa: E402
from tests.places import SAMPLE  # noqa: E402

OPERATOR = SAMPLE / "src" / "math" / "affine_clamp"

TOOLS = {
    "load_operator": {"path", "workload", "device"},
    "read_source": {"operator", "path"},
    "evaluate_patch": {"operator", "patch", "rationale"},
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


ODD = (
    "",
    "nope",
    "/dev/null",
    "../..",
    "a\0b",
    "x" * 5000,
    "算子",
    "x\n",
    5,
    None,
    ["x"],
    -1,
    1e300,
)


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


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_odd_arguments_are_answered_with_a_sentence(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")

    async def ask() -> None:
        desk = Desk(tmp_path / "out", 0, tmp_path / "bank.duckdb")
        async with Client(make_server(desk)) as client:
            for odd in ODD:
                answer = await client.call_tool(tool, dict.fromkeys(TOOLS[tool], odd))
                if answer.is_error:
                    said = answer.content[0].text
                    assert said.removeprefix(f"Error executing tool {tool}"), (odd, said)

    anyio.run(ask)
    assert {path.name for path in tmp_path.iterdir()} <= {"out", "bank.duckdb", "a"}
    assert not [*Path().iterdir()]


def test_what_is_no_resource_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "report.md").write_text("secret")
    (tmp_path / "out" / "run").mkdir(parents=True)
    (tmp_path / "out" / "run" / "report.md").symlink_to(tmp_path / "secret" / "report.md")

    async def ask(uri: str) -> str:
        async with Client(make_server(Desk(tmp_path / "out", 1))) as client:
            with pytest.raises(Exception) as said:
                await client.read_resource(uri)
            return str(said.value)

    assert "x is not loaded" in anyio.run(ask, "ascendopt://source/x/y.cpp")
    assert "There is no report nope" in anyio.run(ask, "ascendopt://report/nope")
    assert "leads out of" in anyio.run(ask, "ascendopt://report/run")


def test_work_may_speak_from_a_thread_of_its_own(tmp_path: Path) -> None:
    server, worker, heard = make_server(Desk(tmp_path, 1)), Worker(), []

    @server.tool()
    async def elsewhere(context: Context[Any, Any]) -> int:
        def work(say: Callable[[str], None]) -> int:
            with ThreadPoolExecutor(1) as threads:
                threads.submit(say, "1 of 2").result()
            return 2

        return await worker.run(context, work)

    async def hear(done: float, total: float | None, words: str | None) -> None:
        heard.append(words)

    async def ask() -> Any:
        async with Client(server) as client:
            return await client.call_tool("elsewhere", {}, progress_callback=hear)

    assert not anyio.run(ask).is_error
    assert heard == ["1 of 2"]


def test_the_work_after_a_cancelled_one_waits_until_that_has_ended(tmp_path: Path) -> None:
    worker, events, release = Worker(), [], threading.Event()

    def first(say: Callable[[str], None]) -> None:
        events.append("first begins")
        release.wait(20)
        events.append("first ends")
        say("never heard")
        events.append("never reached")

    def second(say: Callable[[str], None]) -> None:
        events.append("second")

    async def ask() -> None:
        silent: Any = None  # neither says a word before it is cancelled
        with anyio.move_on_after(0.1):
            await worker.run(silent, first)
        async with anyio.create_task_group() as group:
            group.start_soon(worker.run, silent, second)
            await anyio.sleep(0.1)
            events.append("release")
            release.set()

    anyio.run(ask)
    assert events == ["first begins", "release", "first ends", "second"]


def test_an_operator_that_there_is_no_budget_for_is_not_loaded(tmp_path: Path) -> None:
    async def ask() -> str:
        async with Client(make_server(Desk(tmp_path, 0))) as client:
            await client.call_tool("load_operator", {"path": str(OPERATOR)})
            given = {"operator": "affine_clamp", "patch": "no\ndiff\n"}
            return (await client.call_tool("evaluate_patch", given)).content[0].text

    assert "affine_clamp is not loaded" in anyio.run(ask)


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
