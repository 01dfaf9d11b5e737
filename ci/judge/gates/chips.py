"""Chips: the candidate is right, and not slower, on the other chips of the family too."""

from __future__ import annotations

from ci.backend.sim import SimulatorBackend
from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.varied.lengths import Larger
from ci.model.comparison import SLOWER
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Outcome, Place
from rules.devices import Device, device_names, load_device


class ChipsGate(Gate):
    """Launches the workload, and one larger case, on a chip of each other number of cores.

    A host side asks for the cores; what was right for one number need not be for another.
    """

    name = "chips"
    phase = "confirm"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first case that fails there, or is slower by more than `SLOWER`."""
        standard = subject.standard
        if not isinstance(standard.backend, SimulatorBackend):
            return None
        if not standard.changed(subject.candidate.files):
            return None
        for device in other_chips(standard.backend.device):
            failure = self._on(subject, device)
            if failure is not None:
                return failure
        return None

    def _on(self, subject: Subject, device: Device) -> TrialFailure | None:
        there = subject.elsewhere(device.name)
        seed = subject.standard.workload.seeds[0]
        sweeps = subject.work.sweeps.values()
        larger = [b.case for s in sweeps for kind, b in s.cases if kind == Larger.name][:1]
        for case in (*subject.standard.workload.cases, *larger):
            try:
                before = there.standard.baseline.at(case, seed)
            except (TrialFailure, InputError):
                continue
            if not before.compared.agrees:
                continue
            now = there.at(case, seed)
            failure = now.judged()
            if failure is not None:
                cause = failure.refusal
                return self.refuse(
                    failure.outcome,
                    f"On the {device.name} ({device.vector_cores} vector cores) it fails "
                    f"({failure.outcome.value}): {cause.sentence}",
                    place=cause.place,
                    evidence=cause.evidence,
                )
            time = now.launched.time
            if time.low > before.time.high * (1 + SLOWER):
                return self.refuse(
                    Outcome.REJECTED,
                    f"On the {device.name} ({device.vector_cores} vector cores) it is slower by "
                    f"{time.median / before.time.median - 1:.0%}: {time.median:.3f} µs, and "
                    f"{before.time.median:.3f} µs unchanged.",
                    place=Place(case=case.name),
                )
        return None


def other_chips(own: Device) -> list[Device]:
    """One chip of the family for each other number of cores."""
    found = {(own.cube_cores, own.vector_cores): own}
    for name in device_names():
        device = load_device(name)
        if device.architecture == own.architecture:
            found.setdefault((device.cube_cores, device.vector_cores), device)
    return [device for device in found.values() if device is not own]
