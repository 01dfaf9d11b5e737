"""Constants fitted to measurements, by formulas that are those of the machine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.simulator.toolchain import MACHINE, Toolchain
from ci.system.compiler import compile_trusted
from lab.calibrate import (
    Group,
    calibrate,
    copy_cycles,
    counted_us,
    fit,
    stream_us,
    vector_constant,
    write_constants,
)
from rules.devices import Device, lineage, load_device


@pytest.mark.parametrize("device", ["910B1", "910B4"])
def test_the_shipped_constants_are_those_that_the_measurements_give(device: str) -> None:
    for group in calibrate(device).groups:
        for constant in group.constants:
            tolerance = 0.3 if constant.name.startswith("launch") else 0.1
            assert constant.current == pytest.approx(constant.fitted, rel=tolerance), constant.name


def test_rows_made_from_known_constants_give_them_back() -> None:
    device = load_device("910B1")
    known = dict(device.constants) | {
        "mte2.latency": 300.0,
        "hbm.extra_ns": 270.0,
        "mte2.window_bytes": 40000.0,
        "mte2.bytes_per_cycle": 100.0,
    }
    rows = []
    for memory in ("l2", "memory"):
        for size in (256, 4096, 65536):
            row = {
                "name": "made", "chip": "910B1", "mhz": "1850", "port": "gm_to_ub",
                "memory": memory,
                "bytes": str(size), "back_to_back": "1", "source": "here",
            }  # fmt: skip
            rows.append(row | {"cycles": repr(copy_cycles(known, row))})
    names = tuple(name for name in known if known[name] != device.constants[name])
    group = Group(
        title="reads", names=names, rows=tuple(rows), measured="cycles", predict=copy_cycles
    )
    for constant in fit(group, device).constants:
        assert constant.fitted == pytest.approx(known[constant.name], rel=0.01)


def test_no_fit_sees_a_held_out_row_and_most_are_foretold() -> None:
    found = calibrate("910B1")
    fitted = {row.name for group in found.groups for row in group.rows}
    assert found.held_out and not fitted & {row.name for row in found.held_out}
    assert found.held_out_error < 0.15


def test_a_vector_constant_falls_back_from_dtype_to_instruction() -> None:
    device = load_device("910B1")
    assert vector_constant(device, "vexp", "f16", "cycles") == 4
    assert vector_constant(device, "vsub", "f16", "cycles") == 1
    with pytest.raises(InputError, match=r"lacks the constant 'vector\.unheard_of\.latency'"):
        vector_constant(device, "unheard_of", "f16", "latency")


def test_writing_changes_values_and_keeps_sources(tmp_path: Path) -> None:
    files = [Path(shutil.copy(path, tmp_path)) for path in lineage("910B1").values()]
    own, base = (path.read_text() for path in files)
    changed = write_constants(calibrate("910B1"), files)
    assert files[0].read_text() == own, "what is fitted stands in the base"
    after = files[1].read_text()
    differing = [
        (a, b) for a, b in zip(base.splitlines(), after.splitlines(), strict=True) if a != b
    ]
    assert 0 < changed == len(differing)
    for old, new in differing:
        assert old.partition("#")[2] == new.partition("#")[2]
        assert float(new.partition("=")[2].partition("#")[0]) > 0


LEFT_OUT = (
    "hbm.queue_cycles",
    "gm.burst_cycles",
    "mte2.issue_cycles",
    "mte3.issue_cycles",
)
"""What the machine adds to every copy and the fits do not see: each is measured on its own."""

Machine = Callable[..., tuple[float, float]]

PORTS = {"gm_to_ub": 0, "ub_to_gm": 1, "gm_to_l1": 2}


@pytest.fixture(scope="module", params=["910B1", "910B4"])
def device(request: pytest.FixtureRequest) -> Device:
    found = load_device(request.param)
    return found.model_copy(update={"constants": found.constants | dict.fromkeys(LEFT_OUT, 0.0)})


@pytest.fixture(scope="module")
def machine(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """(cycles, latency) of copies in the machine's memory system; see `copies.cpp`."""
    folder = tmp_path_factory.mktemp("copies")
    toolchain = Toolchain(device.architecture)
    sources = [MACHINE / f"{name}.cpp" for name in ("bandwidth", "l2", "constants")]
    objects = map(str, toolchain.machine_objects(sources))
    harness = str(Path(__file__).with_name("copies.cpp"))
    compile_trusted([*toolchain.machine_flags, harness, *objects, "-o", "copies"], folder)
    lines = [f"{name}\t{value!r}\n" for name, value in device.constants.items()]
    (folder / "constants").write_text("".join(lines), encoding="utf-8")

    def run(
        port: str, cores: int, copies: int, bursts: int, length: int, *,
        from_memory: bool = False, past_l2: bool = False, one_place: bool = False,
    ) -> tuple[float, float]:  # fmt: skip
        asked = [PORTS[port], cores, copies, bursts, length, from_memory, past_l2, one_place]
        done = subprocess.run(
            [folder / "copies", folder / "constants"],
            input=" ".join(str(int(one)) for one in asked),
            capture_output=True,
            text=True,
            check=True,
        )
        cycles, latency = map(float, done.stdout.split())
        return cycles, latency

    return run


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("memory", ["l2", "memory"])
@pytest.mark.parametrize("size", [1024, 8192, 196608])
@pytest.mark.parametrize("copies", [1, 4])
def test_the_fits_of_single_copies_say_what_the_machine_says(
    device: Device, machine: Machine, port: str, memory: str, size: int, copies: int
) -> None:
    row = {"port": port, "memory": memory, "bytes": str(size), "back_to_back": str(copies)}
    row["mhz"] = str(device.clock_mhz)
    moved = machine(port, 1, copies, 1, size, from_memory=memory == "memory")
    assert sum(moved) == pytest.approx(copy_cycles(device.constants, row), rel=2e-3)


@pytest.mark.parametrize("tile", [8192, 65536])
@pytest.mark.parametrize("burst", [128, 256, 2048])
@pytest.mark.parametrize("kind", ["memory read", "one place", "past L2 by short bursts"])
def test_the_fits_of_all_cores_say_what_the_machine_says(
    device: Device, machine: Machine, kind: str, burst: int, tile: int
) -> None:
    cores, copies = device.vector_cores, 1 if kind == "one place" else 3
    row = {
        "chip": device.name, "kind": kind, "bytes": str(cores * copies * tile),
        "burst_bytes": str(burst), "mhz": str(device.clock_mhz), "cores": str(cores),
    }  # fmt: skip
    cycles, _ = machine(
        "gm_to_ub", cores, copies, tile // burst, burst, from_memory=not kind.startswith("past"),
        past_l2=kind.startswith("past"), one_place=kind == "one place",
    )  # fmt: skip
    assert cycles / device.clock_mhz == pytest.approx(stream_us(device.constants, row))


@pytest.mark.parametrize("kind", ["bursts_from_l2", "bursts_from_memory"])
@pytest.mark.parametrize("bursts", [64, 1000])
def test_the_fits_of_bursts_into_l1_say_what_the_machine_says(
    device: Device, machine: Machine, kind: str, bursts: int
) -> None:
    row = {"kind": kind, "count": str(bursts), "mhz": str(device.clock_mhz)}
    cycles, _ = machine("gm_to_l1", 1, 1, bursts, 128, from_memory=kind.endswith("memory"))
    assert cycles / device.clock_mhz == pytest.approx(counted_us(device.constants, row))
