"""The one front of `lab`: the benches, and the machine against publications."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ci.model.settings import ProposerOptions
from ci.session.open_bank import open_bank
from ci.session.operators import operators_at
from ci.session.proposers import find_proposer
from lab.model.ablation import Ablation, AblationSettings, Cell
from lab.model.calibration import Calibration
from lab.model.create import CreateBench, CreateBenchSettings, CreateRow
from lab.model.gains import GainRow, Gains, GainsSettings
from lab.model.generators import AnswerRow, GeneratorsBench, GeneratorsSettings
from lab.model.judge import JudgeBench, JudgeBenchSettings
from lab.model.machine import MachineBench, MachineBenchSettings
from lab.model.noise import NoiseRow, NoiseSettings
from lab.model.pool import PoolBench, PoolBenchSettings
from lab.model.retrieval import RetrievalSettings, RetrievalTimes
from lab.model.sanitizers import Explanation, SanitizerBench, SanitizerBenchSettings
from lab.model.screen import ScreenBench, ScreenBenchSettings
from lab.model.strategies import StrategyBench, StrategyBenchSettings
from lab.model.validation import ValidateSettings

if TYPE_CHECKING:
    from ci.model.operator import Operator
    from lab.published.validate import Validation


def _operators(paths: Sequence[Path]) -> list[Operator]:
    """The operators at these folders of operators or repositories, or the shipped ones."""
    from lab.bench.machine import shipped_operators

    return operators_at(paths) if paths else shipped_operators()


def bench_machine(
    paths: Sequence[Path], settings: MachineBenchSettings, tell: Callable[[str], None]
) -> MachineBench:
    """How fast the simulator evaluates candidates; of the shipped operators without `paths`."""
    from lab.bench.machine import measure

    return measure(_operators(paths), settings, tell)


def bench_judge(settings: JudgeBenchSettings, tell: Callable[[str], None]) -> JudgeBench:
    """What the judge accepts of a corpus of wrong and honest candidates; raises `InputError`."""
    from lab.bench.judge import bench

    return bench(settings, tell)


def write_mutants(settings: JudgeBenchSettings, tell: Callable[[str], None]) -> None:
    """A corpus of mutants that are shown to be wrong, as a file; raises `InputError`."""
    from lab.bench.mutants import write_mutants as write

    write(settings, tell)


def bench_sanitizers(
    paths: Sequence[Path], settings: SanitizerBenchSettings, tell: Callable[[str], None]
) -> tuple[SanitizerBench, list[Explanation]]:
    """Planted faults of synchronisation, and what people have said about those not found."""
    from lab.bench.sanitizers import explanations, measure

    return measure(_operators(paths), settings, tell), explanations()


def bench_ablation(
    paths: Sequence[Path],
    settings: AblationSettings,
    bank: Path,
    out: Path,
    on_cell: Callable[[Cell], None],
) -> Ablation:
    """What each part of the method is worth; runs that `out` holds are not made again."""
    from ci.backend import make_backend
    from lab.bench.ablation import ablation

    return ablation(
        _operators(paths),
        open_bank(bank),
        settings,
        out,
        lambda: find_proposer(ProposerOptions()),
        make_backend("sim", settings.device),
        on_cell,
    )


def bench_strategies(
    paths: Sequence[Path],
    settings: StrategyBenchSettings,
    proposing: ProposerOptions,
    bank: Path,
    out: Path,
    tell: Callable[[str], None],
) -> StrategyBench:
    """Strategies side by side; runs that `out` holds are not made again. Raises `InputError`."""
    from lab.bench.strategies import bench

    operators = [] if settings.repository is not None and not paths else _operators(paths)
    proposer = partial(find_proposer, proposing)
    return bench(operators, open_bank(bank), settings, out, proposer, tell)


def bench_gains(
    paths: Sequence[Path], settings: GainsSettings, on_row: Callable[[GainRow], None]
) -> Gains:
    """What `optimize` proposes for each operator; rows that `settings.out` holds are not made
    again. Raises `InputError`."""
    from lab.bench.gains import measure

    operators = [] if settings.repository is not None and not paths else _operators(paths)
    return measure(operators, open_bank(settings.out / "bank.duckdb"), settings, on_row)


def bench_retrieval(settings: RetrievalSettings) -> RetrievalTimes:
    """What a search takes over a large bank that is made up for it."""
    from lab.bench.retrieval import measure

    with tempfile.TemporaryDirectory(prefix="ascendopt-") as folder:
        return measure(Path(folder), settings)


def bench_statistics(settings: NoiseSettings) -> list[NoiseRow]:
    """How often the verdicts on pairs of samples are wrong under simulated noise."""
    from lab.bench.noise import measure

    return measure(settings)


def bench_pool(settings: PoolBenchSettings, tell: Callable[[str], None]) -> PoolBench:
    """How many evaluations workers do side by side, when each waits for a device."""
    from ci.testing.scale_shift import OPERATOR
    from lab.bench.pool import measure

    return measure(settings, OPERATOR, tell)


def bench_screen(
    paths: Sequence[Path], settings: ScreenBenchSettings, tell: Callable[[str], None]
) -> ScreenBench:
    """Device evaluations that a screening simulator spares; of a small shipped operator without
    `paths`."""
    from ci.testing.scale_shift import FOLDER
    from lab.bench.screen import measure

    return measure(operators_at(paths or [FOLDER]), settings, tell)


def validate(settings: ValidateSettings, tell: Callable[[str], None]) -> Validation:
    """Run published cases and compare their times with those of hardware."""
    from lab.published.validate import validate as compare

    return compare(settings, tell)


def calibrate(device: str) -> Calibration:
    """Fit the free constants to the shipped measurements."""
    from lab.calibrate import calibrate as fit

    return fit(device)


def calibrate_from_trials(runs: Sequence[Path], device: str) -> Calibration:
    """Fit loosely known constants to what a device measured in runs; raises `InputError`."""
    from lab.from_trials import learn

    return learn(runs, device)


def write_constants(found: Calibration) -> int:
    """Write fitted constants into the files of their device; how many changed."""
    from lab.calibrate import write_constants as write
    from rules.devices import lineage

    return write(found, lineage(found.device).values())


def bench_create(
    path: Path, settings: CreateBenchSettings, on_row: Callable[[CreateRow], None]
) -> CreateBench:
    """An operator of each task at `path`; rows that `settings.out` holds are not made again."""
    from lab.bench.create import measure

    return measure(path, settings, on_row)


def bench_generators(
    path: Path, settings: GeneratorsSettings, on_row: Callable[[AnswerRow], None]
) -> GeneratorsBench:
    """Judge the answers of a generator to the tasks at `path`, each once."""
    from lab.bench.generators import measure

    return measure(path, settings, on_row)
