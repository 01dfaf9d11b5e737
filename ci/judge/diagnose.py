"""The way from the per-pipe profile to the bottleneck: in words, with evidence, as taxonomy
classes.

Pure functions of the measurement. Each test below gives its class a strength between 0 and 1;
strengths add up over the cases of a workload, and the classes are named from the strongest on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ci.model.amount import amount
from ci.model.diagnosis import Diagnosis
from ci.model.trial import CaseMeasurement, Measurement, PipeTime
from rules.devices import Device, nearest_device
from rules.load import load_taxonomy

COPY_PIPES = ("MTE2", "MTE3")

BUSY = 0.6
"""A pipe that is busy for 60 % of the time bounds the kernel; the rest is start and drain."""

SERIAL = 0.55
"""No pipe is busy for more than 55 % although together they fill the time: they take turns."""

SMALL_COPY_BYTES = 4096
"""Below 4 KiB the ~200 cycles of a copy's latency outweigh its transfer at 55 bytes a cycle."""

SHORT_VECTOR_CYCLES = 40.0
"""An isolated vector instruction costs 20 to 26 cycles before its first repeat."""

LAUNCH_BUSY = 0.35
"""Below a third no pipe has work worth mentioning: start-up and drain make the time."""

FEW_BYTES_A_CORE = 32 * 1024
"""Under 32 KiB a core, how many cores start matters more than how the tiles are cut."""

FEW_CORES = 0.2
"""Less than this share of the vector cores leaves most of the chip idle."""

IMBALANCE = 1.08
"""The slowest core takes 8 % longer than the mean."""

BANK_SHARE = 0.05
"""Bank conflicts cost more than 5 % of the vector unit's time."""

WAIT_SHARE = 0.15
"""A pipe waits for another one for more than 15 % of the time."""

LOW_UB = 1 / 3
"""Less than a third of the unified buffer in use."""


@dataclass(frozen=True)
class Finding:
    """One test that struck: a class, how strongly, and the figure that says so."""

    id: str
    strength: float
    evidence: str


def diagnose(measurement: Measurement) -> Diagnosis:
    """What bounds the kernel over all cases, the strongest class first."""
    taxonomy = load_taxonomy()
    device = nearest_device(measurement.fingerprint.device)
    strengths: dict[str, float] = {}
    evidence: dict[str, str] = {}
    for case in measurement.cases:
        for finding in case_findings(case, device):
            strengths[finding.id] = strengths.get(finding.id, 0.0) + finding.strength
            evidence.setdefault(finding.id, f"{case.case}: {finding.evidence}")
    order = sorted(strengths, key=lambda c: (-strengths[c], c))
    words = [taxonomy[c].words for c in order[:3]]
    slowest = max(measurement.cases, key=lambda c: c.median_us)
    sentence = "; ".join(words) if words else "no single pipe stands out"
    where = " in the slowest case" if len(measurement.cases) > 1 else ""
    sentence = f"{sentence[0].upper()}{sentence[1:]}. {_busiest(slowest.pipes, where)}"
    return Diagnosis(
        bottleneck=sentence, classes=tuple(order), evidence=tuple(evidence[c] for c in order)
    )


def case_findings(case: CaseMeasurement, device: Device) -> Iterator[Finding]:
    """Every test that strikes for one case that ran on this device."""
    pipes = case.pipes
    total = max(1, pipes.total_cycles)
    share = {p: c / total for p, c in pipes.busy_cycles.items()}
    start_up = device.number("launch.start_up_cycles") / total  # no kernel can save it
    share["SCALAR"] = max(0.0, share.get("SCALAR", 0.0) - start_up)
    yield from _bound(share)
    yield from _overlap(pipes, share)
    yield from _copies(pipes, share, device.architecture.memory_bytes("UB"))
    yield from _vectors(pipes, share)
    yield from _cores(pipes, share, device.vector_cores)


def _bound(share: dict[str, float]) -> Iterator[Finding]:
    copy = max((share.get(p, 0.0) for p in COPY_PIPES), default=0.0)
    vector, scalar = share.get("VECTOR", 0.0), share.get("SCALAR", 0.0)
    if copy > BUSY:
        yield Finding("gm_bandwidth", copy, f"the copy pipes are busy {copy:.0%} of the time")
    if vector > BUSY / 2 and vector >= copy:
        yield Finding("vector_bound", vector, f"the vector unit is busy {vector:.0%} of the time")
        yield Finding("redundant_compute", vector / 2, f"vector unit busy {vector:.0%}")
        yield Finding("expensive_instruction", vector / 3, f"vector unit busy {vector:.0%}")
    if scalar > BUSY / 2 and scalar >= max(copy, vector):
        yield Finding("scalar_bound", scalar, f"the scalar unit is busy {scalar:.0%} of the time")


def _overlap(pipes: PipeTime, share: dict[str, float]) -> Iterator[Finding]:
    working = [share.get(p, 0.0) for p in ("VECTOR", *COPY_PIPES)]
    top, together = max(working), sum(working)
    if LAUNCH_BUSY < together <= 1 and top < SERIAL:  # more than the whole time: they do overlap
        yield Finding(
            "no_overlap",
            min(1.0, together) * (1 - top),
            f"vector and copy pipes are busy {together:.0%} together, the busiest {top:.0%}",
        )
    total = max(1, pipes.total_cycles)
    waits = sorted(pipes.wait_cycles.items(), key=lambda w: (-w[1], w[0]))
    if waits and waits[0][1] / total > WAIT_SHARE:
        name, cycles = waits[0]
        waiter, _, awaited = name.partition("<-")
        said = f"{waiter} waits for {awaited} {cycles / total:.0%} of the time"
        yield Finding("no_overlap", cycles / total / 2, said)
        yield Finding("sync_stall", cycles / total / 2, said)
    barriers = sum(n for m, n in pipes.instructions.items() if "barrier" in m)
    vectors = _count(pipes, ("v",))
    if barriers and vectors and barriers / vectors > 0.3:
        yield Finding(
            "sync_stall",
            min(1.0, barriers / vectors) * max(share.get("VECTOR", 0.0), 0.3),
            f"{amount(barriers, 'barrier')} for {vectors} vector instructions",
        )


def _copies(pipes: PipeTime, share: dict[str, float], ub_bytes: int) -> Iterator[Finding]:
    copies = _count(pipes, ("copy_gm_to_ubuf", "copy_ubuf_to_gm"))
    moved = pipes.gm_read_bytes + pipes.gm_write_bytes
    copy = max((share.get(p, 0.0) for p in COPY_PIPES), default=0.0)
    if copies > 2 * pipes.block_dim and moved / copies < SMALL_COPY_BYTES:
        yield Finding(
            "small_copies",
            max(copy, 0.3) * (1 - moved / copies / SMALL_COPY_BYTES),
            f"a copy moves {moved / copies:.0f} bytes on average",
        )
    padded = _count(pipes, ("copy_gm_to_ubuf_align", "copy_ubuf_to_gm_align"))
    if padded and copy > LAUNCH_BUSY:
        yield Finding(
            "unaligned_copies",
            copy / 3,
            f"{padded:,} of {amount(copies, 'copy pads', 'copies pad')}",
        )
    low_ub = LOW_UB * ub_bytes
    if 0 < pipes.ub_peak_bytes < low_ub and copies > 4 * pipes.block_dim:
        yield Finding(
            "ub_underused",
            0.5 * (1 - pipes.ub_peak_bytes / low_ub) + 0.1,
            f"{pipes.ub_peak_bytes // 1024} KiB of the unified buffer are in use",
        )


def bytes_a_copy(pipes: PipeTime) -> float:
    """Bytes that a copy from or to global memory moves, in the mean; 0 where nobody counted."""
    copies = _count(pipes, ("copy_gm_to_ubuf", "copy_ubuf_to_gm"))
    return (pipes.gm_read_bytes + pipes.gm_write_bytes) / copies if copies else 0.0


def _vectors(pipes: PipeTime, share: dict[str, float]) -> Iterator[Finding]:
    vector = share.get("VECTOR", 0.0)
    count = _count(pipes, ("v",))
    busy = pipes.busy_cycles.get("VECTOR", 0.0) * pipes.block_dim
    if count and vector > 0.2 and busy / count < SHORT_VECTOR_CYCLES:
        yield Finding(
            "short_vectors",
            vector * (1 - busy / count / SHORT_VECTOR_CYCLES) + 0.05,
            f"a vector instruction takes {busy / count:.0f} cycles on average",
        )
    conflict = pipes.bank_conflict_cycles / max(1.0, pipes.busy_cycles.get("VECTOR", 0.0))
    if conflict > BANK_SHARE and vector > 0.1:
        yield Finding(
            "bank_conflict",
            conflict * vector,
            f"bank conflicts make {conflict:.0%} of the vector unit's time",
        )


def _cores(pipes: PipeTime, share: dict[str, float], cores: int) -> Iterator[Finding]:
    top = max(share.values(), default=0.0)
    moved = pipes.gm_read_bytes + pipes.gm_write_bytes
    few = FEW_CORES * cores
    if pipes.block_dim < few and moved > 2048 * pipes.block_dim:
        yield Finding(
            "low_parallelism",
            (1 - pipes.block_dim / few) * max(top, 0.3),
            f"{amount(pipes.block_dim, 'core shares', 'cores share')} {moved / 1024:.0f} KiB",
        )
    if top < LAUNCH_BUSY and moved / max(1, pipes.block_dim) < FEW_BYTES_A_CORE:
        yield Finding(
            "launch_overhead", 1 - top, f"no pipe is busy more than {top:.0%} of the time"
        )
    if pipes.imbalance > IMBALANCE:
        yield Finding(
            "tail_imbalance",
            min(1.0, pipes.imbalance - 1),
            f"the slowest core takes {pipes.imbalance:.2f} times the mean",
        )


def _count(pipes: PipeTime, prefixes: tuple[str, ...]) -> int:
    return sum(n for m, n in pipes.instructions.items() if m.startswith(prefixes))


def _busiest(pipes: PipeTime, where: str) -> str:
    total = max(1, pipes.total_cycles)
    parts = sorted(pipes.busy_cycles.items(), key=lambda b: (-b[1], b[0]))
    said = ", ".join(f"{p} {c / total:.0%}" for p, c in parts[:4] if c > 0)
    return f"Busy on {amount(pipes.block_dim, 'core')}{where}: {said}."
