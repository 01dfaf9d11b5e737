"""Fits the machine's free constants to the shipped measurements (rules/devices/measurements).

Each group is a principle with few constants and the rows that determine them; the formulas are
those of ci/simulator/machine/bandwidth.cpp for one copy at a time, without what load, issue and
bursts add to it, and tests/lab/test_calibrate.py holds the two together. Fits minimise the
logarithm of predicted over measured, each source of rows with equal weight, so that a long table
of one source does not outvote a single measurement of another. What only whole runs determine (how
cores share the memory, the scalar unit) is judged by lab/published.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from scipy.optimize import least_squares

from lab.model.calibration import Calibration, ConstantResult, GroupResult, RowResult
from lab.published.figures import read_rows
from rules.devices import MEASUREMENTS, Device, load_device

DIGITS: Final = 3
"""Significant digits of a fitted constant; the measurements carry no more."""

WINDOW: Final = 512
LINE: Final = 128
"""Bytes of GM that count as one place."""

Row = Mapping[str, str]
Predict = Callable[[Mapping[str, float], Row], float]


class Group(NamedTuple):
    """A principle to be fitted."""

    title: str
    names: tuple[str, ...]
    rows: tuple[dict[str, str], ...]
    measured: str
    """Column of the rows that is predicted."""
    predict: Predict


def calibrate(name: str) -> Calibration:
    """Fit every group; `name` is the device whose constants are compared and start the fits."""
    device = load_device(name)
    return Calibration(
        device=name,
        groups=tuple(fit(group, device) for group in groups(device)),
        held_out=tuple(
            _held_out_copies(device) + _held_out_start(device) + _held_out_vector(device)
        ),
    )


def load_cycles(constants: Mapping[str, float], row: Row, stem: str = "mte2") -> float:
    """Cycles of copies into a core's memory: a latency, and what is asked for at a time over it."""
    latency = constants["mte2.latency"]
    if row["memory"] == "memory":
        latency += constants["hbm.extra_ns"] * float(row["mhz"]) / 1000
    bytes_ = int(row["bytes"])
    port = bytes_ / constants[f"{stem}bytes_per_cycle"]
    if stem == "mte2.l1_":
        port += constants["mte2.l1_burst_cycles"]
        port += (row["memory"] == "memory") * constants["mte2.l1_burst_memory_cycles"]
    asked = bytes_ * latency / constants[f"{stem}window_bytes"]
    return latency + int(row["back_to_back"]) * max(port, asked)


def store_cycles(constants: Mapping[str, float], row: Row) -> float:
    """Cycles of a copy out of UB."""
    bytes_ = int(row["back_to_back"]) * int(row["bytes"])
    return constants["mte3.latency"] + bytes_ / constants["mte3.bytes_per_cycle"]


def copy_cycles(constants: Mapping[str, float], row: Row) -> float:
    """Cycles of a row of copies.csv."""
    if row["port"] == "ub_to_gm":
        return store_cycles(constants, row)
    return load_cycles(constants, row, "mte2." if row["port"] == "gm_to_ub" else "mte2.l1_")


def stream_us(constants: Mapping[str, float], row: Row) -> float:
    """Microseconds in which all cores together move the bytes of a row of streams.csv."""
    bytes_, burst = float(row["bytes"]), float(row["burst_bytes"])
    peak = load_device(row["chip"]).number("hbm.bytes_per_second")
    memory = peak * constants["hbm.efficiency"] / 1e6
    if row["kind"].startswith("one place"):
        # Each request for a window waits for those of all other cores.
        stem = "mte2.l1_" if row["kind"].endswith("L1") else "mte2."
        cores, mhz = int(row["cores"]), float(row["mhz"])
        trip = constants["mte2.latency"] + constants["hbm.extra_ns"] * mhz / 1000
        trip += (cores - 1) * constants["l2.place_cycles"] * min(burst, WINDOW) / LINE
        asked = constants[f"{stem}window_bytes"] * min(burst, WINDOW) / WINDOW
        return bytes_ / cores * trip / asked / mhz
    if row["kind"] == "past L2 by short bursts":
        return bytes_ / burst * max(burst, constants["l2.bypass_least_bytes"]) / memory
    return bytes_ / memory


COUNTED: Final = {
    "bursts_from_l2": ("mte2.l1_burst_cycles",),
    "bursts_from_memory": ("mte2.l1_burst_cycles", "mte2.l1_burst_memory_cycles"),
    "blocks_tiling_fixed": ("matmul.scalar_cycles",),
    "blocks_tiling_read": ("matmul.scalar_cycles", "matmul.tiling_cycles"),
    "blocks_copied_alone": (
        "matmul.scalar_cycles",
        "matmul.tiling_cycles",
        "matmul.single_copy_cycles",
    ),
}
"""Kinds of rows of cube.csv, and what each of the counted adds up from."""


def counted_us(constants: Mapping[str, float], row: Row) -> float:
    """Microseconds of so many bursts of 128 bytes into L1, or of the Matmul API's code."""
    cycles = sum(constants[name] for name in COUNTED[row["kind"]])
    if row["kind"].startswith("bursts"):
        cycles += LINE / constants["mte2.l1_bytes_per_cycle"]
    return float(row["count"]) * cycles / float(row["mhz"])


def launch_us(constants: Mapping[str, float], row: Row) -> float:
    """Microseconds that a task takes beyond its cores."""
    more = float(row["ai_cores"]) - 1
    return constants["launch.base_us"] + constants["launch.us_per_core"] * more


def scalar_us(constants: Mapping[str, float], row: Row) -> float:
    """Microseconds that the scalar unit is busy: its start, and what our rebuilt kernel's code
    counts for each tile."""
    tile = float(row["issued"]) * constants["scalar.issue"]
    tile += float(row["instructions"]) * constants["scalar.instruction"]
    return (constants["launch.start_up_cycles"] + float(row["tiles"]) * tile) / float(row["mhz"])


def first_copy_us(constants: Mapping[str, float], row: Row) -> float:
    """Microseconds of a core, in a kernel that only copies, in which no copy is under way."""
    fetch = constants["launch.fetch_cycles_per_core"] * float(row["ai_cores"])
    return (fetch + constants["launch.start_up_cycles"]) / float(row["mhz"])


def groups(device: Device) -> list[Group]:
    """Every principle that has free constants, with its rows."""
    copies = [row for row in read_rows(MEASUREMENTS / "copies.csv") if row["use"] == "fit"]
    streams = read_rows(MEASUREMENTS / "streams.csv")
    launches = read_rows(MEASUREMENTS / "launches.csv")
    cube = read_rows(MEASUREMENTS / "cube.csv")

    def port(name: str) -> tuple[dict[str, str], ...]:
        return tuple(row for row in copies if row["port"] == name)

    def kind(name: str) -> tuple[dict[str, str], ...]:
        return tuple(row for row in streams if row["kind"].startswith(name))

    reads = ("mte2.latency", "hbm.extra_ns", "mte2.window_bytes", "mte2.bytes_per_cycle")
    stores = ("mte3.latency", "mte3.bytes_per_cycle")
    wide = ("mte2.l1_window_bytes", "mte2.l1_bytes_per_cycle")
    past = "past L2 by short bursts"
    return [
        Group("copies into UB, cycles", reads, port("gm_to_ub"), "cycles", copy_cycles),
        Group("copies out of UB, cycles", stores, port("ub_to_gm"), "cycles", copy_cycles),
        Group("copies into L1, cycles", wide, port("gm_to_l1"), "cycles", copy_cycles),
        Group(
            "reads of all cores, µs", ("hbm.efficiency",), kind("memory read"), "us", stream_us
        ),
        Group("reads of one place, µs", ("l2.place_cycles",), kind("one place"), "us", stream_us),
        Group("reads past L2, µs", ("l2.bypass_least_bytes",), kind(past), "us", stream_us),
        _counted("bursts into L1, µs", cube, "bursts"),
        _counted("the Matmul API's code, µs", cube, "blocks"),
        Group(
            "task beyond its cores, µs", ("launch.base_us", "launch.us_per_core"),
            _differences(launches, "task_us", "core_us"), "difference", launch_us,
        ),
        Group(
            "scalar unit of a launch, µs", ("launch.start_up_cycles", "scalar.instruction"),
            tuple(row for row in launches if row["issued"]), "scalar_us", scalar_us,
        ),
        Group(
            "core without a copy under way, µs", ("launch.fetch_cycles_per_core",),
            _differences(launches, "core_us", "copy_us"), "difference", first_copy_us,
        ),
    ]  # fmt: skip


def _counted(title: str, rows: Sequence[Row], stem: str) -> Group:
    chosen = tuple(dict(row) for row in rows if row["kind"].startswith(stem))
    names = dict.fromkeys(name for row in chosen for name in COUNTED[row["kind"]])
    return Group(title, tuple(names), chosen, "us", counted_us)


def _differences(rows: Sequence[Row], whole: str, part: str) -> tuple[dict[str, str], ...]:
    """The rows that have both columns, with `difference`."""
    return tuple(
        {**row, "difference": repr(float(row[whole]) - float(row[part]))}
        for row in rows
        if row[whole] and row[part]
    )


def source_of(row: Row) -> str:
    """Who measured: the repository, or the table, and the chip."""
    return f"{row['source'].split()[0].partition('@')[0]} {row['chip']}"


def fit(group: Group, device: Device) -> GroupResult:
    """Fit a group to all its rows, and once without each source where others remain."""
    start = {name: device.number(name) for name in group.names}
    fitted = _solve(group, group.rows, start, device)
    without: dict[str, dict[str, float]] = {}
    for source in sorted({source_of(row) for row in group.rows}):
        rows = [row for row in group.rows if source_of(row) != source]
        if len(rows) >= len(group.names):
            without[source] = _solve(group, rows, start, device)
    values = dict(device.constants) | fitted
    return GroupResult(
        title=group.title,
        constants=tuple(
            ConstantResult(
                name=name,
                current=start[name],
                fitted=fitted[name],
                without={source: found[name] for source, found in without.items()},
            )
            for name in group.names
        ),
        rows=tuple(
            _result(row, float(row[group.measured]), group.predict(values, row))
            for row in group.rows
        ),
    )


def _solve(
    group: Group, rows: Sequence[Row], start: Mapping[str, float], device: Device
) -> dict[str, float]:
    """Constants that minimise the weighted squares of log(predicted / measured)."""
    of_source = [source_of(row) for row in rows]
    weights = [1 / math.sqrt(of_source.count(source)) for source in of_source]

    def values(logs: Sequence[float]) -> dict[str, float]:
        return {name: math.exp(log) for name, log in zip(group.names, logs, strict=True)}

    def residuals(logs: Sequence[float]) -> list[float]:
        constants = dict(device.constants) | values(logs)
        return [
            weight * math.log(group.predict(constants, row) / float(row[group.measured]))
            for weight, row in zip(weights, rows, strict=True)
        ]

    found = least_squares(residuals, [math.log(value) for value in start.values()])
    return values(found.x)


def _result(row: Row, measured: float, predicted: float) -> RowResult:
    extra = f", {row['chip']}" if row.get("chip") else ""
    if row.get("memory"):
        extra += f", {row['port'].replace('_', ' ')}, {row['memory']}"
    return RowResult(
        name=row["name"] + extra, source=row["source"], measured=measured, predicted=predicted
    )


def _held_out_copies(device: Device) -> list[RowResult]:
    rows = [row for row in read_rows(MEASUREMENTS / "copies.csv") if row["use"] != "fit"]
    return [_result(row, float(row["cycles"]), copy_cycles(device.constants, row)) for row in rows]


def _held_out_start(device: Device) -> list[RowResult]:
    """Scalar time of launches whose kernels are not rebuilt here: no more than the start."""
    rows = [row for row in read_rows(MEASUREMENTS / "launches.csv") if row["scalar_us"]]
    start = device.number("launch.start_up_cycles")
    return [
        _result(row, float(row["scalar_us"]), start / float(row["mhz"]))
        for row in rows
        if not row["issued"]
    ]


def vector_constant(device: Device, instruction: str, dtype: str, what: str) -> float:
    """A constant of a vector instruction: of its dtype, else of it. Raises InputError."""
    name = f"vector.{instruction}.{dtype}.{what}"
    return device.number(name if name in device.constants else f"vector.{instruction}.{what}")


def _held_out_vector(device: Device) -> list[RowResult]:
    """Cycles a repeat of the cost tables of ATT, whose operands do not meet in a bank group, and
    of mskpp, whose sources do."""
    found = []
    for row in read_rows(MEASUREMENTS / "vector.csv"):
        cycles = vector_constant(device, row["instruction"], row["dtype"], "cycles")
        meeting = max(cycles, float(row["sources"]))
        latency = vector_constant(device, row["instruction"], row["dtype"], "latency")
        for label, column, predicted in (
            ("cycles a repeat, mskpp", "mskpp_cycles", meeting),
            ("cycles a repeat, ATT", "att_cycles", cycles),
            ("fixed cycles, ATT", "att_fixed", latency),
        ):
            if row[column]:
                found.append(
                    RowResult(
                        name=f"{row['instruction']} {row['dtype']}, {label}",
                        source=row["source"],
                        measured=float(row[column]),
                        predicted=predicted,
                    )
                )
    return found


def write_constants(found: Calibration, files: Iterable[Path]) -> int:
    """Put the fitted values into the device's files, comments kept; answers how many changed.

    `files` are those of its `lineage`: of several that state a constant, the first counts.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    changed = 0
    for constant in (one for group in found.groups for one in group.constants):
        value = f"{constant.fitted:.{DIGITS}g}"
        if "e" in value:
            value = str(round(float(value)))
        if math.isclose(float(value), constant.current, rel_tol=10 ** (1 - DIGITS) / 2):
            continue
        line = re.compile(rf"^({re.escape(constant.name)}\s*=\s*)\S+", re.MULTILINE)
        for path, text in texts.items():
            texts[path], count = line.subn(rf"\g<1>{value}", text)
            changed += count
            if count:
                break
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return changed
