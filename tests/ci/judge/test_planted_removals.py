"""A barrier that is taken out of operators whose build switches automatic synchronisation off."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

BARRIER = "        PipeBarrier<PIPE_V>();\n"
_CALL = re.compile(r"^\s+([A-Z]\w*)(?:<[^;()]*>)?\((\w+)\b.*\);$")
_OTHERS = re.compile(
    r"DataCopy\w*|SetFlag|WaitFlag|PipeBarrier|Init|Copy(?:In|Out)|Compute|Process"
)

NAMES = [
    "activation/fast_gelu",
    "activation/hard_swish",
    "loss/hinge_loss",
    "activation/softplus",
    "loss/huber_loss",
    "math/axpby",
    "math/hypotenuse",
    "math/linear_blend",
    "optim/adagrad_step",
    "optim/momentum_step",
]


def with_barriers(kernel: str) -> tuple[str, str]:
    """The kernel with a barrier behind each vector statement, and the same without the first one
    that a later statement needs."""
    lines: list[str] = []
    needed = None
    last = ""
    for line in kernel.splitlines(keepends=True):
        call = _CALL.match(line.rstrip("\n"))
        vector = call is not None and not _OTHERS.fullmatch(call.group(1))
        if vector and call is not None:
            if needed is None and last and re.search(rf"\b{last}\b", line.partition("(")[2]):
                needed = len(lines) - 1
            last = call.group(2)
        lines += [line, BARRIER] if vector else [line]
    assert needed is not None and lines[needed] == BARRIER
    return "".join(lines), "".join(lines[:needed] + lines[needed + 1 :])


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES)
def test_a_barrier_that_is_taken_out_is_a_race_where_no_compiler_inserts_it(
    tmp_path: Path, name: str
) -> None:
    root = tmp_path / "src" / name
    shutil.copytree(OPERATORS / "src" / name, root)
    (tmp_path / ".git").mkdir()
    build = root / "CMakeLists.txt"
    said = build.read_text()
    assert "--cce-auto-sync=on" in said
    build.write_text(said.replace("--cce-auto-sync=on", "--cce-auto-sync=off"))
    (entry,) = (root / "op_kernel").glob("*.cpp")
    whole, without = with_barriers(entry.read_text())
    entry.write_text(whole)
    operator = load_operator(root)
    assert (operator.auto_sync_word, operator.auto_sync_said_by.partition(":")[0]) == (
        "off",
        f"src/{name}/CMakeLists.txt",
    )
    workload = load_workload(operator, None)
    workload = workload.model_copy(update={"cases": workload.cases[:1], "seeds": (1,)})
    settings = EvaluationSettings(varied_cases=0, siblings=0)
    evaluator = Evaluator(operator, workload, SimulatorBackend("910B4"), settings=settings)
    assert evaluator.evaluate(Candidate(), 0).outcome is Outcome.OK
    planted = Candidate(files={f"op_kernel/{entry.name}": without})
    assert evaluator.evaluate(planted, 1).outcome is Outcome.RACE
