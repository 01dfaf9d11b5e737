"""What a pool's worker does for a census: tries one operator, and answers with its row.

Compiler, host tiling and kernel are sandboxed by what runs them. What is left in the worker is our
own reading of foreign text and the workload's golden functions: the pool bounds these in time.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ci.backend.pool.base import Question
from ci.backend.sim import SimulatorBackend
from ci.census.attempt import attempt
from ci.host.door import open_door
from ci.model.census import CensusRow, CensusSettings, Failure, Stage
from ci.model.errors import EnvironmentProblem

LAUNCH_SECONDS: Final = 40.0
"""CPU time of one launch in a census."""

_HANDLER: Final = "ci.census.worker:answer"


def question(folder: Path, top: Path, settings: CensusSettings) -> Question:
    """Ask for the row of the operator in `folder` of the repository at `top`."""
    folders = {"top": top}
    if settings.workloads is not None:
        folders["workloads"] = settings.workloads.resolve()
    place = folder.relative_to(top).as_posix()
    return Question(
        handler=_HANDLER,
        text=[place, settings.device, settings.asc_headers, settings.read_only, settings.as_],
        folders=folders,
        seconds=settings.seconds,
    )


def answer(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """The operator's row. Raises EnvironmentProblem when this host cannot try operators."""
    assert isinstance(text, list)
    place, device, asc_headers = map(str, text[:3])
    top = folders["top"]
    try:
        backend = _backend(device, asc_headers)
        workloads, tried_as = folders.get("workloads"), str(text[4] or "")
        row = attempt(top / place, top, workloads, backend, bool(text[3]), tried_as)
    except (EnvironmentProblem, OSError):
        raise
    except Exception as bug:  # one operator never stops the others
        why = f"A defect of the census: {type(bug).__name__}: {bug}"
        row = lost(top / place, top, why)
    return row.model_dump(mode="json")


@lru_cache(maxsize=2)
def _backend(device: str, asc_headers: str) -> SimulatorBackend:
    return SimulatorBackend(device, door=open_door(asc_headers), launch_seconds=LAUNCH_SECONDS)


def lost(folder: Path, top: Path, why: str) -> CensusRow:
    """The row of an operator whose attempt did not come back."""
    return CensusRow(
        name=folder.name,
        category=folder.parent.name,
        path=folder.relative_to(top).as_posix(),
        passed=(Stage.FOUND,),
        failures=(Failure(stage=Stage.DEFINITION, kind="census gave up", message=why),),
    )
