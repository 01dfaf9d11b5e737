"""Takes one operator through all stages and keeps the first error of each."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from ci.backend.sim import SimulatorBackend, SimulatorBuild
from ci.census.reason import failure
from ci.derive.accepted_cases import NoWorkload, likeliest, taken_cases
from ci.derive.candidates import generic_case
from ci.derive.case_repair import mended
from ci.derive.case_selection import Option
from ci.derive.host_queries import Asker, Taken, watched_asker
from ci.derive.runner import failed
from ci.host.host_tiling import TilingAnswer
from ci.judge.evaluate import Evaluator
from ci.judge.in_place import judged_operator
from ci.judge.reference import declared_outputs
from ci.model.census import CensusRow, Failure, Stage, Unit
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Tensors, wrote_nothing
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Refusal
from ci.model.workload import Workload, WorkloadCase
from ci.source.discovery import declared_for_others, for_chip, for_others_only, load_operator
from ci.source.empty_body import wrote_nothing_because
from ci.source.inputs import draw_inputs
from ci.source.workload_file import find_workload, load_workload

MOST_LAUNCHES = 6
"""Derived cases that are launched, until one runs to its end."""

MOST_MENDED = 8
"""Launches more, of cases whose outputs turned out to be other ones."""

_KEY = re.compile(r"\bTILING_KEY_IS\s*\(\s*(\d+)")
_HCCL_TEXT = re.compile(r"\bHccl\b|GetHcclContext|hccl/")
_CUBE_TEXT = re.compile(r"\bREGIST_MATMUL_OBJ\b|\bMatmulImpl\b|\bMmad\w*\s*[<(]|\bLoadData\s*[<(]")


@dataclass
class _Notes:
    """What is known of an operator so far."""

    passed: list[Stage] = field(default_factory=lambda: [Stage.FOUND])
    failures: list[Failure] = field(default_factory=list)
    case: str = ""

    def ok(self, *stages: Stage) -> None:
        self.passed += [s for s in stages if s not in self.passed]
        self.failures = [f for f in self.failures if f.stage not in stages]

    def failed(self, stage: Stage, outcome: Outcome, refusal: Refusal) -> None:
        if stage not in self.passed and all(f.stage is not stage for f in self.failures):
            self.failures.append(failure(stage, outcome, refusal))


def attempt(
    folder: Path,
    top: Path,
    workloads: Path | None,
    backend: SimulatorBackend,
    read_only: bool = False,
    tried_as: str = "",
) -> CensusRow:
    """Try the operator in `folder` of the repository at `top`; `read_only` builds and runs nothing.

    `workloads` is a folder as `find_workload` reads it. One that is declared for other chips only
    is tried where `tried_as` names ours.
    """
    started = time.monotonic()
    notes = _Notes()
    operator: Operator | None = None
    try:
        operator = load_operator(folder, top)
        notes.ok(Stage.DEFINITION)
        if not for_chip(operator) and not tried_as:
            notes.failures.append(
                Failure(
                    stage=Stage.HOST_BUILDS, kind="other chip", message=for_others_only(operator)
                )
            )
        elif not read_only:
            _stages(operator, find_workload(folder, workloads, top), backend, notes)
    except InputError as problem:
        stage = Stage.DEFINITION if operator is None else Stage.VERIFIED
        kind = "definition not read" if operator is None else "workload does not fit"
        notes.failures.append(Failure(stage=stage, kind=kind, message=str(problem)))
    return CensusRow(
        name=folder.name,
        category=operator.category if operator else folder.parent.name,
        path=folder.relative_to(top).as_posix(),
        op_type=operator.op_type if operator else "",
        unit=kernel_unit(operator) if operator else "vector",
        declared_for_chip=for_chip(operator) if operator else not declared_for_others(folder),
        auto_sync=operator.auto_sync_word if operator else "",
        auto_sync_said_by=operator.auto_sync_said_by if operator else "",
        build_facts=operator.build_facts if operator else (),
        tried_as=tried_as if operator and not for_chip(operator) else "",
        passed=tuple(s for s in Stage if s in notes.passed),
        failures=tuple(notes.failures),
        case=notes.case,
        judged=_judged(notes.passed),
        version=backend.fingerprint().version,
        seconds=round(time.monotonic() - started, 2),
    )


def kernel_unit(operator: Operator) -> Unit:
    """Which part of the chip the kernel's own text asks for."""
    text = "\n".join(operator.read(source) for source in operator.kernel_sources)
    if _HCCL_TEXT.search(text):
        return "hccl"
    return "cube" if _CUBE_TEXT.search(text) else "vector"


def _judged(passed: list[Stage]) -> Literal["verified", "probed", "built", ""]:
    if Stage.VERIFIED in passed:
        return "verified"
    if Stage.RUNS in passed:
        return "probed"
    return "built" if Stage.KERNEL_BUILDS in passed else ""


def _stages(
    operator: Operator, workload_path: Path | None, backend: SimulatorBackend, notes: _Notes
) -> None:
    workload = None
    if workload_path is not None:
        workload = load_workload(operator, workload_path)
        operator = judged_operator(operator, workload)
        notes.case = "workload"
        trial = Evaluator(operator, workload, backend).evaluate(Candidate(), 0)
        if trial.outcome is Outcome.OK:
            notes.ok(*Stage)
            return
        if trial.refusal is not None:
            notes.failed(Stage.VERIFIED, trial.outcome, trial.refusal)
    given = workload or _stand_in(operator)
    try:
        build = backend.build(operator, {}, given)
    except TrialFailure as stopped:
        notes.failed(Stage.HOST_BUILDS, stopped.outcome, stopped.refusal)
        return
    notes.ok(Stage.HOST_BUILDS)
    _launches(build, _cases(operator, build, workload, notes), backend, given, notes)
    if Stage.KERNEL_BUILDS not in notes.passed and Stage.TILING_RUNS not in notes.passed:
        _guess_kernel(build, operator, notes)


def _cases(
    operator: Operator, build: SimulatorBuild, workload: Workload | None, notes: _Notes
) -> Iterator[Option]:
    """What the tiling takes of the workload's cases, or of those that can be derived."""
    asker = Asker(build)
    try:
        if workload is None:
            taken = taken_cases(operator, asker, lambda: watched_asker(build))
            yield from likeliest(operator, asker, taken)
            return
        for case, answer in zip(workload.cases, asker.ask(workload.cases), strict=True):
            if isinstance(answer, Taken):
                yield Option("workload", answer)
            else:
                raise NoWorkload(asker.words(case), "")
    except NoWorkload as problem:
        refusal = Refusal(sentence=str(problem))
        notes.failed(Stage.TILING_RUNS, Outcome.LAUNCH_ERROR, refusal)
    except TrialFailure as stopped:
        notes.failed(Stage.TILING_RUNS, stopped.outcome, stopped.refusal)


def _launches(
    build: SimulatorBuild,
    options: Iterator[Option],
    backend: SimulatorBackend,
    frame: Workload,
    notes: _Notes,
) -> None:
    """Launch the cases, of which the tiling takes all, until one runs."""
    waiting = deque(islice(options, MOST_LAUNCHES))
    left = MOST_MENDED
    while waiting:
        option = waiting.popleft()
        source, case = option.source, option.taken.case
        try:
            prepared = _tile(build, case)
        except TrialFailure as stopped:
            notes.failed(Stage.TILING_RUNS, stopped.outcome, stopped.refusal)
            continue
        except InputError as problem:
            notes.failed(Stage.TILING_RUNS, Outcome.LAUNCH_ERROR, Refusal(sentence=str(problem)))
            continue
        notes.ok(Stage.TILING_RUNS)
        notes.case = notes.case or f"{source} ({case.name})"
        inputs, outputs, answer = prepared
        try:
            build.kernel(build.variant(case, answer))
        except TrialFailure as stopped:
            if stopped.outcome is Outcome.REJECTED:
                notes.ok(Stage.KERNEL_BUILDS)
                notes.failed(Stage.RUNS, stopped.outcome, stopped.refusal)
            else:
                notes.failed(Stage.KERNEL_BUILDS, stopped.outcome, stopped.refusal)
            return
        notes.ok(Stage.KERNEL_BUILDS)
        try:
            _run(build, case, inputs, outputs)
        except TrialFailure as stopped:
            notes.failed(Stage.RUNS, stopped.outcome, stopped.refusal)
            found = failed(stopped.outcome, stopped.refusal)
            change = mended(build.operator, frame, option, found)
            # Outputs that are left alone, unless all are and nothing was added to them, or of
            # another shape; a race stays one.
            most = max(1, len(build.operator.outputs))  # one without works in place
            added = found.unwritten is not None and found.unwritten.added
            done = change is not None and (added or len(change[0].initial) < most)
            if change is not None and done and change[0].auto_sync == frame.auto_sync and left:
                left -= 1
                frame, option, _ = change
                build = backend.build(build.operator, {}, frame)
                waiting.appendleft(option)
            continue
        notes.ok(Stage.RUNS)
        notes.case = source if source == "workload" else f"{source} ({case.name})"
        return


def _tile(build: SimulatorBuild, case: WorkloadCase) -> tuple[Tensors, Tensors, TilingAnswer]:
    """Inputs, empty outputs and the tiling's answer for a case."""
    inputs, outputs = draw_inputs(case, 1), declared_outputs(build.operator, case)
    return inputs, outputs, build.tile(case, inputs, outputs)


def _run(build: SimulatorBuild, case: WorkloadCase, inputs: Tensors, outputs: Tensors) -> None:
    """Launch. Raises TrialFailure, also where that wrote nothing."""
    run = build.run(case, inputs, outputs)
    if wrote_nothing(run.pipes.tensor_write_bytes, inputs, outputs):
        raise TrialFailure(
            Outcome.MEMORY_ERROR, Refusal(sentence=wrote_nothing_because(build.texts))
        )


def _guess_kernel(build: SimulatorBuild, operator: Operator, notes: _Notes) -> None:
    """Build the kernel for a key that its text names, where no tiling gave one."""
    text = "\n".join(operator.read(source) for source in operator.kernel_sources)
    keys = [int(k) for k in dict.fromkeys(_KEY.findall(text))][:3] or [0]
    case = generic_case(operator)
    for key in keys:
        try:
            answer = TilingAnswer(block_dim=1, tiling_key=key, data=b"")
            build.kernel(build.variant(case, answer))
        except (TrialFailure, InputError) as stopped:
            if isinstance(stopped, TrialFailure) and stopped.outcome is Outcome.REJECTED:
                notes.ok(Stage.KERNEL_BUILDS)  # it builds; what it calls is another matter
                return
            refusal = (
                stopped.refusal
                if isinstance(stopped, TrialFailure)
                else Refusal(sentence=str(stopped))
            )
            notes.failed(Stage.KERNEL_BUILDS, Outcome.COMPILE_ERROR, refusal)
            continue
        notes.ok(Stage.KERNEL_BUILDS)
        return


def _stand_in(operator: Operator) -> Workload:
    """A workload without meaning, for parts that want one; probes bring their own cases."""
    case = generic_case(operator)
    return Workload(operator=operator.op_type, cases=(case,), folder=operator.root)
