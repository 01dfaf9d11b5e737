"""How near a measurement comes to what the chip can do at most, and the floor under its time.

Peaks are those of the device file: the memory behind L2, and the vector (or cube) units of all its
cores at one repeat (or fractal) a cycle.
"""

from __future__ import annotations

from dataclasses import dataclass

from ci.model.errors import InputError
from ci.model.profile import Roofline
from ci.model.trial import CaseMeasurement, Measurement
from rules.devices import Device, load_device


def roofline(case: CaseMeasurement, device: Device) -> Roofline:
    """The roofline of one case on `device`.

    More than 100 % of the memory's peak is possible: L2 answers what is read again.
    """
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
    bandwidth = rate / device.number("hbm.bytes_per_second")
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
    copies_us: float
    arithmetic_us: float

    @property
    def us(self) -> float:
        """The launch, and beside one another copies and arithmetic. Nothing waits."""
        return self.launch_us + max(self.copies_us, self.arithmetic_us)


def floor(
    device: Device,
    read_bytes: int,
    written_bytes: int,
    vector_cycles: float,
    cube_cycles: float,
) -> Floor:
    """The floor for these bytes and this arithmetic, on as many cores as pay.

    The launch of n AI cores, and beside one another: the copies, at the memory's reachable rate or
    at the ports of n cores, and the busy cycles of their vector and cube units. What is written
    stays in L2 as far as that holds it.
    `vector_cycles` and `cube_cycles` are summed over cores, bank conflicts taken off.
    """
    cores = device.cube_cores
    vectors = device.vector_cores / cores
    reachable = device.number("hbm.bytes_per_second") * device.number("hbm.efficiency") / 1e6
    port = device.number("mte2.bytes_per_cycle") * device.clock_mhz * vectors
    through = read_bytes + max(0.0, written_bytes - device.number("l2.bytes"))

    def at(n: int) -> Floor:
        arithmetic = max(vector_cycles / vectors, cube_cycles) / n / device.clock_mhz
        copies = max(through / reachable, read_bytes / (port * n))
        return Floor(n, launch_us(device, n), copies, arithmetic)

    return min((at(n) for n in range(1, cores + 1)), key=lambda f: f.us)


def launch_us(device: Device, cores: int) -> float:
    """What it takes to launch so many AI cores."""
    return device.number("launch.base_us") + device.number("launch.us_per_core") * (cores - 1)


def floor_of(case: CaseMeasurement, device: Device) -> Floor:
    """The floor under what a case computed and the bytes that it touched, each of them moved once.

    What is read again need not be: L2 answers it, or a better program keeps it. A profiler that
    tells only what was moved in all gives that.
    """
    pipes = case.pipes
    read, written = pipes.first_read_bytes, pipes.first_written_bytes
    vectors = pipes.busy_cycles.get("VECTOR", 0.0)
    useful = max(0.0, vectors - pipes.bank_conflict_cycles)
    cubes = pipes.busy_cycles.get("CUBE", 0.0)
    # Busy cycles are means over the cores that ran; a block of a mix kernel has two vector cores.
    per_block = 2 if vectors and cubes else 1
    return floor(
        device,
        pipes.gm_read_bytes if read is None else read,
        pipes.gm_write_bytes if written is None else written,
        useful * per_block * pipes.block_dim,
        cubes * pipes.block_dim,
    )


def rooflines(measurement: Measurement) -> tuple[Roofline, ...]:
    """Of each case, where the chip's peaks are known."""
    try:
        device = load_device(measurement.fingerprint.device)
    except InputError:
        return ()
    return tuple(roofline(case, device) for case in measurement.cases)
