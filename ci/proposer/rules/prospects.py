"""Whether a rewrite can matter at all, as far as the profile of what it starts from shows.

An evaluation costs as much for a rewrite that overflows the unified buffer, or that saves cycles of
a unit that hardly works, as for one that helps: such are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from ci.judge.diagnose import bytes_a_copy
from ci.judge.roofline import touched_bytes
from ci.model.trial import CaseMeasurement, Measurement
from ci.proposer.motifs.rewrite import Application
from ci.proposer.motifs.transforms.buffers import SHIFT_BYTES
from rules.devices import Device, nearest_device

LEAST_BUSY = 0.06
"""Least share of the time a unit must work for a rewrite that only saves cycles of it to be worth
a trial."""

LEAST_CONFLICT = 0.03
"""Least share of the time that bank conflicts must take for a shift of buffers to be worth a
trial."""

LEAST_MOVED = 0.02
"""Least share of a copy that the window of global memory must be which it moves in vain where it
begins within one: of copies of 32 KiB an aligned start saves nothing that shows."""

ONE_MORE = 1.15
"""One more of the memory in use, after another buffer for a queue: with less room than that it
overflows."""


MNEMONICS: Final = {
    "Add": "vadd",
    "Adds": "vadds",
    "Axpy": "vaxpy",
    "Div": "vdiv",
    "FusedMulAdd": "vmadd",
    "FusedMulAddRelu": "vmaddrelu",
    "Mul": "vmul",
    "MulAddDst": "vmla",
    "Muls": "vmuls",
    "Reciprocal": "vrec",
    "Sub": "vsub",
}
"""Instructions of calls that a rewrite exchanges for each other, as the device files price them."""

_CALLED = re.compile(r"\b([A-Z]\w*)\(")


_SHIFTS = ("bank_offset", "part_operands", "part_operands_with_room")


def can_matter(one: Application, measured: Measurement) -> bool:
    """Whether an application fits the unified buffer and saves what costs time in some case.

    Instructions that the device takes longer for than for those they replace save nothing, nor does
    a stream past an L2 cache that holds all that is touched: it displaces nothing there.
    """
    device = nearest_device(measured.fingerprint.device)
    room = device.architecture.memory_bytes("UB")
    form = one.motif.forward[one.variant]
    for path, places in Counter(site.file for site in one.sites).items():
        used = max((c.pipes.ub_peak_bytes for c in _running(measured, path)), default=0)
        if used and _room(form.transform, form.parameters, places, used) > room:
            return False
    if _cycles(form.replace, device) > _cycles(form.sequence, device):
        return False
    if form.transform == "cache_hint":
        return any(sum(touched_bytes(c.pipes)) > device.number("l2.bytes") for c in measured.cases)
    if form.transform == "align_tile":
        window = device.architecture.window_bytes
        return any(window > LEAST_MOVED * bytes_a_copy(case.pipes) for case in measured.cases)
    if form.transform in _SHIFTS:
        return any(_conflicts(case) >= LEAST_CONFLICT for case in measured.cases)
    unit = one.motif.saves
    return not unit or any(_busy(case, unit) >= LEAST_BUSY for case in measured.cases)


def _running(measured: Measurement, path: str) -> list[CaseMeasurement]:
    """The cases that run something of a file; all where that is not known."""
    found = [case for case in measured.cases if path in case.pipes.ran]
    return found or list(measured.cases)


def _room(
    transform: str, parameters: Mapping[str, object], places: int, used: int
) -> float | Fraction:
    """Bytes of the unified buffer in use afterwards, at least."""
    if transform in ("bank_offset", "part_operands"):
        return used + SHIFT_BYTES * places
    if transform == "queue_depth" and int(str(parameters["to"])) > int(str(parameters["from"])):
        return used * ONE_MORE
    if transform == "scale_constant":
        factor = Fraction(str(parameters["numerator"])) / Fraction(str(parameters["denominator"]))
        return used * (1 + factor) / 2  # half of what is in use may be of another size
    return used


def _cycles(calls: Sequence[str | None], device: Device) -> float:
    """Cycles a repeat of vector calls by the device's table; what is not in it counts nothing."""
    names = [name for call in calls for name in _CALLED.findall(call or "")]
    return sum(device.constants.get(f"vector.{MNEMONICS.get(n, n)}.cycles", 0.0) for n in names)


def _conflicts(case: CaseMeasurement) -> float:
    return case.pipes.bank_conflict_cycles / max(1, case.pipes.total_cycles)


def _busy(case: CaseMeasurement, unit: str) -> float:
    return case.pipes.busy_cycles.get(unit, 0.0) / max(1, case.pipes.total_cycles)
