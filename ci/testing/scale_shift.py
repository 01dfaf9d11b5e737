"""The fixture operator of the evaluator's tests: y = 2x + 1, every flag set by hand."""

from __future__ import annotations

from pathlib import Path

from ci.model.trial import Candidate
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload

FOLDER = Path(__file__).parent / "operators" / "scale_shift"
KERNEL = "op_kernel/scale_shift.cpp"
HOST = "op_host/scale_shift.cpp"
OPERATOR = load_operator(FOLDER)
WORKLOAD = load_workload(OPERATOR, None)

IN_PROCESS = "        LocalTensor<float> in = inBuffer_.Get<float>();\n"
"""A line of the kernel at which tests add statements of their own."""


def changed(old: str, new: str, file: str = KERNEL) -> Candidate:
    """The operator with `old`, which must be there, replaced once by `new`."""
    text = OPERATOR.read(file)
    assert text.count(old) >= 1, old
    stage = "kernel" if file == KERNEL else "tiling"
    return Candidate(files={file: text.replace(old, new, 1)}, stage=stage)


def with_statement(statement: str) -> Candidate:
    """The kernel with a statement added at the start of its work."""
    return changed(IN_PROCESS, f"{IN_PROCESS}        {statement}\n")


def line_of(candidate: Candidate, part: str, file: str = KERNEL) -> int:
    """1-based number of the first line that holds `part`."""
    lines = candidate.files[file].splitlines()
    return next(n for n, line in enumerate(lines, start=1) if part in line)
