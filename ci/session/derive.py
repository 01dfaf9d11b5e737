"""Workloads for operators that have none: derived, written, and run as they were written."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from ci.model.amount import amount
from ci.model.census import ROWS as CENSUS
from ci.model.census import CensusRow, Stage
from ci.model.derived import ROWS, Coverage, DerivedRow, DeriveSettings
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.settings import EvaluationSetup
from ci.system.row_file import RowFile

if TYPE_CHECKING:
    from ci.backend.base import Backend
    from ci.derive.derive import OnStep
    from ci.model.finding import CheckSettings
    from ci.model.operator import Operator
    from ci.model.workload import Workload, WorkloadCase

FILE: Final = "workload.yaml"

FAULTY: Final = "faulty.yaml"
"""A workload of a case that fails by the operator's fault: one of the repository, or a race."""

LAUNCH_SECONDS: Final = 20.0
"""Launch seconds of one launch: what takes longer makes no case to search with."""


def derive_workloads(
    paths: Sequence[Path],
    settings: DeriveSettings,
    on_row: Callable[[DerivedRow, int, int], None] = lambda row, done, total: None,
    on_step: Callable[[Path, str], None] = lambda operator, step: None,
) -> list[DerivedRow]:
    """A workload for each operator at `paths`, folders of operators or of repositories.

    `on_row` is called with each new row, how many are done and how many there are; `on_step` with
    an operator's folder and what is done there. When the user interrupts, the operator at hand
    keeps the cases that passed, its row is written, and KeyboardInterrupt follows. An operator
    that has a workload is passed over unless `again` is asked for. Raises InputError when there is
    no operator at a path, EnvironmentProblem when this machine cannot build any.
    """
    from ci.backend.sim import SimulatorBackend
    from ci.host.door import open_door
    from ci.session.operators import operators_at

    unread: dict[Path, str] = {}
    operators = operators_at(paths, unread.__setitem__)
    kept = _rows_of(settings.out)
    backend = SimulatorBackend(
        settings.device, door=open_door(settings.asc_headers), launch_seconds=LAUNCH_SECONDS
    )
    rows = [
        DerivedRow(name=place.name, path=str(place), refused=why) for place, why in unread.items()
    ]
    total = len(unread) + len(operators)
    for number, one in enumerate(rows, 1):
        on_row(one, number, total)
    names = Counter(operator.name for operator in operators)
    for operator in operators:
        file = _place(operator, settings, names[operator.name] == 1) / FILE
        row = kept.rows.get(str(operator.place))
        if settings.again or (row is None and not file.exists()):
            row = _guarded(
                operator, backend, settings, file.parent, partial(on_step, operator.root)
            )
            kept.add(row)
            on_row(row, len(rows) + 1, total)
            if row.interrupted:
                raise KeyboardInterrupt
        if row is not None:
            rows.append(row)
    return rows


def without_workload(path: Path, setup: EvaluationSetup) -> str:
    """Name of the operator at `path` where none is given and none lies next to it, else ''."""
    from ci.source.discovery import load_operator

    if setup.workload is not None:
        return ""
    operator = load_operator(path)
    return "" if (operator.root / FILE).exists() else operator.name


def derived_for(
    path: Path,
    setup: EvaluationSetup,
    folder: Path,
    on_step: OnStep = lambda step: None,
    most_seconds: float | None = None,
) -> Path:
    """A workload for the operator at `path`, derived into `folder` unless one is there.

    `FAULTY` lies next to it where a case fails by the operator's fault, also when none
    can be derived. After `most_seconds` of wall time no further case is tried; None: what `derive`
    takes by itself.

    Raises InputError when none can be derived, or the operator is for other chips only;
    KeyboardInterrupt when the user stops it.
    """
    from ci.backend import make_backend
    from ci.source.discovery import for_chip, load_operator

    file = folder / FILE
    if file.is_file():
        return file
    operator = load_operator(path)
    if not for_chip(operator):
        raise InputError(
            f"{operator.name} is declared for {', '.join(operator.socs)} only, so none of its"
            " kernels was built; `ascendopt workload derive --as 910B` derives a workload as if it"
            " were for this chip."
        )
    backend = make_backend(setup.backend, setup.device, asc_headers=setup.asc_headers)
    # The operator may be a stranger's, whose scripts must not judge it.
    row = derive_workload(
        operator, backend, DeriveSettings(goldens=False), folder, on_step, most_seconds, folder
    )
    if row.interrupted:
        raise KeyboardInterrupt
    if row.refused:
        raise InputError(
            f"{operator.name} has no workload, and none could be derived: {row.refused}"
        )
    return file


@dataclass(frozen=True)
class DerivedCases:
    """What an operator without a workload is checked on; one of the two files is there."""

    passing: Path | None
    """A workload of cases that it passes."""
    failing: Path | None
    """One of a case that fails by the operator's fault."""
    refused: str = ""
    """Why no case passes; '' where some do."""
    seconds: float = 0.0
    """Wall time that deriving took, of what it was given."""

    def left_of(self, settings: CheckSettings) -> CheckSettings:
        """The settings of a check that has the seconds which deriving left."""
        return settings.model_copy(update={"seconds": settings.seconds - self.seconds})


def derived_cases(
    path: Path,
    setup: EvaluationSetup,
    folder: Path,
    most_seconds: float,
    on_step: OnStep = lambda step: None,
) -> DerivedCases:
    """What the operator at `path` is checked on, derived into `folder` as `derived_for` does.

    Raises InputError when there is neither, KeyboardInterrupt when the user stops it.
    """
    started, refused = time.monotonic(), ""
    passing: Path | None = None
    try:
        passing = derived_for(path, setup, folder, on_step, most_seconds)
    except InputError as problem:
        if not (folder / FAULTY).is_file():
            raise
        refused = str(problem)
    failing = folder / FAULTY if (folder / FAULTY).is_file() else None
    seconds = min(time.monotonic() - started, most_seconds)
    return DerivedCases(passing, failing, refused, seconds)


def workload_of_case(line: str, folder: Path) -> Path:
    """Write the workload that has only the case of `line` into `folder`; its file.

    Raises InputError when it is no case on one line.
    """
    from ci.source.one_case import workload_text_of

    file = folder / FILE
    file.write_text(workload_text_of(line) + "\n", encoding="utf-8")
    return file


def write_frame(kernel: Path, entry: str, folder: Path, asc_headers: str = "") -> tuple[Path, bool]:
    """Write the frame of a workload for a kernel that a program launches.

    A program of the repository that launches it is run in the sandbox, and fills the frame as far
    as it runs here; so is the kernel where only its run tells what its tensors hold, compiled with
    the headers that `asc_headers` names. Answers where, and whether anything is left to write.
    Raises InputError when the source has no such kernel, or a workload is there already.
    """
    from ci.derive.launched_program import given_to_kernel
    from ci.host.door import open_door
    from ci.source.launched.frame import write_frame

    given_by = partial(given_to_kernel, door=open_door(asc_headers))
    return write_frame(kernel, entry, folder, given_by)


def coverage(folders: Sequence[Path]) -> list[Coverage]:
    """Count the results of `derive_workloads` by folder. Raises InputError where it has none."""
    from ci.census.run import rows_of

    found = []
    for folder in folders:
        rows = [row for row in _rows_of(folder).rows.values() if row.for_chip]
        census = rows_of(folder / CENSUS).rows
        if not rows:
            raise InputError(f"{folder} holds no {ROWS}: `workload derive --out` leaves one.")
        derived = [row for row in rows if row.cases]
        why: dict[str, list[str]] = {}
        for row in rows:
            if row.stopped:
                why.setdefault(row.stopped, []).append(row.name)
        ranked = sorted(why.items(), key=lambda item: (-len(item[1]), item[0]))
        found.append(
            Coverage(
                name=folder.resolve().name,
                operators=len(rows),
                ran=sum(bool(row.cases) or _runs(census, row) for row in rows) if census else None,
                derived=len(derived),
                golden=sum(row.reference == "golden" for row in derived),
                cases=median([len(row.cases) for row in derived] or [0]),
                variety=median([row.variety for row in derived] or [0]),
                refused=tuple((one, tuple(names)) for one, names in ranked),
            )
        )
    return found


def _runs(census: Mapping[str, CensusRow], row: DerivedRow) -> bool:
    """Whether the operator's kernel ran in a census, whose paths begin at the repository."""
    found = [c for path, c in census.items() if row.path.endswith(f"/{path}")]
    return any(one.passes(Stage.RUNS) for one in found)


def _guarded(
    operator: Operator,
    backend: Backend,
    settings: DeriveSettings,
    folder: Path,
    on_step: OnStep,
) -> DerivedRow:
    """The same whatever happens: one operator never stops the others."""
    from ci.source.discovery import for_chip, for_others_only

    started = time.monotonic()
    row = DerivedRow(name=operator.name, category=operator.category, path=str(operator.place))
    if not for_chip(operator) and settings.as_ is None:
        why, kind = for_others_only(operator), "other chip"
        return _without(row.model_copy(update={"for_chip": False}), why, kind, started)
    try:
        found = derive_workload(operator, backend, settings, folder, on_step)
        return found if for_chip(operator) else found.model_copy(update={"for_chip": False})
    except EnvironmentProblem:
        raise
    except Exception as bug:
        why = f"A defect of ascendopt: {type(bug).__name__}: {bug}"
        return _without(row, why, "defect of ascendopt", started)


def derive_workload(
    operator: Operator,
    backend: Backend,
    settings: DeriveSettings,
    folder: Path,
    on_step: OnStep = lambda step: None,
    most_seconds: float | None = None,
    faulty: Path | None = None,
) -> DerivedRow:
    """Derive the workload of one operator into `folder`, run what was written, and say so.

    `on_step` hears of each step; `most_seconds` as for `derived_for`. What the operator then
    refuses is dropped from the file. A file that was there stays when nothing can be derived.
    `faulty`: folder that takes `FAULTY`, where a case fails by the operator's fault.
    """
    from ci.derive.accepted_cases import NoWorkload
    from ci.derive.derive import MOST_SECONDS, derive
    from ci.derive.script import copy_golden, find_script, write_golden
    from ci.source.workload_text import workload_text
    from ci.system.scratch import scratch

    started = time.monotonic()
    row = DerivedRow(
        name=operator.name,
        category=operator.category,
        path=str(operator.place),
        version=backend.fingerprint().version,
    )
    with scratch("golden") as name:
        place = Path(name)
        try:
            given = _given(operator, settings.workloads)
            script = find_script(operator) if given is None and settings.goldens else None
            golden = write_golden(script, place) if script else ""
            most = MOST_SECONDS if most_seconds is None else most_seconds
            found = derive(operator, backend, settings.cases, given, golden, place, on_step, most)
        except NoWorkload as problem:
            _leave_faulty(operator, problem.faulty, faulty)
            return _without(row, str(problem), problem.stopped, started)
        except InputError as problem:
            return _without(row, str(problem), "bad input", started)
    _leave_faulty(operator, found.faulty, faulty)
    workload, dropped = found.workload, list(found.dropped)
    folder.mkdir(parents=True, exist_ok=True)
    if script is not None and workload.golden:
        write_golden(script, folder)
        workload = workload.model_copy(update={"folder": folder})
    elif workload.golden:
        workload = copy_golden(workload, folder)
    file = folder / FILE
    remarks = [
        "Derived by `ascendopt workload derive`: shapes that the operator takes.",
        *found.notes,
    ]
    while True:
        file.write_text(workload_text(operator, workload, remarks, folder), encoding="utf-8")
        on_step(f"runs {amount(len(workload.cases), 'case')} as written")
        refused = _refused(operator, backend, file)
        if not refused:
            break
        dropped += [f"{name}: {why}" for name, why in refused.items()]
        left = tuple(case for case in workload.cases if case.name not in refused)
        if not left:
            file.unlink()
            why = f"As written no case passes; the last one, {dropped[-1]}"
            return _without(row, why, "fails as written", started)
        workload = workload.model_copy(update={"cases": left})
    names = {case.name for case in workload.cases}
    return row.model_copy(
        update={
            "cases": tuple(case for case in found.cases if case.name in names),
            "reference": "golden" if workload.golden else "unmodified operator",
            "notes": found.notes,
            "interrupted": found.interrupted,
            "dropped": tuple(dropped),
            "seconds": _since(started),
        }
    )


def _leave_faulty(operator: Operator, case: WorkloadCase | None, folder: Path | None) -> None:
    """Write the workload of a case that fails, unless the op definition does not allow the case: an
    example may leave out what it requires."""
    from ci.model.workload import Workload
    from ci.source.workload_file import load_workload
    from ci.source.workload_text import workload_text

    if case is not None and folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        alone = Workload(operator=operator.op_type, cases=(case,), folder=folder)
        file = folder / FAULTY
        text = workload_text(operator, alone, ["It fails by the operator's fault."], folder)
        file.write_text(text, encoding="utf-8")
        try:
            load_workload(operator, file)
        except InputError:
            file.unlink()


def _without(row: DerivedRow, why: str, stopped: str, started: float) -> DerivedRow:
    told = {"refused": why, "stopped": stopped, "seconds": _since(started)}
    return row.model_copy(update=told)


def _refused(operator: Operator, backend: Backend, file: Path) -> dict[str, str]:
    """Cases of a written workload that the operator does not pass, with the reasons."""
    from ci.judge.evaluate import Evaluator
    from ci.model.trial import Candidate
    from ci.source.workload_file import load_workload

    workload = load_workload(operator, file)
    trial = Evaluator(operator, workload, backend).evaluate(Candidate(), 0)
    return {case.case: case.refusal.message for case in trial.cases if case.refusal is not None}


def _given(operator: Operator, workloads: Path | None) -> Workload | None:
    """The workload that is shipped for the operator in `workloads`, if there is one."""
    from ci.source.workload_file import load_workload, workload_in

    if workloads is None:
        return None
    found = workload_in(workloads, operator.place, operator.repository or operator.root.parents[-1])
    return None if found is None else load_workload(operator, found)


def _place(operator: Operator, settings: DeriveSettings, unique: bool) -> Path:
    """The folder of its workload, where `find_workload` looks."""
    if settings.out is None:
        return operator.place
    if unique or operator.repository is None:
        return settings.out / operator.name
    return settings.out / operator.place.relative_to(operator.repository)


def _since(started: float) -> float:
    return round(time.monotonic() - started, 2)


def _rows_of(folder: Path | None) -> RowFile[str, DerivedRow]:
    """The rows in a folder by the operator's path."""
    return RowFile(folder and folder / ROWS, DerivedRow, lambda row: row.path)
