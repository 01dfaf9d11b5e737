"""Plausible: the launch claims nothing that no kernel can do; else it deceives the measurement."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.measure import roofline_us
from ci.model.amount import amount
from ci.model.errors import TrialFailure
from ci.model.launch import arrays
from ci.model.trial import Outcome, Place

MOST_UNUSED_WORKSPACE = 32 << 20
"""Bytes of workspace that a candidate may ask for beyond the baseline's and leave alone: twice what
the runtime itself keeps there, for a candidate that needs no more than that any longer."""


class PlausibleGate(Gate):
    """Holds the bytes that the kernel moved, and its time, against the tensors and the device."""

    name = "plausible"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses a launch that moved too little, or that was faster than the device's memory."""
        if not subject.timed:
            return None
        wrong = self._moved(subject) or self._roofline(subject) or self._workspace(subject)
        if wrong is None:
            return None
        sentence, evidence = wrong
        place = Place(case=subject.case.name)
        return self.refuse(Outcome.REJECTED, sentence, place=place, evidence=evidence)

    def _moved(self, subject: Subject) -> tuple[str, str] | None:
        pipes = subject.launched.run.pipes
        read, _ = subject.standard.baseline.moved(subject.case, subject.seed)
        needed = _written(subject)
        if pipes.gm_write_bytes < needed:
            return (
                f"the outputs have {amount(needed, 'byte')}, but the kernel's instructions"
                " wrote only "
                f"{pipes.gm_write_bytes}; the rest came past the machine.",
                "written bytes",
            )
        inputs = _input_bytes(subject)
        if read >= inputs > pipes.gm_read_bytes:
            return (
                f"the inputs have {amount(inputs, 'byte')}, and the original operator"
                " reads them all, "
                f"but the candidate's instructions read only {pipes.gm_read_bytes}; the rest came "
                "past the machine.",
                "read bytes",
            )
        return None

    def _workspace(self, subject: Subject) -> tuple[str, str] | None:
        unused = subject.launched.run.pipes.workspace_unused_bytes
        before = subject.standard.baseline.unused_workspace(subject.case, subject.seed)
        if unused <= before + MOST_UNUSED_WORKSPACE:
            return None
        return (
            f"{unused >> 20} MiB of the workspace are asked for and never written.",
            "workspace",
        )

    def _roofline(self, subject: Subject) -> tuple[str, str] | None:
        run = subject.launched.run
        bound = roofline_us(
            subject.standard.backend.fingerprint().device,
            run.pipes.gm_read_bytes,
            max(_written(subject), run.pipes.gm_write_bytes),
        )
        if min(run.samples_us) >= bound:
            return None
        return (
            f"{min(run.samples_us):.3f} µs is faster than the roofline of {bound:.3f} µs that the "
            "device's memory sets.",
            "roofline",
        )


def _written(subject: Subject) -> int:
    """Bytes that must be written: of the outputs that are no inputs (those may be left as they
    are), and no more than the unmodified operator writes."""
    standard = subject.standard
    shared = {spec.name for spec in standard.operator.inputs}
    outputs = standard.references.of(subject.case, subject.seed).outputs
    fresh = [
        tensor
        for spec, tensor in zip(standard.operator.outputs, outputs, strict=True)
        if spec.name not in shared
    ]
    _, written = standard.baseline.moved(subject.case, subject.seed)
    return min(sum(a.nbytes for a in arrays(fresh)), written)


def _input_bytes(subject: Subject) -> int:
    inputs = subject.standard.references.of(subject.case, subject.seed).inputs
    return sum(a.nbytes for a in arrays(inputs))
