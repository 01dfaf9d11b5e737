"""How near a measurement comes to what the chip can do at most, and the floor under its time.

Peaks are those of the device file: the memory behind L2, L2 itself and the ports of the cores for
copies, and the vector (or cube) units of all cores at one repeat (or fractal) a cycle.
"""

from __future__ import annotations

from dataclasses import dataclass

from ci.model.ensemble import CONDITIONS
from ci.model.errors import InputError
from ci.model.profile import Roofline
from ci.model.trial import (
    CaseMeasurement,
    Fingerprint,
    Measurement,
    PipeTime,
)
from ci.simulator.ensemble import states
from rules.devices import Device, load_device


def roofline(case: CaseMeasurement, device: Device) -> Roofline:
    """The roofline of one case on `device`."""
    pipes = case.pipes
    seconds = case.median_us / 1e6
    moved = pipes.gm_read_bytes + pipes.gm_write_bytes
    rate = moved / seconds if seconds else 0.0
    total = max(1, pipes.total_cycles)
    vectors = pipes.busy_cycles.get("VECTOR", 0.0)
    useful = max(0.0, vectors - pipes.bank_conflict_cycles)
    cubes = pipes.busy_cycles.get("CUBE", 0.0)
    # Busy cycles are means over the cores that ran; a block of a mix kernel has two vector cores.
    per_block = 2 if vectors and cubes else 1
    vector = useful * pipes.block_dim * per_block / total / device.number("device.vector_cores")
    cube = cubes * pipes.block_dim / total / device.number("device.cube_cores")
    # What L2 answers again is no achievement, so the bytes count once; no share is above one.
    ports = ports_of(device, vectors > 0, cubes > 0)
    copies = copies_us(device, *touched_bytes(pipes), ports, device.cube_cores)
    bandwidth = min(1.0, copies / case.median_us) if case.median_us else 0.0
    return Roofline(
        case=case.case,
        bandwidth=bandwidth,
        bytes_per_second=rate,
        vector=min(vector, 1.0),
        cube=min(cube, 1.0),
        intensity=(useful * per_block + cubes) * pipes.block_dim / max(moved / 1024, 1e-9),
        bound="bandwidth" if bandwidth >= max(vector, cube) else "arithmetic",
        floor_us=floor_of(case, device).us,
        time_us=case.median_us,
    )


@dataclass(frozen=True)
class Floor:
    """The least time for the same bytes and arithmetic, and what makes it, in µs."""

    cores: int
    """AI cores at which launch and work together are least."""
    launch_us: float
    start_us: float
    """Until the cores have their first code and the scalar unit runs, and until the first bytes
    are there and the last ones have left."""
    copies_us: float
    arithmetic_us: float

    @property
    def us(self) -> float:
        """The launch, the start, then copies and arithmetic in parallel. Nothing waits."""
        return self.launch_us + self.start_us + max(self.copies_us, self.arithmetic_us)


@dataclass(frozen=True)
class Ports:
    """What the copies of one AI core move at most, in bytes a µs."""

    read: float
    written: float


def ports_of(device: Device, vector: bool, cube: bool) -> Ports:
    """The ports of the units that work. A read from the memory waits: a core asks for a window at a
    time, and the next one comes a latency later."""

    def read(port: str, window: str) -> float:
        waits = _read_latency(device)
        return min(device.number(port), device.number(window) / waits) * mhz

    mhz = device.clock_mhz
    reads = writes = 0.0
    if vector or not cube:
        vectors = device.vector_cores / device.cube_cores
        reads += read("mte2.bytes_per_cycle", "mte2.window_bytes") * vectors
        writes += device.number("mte3.bytes_per_cycle") * mhz * vectors
    if cube:
        reads += read("mte2.l1_bytes_per_cycle", "mte2.l1_window_bytes")
        writes += device.number("fix.bytes_per_cycle") * mhz
    return Ports(reads, writes)


def copies_us(
    device: Device, read_bytes: int, written_bytes: int, ports: Ports, cores: int
) -> float:
    """The least time of the copies in µs: at the rate of the memory, of L2, or of the ports of so
    many AI cores, whichever is least.

    What is written stays in L2 as far as that holds it; what has to leave costs the memory
    `hbm.write_back_factor` of a byte read, but for what may still wait at the end. Inputs that lie
    in L2 when the launch begins cost the memory nothing; where other kernels have filled it, each
    byte that comes in puts one out.
    """
    reachable = device.number("hbm.bytes_per_second") * device.number("hbm.efficiency") / 1e6
    missed = read_bytes * (1 - device.number("l2.inputs"))
    leaving = max(0.0, written_bytes - device.number("l2.bytes"))
    leaving += device.number("l2.written") * (missed + written_bytes - leaving)
    leaving *= device.number("hbm.write_back_factor")
    through = missed + max(0.0, leaving - device.number("l2.write_back_bytes"))
    # What the buffers of the stores hold passes L2 at the pace of the memory.
    buffers = device.number("mte3.buffer_bytes") * cores * device.vector_cores / device.cube_cores
    both = max(0.0, read_bytes + written_bytes - buffers)
    cache = device.number("l2.bytes_per_second") / 1e6 + reachable
    own = max(read_bytes / ports.read, written_bytes / ports.written) / cores
    return max(through / reachable, both / cache, own)


def floor(
    device: Device,
    read_bytes: int,
    written_bytes: int,
    vector_cycles: float,
    cube_cycles: float,
) -> Floor:
    """The floor for these bytes and this arithmetic, on as many cores as pay.

    The launch of n AI cores and their start, then in parallel: the copies, and the busy cycles of
    their vector and cube units. `vector_cycles` and `cube_cycles` are summed over cores, bank
    conflicts taken off.
    """
    cores = device.cube_cores
    every = (
        floor_at(n, device, read_bytes, written_bytes, vector_cycles, cube_cycles)
        for n in range(1, cores + 1)
    )
    return min(every, key=lambda f: f.us)


def floor_at(
    cores: int,
    device: Device,
    read_bytes: int,
    written_bytes: int,
    vector_cycles: float = 0.0,
    cube_cycles: float = 0.0,
) -> Floor:
    """The same on so many AI cores."""
    ports = ports_of(device, vector_cycles > 0, cube_cycles > 0)
    kinds = (vector_cycles > 0 or not cube_cycles) + (cube_cycles > 0)
    vectors = device.vector_cores / device.cube_cores
    arithmetic = max(vector_cycles / vectors, cube_cycles) / cores / device.clock_mhz
    copies = copies_us(device, read_bytes, written_bytes, ports, cores)
    start = device.number("launch.fetch_cycles_per_core") * cores * kinds
    start += device.number("launch.start_up_cycles")
    start += _read_latency(device) * (read_bytes > 0)
    start += device.number("mte3.latency") * (written_bytes > 0)
    return Floor(cores, launch_us(device, cores), start / device.clock_mhz, copies, arithmetic)


def _read_latency(device: Device) -> float:
    """Cycles until the first bytes of a read are there."""
    past = device.number("hbm.extra_ns") * device.clock_mhz / 1e3
    return device.number("mte2.latency") + past * (1 - device.number("l2.inputs"))


def launch_us(device: Device, cores: int) -> float:
    """What it takes to launch so many AI cores."""
    return device.number("launch.base_us") + device.number("launch.us_per_core") * (cores - 1)


def floor_of(case: CaseMeasurement, device: Device) -> Floor:
    """The floor under what a case computed and the bytes that it touched, each of them moved once.

    What is read again need not be: L2 answers it, or a better program keeps it. A profiler that
    tells only what was moved in all gives that.
    """
    pipes = case.pipes
    vectors = pipes.busy_cycles.get("VECTOR", 0.0)
    useful = max(0.0, vectors - pipes.bank_conflict_cycles)
    cubes = pipes.busy_cycles.get("CUBE", 0.0)
    # Busy cycles are means over the cores that ran; a block of a mix kernel has two vector cores.
    per_block = 2 if vectors and cubes else 1
    return floor(
        device,
        *touched_bytes(pipes),
        useful * per_block * pipes.block_dim,
        cubes * pipes.block_dim,
    )


def touched_bytes(pipes: PipeTime) -> tuple[int, int]:
    """Bytes read and written, each counted once where the profiler tells that."""
    read, written = pipes.first_read_bytes, pipes.first_written_bytes
    return (
        pipes.gm_read_bytes if read is None else read,
        pipes.gm_write_bytes if written is None else written,
    )


def rooflines(measurement: Measurement) -> tuple[Roofline, ...]:
    """Return the roofline of each case, where the chip's peaks are known."""
    device = launched_on(measurement.fingerprint)
    return () if device is None else tuple(roofline(case, device) for case in measurement.cases)


def launched_on(fingerprint: Fingerprint) -> Device | None:
    """The chip as launches found it, in the state that they began in; None for an unknown one."""
    try:
        device = load_device(fingerprint.device)
    except InputError:
        return None
    moved = states(device)[fingerprint.state]
    return device.model_copy(update={"constants": device.constants | moved})


NEAR = 1.03
"""Where so little is left to win at most, no search is worth its time."""


BELOW = 0.99
"""No launch takes less than this share of its floor; rounding may hide a little."""


def left_to_win(measurement: Measurement) -> float | None:
    """How many times as fast any kernel that moves the same bytes may be, at most, in the case in
    which most is left.

    In every state that was timed, and on one number of cores: few start early, many are faster once
    their code and inputs are there. Arithmetic does not count, as a better program may need less of
    it. None where the chip is unknown, and where a time below the floor says that it is no time of
    this chip.
    """
    own = measurement.fingerprint
    found = 1.0
    for case in measurement.cases:
        times = {n: us for n, us in case.members_us.items() if n in CONDITIONS}
        most = 0.0
        chips = {}
        for state in times or {own.state: 0.0}:
            chip = launched_on(own.model_copy(update={"state": state}))
            if chip is None:
                return None
            chips[state] = chip
        touched = touched_bytes(case.pipes)
        for cores in range(1, next(iter(chips.values())).cube_cores + 1):
            gains = (
                times.get(state, case.median_us) / floor_at(cores, chip, *touched).us
                for state, chip in chips.items()
            )
            most = max(most, min(gains))
        if most < BELOW:
            return None
        found = max(found, most)
    return found
