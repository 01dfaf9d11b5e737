"""The paired verdicts held against simulated noise: how often they are wrong, what they cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from ci.judge.paired.noise_floor import ENOUGH_RUNS, floor_of, means_and_errors
from ci.judge.paired.plan import Plan
from ci.judge.paired.screen import screen
from ci.judge.paired.signed_rank import Floats
from lab.model.noise import NoiseRow, NoiseSettings

SLOW_CLOCK: Final = 0.8
"""The slower of two clocks, as a share of the rated one."""

CHUNK: Final = 1000
"""Experiments decided at once; the Walsh averages of 40 pairs take 7 MB then."""

# Each gives the logarithms of the noise of samples in the order they were taken: the shape is
# (experiments, samples), the scale that of one sample's relative scatter.
Noise = Callable[[np.random.Generator, tuple[int, int], float], Floats]


def normal(random: np.random.Generator, shape: tuple[int, int], scale: float) -> Floats:
    """Independent, as the central limit has it."""
    return random.normal(0.0, scale, shape)


def heavy_tailed(random: np.random.Generator, shape: tuple[int, int], scale: float) -> Floats:
    """Student's t with 3 degrees of freedom: a sample in a hundred is four scales away."""
    return np.asarray(random.standard_t(3, shape) * scale / np.sqrt(3))


def drifting(random: np.random.Generator, shape: tuple[int, int], scale: float) -> Floats:
    """A walk under the scatter (a chip that warms up), and a slope of five scales."""
    steps = np.cumsum(random.normal(0.0, scale / 5, shape), axis=1)
    slope = np.linspace(0, 5 * scale, shape[1])
    return random.normal(0.0, scale, shape) + steps + slope


def two_clocks(random: np.random.Generator, shape: tuple[int, int], scale: float) -> Floats:
    """A quarter of the samples at 80 % of the clock, in stretches of about ten."""
    drawn, slow = random.random(shape) < 0.1, random.random(shape) < 0.25
    drawn[:, 0] = True
    # Each sample has the state that was drawn last.
    last = np.maximum.accumulate(np.where(drawn, np.arange(shape[1]), 0), axis=1)
    state = np.take_along_axis(slow, last, axis=1)
    return random.normal(0.0, scale, shape) + np.where(state, -np.log(SLOW_CLOCK), 0.0)


class Kind(NamedTuple):
    """A device's noise."""

    noise: Noise
    clock_read: bool = False
    """Whether the tools say which samples were taken at the slow clock."""
    placement: float = 0.0
    """Relative difference between two builds of one program, as a standard deviation."""


KINDS: Final = {
    "normal": Kind(normal),
    "heavy-tailed": Kind(heavy_tailed),
    "drifting": Kind(drifting),
    "two clocks": Kind(two_clocks),
    "two clocks, clock read": Kind(two_clocks, clock_read=True),
    "builds differ by 1 %": Kind(normal, placement=0.01),
}


def measure(settings: NoiseSettings) -> list[NoiseRow]:
    """Verdicts by kind of noise and true gain; equal seeds give equal tables."""
    return [
        _row(name, kind, gain, np.random.default_rng((settings.seed, index)), settings)
        for index, (name, kind) in enumerate(KINDS.items())
        for gain in settings.gains
    ]


def _row(
    name: str,
    kind: Kind,
    gain: float,
    random: np.random.Generator,
    settings: NoiseSettings,
) -> NoiseRow:
    plan = Plan()
    faster = missed = used = 0
    for start in range(0, settings.trials, CHUNK):
        count = min(CHUNK, settings.trials - start)
        floor = _learnt(kind, (count, plan.looks[0]), random, settings.scatter)
        logs = _pairs(kind, gain, (count, plan.looks[-1]), random, settings.scatter)
        undecided = np.ones(count, dtype=bool)
        for look in plan.looks:
            found = plan.decide(logs[undecided, :look], floor[undecided])
            used += look * int(found.decided.sum())
            faster += int(found.faster.sum())
            missed += int(found.not_faster.sum())
            undecided[undecided] = ~found.decided
        used += plan.looks[-1] * int(undecided.sum())
    return NoiseRow(
        noise=name,
        gain=gain,
        trials=settings.trials,
        faster=faster / settings.trials,
        not_faster=missed / settings.trials,
        pairs=used / settings.trials,
        most_pairs=plan.looks[-1],
        must_find=not kind.placement,
    )


def _learnt(
    kind: Kind, shape: tuple[int, int], random: np.random.Generator, scatter: float
) -> Floats:
    """The floor that each experiment learns from its A/A runs before."""
    runs = [means_and_errors(_pairs(kind, 0.0, shape, random, scatter)) for _ in range(ENOUGH_RUNS)]
    means, errors = (np.stack([run[i] for run in runs], axis=-1) for i in (0, 1))
    return floor_of(means, errors)


def _pairs(
    kind: Kind, gain: float, shape: tuple[int, int], random: np.random.Generator, scatter: float
) -> Floats:
    """Logarithms of baseline over candidate of the pairs that count: (experiments, pairs)."""
    count, pairs = shape
    taken = 2 * pairs
    samples = kind.noise(random, (count, 2 * taken), scatter).reshape(count, taken, 2)
    # What this noise adds beyond half of the slow clock's is the slow clock.
    slow = samples > -np.log(SLOW_CLOCK) / 2
    clocks = np.where(slow, SLOW_CLOCK, 1.0) if kind.clock_read else None
    first = random.random((count, taken)) < 0.5
    samples[first] = samples[first][:, ::-1]
    if clocks is not None:
        clocks[first] = clocks[first][:, ::-1]
    samples[..., 1] += random.normal(0.0, kind.placement, (count, 1)) - np.log1p(gain)
    kept = screen(np.exp(samples), clocks).kept
    counting = np.argsort(~kept, axis=1, kind="stable")[:, :pairs]
    logs = np.asarray(samples[..., 0] - samples[..., 1])
    return np.take_along_axis(logs, counting, axis=1)
