"""What every command that evaluates does first: find operator, workload, backend and evaluator."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci.model.errors import InputError
from ci.model.settings import Target

if TYPE_CHECKING:
    from ci.judge.evaluate import Evaluator
    from ci.model.budget import ModelLimits
    from ci.model.operator import Operator
    from ci.model.workload import Workload
    from ci.proposer.base import Proposer
    from experience.bank.bank import Bank

PROPOSERS: Final = ("rules", "llm", "replay:RUN")
REPLAY: Final = "replay:"


@dataclass(frozen=True)
class Session:
    """An operator ready to be evaluated."""

    operator: Operator
    workload: Workload
    evaluator: Evaluator
    settings: dict[str, str]
    """Workload, backend and device as a person would give them again from the repository's top."""


def open_session(path: Path, target: Target, *, timelines: Path | None = None) -> Session:
    """Read the operator and its workload, and build the evaluator; raises `InputError`.

    `timelines` is a folder that takes an instruction timeline of each case when profiling.
    """
    # Imported here: `--help` and `doctor` must work without the numeric libraries.
    from ci.backend import make_backend
    from ci.judge.evaluate import EvaluationSettings, Evaluator
    from ci.source.discovery import load_operator
    from ci.source.workload_file import load_workload

    operator = load_operator(path)
    workload = load_workload(operator, target.workload)
    if target.jobs > 1 and (target.backend == "cann" or target.recording is not None):
        raise InputError(
            "--jobs is for simulated time: on an NPU, or with --recording, launches must not meet;"
            " leave it at 1."
        )
    backend = make_backend(
        target.backend,
        target.device,
        recording=target.recording,
        asc_headers=target.asc_headers,
    )
    if target.recording is not None and target.backend != "replay":
        from ci.backend.replay import RecordingBackend

        if target.recording.exists():
            raise InputError(f"{target.recording} exists already; a recording is a new file.")
        if not target.recording.parent.is_dir():
            raise InputError(f"The folder {target.recording.parent} does not exist.")
        backend = RecordingBackend(backend, target.recording)
    evaluator = Evaluator(
        operator,
        workload,
        backend,
        settings=EvaluationSettings(timelines=timelines, jobs=target.jobs),
    )
    settings = {"backend": target.backend, "device": target.device}
    if target.asc_headers:
        settings["asc-headers"] = target.asc_headers
    if target.workload is not None:
        settings["workload"] = _from_top(target.workload, operator.repository)
    return Session(operator, workload, evaluator, settings)


def _from_top(path: Path, top: Path | None) -> str:
    """`path` from the repository's top when it lies inside, else as it was given."""
    if top is not None and path.resolve().is_relative_to(top.resolve()):
        return path.resolve().relative_to(top.resolve()).as_posix()
    return str(path)


def find_proposer(name: str, models: Path | None = None) -> Proposer:
    """The proposer called `name` (rules, llm or replay:RUN); raises `InputError`."""
    if models is not None and name != "llm":
        raise InputError("--models says which model fills which role of --proposer llm only.")
    if name == "rules":
        from ci.proposer.rules import RulesProposer

        return RulesProposer()
    if name == "llm":
        from ci.proposer.llm.proposer import LlmProposer
        from ci.proposer.llm.settings import ROLES, load_models

        chosen = load_models(models)
        if not any(chosen.of(role) for role in ROLES):
            raise InputError(
                "--proposer llm needs a model: give --models FILE, or set ASCENDOPT_LLM_MODEL"
                " and ASCENDOPT_LLM_ENDPOINT (docs/language-models.md)."
            )
        return LlmProposer(chosen)
    if name.startswith(REPLAY):
        from ci.proposer.replay import ReplayProposer

        return ReplayProposer(Path(name.removeprefix(REPLAY)))
    raise InputError(f"There is no proposer '{name}'; known: {', '.join(PROPOSERS)}.")


def begin_beside(
    proposer: Proposer,
    bank: Bank,
    limits: ModelLimits,
    *,
    session: Session | None = None,
    upcoming: Callable[[], int] = lambda: 0,
) -> None:
    """Begin work that has no run of its own: model calls are kept in BANK.calls.sqlite.

    `session` is the operator that it is about, when it is about one.
    """
    from ci.proposer.base import RunContext

    proposer.begin(
        RunContext(
            calls=bank.path.with_suffix(".calls.sqlite"),
            budget=limits.grant(),
            upcoming=upcoming,
            workload=session.workload if session else None,
            device=session.evaluator.backend.fingerprint().device if session else "",
        )
    )


def default_bank() -> Path:
    """The user's own bank: $XDG_DATA_HOME/ascendopt/bank.duckdb."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "ascendopt" / "bank.duckdb"


def open_bank(path: Path | None) -> Bank:
    """The bank at `path`, or the user's own; begun with the shipped tuples when there is none."""
    from experience.bank.exchange import open_default_bank

    chosen = path or default_bank()
    try:
        return open_default_bank(chosen)
    except OSError as problem:
        raise InputError(f"The bank {chosen} cannot be opened: {problem.strerror}.") from problem
