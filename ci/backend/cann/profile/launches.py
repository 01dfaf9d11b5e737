"""Each launch that was profiled: `OpBasicInfo.csv` of msprof op, `op_summary_*.csv` of msprof."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ci.backend.cann.profile.rows import Row, files_of, rows_of
from ci.model.launch import Sample


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel."""

    name: str
    """The name of the kernel; `msprof op` appends _mix_aic to that of one that uses both kinds of
    core."""
    kind: str
    """vector, cube or mix, or the task type of op_summary, such as MIX_AIC."""
    us: float
    """Time in µs, from scheduling to response."""
    block_dim: int
    clock_mhz: float | None
    rated_mhz: float | None
    row: Row
    """The whole line: op_summary has the pipes' times in it too."""

    @property
    def sample(self) -> Sample:
        """Its time, with the clock as far as it is known."""
        if not self.clock_mhz or not self.rated_mhz:
            return Sample(self.us)
        return Sample(self.us, self.clock_mhz / self.rated_mhz)


def read_basic_info(folder: Path) -> list[Launch]:
    """The launches below the folder that `msprof op --output` was given, in their order."""
    return _launches(rows_of(files_of(folder, "OpBasicInfo")))


def read_op_summary(folder: Path) -> list[Launch]:
    """The launches that `msprof` recorded of an application, in their order."""
    paths = sorted(folder.rglob("op_summary_*.csv"))
    return _launches(rows_of(paths))


def read_launches(folder: Path, kernel: str) -> list[Launch]:
    """The launches of a kernel below the folder that a profiler was given, whichever it was:
    `msprof op`, which records that kernel alone, or `msprof`, which records all."""
    return read_basic_info(folder) or of_kernel(read_op_summary(folder), kernel)


def of_kernel(launches: Iterable[Launch], name: str) -> list[Launch]:
    """Return those of the kernel, whatever the tools append to its name."""
    return [one for one in launches if one.name == name or one.name.startswith(f"{name}_")]


def _launches(rows: Iterable[Row]) -> list[Launch]:
    """Rows without a time are no launches: communication, and lines that were cut short."""
    found = []
    for row in rows:
        us = row.number("Task Duration(us)", "Duration(us)", "Task Duration")
        if us is None or us <= 0:
            continue
        found.append(
            Launch(
                name=row.text("Op Name", "Name"),
                kind=row.text("Task Type", "Accelerator Core", "Op Type"),
                us=us,
                block_dim=int(row.number("Block Dim", "Block Num") or 0),
                clock_mhz=row.number("Current Freq"),
                rated_mhz=row.number("Rated Freq"),
                row=row,
            )
        )
    return found
