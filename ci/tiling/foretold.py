"""The gain of a limit on the cores, foretold from the profile of what it starts from.

Starting a core costs time, and a kernel that waits for the memory is no slower on fewer cores as
long as their ports and vector units keep up. Both are known before anything is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Final

from ci.judge.roofline import Floor, floor_at, launched_on, touched_bytes
from ci.model.ensemble import CONDITIONS
from ci.model.objective import gains, worth
from ci.model.trial import CaseMeasurement, Measurement, Trial
from ci.tiling.knobs import LEAST_UB
from ci.tiling.template import Knob, KnobValue, TilingTemplate
from rules.devices import Device, nearest_device

LEAST: Final = 1.02
"""A limit is foretold to help from 2 % on: what is foretold may be wrong by as much."""

SLOWER: Final = 0.995
"""No case may be foretold to lose more than half a percent as measured, and in no other start state
may the cases together."""


def cores_at(knob: Knob, value: KnobValue, size: int | None) -> int | None:
    """How many cores a knob leaves for so many elements of the input that is cut, at most; None
    where that is not known."""
    if knob.kind in ("core_cap", "literal", "block_constant"):
        return int(value) if knob.decides == "block_dim" else None
    if size is None or "output" in knob.name or value <= 0:
        return None
    if knob.kind == "core_work":
        return size // int(value) + 1
    return max(1, isqrt(size // int(value))) if knob.kind == "core_root" else None


def starves(template: TilingTemplate, knob: Knob, value: KnobValue, best: Trial) -> bool:
    """Whether a value leaves some case so few cores that these cannot be as fast as it is now,
    whatever they do."""
    measured = best.measurement
    if measured is None or not measured.fingerprint.simulated or value == knob.neutral:
        return False
    chip = launched_on(measured.fingerprint)
    if chip is None:
        return False
    sizes = template.cut.elements or (None,) * len(measured.cases)
    for case, size in zip(measured.cases, sizes, strict=False):
        cores = cores_at(knob, value, size)
        if cores is None or cores >= case.pipes.block_dim:
            continue
        a_cube = 1 if case.pipes.busy_cycles.get("CUBE") else chip.vector_cores // chip.cube_cores
        now, then = (
            floor_at(-(-count // a_cube), chip, *touched_bytes(case.pipes)).us
            for count in (case.pipes.block_dim, cores)
        )
        if now <= case.median_us < then:
            return True
    return False


def limits_nothing(template: TilingTemplate, knob: Knob, value: KnobValue) -> bool:
    """Whether a limit that is not there yet leaves every case all cores, or all of the unified
    buffer."""
    sizes = template.cut.elements
    if not sizes or template.values[knob.name] != knob.neutral:
        return False
    chip = nearest_device(template.device)
    if knob.kind == "ub_work":
        room = chip.architecture.memory_bytes("UB")
        return all(size * int(value) + LEAST_UB >= room for size in sizes)
    cores = [cores_at(knob, value, size) for size in sizes]
    return all(n is not None and n >= chip.vector_cores for n in cores)


def foretold(
    knob: Knob, value: KnobValue, sizes: Sequence[int | None], measured: Measurement
) -> float:
    """How many times as fast a limit on the cores makes the program, as a search counts it.

    1 where that is not known, where some case would be slower as measured, and where all together
    would be in some state that was timed: what the verdict asks.
    """
    cases = []
    for case, size in zip(measured.cases, sizes, strict=False):
        cores = cores_at(knob, value, size)
        if cores is None:
            return 1.0
        times = {
            state: _time(case, us, cores, measured, state)
            for state, us in {measured.fingerprint.state: case.median_us, **_timed(case)}.items()
        }
        if any(us is None for us in times.values()):
            return 1.0
        known = {state: us for state, us in times.items() if us is not None}
        own = known[measured.fingerprint.state]
        if own * SLOWER > case.median_us:
            return 1.0
        moved = {"samples_us": (own,), "median_us": own, "low_us": own, "high_us": own}
        cases.append(
            case.model_copy(update=moved | {"members_us": {s: known[s] for s in _timed(case)}})
        )
    then = measured.model_copy(update={"cases": tuple(cases)})
    if any(gain < SLOWER for gain in gains(measured, then).values()):
        return 1.0
    return worth(measured, then)


def _timed(case: CaseMeasurement) -> dict[str, float]:
    return {state: us for state, us in case.members_us.items() if state in CONDITIONS}


def _time(
    case: CaseMeasurement, us: float, cores: int, measured: Measurement, state: str
) -> float | None:
    """The time on at most so many cores in µs; None where the chip is unknown, or the program takes
    less than its copies do.

    What the program takes above launch, start, copies and arithmetic is filling and draining the
    pipes: as much on each core, whatever else it has to do. Arithmetic takes the cycles that were
    counted in the state of the measurement, or what another state has left for it.
    """
    chip = launched_on(measured.fingerprint.model_copy(update={"state": state}))
    if chip is None:
        return None
    blocks = case.pipes.block_dim
    if cores >= blocks:
        return us
    now, then = (_floor(case, n, chip) for n in (blocks, cores))
    left = us - now.launch_us - now.start_us
    if left < now.copies_us:
        return None
    arithmetic = min(now.arithmetic_us, left)
    slower = then.arithmetic_us / now.arithmetic_us if now.arithmetic_us else 1.0
    before = max(now.copies_us, arithmetic)
    after = max(then.copies_us, arithmetic * slower)
    return us + then.launch_us + then.start_us + after - now.launch_us - now.start_us - before


def _floor(case: CaseMeasurement, blocks: int, chip: Device) -> Floor:
    """The floor on so many blocks for what the program does now, bank conflicts included."""
    vectors = case.pipes.busy_cycles.get("VECTOR", 0.0)
    cubes = case.pipes.busy_cycles.get("CUBE", 0.0)
    a_core = 1 if cubes else chip.vector_cores // chip.cube_cores
    per_block = 2 if vectors and cubes else 1
    return floor_at(
        -(-blocks // a_core),
        chip,
        *touched_bytes(case.pipes),
        vectors * per_block * case.pipes.block_dim,
        cubes * case.pipes.block_dim,
    )
