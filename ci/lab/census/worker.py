"""A process that tries operators one after the other, and can be ended without losing the census.

Compiler, host tiling and kernel are sandboxed by what runs them. What is left in this process is
our own reading of foreign text and the workload's golden functions: those are bounded in time here.
Folders go in and rows come out as one line each.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from pathlib import Path

from pydantic import ValidationError

from ci.backend.sim import SimulatorBackend
from ci.host.door import open_door
from ci.lab.census.attempt import attempt
from ci.model.census import CensusRow, Failure, Stage
from ci.model.errors import EnvironmentProblem

LAUNCH_SECONDS = 40.0
"""CPU time of one launch in a census."""

_PROBLEM = "environment problem: "


class Worker:
    """One process at work for one caller; started when first asked."""

    def __init__(
        self,
        top: Path,
        workloads: Path | None,
        device: str,
        seconds: float,
        asc_headers: str = "",
    ) -> None:
        """`seconds` is the wall time that one operator may take; `asc_headers` is what
        `ci.host.door.open_door` takes."""
        self._top = top
        self._command = [
            sys.executable,
            "-m",
            "ci.lab.census.worker",
            str(top),
            device,
            asc_headers,
        ]
        self._command += [str(workloads.resolve())] if workloads is not None else []
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def attempt(self, folder: Path) -> CensusRow:
        """The operator's row; one that says so when the process died or had to be ended.

        Raises EnvironmentProblem when this machine cannot try operators at all.
        """
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(f"{folder}\n".encode())
            self._process.stdin.flush()
            line = self._line(self._process)
        except TimeoutError:
            self.close()
            return lost(folder, self._top, f"It was not done after {self._seconds:g} s.")
        except OSError:
            line = ""
        if line.startswith(_PROBLEM):
            raise EnvironmentProblem(line.removeprefix(_PROBLEM))
        try:
            return CensusRow.model_validate_json(line)
        except ValidationError:
            self.close()
            return lost(folder, self._top, "The process that tried it died.")

    def _line(self, process: subprocess.Popen[bytes]) -> str:
        """The next line that the process writes, '' at its end; raises TimeoutError."""
        assert process.stdout is not None
        read = b""
        end = time.monotonic() + self._seconds
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not read.endswith(b"\n"):
                if not selector.select(max(0.0, end - time.monotonic())):
                    raise TimeoutError
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    return ""
                read += part
        return read.decode(errors="replace").strip()

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process = None


def lost(folder: Path, top: Path, why: str) -> CensusRow:
    """The row of an operator whose attempt did not come back."""
    return CensusRow(
        name=folder.name,
        category=folder.parent.name,
        path=folder.relative_to(top).as_posix(),
        passed=(Stage.FOUND,),
        failures=(Failure(stage=Stage.DEFINITION, kind="census gave up", message=why),),
    )


def serve(top: Path, device: str, asc_headers: str, workloads: Path | None) -> None:
    """Answer each folder on stdin with a row on stdout, until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what golden functions print goes nowhere
    door = open_door(asc_headers)
    backend = SimulatorBackend(device, door=door, launch_seconds=LAUNCH_SECONDS)
    for line in sys.stdin:
        folder = Path(line.rstrip("\n"))
        try:
            said = attempt(folder, top, workloads, backend).model_dump_json()
        except EnvironmentProblem as problem:
            said = _PROBLEM + " ".join(str(problem).split())
        except Exception as bug:  # one operator never stops the others
            why = f"A defect of the census: {type(bug).__name__}: {bug}"
            said = lost(folder, top, why).model_dump_json()
        answers.write(said + "\n")
        answers.flush()


if __name__ == "__main__":
    _, given_top, given_device, given_headers, *rest = sys.argv
    serve(Path(given_top), given_device, given_headers, Path(rest[0]) if rest else None)
