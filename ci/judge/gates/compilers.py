"""Compilers: the answers are those of the language and of the tensors' values, not those of one
compiler's flags, nor of where tensors lie."""

from __future__ import annotations

from ci.backend.base import Build
from ci.backend.sim import SimulatorBackend
from ci.backend.tiled import TiledBuild
from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.launch_record import Launched, launch_once, new_warning
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Outcome, Place
from ci.model.workload import WorkloadCase

MOST_CASES = 12
"""Cases that are launched once more, those of the workload among them."""


class CompilersGate(Gate):
    """Builds host side and kernel with other bytes in variables that nobody sets, and with checks
    of conversions and shifts whose result the language leaves open; outputs must be the same bytes,
    also of tensors at other addresses.

    What the unmodified operator does differently there, too, is no candidate's fault.
    """

    name = "compilers"
    phase = "confirm"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first case whose answer is another."""
        standard = subject.standard
        backend = standard.backend
        if not isinstance(backend, SimulatorBackend):
            return None
        files = standard.changed(subject.candidate.files)
        if not files:
            return None
        try:
            build = backend.built(standard.operator, files, standard.workload, "pattern")
            before = backend.built(standard.operator, {}, standard.workload, "pattern")
        except TrialFailure as failure:
            return self.signed(failure)
        swept = [b.case for s in subject.work.sweeps.values() for _, b in s.cases]
        for case in [*standard.workload.cases, *swept][:MOST_CASES]:
            if _tiles_otherwise(subject, case, subject.build(), build) and not _tiles_otherwise(
                subject, case, standard.references.unmodified, before
            ):
                return self.refuse(
                    Outcome.REJECTED,
                    "Its tiling decides otherwise when it is built with other bytes in variables "
                    "that are not initialised; that of the original operator does not.",
                    place=Place(case=case.name),
                    evidence="depends on the compiler",
                )
            said = _other_answer(subject, case, build, subject.at(case, _seed(subject)).launch())
            if not said:
                continue
            try:
                own = standard.baseline.at(case, _seed(subject))
            except (TrialFailure, InputError):
                continue
            if _other_answer(subject, case, before, own):
                continue
            return self.refuse(
                Outcome.REJECTED,
                "Built with other bytes in variables that are not initialised, with conversions"
                f" checked, and on tensors at other addresses, it {said}; the original operator"
                " does not.",
                place=Place(case=case.name),
                evidence="depends on the compiler",
            )
        return None


def _seed(subject: Subject) -> int:
    return subject.standard.workload.seeds[0]


def _tiles_otherwise(subject: Subject, case: WorkloadCase, plain: Build, other: Build) -> bool:
    """Whether the host sides of two builds of the same sources answer a case differently."""
    assert isinstance(plain, TiledBuild) and isinstance(other, TiledBuild)
    try:
        right = subject.standard.references.of(case, _seed(subject))
        first = plain.answer(case, right.inputs, right.outputs)
        second = other.answer(case, right.inputs, right.outputs)
    except (TrialFailure, InputError):
        return False
    return first.model_copy(update={"log": ()}) != second.model_copy(update={"log": ()})


def _other_answer(
    subject: Subject, case: WorkloadCase, build: Build, plain: Launched | TrialFailure
) -> str:
    """How the launch of another build differs from the plain one's; '' when it does not."""
    if isinstance(plain, TrialFailure):
        return ""
    try:
        now = launch_once(build, subject.standard.references, case, _seed(subject))
    except (TrialFailure, InputError) as failure:
        return f"fails: {failure}".rstrip(".")
    if now.digest != plain.digest:
        return "gives other outputs"
    warning = new_warning(now.warnings, plain.warnings)
    return f"warns: {warning.text}".rstrip(".") if warning else ""
