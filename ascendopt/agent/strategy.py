"""An agent as the strategy of a run: it works in a checkout of its own and asks the run's judge.

Only the run's store is believed. What the agent says, and what it changes in its checkout, is read
by nobody: a patch counts when it was sent to the judge.
"""

from __future__ import annotations

import hashlib
import json
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from ascendopt.agent.process import AgentProcess
from ascendopt.api.operator import Operator
from bot.base.git import Git
from bot.setup.agent import SERVERS, SKILL
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.settings import ProposerOptions
from ci.proposer.llm.settings import AgentSettings, load_models
from ci.search.base import Strategy
from ci.search.ending import BudgetSpent
from ci.search.run import Run
from ci.search.steps import Steps
from ci.session.proposers import AGENT, REPLAY
from ci.system.trial_store import TRIALS_FILE, TrialStore

LOG: Final = "agent.log"
"""Name of the file with what the agent said, in the run's folder."""

_LOOK_SECONDS: Final = 0.2
_CHECKOUT: Final = shutil.ignore_patterns(".git", "ascendopt-out")
_PROMPT: Final = Path(__file__).parent / "prompt.md"

Answer = TypeVar("Answer")


class AgentStrategy(Strategy):
    """Starts an agent and evaluates what it sends, until it ends or the budget is spent."""

    name: ClassVar[str] = "agent"
    summary: ClassVar[str] = "a command-line agent"

    def __init__(
        self, agent: AgentSettings, operator: Operator, out: Path, bank: Path | None, tokens: int
    ) -> None:
        """`out` is the run's folder; `tokens` fills {tokens} in its command."""
        super().__init__()
        self._agent, self._operator, self._out = agent, operator, out
        self._bank, self._tokens = bank, tokens

    def search(self, run: Run, steps: Steps) -> None:
        """Answer again what an interrupted agent had asked, then start a new one."""
        replayed(run)
        subject = self._operator
        watched = [subject.path.resolve(), subject.session.workload.folder.resolve()]
        before = _digest(watched)
        with tempfile.TemporaryDirectory(prefix="ascendopt-agent-") as folder:
            checkout = Path(folder) / subject.name
            shutil.copytree(subject.path, checkout, symlinks=True, ignore=_CHECKOUT)
            self._work(run, checkout, watched)
        if _digest(watched) != before:
            raise InputError(
                f"{subject.path} was changed while the agent worked, and its trials are not"
                " believed: restore it and begin the run again in another --out."
            )

    def _work(self, run: Run, checkout: Path, watched: list[Path]) -> None:
        # The server's package is an extra, and only this needs it.
        try:
            from ascendopt.agent.run_desk import RunDesk
            from ascendopt.mcp_server.server import make_server, served
        except ModuleNotFoundError:
            raise EnvironmentProblem(
                "--proposer agent needs the official MCP package: pip install 'ascendopt[mcp]'."
            ) from None
        counter = Counter()
        desk = RunDesk(run, self._operator, counter.ask, self._out, self._bank)
        with served(make_server(desk)) as address, counter:
            servers = {"mcpServers": {"ascendopt": {"type": "http", "url": address}}}
            _lay_out(checkout, servers)
            prompt = _PROMPT.read_text(encoding="utf-8").replace("BUDGET", str(run.budget.left))
            told = {"prompt": prompt, "mcp": str(checkout / SERVERS), "tokens": str(self._tokens)}
            command = [_filled(word, told) for word in self._agent.command]
            until = time.monotonic() + self._agent.minutes * 60
            log = self._out / LOG
            fixed = [*watched, self._out]
            with AgentProcess(command, prompt, checkout, log, fixed) as agent:
                with suppress(BudgetSpent):
                    while agent.code is None and time.monotonic() < until and run.budget.left:
                        run.tell("waiting")
                        counter.serve(_LOOK_SECONDS)
                run.note(_ending(agent.code, run))


class Replayed(Strategy):
    """The trials of an earlier agent's run once more, in their order."""

    name: ClassVar[str] = "agent"
    summary: ClassVar[str] = "a recorded agent"

    def __init__(self, store: Path) -> None:
        super().__init__()
        with TrialStore(store) as kept:
            self._candidates = [trial.candidate for trial in kept.trials()]

    def search(self, run: Run, steps: Steps) -> None:
        """Evaluate what the agent had sent."""
        for candidate in self._candidates:
            if candidate.files:
                run.evaluate(candidate)


class Counter:
    """Where other threads leave work for the thread of the run; closed, it takes no more."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[tuple[Callable[[], Any], Future[Any]]] = queue.Queue()
        self._lock = threading.Lock()
        self._open = True

    def ask(self, work: Callable[[], Answer]) -> Answer:
        """Leave work and wait for its answer; raises InputError when there is none."""
        answer: Future[Answer] = Future()
        with self._lock:
            if not self._open:
                raise InputError("The run has ended.")
            self._waiting.put((work, answer))
        return answer.result()

    def serve(self, seconds: float) -> None:
        """Do one piece of work, or wait so long for one; raises what ends the run."""
        try:
            work, answer = self._waiting.get(timeout=seconds)
        except queue.Empty:
            return
        try:
            answer.set_result(work())
        except BudgetSpent:
            answer.set_exception(InputError("The run's budget is spent."))
            raise
        except InputError as problem:
            answer.set_exception(problem)
        except BaseException:
            answer.set_exception(InputError("The run has ended."))
            raise

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._open = False
        while not self._waiting.empty():
            self._waiting.get()[1].set_exception(InputError("The run has ended."))


def replayed(run: Run) -> None:
    """Have the run answer what its store holds of an interrupted part, in that order."""
    for trial in run.store.trials():
        if run.is_recorded(trial.candidate):
            run.evaluate(trial.candidate)


def agent_strategy(
    proposing: ProposerOptions, operator: Operator, out: Path, bank: Path | None, tokens: int
) -> Callable[[], Strategy] | None:
    """Return what makes the strategy of an agent's run, or of its replay; None for another run.

    Raises InputError when the models file names no agent.
    """
    if proposing.proposer.startswith(REPLAY):
        given = Path(proposing.proposer.removeprefix(REPLAY))
        store = given / TRIALS_FILE if given.is_dir() else given
        return (lambda: Replayed(store)) if _of_agent(store) else None
    if proposing.proposer != AGENT:
        return None
    agent = load_models(proposing.models).agent
    if agent is None:
        raise InputError(
            "--proposer agent needs the agent's command: --models FILE with"
            " `agent: {command: [PROGRAM, ...]}` (docs/judge-elsewhere.md)."
        )
    return lambda: AgentStrategy(agent, operator, out, bank, tokens)


def _of_agent(store: Path) -> bool:
    if store.suffix != Path(TRIALS_FILE).suffix or not store.is_file():
        return False
    with TrialStore(store) as kept:
        return kept.identity().get("proposer") == AGENT


def _lay_out(checkout: Path, servers: dict[str, Any]) -> None:
    """Give the checkout the list of servers and the skill, and one commit."""
    (checkout / SERVERS).write_text(json.dumps(servers, indent=2) + "\n", encoding="utf-8")
    shutil.copytree(SKILL, checkout / ".agents" / "skills" / "ascendopt", dirs_exist_ok=True)
    git = Git.made(checkout)
    git.run("add", "--all")
    names = ("-c", "user.name=ascendopt", "-c", "user.email=ascendopt@localhost")
    git.run(*names, "commit", "--quiet", "--message", "The operator as it is")


def _filled(word: str, told: dict[str, str]) -> str:
    for name, value in told.items():
        word = word.replace("{" + name + "}", value)
    return word


def _ending(code: int | None, run: Run) -> str:
    if code is None:
        return "The budget is spent." if not run.budget.left else "The agent's time is up."
    return "The agent has ended." if code == 0 else f"The agent ended with exit code {code}."


def _digest(places: list[Path]) -> str:
    """Return a digest of the files below some folders, the workload's and golden's among them."""
    found = hashlib.sha256()
    for place in places:
        for path in _files(place):
            found.update(str(path).encode(errors="surrogateescape") + b"\0" + path.read_bytes())
    return found.hexdigest()


def _files(place: Path) -> Iterator[Path]:
    for path in sorted(place.rglob("*")):
        own = path.relative_to(place).parts
        if path.is_file() and "ascendopt-out" not in own and "__pycache__" not in own:
            yield path
