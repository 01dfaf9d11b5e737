"""Laws that hold for every streaming kernel, whatever its size, tiles and cores.

The launches' records are made by `laws_harness.cpp` and only timed: nothing is executed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from ci.simulator.toolchain import MACHINE, Toolchain
from ci.system.cache import digest
from ci.system.compiler import compile_trusted
from rules.devices import Device, load_device

KIB, MIB = 1 << 10, 1 << 20
CORES = {"910B1": (1, 2, 8, 16, 24, 48), "910B4": (1, 2, 8, 16, 32, 40)}
TILES = (128, 512, 2 * KIB, 8 * KIB, 32 * KIB, 96 * KIB)
SIZES = (8 * KIB, 256 * KIB, 8 * MIB, 64 * MIB, 512 * MIB)
MOST_TILES = 1 << 12
SLACK = 1.02
"""Phases that meet by chance move a time by a percent or two."""


class Kernel(NamedTuple):
    """`loads` tensors of `bytes` come in by tiles, `stores` (0 or 1) go out."""

    cores: int
    buffers: int
    one_place: int
    loads: int
    stores: int
    bytes: int
    tile: int


Timed = Callable[..., list[float]]
SHAPES = ((2, 1, 1), (2, 1, 2), (1, 0, 2))
"""Loads, stores and buffers of the kernels."""


@pytest.fixture(scope="module", params=["910B1", "910B4"])
def device(request: pytest.FixtureRequest) -> Device:
    return load_device(request.param)


@pytest.fixture(scope="module")
def times(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Timed:
    """Microseconds of kernels, with some constants moved."""
    toolchain = Toolchain(device.architecture)
    source = Path(__file__).with_name("laws_harness.cpp")
    units = [path for path in sorted(MACHINE.glob("*.cpp")) if path.name != "runner.cpp"]
    objects = [str(path) for path in toolchain.machine_objects(units)]
    key = digest([*toolchain.machine_flags, source.read_bytes(), *objects])

    def make(folder: Path) -> None:
        flags = [*toolchain.machine_flags, str(source), *objects]
        compile_trusted([*flags, "-ldl", "-lpthread", "-o", "harness"], folder)

    harness = toolchain.cache.get("laws_harness", key, make) / "harness"
    constants = tmp_path_factory.mktemp("laws") / "constants"

    def run(kernels: Sequence[Kernel], moved: Mapping[str, float] = {}) -> list[float]:
        values = device.constants | moved
        lines = [f"{name}\t{value!r}\n" for name, value in values.items()]
        constants.write_text("".join(lines), encoding="utf-8")
        asked = "".join(" ".join(map(str, kernel)) + "\n" for kernel in kernels)
        done = subprocess.run(
            [harness, constants], input=asked, capture_output=True, text=True, check=True
        )
        assert len(done.stdout.split()) == len(kernels), done.stderr
        return [float(cycles) / device.clock_mhz for cycles in done.stdout.split()]

    return run


def even(size: int, tile: int, device: Device) -> int:
    """The size rounded up so that every number of cores gets equally many whole tiles."""
    grain = tile * (240 if device.vector_cores == 40 else 48)
    return -(-size // grain) * grain


def kernels(device: Device, cores: Sequence[int]) -> list[list[Kernel]]:
    """Every shape, size and tile that is no larger than `MOST_TILES`, on those cores."""
    return [
        [Kernel(n, buffers, 0, loads, stores, size, tile) for n in cores]
        for loads, stores, buffers in SHAPES
        for tile in TILES
        for size in dict.fromkeys(even(size, tile, device) for size in SIZES)
        if size <= min(SIZES[-1], MOST_TILES * tile)
    ]


def launch_us(device: Device, cores: int) -> float:
    """What starting so many vector cores costs."""
    fetch = device.number("launch.fetch_cycles_per_core") / device.clock_mhz
    return (device.number("launch.us_per_core") + fetch) * ((cores + 1) // 2)


@pytest.mark.few(1)
def test_more_cores_never_slow_a_kernel_by_more_than_their_launch(
    device: Device, times: Timed
) -> None:
    for row in kernels(device, CORES[device.name]):
        found = list(zip(row, times(row), strict=True))
        for (one, before), (other, after) in pairwise(found):
            more = launch_us(device, other.cores) - launch_us(device, one.cores)
            assert after <= SLACK * before + more, (one, other, before, after)


def test_no_kernel_moves_more_than_the_chip_can(device: Device, times: Timed) -> None:
    memory = device.number("hbm.bytes_per_second") / 1e6
    shared = device.number("l2.bytes_per_second") / 1e6
    for row in kernels(device, CORES[device.name][-1:]):
        kernel, us = row[0], times(row)[0]
        assert kernel.loads * kernel.bytes / us <= memory, kernel
        assert (kernel.loads + kernel.stores) * kernel.bytes / us <= shared, kernel


def test_a_core_moves_no_more_than_its_ports_can(device: Device, times: Timed) -> None:
    ports = (device.number("mte2.bytes_per_cycle") + device.number("mte3.bytes_per_cycle")) * (
        device.clock_mhz
    )
    for row in kernels(device, [1]):
        kernel, us = row[0], times(row)[0]
        assert (kernel.loads + kernel.stores) * kernel.bytes / us <= ports, kernel


@pytest.mark.few(1)
@pytest.mark.parametrize("one_place", [0, 1])
def test_time_never_falls_when_work_grows(device: Device, times: Timed, one_place: int) -> None:
    # Who reads one place drifts in and out of step, and waits for the other readers in turn.
    slack = 1.12 if one_place else 1.01
    for loads, stores, buffers in SHAPES:
        for tile in TILES:
            for cores in CORES[device.name][::2]:
                steps = [2**n for n in range(1, 13, 2)]
                steps = [n for n in steps if cores * n <= MOST_TILES]
                sizes = [cores * tile * n for n in steps if cores * tile * n <= SIZES[-1]]
                row = [
                    Kernel(cores, buffers, one_place, loads, stores, size + extra, tile)
                    for size in sizes
                    for extra in (0, tile)
                ]
                found = times(row)
                for (kernel, before), (other, after) in pairwise(zip(row, found, strict=True)):
                    assert after >= before / slack, (kernel, other, before, after)


def test_cores_in_step_do_not_slow_each_other_at_an_idle_memory(
    device: Device, times: Timed
) -> None:
    # Each core has the same work, of 512-byte tiles, which leaves the memory nearly idle.
    alone, many = times([Kernel(n, 1, 0, 2, 1, n * 64 * KIB, 512) for n in (1, 16)])
    assert many <= 1.05 * alone + launch_us(device, 16)


def test_cores_that_read_one_place_never_gain_by_being_more(device: Device, times: Timed) -> None:
    # Each core reads the same tiles, so that more cores are more readers of each.
    counts = (1, 2, 3, 4, 6, 8, 12, 24, device.vector_cores)
    for tile in (128, 2 * KIB, 32 * KIB, 96 * KIB):
        for loads, stores, buffers in SHAPES:
            found = times(
                [Kernel(n, buffers, 1, loads, stores, n * 32 * tile, tile) for n in counts]
            )
            for (few, before), (more, after) in pairwise(zip(counts, found, strict=True)):
                assert after >= before / 1.01, (tile, few, more, before, after)


def test_few_readers_of_one_place_cost_each_other_something(device: Device, times: Timed) -> None:
    alone, six = times([Kernel(n, 2, 1, 1, 0, n * MIB, 32 * KIB) for n in (1, 6)])
    assert six - launch_us(device, 6) > 1.1 * (alone - launch_us(device, 1))


@pytest.mark.long
@pytest.mark.few(1)
def test_a_dirty_cache_never_makes_a_kernel_cheaper(device: Device, times: Timed) -> None:
    for row in kernels(device, CORES[device.name][-2:]):
        clean, dirty = times(row), times(row, {"l2.written": 1.0})
        for kernel, before, after in zip(row, clean, dirty, strict=True):
            assert after >= before / 1.005, (kernel, before, after)


def test_a_dirty_cache_makes_a_store_cost_what_it_puts_out(device: Device, times: Timed) -> None:
    copy = Kernel(device.vector_cores, 2, 0, 1, 1, 24 * MIB, 32 * KIB)
    clean, dirty = (times([copy], {"l2.written": written})[0] for written in (0.0, 1.0))
    assert 1.5 * clean < dirty
    # Beyond what may wait, each byte that comes in or goes out puts one out.
    rate = device.number("hbm.bytes_per_second") * device.number("hbm.efficiency") / 1e6
    put_out = 2 * copy.bytes - device.number("l2.write_back_bytes")
    assert dirty > (copy.bytes + put_out) / rate
