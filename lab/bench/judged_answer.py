"""Judges the answer to one task of a benchmark as an operator that somebody else wrote."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from ci.backend import make_backend
from ci.create.benchmark import torch_task
from ci.create.task import Task
from ci.create.verify import held_against, own_errors
from ci.judge.evaluate import Evaluator
from ci.judge.guard import guard
from ci.judge.varied_sweep import WIDE, sweep
from ci.model.errors import InputError, worded
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Refusal
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from lab.bench.answers import answer_files, digest_of
from lab.bench.fresh_process import serve
from lab.model.generators import AnswerRow, GeneratorsSettings

MODULE: Final = "lab.bench.judged_answer"

NO_ANSWER: Final = "no answer"
UNREADABLE: Final = "unreadable"

_GOLDEN: Final = '''

def judged{precision}(*given, **attributes):
    """Calls the task's function under the names of its own attributes."""
    names = {names!r}
    named = {{names[k]: v for k, v in attributes.items() if k in names}}
    return {function}{precision}(*given, **named)
'''

_CONSTANT: Final = re.compile(r"\b__builtin_(?:inff?|nanf?|huge_valf?)\b")
"""Numbers that C++ has no other name for without a header; the guard refuses all such names."""


class AnswerJob(Frozen):
    """A task and where its answer is."""

    file: Path
    settings: GeneratorsSettings


def judged(job: AnswerJob) -> AnswerRow:
    """Return what became of the answer to a task; raises InputError for a task that is none."""
    file, settings = job.file, job.settings
    category = file.parent.name
    row = AnswerRow(task=file.stem, category=category, outcome=NO_ANSWER)
    try:
        files = answer_files(settings.answers, category, file.stem)
    except (InputError, FileNotFoundError) as problem:
        return row.model_copy(update={"outcome": UNREADABLE, "said": str(problem)})
    if files is None:
        return row.model_copy(update={"said": "There is no answer to this task."})
    row = row.model_copy(update={"digest": digest_of(files), "outcome": UNREADABLE})
    task, tracer = torch_task(file, settings.elements)
    tracer.close()
    folder = settings.out / category / task.name
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _write(folder, files)
        operator = load_operator(folder)
        _write(folder, _workload(task, operator))
        otherwise = task.other_precision and f"judged{task.other_precision}"
        return _row(row, operator, settings, otherwise)
    except (InputError, ValidationError) as problem:
        said = worded(problem) if isinstance(problem, ValidationError) else str(problem)
        return row.model_copy(update={"said": said})


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _workload(task: Task, operator: Operator) -> dict[str, str]:
    """Return the task's golden function and case under the names of the answer's definition."""
    (case,) = task.workload["cases"]
    tensors = list(case["inputs"].values())
    if len(tensors) != len(operator.inputs):
        raise InputError(
            f"{operator.op_type} takes {len(operator.inputs)} inputs, the task has {len(tensors)}."
        )
    names = _attributes(task, operator)
    defaults = {one.name: one.default for one in task.attributes}
    one: dict[str, Any] = {"name": case["name"], "inputs": tensors}
    if names:
        one["attrs"] = {own: defaults[theirs] for own, theirs in names.items()}
    data = {"golden": "golden.py:judged", "cases": [one]}
    golden = task.golden + "".join(
        _GOLDEN.format(names=names, function=task.function, precision=precision)
        for precision in dict.fromkeys(("", task.other_precision))
    )
    return {"golden.py": golden, "workload.yaml": yaml.safe_dump(data, sort_keys=False)}


def _attributes(task: Task, operator: Operator) -> dict[str, str]:
    """Return the task's attribute for each of the answer's: of the same name, else at its place."""
    theirs = [one.name for one in task.attributes]
    plain = {name.replace("_", "").lower(): name for name in theirs}
    own = [one.name for one in operator.attrs]
    found = {n: plain[key] for n in own if (key := n.replace("_", "").lower()) in plain}
    left, free = [n for n in own if n not in found], [n for n in theirs if n not in found.values()]
    if len(left) == len(free):
        found |= dict(zip(left, free, strict=True))
    for one in operator.attrs:
        if one.required and one.name not in found:
            raise InputError(
                f"{operator.op_type} requires the attribute {one.name}, which the task does not"
                " give."
            )
    return found


def _row(
    row: AnswerRow, operator: Operator, settings: GeneratorsSettings, otherwise: str
) -> AnswerRow:
    refused = _guarded(operator)
    if refused is not None:
        said = {"outcome": Outcome.REJECTED.value, "gate": refused.gate or "guard"}
        return row.model_copy(update={**said, "said": refused.message})
    workload = load_workload(operator)
    backend = make_backend("sim", settings.device, asc_headers=settings.asc_headers)
    evaluator = Evaluator(operator, workload, backend)
    trial = evaluator.evaluate(Candidate(), 0)
    row = row.model_copy(
        update={
            "outcome": trial.outcome.value,
            "compiled": trial.outcome not in (Outcome.COMPILE_ERROR, Outcome.REJECTED),
        }
    )
    if trial.measurement is None:
        refusal = trial.refusal or Refusal(sentence=trial.outcome.value)
        return row.model_copy(update={"gate": refusal.gate, "said": refusal.message})
    faults = [warning.message for warning in trial.warnings if warning.is_fault]
    if faults:
        return row.model_copy(
            update={"outcome": Outcome.UNFIT.value, "gate": "warnings", "said": faults[0]}
        )
    found = sweep(evaluator.standard, {}, WIDE)
    excused = own_errors(evaluator, found, otherwise) if otherwise else set()
    if wrong := held_against(found, excused):
        kind, words = next(iter(wrong.items()))
        failed = {"outcome": Outcome.UNFIT.value, "gate": "varied cases"}
        return row.model_copy(update={**failed, "said": f"With another {kind}: {words}"})
    return row.model_copy(
        update={
            "right": True,
            "microseconds": trial.measurement.score_us,
            "varied": sum(found.counts.values()),
            "declined": found.declined,
        }
    )


def _guarded(operator: Operator) -> Refusal | None:
    """Ask the guard as for a candidate that wrote every line: nothing was there before."""
    with tempfile.TemporaryDirectory(prefix="ascendopt-blank-") as folder:
        blank = Path(folder)
        _write(blank, dict.fromkeys(operator.sources, ""))
        nothing = operator.model_copy(update={"root": blank, "repository": blank})
        texts = {name: operator.read(name) for name in operator.sources}
        return guard(nothing, {name: _CONSTANT.sub("INF", text) for name, text in texts.items()})


class Answer(Frozen):
    """What the process says: the row, or why there can be none."""

    row: AnswerRow | None = None
    refused: str = ""


def answered(question: bytes) -> str:
    """Return the answer of this process, as JSON."""
    try:
        return Answer(row=judged(AnswerJob.model_validate_json(question))).model_dump_json()
    except InputError as problem:
        return Answer(refused=str(problem)).model_dump_json()


if __name__ == "__main__":
    serve(answered)
