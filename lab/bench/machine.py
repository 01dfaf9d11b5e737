"""How fast the simulator evaluates candidates, and where the time goes.

Every figure is measured in one run on the machine at hand. A *fresh* candidate has a source that no
cache has seen (its text differs by a comment), so it costs what a proposal of the optimizer costs:
one of the kernel compiles the kernel variants of the workload's cases, one of the tiling compiles
the host side. A *built* one is found in the compile cache.
"""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import TypeVar

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.model.workload import Workload
from ci.source.discovery import find_operators
from ci.source.workload_file import load_workload
from ci.system.ledger import PROGRAMS, Ledger, ledger
from ci.system.sandbox import Limits, run
from ci.system.waiting import Waiting
from lab.model.machine import (
    KINDS,
    Kind,
    MachineBench,
    MachineBenchSettings,
    OperatorTime,
    Share,
    SideBySide,
    Stream,
)

Sampled = TypeVar("Sampled")

SHIPPED = Path(__file__).parent / "operators"
"""Operators that come with the package; those of tests/operators only come with the sources."""

STREAM_RUNS = 5
"""Runs of each streaming case; the median counts, since fresh memory costs more or less."""

SANDBOX_STARTS = 15
"""Starts of an empty program that give the sandbox's own cost, a median."""


def shipped_operators() -> list[Operator]:
    """The operators of tests/operators in a source tree, else those of the package."""
    sources = Path(__file__).parents[2] / "tests" / "operators"
    return find_operators(sources if sources.is_dir() else SHIPPED)


def sample(operators: Sequence[Sampled], count: int) -> list[Sampled]:
    """`count` of the operators, the same ones every time, spread evenly; all of them for 0."""
    if count == 0 or count >= len(operators):
        return list(operators)
    return [operators[number * len(operators) // count] for number in range(count)]


def measure(
    operators: Sequence[Operator],
    settings: MachineBenchSettings,
    tell: Callable[[str], None] = lambda text: None,
) -> MachineBench:
    """Run the suite over a sample of the operators, the streaming kernel first.

    Raises InputError when an operator does not evaluate ok.
    """
    load = os.getloadavg()[0]
    backend = SimulatorBackend(settings.device)
    tell("building the machine")
    _ = backend.toolchain.machine_runner
    streams = []
    for stream in _streams(backend):
        tell(f"streaming {stream.case}: {stream.gigabytes_per_second:.2f} GB/s")
        streams.append(stream)
    start, ready_start = _sandbox_starts()
    benches = []
    for operator in sample(operators, settings.sample):
        tell(f"original {operator.name}")
        benches.append(_Bench(operator, load_workload(operator, None), backend))
    times: dict[tuple[str, Kind], list[float]] = {}
    shares = []
    for kind in KINDS:
        book, took = Ledger(), []
        for bench in benches:
            tell(f"{bench.operator.name}: {kind}")
            own = [bench.timed(kind, book) for _ in range(settings.evaluations)]
            times[bench.operator.name, kind] = own
            took += own
        shares.append(_share(kind, took, book, start, ready_start))
    tell(f"{settings.jobs} side by side")
    together = _side_by_side(benches, settings)
    return MachineBench(
        host=f"{_processor()}, {platform.system()} {platform.release().partition('-')[0]}",
        processors=os.cpu_count() or 1,
        load=load,
        offered=len(operators),
        fingerprint=backend.fingerprint(),
        sandbox_seconds=start,
        ready_seconds=ready_start,
        cache_hit_seconds=median(bench.cache_hit() for bench in benches),
        shares=tuple(shares),
        operators=tuple(
            OperatorTime(
                operator=b.operator.name,
                cases=len(b.workload.cases),
                **{kind: median(times[b.operator.name, kind]) for kind in KINDS},
            )
            for b in benches
        ),
        side_by_side=together,
        streams=tuple(streams),
    )


class _Bench:
    """One operator with its answers known, ready for fresh candidates."""

    def __init__(self, operator: Operator, workload: Workload, backend: SimulatorBackend) -> None:
        self.operator = operator
        self.workload = workload
        self._backend = backend
        self._evaluator = Evaluator(operator, workload, backend)
        trial = self._evaluator.evaluate(Candidate(), 0)
        if trial.outcome is not Outcome.OK:
            why = trial.refusal.message if trial.refusal else ""
            raise InputError(f"the original {operator.name} is {trial.outcome.value}: {why}")
        self._built = self.fresh("kernel")
        self._evaluator.evaluate(self._built, 0)

    def fresh(self, kind: Kind) -> Candidate:
        """A candidate whose text nobody has compiled before."""
        own = self.operator
        file = own.host_sources[0] if kind == "tiling" else own.kernel_entry
        return Candidate(files={file: f"{own.read(file)}\n// {secrets.token_hex(8)}\n"})

    def timed(self, kind: Kind, book: Ledger) -> float:
        """Wall seconds of one evaluation; what they went for is added to `book`."""
        candidate = self._built if kind == "built" else self.fresh(kind)
        # A new evaluator knows no trial; answers and inputs are those of the run.
        evaluator = self._evaluator.anew()
        with ledger() as spent:
            started = time.monotonic()
            trial = evaluator.evaluate(candidate, 1)
            seconds = time.monotonic() - started
        _demand_ok(self.operator, trial)
        book.add(spent)
        return seconds

    def cache_hit(self) -> float:
        """Wall seconds in which a new build finds its host program and its kernels in the cache."""
        build = self._backend.build(self.operator, self._built.files, self.workload)
        asked = []
        for case in self.workload.cases:
            reference = self._evaluator.references.of(case, self.workload.seeds[0])
            asked.append(build.variant(case, build.tile(case, reference.inputs, reference.outputs)))
        toolchain, texts = self._backend.toolchain, self.operator.texts(self._built.files)
        started = time.monotonic()
        toolchain.compile_host(self.operator, texts)
        for variant in asked:
            toolchain.compile_kernel(self.operator, texts, variant)
        return time.monotonic() - started


def _demand_ok(operator: Operator, trial: Trial) -> None:
    if trial.outcome is not Outcome.OK:
        raise InputError(f"{operator.name}: a candidate with a comment more is {trial.outcome}.")


def _share(kind: Kind, took: list[float], book: Ledger, start: float, ready_start: float) -> Share:
    """The ledger as shares: making and starting sandboxes belongs to the own overhead."""
    spent = dict(book.seconds)
    for part in PROGRAMS:
        ready = book.ready[part]
        starts = start * (book.times[part] - ready) + ready_start * ready
        spent[part] = max(0.0, spent.get(part, 0.0) - starts)
    seconds = sum(took)
    parts = {name: spent.get(name, 0.0) for name in ("compile", "tiling", "run", "verify")}
    return Share(
        kind=kind,
        evaluations=len(took),
        seconds=seconds,
        own=max(0.0, seconds - sum(parts.values())),
        **parts,
    )


def _sandbox_starts() -> tuple[float, float]:
    """Median wall seconds that an empty program takes in a sandbox, new and made before."""
    took, took_ready = [], []
    empty, place, limits = ["/usr/bin/true"], Path("/usr"), Limits(seconds=20)
    for _ in range(SANDBOX_STARTS):
        waiting = Waiting(empty, cwd=place, limits=limits)
        started = time.monotonic()
        run(empty, cwd=place, limits=limits)
        took.append(time.monotonic() - started)
        started = time.monotonic()
        waiting.run()
        took_ready.append(time.monotonic() - started)
    return median(took), median(took_ready)


def _side_by_side(benches: Sequence[_Bench], settings: MachineBenchSettings) -> SideBySide:
    """Rounds of the same work alone and together, taking turns so that both meet one load."""
    alone, together, count = 0.0, 0.0, 0
    work = [bench for bench in benches for _ in range(settings.jobs)]
    for _ in range(settings.evaluations):
        started = time.monotonic()
        for bench in work:
            bench.timed("kernel", Ledger())
        alone += time.monotonic() - started
        started = time.monotonic()
        with ThreadPoolExecutor(settings.jobs) as pool:
            list(pool.map(lambda bench: bench.timed("kernel", Ledger()), work))
        together += time.monotonic() - started
        count += len(work)
    return SideBySide(
        jobs=settings.jobs, evaluations=count, alone_seconds=alone, together_seconds=together
    )


def _streams(backend: SimulatorBackend) -> Iterator[Stream]:
    """The streaming kernel, case by case."""
    (operator,) = [o for o in find_operators(SHIPPED) if o.name == "stream_add"]
    workload = load_workload(operator, None)
    for case in workload.cases:
        one = workload.model_copy(update={"cases": (case,)})
        runs = [_stream(operator, one, backend) for _ in range(STREAM_RUNS)]
        yield sorted(runs, key=lambda run: run.gigabytes_per_second)[STREAM_RUNS // 2]


def _stream(operator: Operator, workload: Workload, backend: SimulatorBackend) -> Stream:
    """One run of the streaming kernel on the only case of `workload`."""
    with ledger() as spent:
        trial = Evaluator(operator, workload, backend).evaluate(Candidate(), 0)
    _demand_ok(operator, trial)
    assert trial.measurement is not None
    (measured,) = trial.measurement.cases
    machine = dict(spent.machine)
    return Stream(
        case=measured.case,
        bytes=measured.pipes.gm_read_bytes + measured.pipes.gm_write_bytes,
        execute_seconds=machine.pop("execute", 0.0),
        timing_seconds=machine.pop("timing", 0.0),
        other_seconds=sum(machine.values()),
    )


def _processor() -> str:
    """Model of the processor, as /proc tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
