"""Runs the rebuilt versions on the device of their publication, results verified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ci.backend.base import Build
from ci.backend.sim import SimulatorBackend
from ci.host.door import FrontDoor
from ci.model.ensemble import Condition, Ensemble
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Array, CaseRun, Tensors
from ci.model.layout import SOURCES as EDITABLE
from ci.model.workload import Workload, WorkloadCase
from ci.source.discovery import load_operator
from ci.source.golden import Golden
from ci.source.inputs import draw_inputs
from ci.source.workload_file import load_workload
from ci.system.cache import digest, digest_tree
from lab.published.figures import SOURCES, Simulated, Version
from lab.published.kept import KeptRun, KeptRuns
from rules.devices import Device

LAUNCH_SECONDS = 1800.0
"""Wall time of a launch: the scalar version touches 200 million elements one by one."""

TICK_MHZ = 50.0
"""The counter that kernels read on the chip."""

FROM_MEMORY: Final[Condition] = "warm code, inputs in memory"

TIMES = "times"
"""The attribute that says how often a kernel goes through a loop that was timed alone: once more
than was published, so that what the kernel takes for the first time is none of the figure."""

TOLERANCE = 1e-3
"""Relative to the largest golden value; matters only where sums are taken in another order."""


def simulate(
    versions: list[Version], door: FrontDoor | None = None, kept: KeptRuns | None = None
) -> Iterator[Simulated]:
    """Run versions of one family, in order, through `door`; our own headers when not given. Each
    is yielded when it has been verified. What is `kept` is not run again.

    Raises InputError when a version has no workload case or its outputs are wrong, and
    TrialFailure when it does not run.
    """
    family = versions[0].family
    operator = load_operator(SOURCES / family)
    workload = load_workload(operator, None)
    cases = {case.name: case for case in workload.cases}
    golden = Golden(workload, operator)
    builds: dict[str, tuple[SimulatorBackend, Build]] = {}
    for version in versions:
        if version.version not in cases:
            raise InputError(f"The workload of {family} has no case '{version.version}'.")
        if version.device not in builds:
            backend = SimulatorBackend(version.device, door=door, launch_seconds=LAUNCH_SECONDS)
            builds[version.device] = backend, backend.build(operator, {}, workload)
        backend, build = builds[version.device]
        key = digest(
            [
                backend.fingerprint().version,
                digest_tree(SOURCES / family, (*EDITABLE, ".py", ".yaml")),
                version.model_dump_json(),
            ]
        )
        known = kept.rows.get(key) if kept is not None else None
        if known is not None:
            yield known.run
            continue
        case = cases[version.version]
        found = in_unit(version, _verified(build, workload, case, golden, version), backend.device)
        if version.unit == "loop us":
            once = case.model_copy(update={"attrs": {**case.attrs, TIMES: 1}})
            rest = in_unit(
                version, _verified(build, workload, once, golden, version), backend.device
            )
            found = found.model_copy(update={"time": found.time - rest.time})
        if kept is not None:
            kept.add(KeptRun(key=key, run=found))
        yield found


def in_unit(version: Version, run: CaseRun, device: Device) -> Simulated:
    """The figures of a run as they were published: microseconds of the task or, without what the
    launch costs beyond its cores, of a core; or ticks of the counter.

    The published kernels read the counter around instructions that nothing else delays, so ticks
    are those of the vector unit's busy time.
    """
    pipes = {name: cycles / device.clock_mhz for name, cycles in run.pipes.busy_cycles.items()}
    ticks = pipes.get("VECTOR", 0.0) * TICK_MHZ
    time = ticks if version.unit == "ticks" else run.members_us[version.conditions]
    if version.unit == "core us":
        time -= device.number("launch.base_us")
        time -= device.number("launch.us_per_core") * (run.pipes.block_dim - 1)
    return Simulated(
        version=version, time=time, pipes_us=pipes, from_memory=run.members_us.get(FROM_MEMORY)
    )


def _verified(
    build: Build, workload: Workload, case: WorkloadCase, golden: Golden, version: Version
) -> CaseRun:
    conditions = (version.conditions, *((FROM_MEMORY,) if version.conditions == "warm" else ()))
    inputs = draw_inputs(case, workload.seeds[0])
    right = golden.outputs(case, inputs)
    try:
        likes: Tensors = [np.empty_like(one) for one in _arrays(right)]
        run = build.run(case, inputs, likes, ensemble=Ensemble(conditions=conditions))
    except TrialFailure as failure:
        said = failure.refusal.message if failure.refusal else failure.outcome.value
        raise InputError(f"{workload.operator}, {case.name} does not run: {said}") from failure
    for actual, expected in zip(_arrays(run.outputs), _arrays(right), strict=True):
        if not close(actual, expected):
            raise InputError(f"{workload.operator}, {case.name} computes something else.")
    return run


def close(actual: Array, expected: Array) -> bool:
    """Whether two arrays of one shape agree."""
    if actual.dtype == expected.dtype and np.array_equal(actual, expected):
        return True
    apart = np.abs(actual.astype(np.float32) - expected.astype(np.float32))
    return bool(apart.max() <= TOLERANCE * max(1.0, float(np.abs(expected).max())))


def _arrays(tensors: Tensors) -> list[Array]:
    return [one for one in tensors if isinstance(one, np.ndarray)]
