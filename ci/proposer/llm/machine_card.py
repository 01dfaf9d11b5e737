"""The machine in a prompt: what launches, copies and instructions cost, and how much UB is free."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from pathlib import Path

from ci.judge.roofline import launch_us
from ci.model.frozen import Frozen
from ci.model.trial import Measurement
from ci.model.yaml_model import read_file
from ci.proposer.llm.quoting import quoted
from rules.devices import Device, device_names, load_device
from rules.load import RULES

INSTRUCTIONS = RULES / "instructions.yml"


class _Table(Frozen):
    instructions: dict[str, tuple[str, ...]]


@lru_cache(maxsize=2)
def load_instructions(path: Path = INSTRUCTIONS) -> dict[str, tuple[str, ...]]:
    """AscendC's calls by the vector instruction that they become."""
    return read_file(_Table, path).instructions


def chip_of(device: str) -> Device | None:
    """The constants of a device, None for one that has no file."""
    return load_device(device) if device in device_names() else None


def card(device: str, chip: Device | None, measured: Measurement | None = None) -> str:
    """The chip in a few lines; with the free UB where something was measured."""
    if chip is None:
        return f"Device {quoted(device)}, an Ascend NPU; each core has its own unified buffer (UB)."
    core = chip.architecture
    ub = core.memory_bytes("UB")
    reach = chip.number("hbm.bytes_per_second") * chip.number("hbm.efficiency")
    per_core = chip.number("mte2.bytes_per_cycle")
    latency = chip.number("mte2.latency")
    from_memory = latency + chip.number("hbm.extra_ns") * chip.clock_mhz / 1000
    vectors = chip.vector_cores // chip.cube_cores
    lines = [
        f"Device {device}: {chip.vector_cores} vector cores ({vectors} to an AI core), "
        f"{chip.cube_cores} cube cores, {chip.clock_mhz:.0f} cycles a us. "
        f"UB {ub} bytes a vector core, blocks of {core.block_bytes} bytes, "
        f"{core.repeat_bytes} bytes a repeat.",
        f"Launch: {launch_us(chip, 1):.2f} us for one AI core and "
        f"{chip.number('launch.us_per_core'):.2f} us for each more "
        f"({launch_us(chip, chip.cube_cores):.1f} us for all {chip.cube_cores}); each core more is "
        f"served its first code {chip.number('launch.fetch_cycles_per_core'):.0f} cycles later, so "
        f"the last of n starts about n times {_per_core(chip):.2f} us in; then the scalar unit "
        f"takes {chip.number('launch.start_up_cycles'):.0f} cycles to run at speed, whatever the "
        "kernel does: small inputs want few cores.",
        f"Global memory: {reach / 1e9:.0f} GB/s reachable by all cores together "
        f"({reach / 1e6 / chip.clock_mhz:.0f} bytes a cycle), at most {per_core:.0f} bytes a cycle "
        f"into a core and {chip.number('mte3.bytes_per_cycle'):.0f} out of it. A copy costs "
        f"{chip.number('mte2.issue_cycles'):.0f} cycles to issue and "
        f"{latency:.0f} to {from_memory:.0f} of latency, which "
        "several in flight hide; a burst of less than "
        f"{chip.number('gm.burst_cycles') * per_core:.0f} bytes within a copy costs as much. A "
        f"burst moves lines of {core.line_bytes} bytes, and where it begins within one, every "
        f"window of {core.window_bytes} that it touches, through what all cores share: short rows "
        "that lie side by side are better copied as one piece and parted in UB.",
        f"Scalar unit: a load from UB (GetValue) {chip.number('scalar.ub_load'):.0f} cycles and a "
        f"wait for the pipe that writes it, from global memory "
        f"{chip.number('scalar.gm_miss'):.0f}; SyncAll "
        f"{chip.number('sync.all_cycles'):.0f} cycles; flags and barriers about 1 and the wait.",
    ]
    if measured is not None:
        peak = max((c.pipes.ub_peak_bytes for c in measured.cases), default=0)
        if peak:
            lines.append(
                f"UB in use by the original operator: at most {peak} bytes, "
                f"{max(0, ub - peak)} are free."
            )
    return "\n".join(lines)


def _per_core(chip: Device) -> float:
    """What an AI core more costs in µs: its launch, and the fetch of its first code."""
    fetch = chip.number("launch.fetch_cycles_per_core") / chip.clock_mhz
    return chip.number("launch.us_per_core") + fetch


def costs(chip: Device | None) -> str:
    """What vector instructions cost, by the calls that they come from; '' for an unknown chip."""
    if chip is None:
        return ""
    grouped: dict[float, list[str]] = defaultdict(list)
    for mnemonic, calls in load_instructions().items():
        for kind, cycles in _priced(chip, mnemonic).items():
            grouped[cycles] += [f"{call} {kind}".strip() for call in calls]
    rows = [f"{n:g}: {', '.join(names)}" for n, names in sorted(grouped.items())]
    return (
        "Vector instructions, cycles a repeat (256 bytes: 64 float, 128 half); the result of an "
        f"instruction is ready {chip.number('vector.vadd.latency'):.0f} to "
        f"{chip.number('vector.vcadd.f16.latency'):.0f} cycles after its last repeat, so one long "
        "instruction beats several short ones. Sources in one bank group take turns, so two "
        f"that begin at the same place of {chip.architecture.bank_period} bytes cost a cycle more "
        "a repeat.\n" + "\n".join(rows)
    )


def _priced(chip: Device, mnemonic: str) -> dict[str, float]:
    """Cycles a repeat by element type; '' for all types that have no price of their own."""
    found = {}
    for name, cycles in chip.constants.items():
        word, _, rest = name.partition(f"vector.{mnemonic}.")
        kind = rest.removesuffix("cycles").rstrip(".")
        if not word and rest.endswith("cycles") and not kind.startswith("vdeq"):
            found[kind] = cycles
    return {k: c for k, c in found.items() if not k or c != found.get("")}
