"""Where a launch's time went: the tables of `msprof op` as the machine's `PipeTime`.

`PipeUtilization.csv` gives the busy times, `Memory.csv` the bytes, `ResourceConflictRatio.csv` the
conflicts; `ArithmeticUtilization.csv`, `L2Cache.csv`, `MemoryL0.csv` and `MemoryUB.csv` are kept as
counters. Any of them may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from ci.backend.cann.profile.launches import Launch
from ci.backend.cann.profile.rows import Row, files_of, read_rows
from ci.model.trial import PipeTime

KIB: Final = 1024

# The machine's pipe -> the profiler's columns, of the cube core and of the vector core. op_summary
# calls the cube unit `mac`.
_PIPES: Final[dict[str, tuple[str, ...]]] = {
    "SCALAR": ("aic_scalar_time", "aiv_scalar_time"),
    "VECTOR": ("aiv_vec_time",),
    "CUBE": ("aic_cube_time", "aic_mac_time"),
    "MTE1": ("aic_mte1_time",),
    "MTE2": ("aic_mte2_time", "aiv_mte2_time"),
    "MTE3": ("aic_mte3_time", "aiv_mte3_time"),
    "FIX": ("aic_fixpipe_time",),
}
_COUNTED: Final = ("ArithmeticUtilization", "L2Cache", "MemoryL0", "MemoryUB")
_NO_COUNTERS: Final = {"block_id", "sub_block_id", "aic_time", "aiv_time"}


def read_pipes(folder: Path, launch: Launch, clock_mhz: float) -> PipeTime:
    """The profile of one launch from the tables below `folder`.

    `clock_mhz` counts where the launch does not say its own. Of several files of one table, as of
    several launches, the first is taken.
    """
    tables = {
        name: _first(folder, name)
        for name in ("PipeUtilization", "Memory", "ResourceConflictRatio", *_COUNTED)
    }
    clock = launch.clock_mhz or clock_mhz
    cores = tables["PipeUtilization"] or [launch.row]
    lasting = [t for row in cores if (t := row.number("aiv_time", "aic_time"))]
    return PipeTime(
        total_cycles=round(launch.us * clock),
        block_dim=launch.block_dim,
        busy_cycles={pipe: us * clock for pipe, us in _busy(cores).items()},
        gm_read_bytes=_bytes(tables["Memory"], "read_main_memory_datas(KB)"),
        gm_write_bytes=_bytes(tables["Memory"], "write_main_memory_datas(KB)"),
        bank_conflict_cycles=_conflicts(tables["ResourceConflictRatio"]),
        imbalance=max(lasting) * len(lasting) / sum(lasting) if lasting else 1.0,
        counters=_counters(row for name in _COUNTED for row in tables[name]),
    )


def _first(folder: Path, name: str) -> list[Row]:
    paths = files_of(folder, name)
    return read_rows(paths[0].read_text(errors="replace")) if paths else []


def _busy(cores: Sequence[Row]) -> dict[str, float]:
    """Mean busy time in µs of each pipe over the cores that have it."""
    found = {}
    for pipe, columns in _PIPES.items():
        times = [us for row in cores for c in columns if (us := row.number(c)) is not None]
        if times:
            found[pipe] = sum(times) / len(times)
    return found


def _bytes(cores: Sequence[Row], column: str) -> int:
    """Return the bytes that all cores moved; 0 when the table is missing."""
    return round(sum(row.number(column) or 0.0 for row in cores) * KIB)


def _conflicts(cores: Sequence[Row]) -> float:
    """Mean cycles that the vector units lost to conflicts; 0 when the table is missing."""
    lost = [
        ratio * cycles
        for row in cores
        if (ratio := row.number("aiv_vec_total_cflt_ratio")) is not None
        and (cycles := row.number("aiv_total_cycles")) is not None
    ]
    return sum(lost) / len(lost) if lost else 0.0


def _counters(rows: Iterable[Row]) -> dict[str, float]:
    """Mean of each column over the cores that have it."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.numbers().items():
            if name not in _NO_COUNTERS and not name.endswith("_total_cycles"):
                values.setdefault(name, []).append(value)
    return {name: sum(some) / len(some) for name, some in values.items()}
