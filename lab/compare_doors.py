"""Runs operators through both front doors and says where they differ.

    python -m lab.compare_doors OPERATOR… --asc-headers DIR [--workloads FOLDER]

A kernel that compiles against our headers and against the real ones must give the same outputs and,
for the basic API, issue the same instructions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import numpy as np
from pydantic import Field

from ci.backend.sim import SimulatorBackend, SimulatorBuild
from ci.host.door import FrontDoor, open_door, own_headers
from ci.judge.compare_outputs import compare_outputs
from ci.judge.reference import References, empty_like
from ci.model.columns import output_dtypes
from ci.model.errors import InputError, TrialFailure
from ci.model.frozen import Frozen
from ci.model.launch import CaseRun, Tensors
from ci.model.settings import DEFAULT_DEVICE
from ci.model.workload import WorkloadCase
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload


class Through(Frozen):
    """What one door made of a case."""

    outcome: str = Field(description="ok, or the outcome that ended it.")
    message: str = ""
    verified: bool = Field(default=False, description="The outputs agree with the golden's.")
    cycles: int = 0


class CaseComparison(Frozen):
    """One case through both doors."""

    operator: str
    case: str
    own: Through
    real: Through
    same_outputs: bool = Field(default=False, description="Bit for bit, NaN included.")
    counts: dict[str, tuple[int, int]] = Field(
        default_factory=dict,
        description="Instructions whose numbers differ: through our headers, the real ones.",
    )

    @property
    def both_run(self) -> bool:
        """Whether there is anything to compare."""
        return self.own.outcome == self.real.outcome == "ok"

    @property
    def same_counts(self) -> bool:
        """Both ran and issued the same instructions."""
        return self.both_run and not self.counts


def compare(
    path: Path, workload_path: Path | None, device: str, doors: Sequence[FrontDoor]
) -> Iterator[CaseComparison]:
    """Every case of an operator's workload through the two doors, on its first seed.

    Raises InputError when the operator or its workload cannot be read.
    """
    operator = load_operator(path)
    workload = load_workload(operator, workload_path)
    backends = [SimulatorBackend(device, door=door) for door in doors]
    references = References(operator, workload, backends[0])
    builds: list[SimulatorBuild | TrialFailure] = []
    for backend in backends:
        try:
            builds.append(backend.build(operator, {}, workload))
        except TrialFailure as failure:
            builds.append(failure)
    names = [spec.name for spec in operator.outputs]
    for case in workload.cases:
        reference = references.of(case, workload.seeds[0])
        runs: list[CaseRun | None] = []
        said: list[Through] = []
        for build in builds:
            run, through = _through(build, case, reference.inputs, empty_like(reference.outputs))
            if run is not None:
                found = compare_outputs(
                    run.outputs,
                    reference.outputs,
                    names,
                    output_dtypes(operator, case),
                    workload.tolerances,
                )
                through = through.model_copy(update={"verified": found.agrees})
            runs.append(run)
            said.append(through)
        row = CaseComparison(operator=operator.name, case=case.name, own=said[0], real=said[1])
        own, real = runs
        if own is not None and real is not None:
            row = row.model_copy(
                update={
                    "same_outputs": _same(own.outputs, real.outputs),
                    "counts": _differing(own, real),
                }
            )
        yield row


def _through(
    build: SimulatorBuild | TrialFailure, case: WorkloadCase, inputs: Tensors, outputs: Tensors
) -> tuple[CaseRun | None, Through]:
    try:
        if isinstance(build, TrialFailure):
            raise build
        run = build.run(case, inputs, outputs)
    except TrialFailure as failure:
        return None, Through(outcome=failure.outcome.value, message=failure.refusal.message)
    return run, Through(outcome="ok", cycles=run.pipes.total_cycles)


def _same(one: Tensors, other: Tensors) -> bool:
    """Whether all tensors hold the same bytes."""

    def flat(tensors: Tensors) -> Iterator[bytes]:
        for tensor in tensors:
            for array in tensor if isinstance(tensor, list) else [tensor]:
                yield b"" if array is None else np.ascontiguousarray(array).tobytes()

    return list(flat(one)) == list(flat(other))


def _differing(own: CaseRun, real: CaseRun) -> dict[str, tuple[int, int]]:
    mine, theirs = own.pipes.instructions, real.pipes.instructions
    pairs = {name: (mine.get(name, 0), theirs.get(name, 0)) for name in {*mine, *theirs}}
    return {name: pair for name, pair in sorted(pairs.items()) if pair[0] != pair[1]}


def summary(rows: Sequence[CaseComparison], failed: Sequence[str]) -> dict[str, int]:
    """Figures over operators: an operator counts when all its cases do."""
    by_operator: dict[str, list[CaseComparison]] = {}
    for row in rows:
        by_operator.setdefault(row.operator, []).append(row)

    def count(test: Callable[[CaseComparison], bool]) -> int:
        return sum(all(test(row) for row in group) for group in by_operator.values())

    return {
        "operators": len(by_operator) + len(failed),
        "unreadable": len(failed),
        "compile_own": count(lambda r: r.own.outcome != "compile_error"),
        "compile_real": count(lambda r: r.real.outcome not in ("compile_error", "rejected")),
        "run_own": count(lambda r: r.own.outcome == "ok"),
        "run_real": count(lambda r: r.real.outcome == "ok"),
        "verified_real": count(lambda r: r.real.verified),
        "run_both": count(lambda r: r.both_run),
        "same_outputs": count(lambda r: r.same_outputs),
        "same_counts": count(lambda r: r.same_counts),
    }


def _line(row: CaseComparison) -> str:
    place = f"{row.operator} {row.case}"
    if not row.both_run:
        shown = [
            f"{name}: {side.outcome} {side.message[:160]}"
            for name, side in (("own", row.own), ("real", row.real))
            if side.outcome != "ok"
        ]
        return f"{place}: {'; '.join(shown)}"
    outputs = "same outputs" if row.same_outputs else "OTHER OUTPUTS"
    counts = ", ".join(f"{name} {a}/{b}" for name, (a, b) in row.counts.items())
    ratio = row.real.cycles / row.own.cycles if row.own.cycles else 0.0
    return f"{place}: {outputs}, {counts or 'same counts'}, cycles × {ratio:.2f}"


@click.command()
@click.argument("operators", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--asc-headers", required=True, help="Real AscendC headers, as for evaluate.")
@click.option(
    "--workloads",
    type=click.Path(path_type=Path),
    help="Folder that holds a workload folder for each operator, by the operator folder's name.",
)
@click.option("--device", default=DEFAULT_DEVICE, help="Device model (rules/devices).")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Write rows and figures.")
def main(
    operators: tuple[Path, ...],
    asc_headers: str,
    workloads: Path | None,
    device: str,
    file: Path | None,
) -> None:
    """Run OPERATORS through our headers and through real ones, and compare."""
    try:
        doors = (own_headers(), open_door(asc_headers))
    except InputError as problem:
        raise SystemExit(f"error: {problem}") from problem
    rows: list[CaseComparison] = []
    failed: list[str] = []
    for path in operators:
        workload = workloads / path.name if workloads else None
        try:
            for row in compare(path, workload, device, doors):
                rows.append(row)
                click.echo(_line(row))
        except (InputError, TrialFailure) as problem:
            failed.append(f"{path.name}: {problem}")
            click.echo(failed[-1], err=True)
    figures = summary(rows, failed)
    click.echo(json.dumps(figures))
    if file:
        listed = [row.model_dump() for row in rows]
        text = {"headers": doors[1].name, "figures": figures, "unreadable": failed, "rows": listed}
        file.write_text(json.dumps(text, indent=1))
    differs = any(r.both_run and not r.same_outputs for r in rows)
    sys.exit(1 if differs or failed else 0)


if __name__ == "__main__":
    main()
