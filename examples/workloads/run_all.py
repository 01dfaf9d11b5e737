"""Evaluates operators of a cann-ops checkout with the workloads beside this file.

Usage: python examples/workloads/run_all.py PATH_TO_CANN_OPS [NAME ...] [--device 910B4] [--jobs 2]

Prints a line an operator as it ends and a summary; exits 1 when any outcome is not `ok`, 2 when
the checkout or a named workload is missing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ci.backend import make_backend
from ci.backend.base import Backend
from ci.judge.evaluate import Evaluator
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.trial import Candidate
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload

HERE = Path(__file__).resolve().parent
NAME_WIDTH, CATEGORY_WIDTH, OUTCOME_WIDTH = 38, 12, 14


@dataclass(frozen=True)
class Row:
    """What became of one operator."""

    name: str
    category: str
    outcome: str
    seconds: float
    text: str

    def __str__(self) -> str:
        """One line of the table."""
        return (
            f"{self.name:{NAME_WIDTH}} {self.category:{CATEGORY_WIDTH}} "
            f"{self.outcome:{OUTCOME_WIDTH}} {self.seconds:5.1f} s  {self.text}"
        )


def workload_names() -> list[str]:
    """Operators that have a workload here."""
    return sorted(p.parent.name for p in HERE.glob("*/workload.yaml"))


def operator_folders(checkout: Path) -> dict[str, Path]:
    """Folder of every operator of the checkout by its name."""
    return {p.parent.name: p.parent for p in sorted(checkout.glob("src/**/op_host")) if p.is_dir()}


def evaluate(name: str, folder: Path, backend: Backend) -> Row:
    """The operator as it stands, judged on its workload."""
    started = time.monotonic()
    category = folder.parent.name
    try:
        operator = load_operator(folder)
        workload = load_workload(operator, HERE / name / "workload.yaml")
        trial = Evaluator(operator, workload, backend).evaluate(Candidate(), 0)
    except InputError as problem:
        return Row(name, category, "bad input", time.monotonic() - started, str(problem))
    text = ""
    if trial.measurement:
        text = ", ".join(f"{c.case} {c.median_us:.2f} µs" for c in trial.measurement.cases)
    elif trial.refusal:
        text = trial.refusal.message
    return Row(name, category, str(trial.outcome), time.monotonic() - started, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, help="a checkout of cann-ops")
    parser.add_argument("names", nargs="*", help="operators; all that have a workload by default")
    parser.add_argument("--device", default="", help="chip to simulate, such as 910B4")
    parser.add_argument("--jobs", type=int, default=2, help="operators evaluated at a time")
    given = parser.parse_args()
    names = given.names or workload_names()
    folders = operator_folders(given.checkout)
    missing = [n for n in names if n not in folders or n not in workload_names()]
    if missing:
        print(
            f"No operator folder in {given.checkout} or no workload in {HERE} for: "
            f"{', '.join(missing)}.",
            file=sys.stderr,
        )
        return 2
    try:
        backend = make_backend("sim", given.device)
    except (InputError, EnvironmentProblem) as problem:
        print(problem, file=sys.stderr)
        return 2
    rows: list[Row] = []
    with ThreadPoolExecutor(max(1, given.jobs)) as pool:
        for row in pool.map(lambda n: evaluate(n, folders[n], backend), names):
            rows.append(row)
            print(row, flush=True)
    counts = Counter(row.outcome for row in rows)
    ok = [row for row in rows if row.outcome == "ok"]
    print(
        f"\n{len(ok)} of {len(rows)} ok over {len({r.category for r in ok})} categories: "
        + ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
        + ". Times are simulated."
    )
    return 0 if len(ok) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
