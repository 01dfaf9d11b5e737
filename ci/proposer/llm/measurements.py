"""What was measured, for a prompt: each case's time, its floor, and where the rest goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ci.judge.roofline import floor_of, launch_us
from ci.model.trial import CaseMeasurement, Measurement
from ci.proposer.llm.machine_card import chip_of
from rules.devices import Device

SHOWN_LINES: Final = 8
"""Costly source lines of the case that is farthest above its floor."""

FEW_LINES: Final = 3
"""Costly source lines of every other case."""

MOST_PROFILED: Final = 6
"""Cases whose profile is shown; of further ones the time and the floor."""


def figures(measurement: Measurement | None, texts: Mapping[str, str]) -> str:
    """A paragraph a case: time, floor, cores, busy pipes, waits, traffic, costly lines."""
    if measurement is None:
        return "Not measured."
    chip = chip_of(measurement.fingerprint.device)
    above = {c.case: c.median_us / _floor(c, chip) for c in measurement.cases}
    order = sorted(measurement.cases, key=lambda c: -above[c.case])
    detailed = {c.case for c in order[:MOST_PROFILED]}
    lines = []
    for case in measurement.cases:
        lines.append(_time(case, chip))
        if case.case in detailed:
            lines += _profile(case, chip)
            most = SHOWN_LINES if case is order[0] else FEW_LINES
            lines += _costly(case, texts, most)
    return "\n".join(lines)


def _floor(case: CaseMeasurement, chip: Device | None) -> float:
    return max(1e-9, floor_of(case, chip).us) if chip is not None else case.median_us


def _time(case: CaseMeasurement, chip: Device | None) -> str:
    said = (
        f"{case.case}: {case.median_us:.3f} us on {case.pipes.block_dim} cores, tiling key "
        f"{case.tiling_key}"
    )
    if chip is None:
        return said
    least = floor_of(case, chip)
    bound = "copies" if least.copies_us >= least.arithmetic_us else "arithmetic"
    return (
        f"{said}; floor {least.us:.2f} us on {least.cores} AI cores (launch {least.launch_us:.2f}, "
        f"start {least.start_us:.2f}, then the longer of copies {least.copies_us:.2f} and "
        f"arithmetic {least.arithmetic_us:.2f}: {bound}), {case.median_us - least.us:.2f} us above "
        "it"
    )


def _profile(case: CaseMeasurement, chip: Device | None) -> list[str]:
    pipes = case.pipes
    total = max(1, pipes.total_cycles)
    busy = ", ".join(
        f"{p} {c:.0f}" for p, c in sorted(pipes.busy_cycles.items(), key=lambda b: -b[1]) if c
    )
    waits = sorted(pipes.wait_cycles.items(), key=lambda w: (-w[1], w[0]))[:4]
    waited = ", ".join(f"{w} {c:.0f}" for w, c in waits)
    launch = ""
    if chip is not None:
        ai_cores = -(-pipes.block_dim * chip.cube_cores // chip.vector_cores)
        fetch = chip.number("launch.fetch_cycles_per_core") * ai_cores / chip.clock_mhz
        launch = (
            f", of them {launch_us(chip, ai_cores):.2f} us launch and up to {fetch:.2f} us until "
            f"all {ai_cores} AI cores have their code"
        )
    inserted = f", {pipes.inserted_waits} waits by auto-sync" if pipes.inserted_waits else ""
    return [
        f"  {total} cycles{launch}; busy of them, mean of the cores: {busy}",
        f"  waiting (who for whom): {waited or 'none'}{inserted}",
        f"  global memory read {pipes.gm_read_bytes} B, written {pipes.gm_write_bytes} B; UB "
        f"{pipes.ub_peak_bytes} B; slowest core {pipes.imbalance:.2f} of the mean; bank conflicts "
        f"{pipes.bank_conflict_cycles:.0f} cycles a core",
    ]


def _costly(case: CaseMeasurement, texts: Mapping[str, str], most: int) -> list[str]:
    lines = []
    for file, line, cycles in case.pipes.hot_lines[:most]:
        source = texts.get(file, "").split("\n")
        said = source[line - 1].strip()[:100] if 0 < line <= len(source) else ""
        lines.append(f"  {cycles:.0f} cycles of core 0, {file}:{line} {said}")
    return lines
