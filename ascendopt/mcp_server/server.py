"""The server: its tools, resources and prompts, over stdio or over HTTP on loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from pydantic import Field

from ascendopt.mcp_server.answers import (
    Bottleneck,
    CensusPage,
    CheckedOperator,
    ComparedPatch,
    EvaluatedPatch,
    Lessons,
    LoadedOperator,
    MadeOperator,
    Moves,
    Proposals,
    RecordedWin,
)
from ascendopt.mcp_server.desk import Desk
from ci.model.amount import amount
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.settings import DEFAULT_DEVICE

TEXTS: Final = Path(__file__).parent / "texts"
LOOK_SECONDS: Final = 2.0
"""Between two signs of progress of work that says nothing itself."""

Answer = TypeVar("Answer")
OperatorName = Annotated[str, Field(description="Name that load_operator answered with.")]
Patch = Annotated[
    str, Field(description="Unified diff of the operator's sources, paths from its folder.")
]
Page = Annotated[int, Field(ge=1, le=1000, description="Page of the answer, from 1.")]


class Cancelled(Exception):
    """The client went away; raised in the working thread at its next sign of progress."""


@contextmanager
def problems_as(kind: type[Exception]) -> Iterator[None]:
    """Raise problems that a person can solve as `kind`, whose sentence the client is shown."""
    try:
        yield
    except (InputError, EnvironmentProblem) as problem:
        raise kind(str(problem)) from None


class Worker:
    """Runs the desk's slow work one call at a time in a thread, with progress."""

    def __init__(self) -> None:
        self._one = threading.Lock()

    async def run(
        self, context: Context[Any, Any], work: Callable[[Callable[[str], None]], Answer]
    ) -> Answer:
        """Return the answer of `work`, which is given a function that takes words of progress.

        Cancelled by the client, it ends at the work's next word, and the next call's work begins
        then. Problems that a person can solve become the tool's error.
        """
        stop = threading.Event()
        steps = 0
        loop = anyio.lowlevel.current_token()  # the work may speak from threads of its own

        async def say(words: str) -> None:
            nonlocal steps
            steps += 1
            await context.report_progress(steps, message=words)

        def tell(words: str) -> None:
            if stop.is_set():
                raise Cancelled
            anyio.from_thread.run(say, words, token=loop)

        def one_at_a_time() -> Answer:
            with self._one:
                if stop.is_set():
                    raise Cancelled
                return work(tell)

        async def beat() -> None:
            while True:
                await anyio.sleep(LOOK_SECONDS)
                await say("working")

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(beat)
                answer = await anyio.to_thread.run_sync(one_at_a_time, abandon_on_cancel=True)
                group.cancel_scope.cancel()
            return answer
        except ExceptionGroup as problems:  # `except*` would wrap what is raised in Python 3.11.2
            ours = problems.subgroup((InputError, EnvironmentProblem))
            if ours is None:
                raise
            raise ToolError(str(ours.exceptions[0])) from None
        finally:
            stop.set()


def make_server(desk: Desk) -> MCPServer[Any]:
    """Return the server over `desk`."""
    server: MCPServer[Any] = MCPServer(
        "ascendopt",
        instructions=_text("instructions"),
    )
    worker = Worker()

    @server.tool()
    async def load_operator(
        path: Annotated[str, Field(description="Folder that holds op_host and op_kernel.")],
        context: Context[Any, Any],
        workload: Annotated[str, Field(description="Workload file; '' for workload.yaml.")] = "",
        device: Annotated[str, Field(description="Device model.")] = DEFAULT_DEVICE,
    ) -> LoadedOperator:
        """Read an AscendC operator, build it, check it and measure it unmodified. Call it first."""
        return await worker.run(context, lambda _: desk.load_operator(path, workload, device))

    @server.tool()
    def read_source(operator: OperatorName, path: str) -> str:
        """Return the text of one source of a loaded operator."""
        with problems_as(ToolError):
            return desk.read_source(operator, path)

    @server.tool()
    async def evaluate_patch(
        operator: OperatorName,
        patch: Patch,
        context: Context[Any, Any],
        rationale: Annotated[
            str, Field(description="One sentence: what it does and why it should be faster.")
        ] = "",
    ) -> EvaluatedPatch:
        """Build, run, verify and time a patch once: outcome, reason, times of each case."""
        return await worker.run(context, lambda _: desk.evaluate_patch(operator, patch, rationale))

    @server.tool()
    async def check(
        operator: OperatorName,
        context: Context[Any, Any],
        seconds: Annotated[
            float, Field(gt=0, le=600, description="Start no further case after so long.")
        ] = 60.0,
        page: Page = 1,
    ) -> CheckedOperator:
        """Say what is wrong with an operator as it is: races, memory, results, on varied cases."""
        return await worker.run(context, lambda say: desk.check(operator, seconds, page, say))

    @server.tool()
    async def profile(
        operator: OperatorName,
        context: Context[Any, Any],
        patch: Annotated[str, Field(description="Unified diff; '' for the unmodified one.")] = "",
    ) -> Bottleneck:
        """Say where the time goes: bottleneck, busy pipes, waits, costly lines, peak."""
        return await worker.run(context, lambda _: desk.profile(operator, patch))

    @server.tool()
    async def compare(
        operator: OperatorName, patch: Patch, context: Context[Any, Any]
    ) -> ComparedPatch:
        """Time a patch against the baseline under all start states and moved constants."""
        return await worker.run(context, lambda _: desk.compare(operator, patch))

    @server.tool()
    async def search_experience(
        query: Annotated[str, Field(description="The bottleneck in words.")],
        context: Context[Any, Any],
        operator: Annotated[str, Field(description="Loaded operator whose family counts.")] = "",
        page: Page = 1,
    ) -> Lessons:
        """Find what made other operators faster: title, why, and the code diff."""
        return await worker.run(context, lambda _: desk.search_experience(query, operator, page))

    @server.tool()
    async def list_moves(context: Context[Any, Any], page: Page = 1) -> Moves:
        """List the optimizations that the rules know, with the bottleneck that each is for."""
        return await worker.run(context, lambda _: desk.list_moves(page))

    @server.tool()
    async def propose_rules(
        operator: OperatorName,
        context: Context[Any, Any],
        stage: Literal["kernel", "tiling", "joint"] = "kernel",
        count: Annotated[int, Field(ge=1, le=8)] = 3,
    ) -> Proposals:
        """Return patches that the rules would try next on the unmodified operator."""
        return await worker.run(context, lambda _: desk.propose_rules(operator, stage, count))

    @server.tool()
    async def create_operator(
        function: Annotated[str, Field(description="Text of one numpy function, with imports.")],
        shapes: Annotated[dict[str, list[int]], Field(description="Shape of each argument.")],
        out: Annotated[str, Field(description="Folder that takes the operator; must not exist.")],
        context: Context[Any, Any],
        dtype: str = "float32",
    ) -> MadeOperator:
        """Make a verified AscendC operator of a numpy function."""
        return await worker.run(
            context, lambda say: desk.create_operator(function, shapes, out, dtype, say)
        )

    @server.tool()
    async def run_census(
        repository: Annotated[str, Field(description="Folder of an operator repository.")],
        context: Context[Any, Any],
        page: Page = 1,
    ) -> CensusPage:
        """Try every operator of a repository and say what stops each. Goes on where it stopped."""

        def work(say: Callable[[str], None]) -> CensusPage:
            return desk.run_census(
                repository,
                page,
                lambda row, done, total: say(f"{done} of {amount(total, 'operator')}"),
            )

        return await worker.run(context, work)

    @server.tool()
    async def record_win(
        operator: OperatorName,
        patch: Patch,
        rationale: Annotated[str, Field(description="One sentence: why it is faster.")],
        context: Context[Any, Any],
    ) -> RecordedWin:
        """Verify a patch for a merge request and leave the folder that `ascendopt submit` takes."""
        return await worker.run(
            context, lambda say: desk.record_win(operator, patch, rationale, say)
        )

    _add_resources(server, desk)
    _add_prompts(server)
    return server


def _add_resources(server: MCPServer[Any], desk: Desk) -> None:
    from ci.session import facts

    @server.resource("ascendopt://machine/{device}", mime_type="text/plain")
    def machine(device: str) -> str:
        """Return the machine card of a device: cores, memories, and what work costs."""
        with problems_as(ResourceNotFoundError):
            return facts.machine_card(device)

    @server.resource("ascendopt://source/{operator}/{+path}", mime_type="text/x-c++src")
    def source(operator: str, path: str) -> str:
        """Return a source of a loaded operator."""
        with problems_as(ResourceNotFoundError):
            return desk.read_source(operator, path)

    @server.resource("ascendopt://gates", mime_type="text/plain")
    def gates() -> str:
        """Return every check that a patch passes, in the order asked."""
        return "\n".join(f"{name} ({phase}): {doc}" for name, phase, doc in facts.gates())

    @server.resource("ascendopt://api", mime_type="text/plain")
    def api() -> str:
        """Return the AscendC calls that are known, their arguments and pipes."""
        from rules.api import API

        return API.read_text(encoding="utf-8")

    @server.resource("ascendopt://workload-format", mime_type="text/markdown")
    def workload_format() -> str:
        """Return how a workload file is written."""
        return _text("workload")

    @server.resource("ascendopt://report/{run}", mime_type="text/markdown")
    def report(run: str) -> str:
        """Return the report of a folder that record_win left."""
        with problems_as(ResourceNotFoundError):
            return desk.report(run)


def _add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt()
    def optimize_operator(path: str) -> str:
        """Make an operator faster, with evidence for each step."""
        return _text("optimize").replace("PATH", path)

    @server.prompt()
    def fix_race(path: str) -> str:
        """Find and fix a race of an operator."""
        return _text("fix_race").replace("PATH", path)


def _text(name: str) -> str:
    return (TEXTS / f"{name}.md").read_text(encoding="utf-8")


def serve_http(server: MCPServer[Any], announce: Callable[[str], None]) -> None:
    """Serve over streamable HTTP on loopback until interrupted; `announce` gets the address."""
    with listening() as own:
        announce(address_of(own))
        _http(server).run(sockets=[own])


@contextmanager
def served(server: MCPServer[Any]) -> Iterator[str]:
    """Serve over streamable HTTP on loopback in a thread while the block runs; the address."""
    with listening() as own:
        http = _http(server)
        thread = threading.Thread(target=http.run, kwargs={"sockets": [own]}, daemon=True)
        thread.start()
        try:
            yield address_of(own)
        finally:
            http.should_exit = http.force_exit = True
            thread.join()


@contextmanager
def listening() -> Iterator[socket.socket]:
    """A socket on a free port of loopback, to which one may connect at once."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        made.listen()
        yield made


def address_of(own: socket.socket) -> str:
    """Return the address of a server behind a socket."""
    return f"http://127.0.0.1:{own.getsockname()[1]}/mcp"


def _http(server: MCPServer[Any]) -> uvicorn.Server:
    return uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning"))
