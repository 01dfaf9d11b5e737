"""Keeps what the machine computed, request by request, so that two processors can be compared.

The harnesses of the tests call `keep`, which writes to the file that $ASCENDOPT_BITS names.

    python -m tests.ci.simulator.bits launch OPERATOR…     # of each operator's cases
    python -m tests.ci.simulator.bits compare FILE OTHER   # exit code 1: they do not agree
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from ci.backend.sim import SimulatorBackend
from ci.judge.reference import declared_outputs
from ci.model.launch import arrays
from ci.source.discovery import load_operator
from ci.source.inputs import draw_inputs
from ci.source.workload_file import load_workload

VARIABLE: Final = "ASCENDOPT_BITS"
LEAST_SHARED: Final = 0.9
"""Share of requests that both files have; numpy may draw another number at a place."""

Array = np.ndarray[Any, Any]


def keep(asked: Iterable[bytes], answered: Iterable[bytes], name: str = "") -> None:
    """Append digests of a request and its answer; nothing where the variable is not set."""
    if file := os.environ.get(VARIABLE):
        name = name or os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
        digests = (sha256(b"\0".join(part)).hexdigest()[:24] for part in (asked, answered))
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(" ".join((*digests, name)) + "\n")


def kept(file: Path) -> Mapping[str, tuple[str, str]]:
    """Of each request: the answer and who asked."""
    rows = (line.split(" ", 2) for line in file.read_text(encoding="utf-8").splitlines())
    return {asked: (answered, name) for asked, answered, name in rows}


def compare(file: Path, other: Path) -> str:
    """One sentence about two files of `keep`; it begins with "No" where they do not agree."""
    own, others = kept(file), kept(other)
    shared = own.keys() & others.keys()
    unlike = sorted({own[asked][1] for asked in shared if own[asked][0] != others[asked][0]})
    if unlike:
        return f"No: {len(unlike)} tests or operators differ: {', '.join(unlike[:20])}"
    if len(shared) < LEAST_SHARED * max(len(own), len(others)):
        return f"No: only {len(shared)} of {len(own)} and {len(others)} requests are equal."
    counted = f"{len(shared)} of {len(own)} and {len(others)} requests are equal"
    return f"{counted}, and so are all answers."


def launch(folder: Path) -> None:
    """Keep what an operator computes on each case of its workload, on its first seed."""
    operator = load_operator(folder)
    workload = load_workload(operator)
    build = SimulatorBackend("910B4").build(operator, {}, workload)
    for case in workload.cases:
        seed = workload.seeds[0]
        inputs, outputs = draw_inputs(case, seed), declared_outputs(operator, case)
        found = build.run(case, inputs, outputs, seed=seed).outputs
        asked = [case.model_dump_json().encode(), *(one.tobytes() for one in arrays(inputs))]
        keep(asked, [one.tobytes() for one in arrays(found)], f"{folder.name} {case.name}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["launch", *folders]:
            for folder in folders:
                launch(Path(folder))
        case ["compare", file, other]:
            said = compare(Path(file), Path(other))
            print(said)
            sys.exit(said.startswith("No"))
        case _:
            sys.exit(__doc__)
