"""OpenEvolve as published, over the run's own proposer, judge and budget."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import Field

from ci.model.errors import InputError, ModelUnavailable
from ci.model.frozen import Frozen
from ci.model.objective import worth
from ci.model.trial import Outcome, Trial
from ci.search.base import Strategy
from ci.search.ending import MOST_IDLE
from ci.system.scratch import scratch
from lab.openevolve.endpoint import Endpoint, marked
from lab.openevolve.evaluator import ADDRESS

if TYPE_CHECKING:
    from ci.search.run import Run
    from ci.search.steps import Steps

ITERATIONS_EACH: Final = 20
"""OpenEvolve may iterate this often for an evaluation: what is equal to an earlier one is free."""

LOG: Final = "log.txt"
"""In the folder of OpenEvolve's process: what it says on stderr."""


class Options(Frozen):
    """Where its defaults (5 islands, migration every 50) would never migrate in 40 evaluations."""

    islands: int = Field(default=2, ge=1, description="OpenEvolve: islands.")
    migrate_every: int = Field(
        default=5, ge=1, description="OpenEvolve: generations between migrations."
    )


class OpenEvolve(Strategy):
    """MAP-Elites on islands by the package `openevolve`, which runs in a process of its own.

    A program is the text of the operator's sources. The model that it asks to rewrite one is a
    step of this run from the same parent, the stages in turns; its evaluator gets what that
    trial took: the operator's time over the trial's, 0 for one that failed. So proposals, gates,
    budget and store are those of every strategy; selection, archive and migration are its own.
    """

    name = "openevolve"
    summary = "OpenEvolve's islands (needs ascendopt[openevolve])"
    Options = Options

    def __init__(self, options: Frozen | None = None) -> None:
        """Raises InputError where the package is not installed."""
        super().__init__(options)
        if importlib.util.find_spec("openevolve") is None:
            raise InputError(
                "The strategy openevolve needs the package openevolve: "
                "pip install 'ascendopt[openevolve]'."
            )

    def search(self, run: Run, steps: Steps) -> None:
        """Until no program has a step left, or OpenEvolve ends.

        Raises ModelUnavailable when it ends with an error.
        """
        options = self.options
        assert isinstance(options, Options)
        programs = _Programs(run, steps)
        settings = {
            "seed": steps.seed,
            "islands": options.islands,
            "migrate_every": options.migrate_every,
            "iterations": ITERATIONS_EACH * run.budget.granted,
        }
        with (
            scratch("openevolve") as own,
            Endpoint(programs.rewrite, programs.score) as endpoint,
        ):
            (Path(own) / "program.cpp").write_text(programs.first(), encoding="utf-8")
            with _running({**settings, "folder": own}, endpoint.address) as process:
                while process.poll() is None and endpoint.problem is None:
                    endpoint.handle_request()
            said = (Path(own) / LOG).read_text(encoding="utf-8", errors="replace").split("\n")
        if isinstance(endpoint.problem, _Exhausted):
            run.note("OpenEvolve has no program left with a step to try.")
        elif endpoint.problem is not None:
            raise endpoint.problem
        elif process.returncode:
            last = next(filter(None, reversed(said)), "it said nothing")
            raise ModelUnavailable(f"OpenEvolve ended with code {process.returncode}: {last}")


class _Exhausted(Exception):
    """Nothing was evaluated for so many requests that nothing will be."""


class _Programs:
    """The trials by the names that OpenEvolve knows their programs by."""

    def __init__(self, run: Run, steps: Steps) -> None:
        self._run, self._steps = run, steps
        self._known: dict[str, Trial] = {}
        self._asked: dict[str, int] = {}
        self._vain = 0

    def first(self) -> str:
        """The program that it starts from."""
        return self._named(self._steps.start())

    def rewrite(self, name: str) -> str:
        """The program of one step from the named one; the same text when there is none."""
        parent, steps = self._known[name], self._steps
        turn = self._asked[name] = self._asked.get(name, -1) + 1
        stages = steps.stages
        before = self._run.budget.use().evaluations
        trial = None
        if parent.outcome is Outcome.OK:
            for number in range(len(stages)):
                trial = trial or steps.take(stages[(turn + number) % len(stages)], parent)
        spent = self._run.budget.use().evaluations > before
        self._vain = 0 if spent else self._vain + 1
        if self._vain > MOST_IDLE:
            raise _Exhausted
        return self._named(trial or parent)

    def score(self, name: str) -> float:
        """The operator's time over the program's; 0 for one that failed."""
        trial, base = self._known[name], self._run.baseline.measurement
        if trial.outcome is not Outcome.OK or trial.measurement is None or base is None:
            return 0.0
        return worth(base, trial.measurement)

    def _named(self, trial: Trial) -> str:
        name, operator = trial.candidate.hash, self._steps.operator
        self._known.setdefault(name, trial)
        texts = operator.texts(trial.candidate.files)
        return marked(name, "".join(f"// {p}\n{t}\n" for p, t in sorted(texts.items())))


@contextlib.contextmanager
def _running(settings: dict[str, object], address: str) -> Iterator[subprocess.Popen[bytes]]:
    """OpenEvolve's process; at the end nothing of it is left, its own children included."""
    kept = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ} | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONHASHSEED": "0",  # sets of names are drawn from in their order
        "NO_PROXY": "127.0.0.1",
        ADDRESS: address,
    }
    with (Path(str(settings["folder"])) / LOG).open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lab.openevolve.process", json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdin is not None
        process.stdin.close()
