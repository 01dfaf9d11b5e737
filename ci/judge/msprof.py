"""A profile in the tables of `msprof op`, with their exact column names for Ascend 910B.

Names and order are those of msopprof's `metric_csv_header.h`. What the machine does not model, such
as the instruction cache, is NA, as msprof writes what does not apply; never 0.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ci.judge.timeline import CoreTotals, Timeline
from ci.model.trial import CaseMeasurement

NA: Final = "NA"

_COLUMNS: Final[dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("msprof_columns.toml").read_text(encoding="utf-8")
)
PIPE_UTILIZATION: Final = tuple(_COLUMNS["pipe_utilization"])
RESOURCE_CONFLICT: Final = tuple(_COLUMNS["resource_conflict"])
OP_BASIC_INFO: Final = tuple(_COLUMNS["op_basic_info"])

# msprof's stem -> the machine's pipe.
_PIPES: Final = {
    "cube": "CUBE",
    "mte1": "MTE1",
    "mte2": "MTE2",
    "mte3": "MTE3",
    "fixpipe": "FIX",
    "scalar": "SCALAR",
    "vec": "VECTOR",
    "vector": "VECTOR",
}


def pipe_utilization(timeline: Timeline, clock_mhz: float) -> str:
    """PipeUtilization.csv: one row a core. Times in µs of that core, ratios of its cycles."""
    return _table(PIPE_UTILIZATION, timeline.cores, lambda c, n: _pipe_field(c, n, clock_mhz))


def resource_conflict(timeline: Timeline, clock_mhz: float) -> str:
    """ResourceConflictRatio.csv: one row a core; shares of its cycles."""
    return _table(RESOURCE_CONFLICT, timeline.cores, lambda c, n: _conflict_field(c, n, clock_mhz))


def op_basic_info(op_name: str, op_type: str, case: CaseMeasurement, clock_mhz: float) -> str:
    """OpBasicInfo.csv: the launch as a whole; Op Type is the kernel's kind, as msprof says it."""
    row = {
        "Op Name": op_name,
        "Op Type": op_type,
        "Task Duration(us)": f"{case.median_us:.3f}",
        "Block Dim": str(case.pipes.block_dim),
        "Current Freq": f"{clock_mhz:.0f}",
        "Rated Freq": f"{clock_mhz:.0f}",
    }
    return _csv(OP_BASIC_INFO, [[row.get(name, NA) for name in OP_BASIC_INFO]])


def kernel_kind(timeline: Timeline) -> str:
    """vector, cube or mix: which cores worked."""
    kinds = {core.kind for core in timeline.cores}
    return "mix" if len(kinds) > 1 else next(iter(kinds), "vector")


def _table(
    header: Sequence[str],
    cores: Sequence[CoreTotals],
    field: Callable[[CoreTotals, str], str],
) -> str:
    return _csv(header, [[field(core, name) for name in header] for core in cores])


def _csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(header)
    table.writerows([_cell(text) for text in row] for row in rows)
    return file.getvalue()


def _cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula, and no terminal for an order."""
    shown = "".join(c for c in text if c.isprintable())
    return f"'{shown}" if re.match(r"[=@]|[+-](?![\d.])", shown) else shown


def _common_field(core: CoreTotals, name: str, clock_mhz: float) -> str | None:
    """A field that both tables have; None for any other, NA for the other kind of core's."""
    if name == "block_id":
        return str(core.block)
    if name == "sub_block_id":
        return f"{core.kind}{core.sub_block}"
    if not name.startswith("aic_" if core.kind == "cube" else "aiv_"):
        return NA
    if name.endswith("_total_cycles"):
        return f"{core.cycles:.0f}"
    return f"{core.cycles / clock_mhz:.3f}" if name in ("aic_time(us)", "aiv_time(us)") else None


def _pipe_field(core: CoreTotals, name: str, clock_mhz: float) -> str:
    common = _common_field(core, name, clock_mhz)
    if common is not None:
        return common
    stem = name.split("_")[1]
    busy = core.busy.get(_PIPES.get(stem, ""), 0.0)
    if name.endswith("_stall_time(us)"):
        # aiv_scalar_mte2_stall_time: the scalar unit waits because mte2's queue is full.
        return f"{_waited(core, 'SCALAR', _PIPES.get(name.split('_')[2], '?')) / clock_mhz:.3f}"
    if name.endswith("_scalar_wait_time(us)"):
        return f"{_waited(core, 'SCALAR') / clock_mhz:.3f}"
    if stem not in _PIPES or "_single_" in name or "_dual_" in name or "_ib_" in name:
        return NA
    if "_stall_by_ub_" in name or stem == "icache":
        return NA
    if name.endswith("_active_bw(GB/s)"):
        moved = {"mte2": core.read_bytes, "mte3": core.write_bytes}.get(stem)
        if stem == "fixpipe":
            moved = core.write_bytes
        # bytes / (cycles / MHz) µs = MB/s · 1e-3
        return NA if not busy or moved is None else f"{moved / busy * clock_mhz / 1e3:.3f}"
    if name.endswith("_ratio"):
        return f"{busy / max(core.cycles, 1.0):.4f}"
    return f"{busy / clock_mhz:.3f}"


def _conflict_field(core: CoreTotals, name: str, clock_mhz: float) -> str:
    common = _common_field(core, name, clock_mhz)
    if common is not None:
        return common
    total = max(core.cycles, 1.0)
    if name.endswith("_wait_ratio"):
        return f"{_waited(core, _PIPES[name.split('_')[1]]) / total:.4f}"
    shares = {
        "aiv_vec_total_cflt_ratio": core.conflict,
        "aiv_vec_bankgroup_cflt_ratio": core.conflict - core.bank,
        "aiv_vec_bank_cflt_ratio": core.bank,
    }
    return f"{shares[name] / total:.4f}" if name in shares else NA


def _waited(core: CoreTotals, pipe: str, peer: str = "") -> float:
    return sum(
        cycles
        for pair, cycles in core.waits.items()
        if pair.startswith(f"{pipe}<-") and (not peer or pair.endswith(f"<-{peer}"))
    )
