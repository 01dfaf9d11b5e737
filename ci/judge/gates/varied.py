"""What the gates of varied cases share: candidate and unmodified operator side by side."""

from __future__ import annotations

from typing import ClassVar

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.launch_record import Launched, new_warning
from ci.judge.varied_sweep import Tier, sweep
from ci.model.comparison import SLOWER
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Place


class VariedGate(Gate):
    """Launches the candidate on the varied cases that the unmodified operator passes."""

    tier: ClassVar[Tier]

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses what fails there, warns of something new, or is slower by more than `SLOWER`."""
        found = sweep(subject.standard, subject.candidate.files, self.tier)
        subject.work.sweeps[self.phase] = found
        seed = subject.standard.workload.seeds[0]
        launches = subject.in_order([(before.case, seed) for _, before in found.cases])
        for (kind, before), now in zip(found.cases, launches, strict=True):
            failure = self._failed(kind, now) or self._worse(kind, before, now)
            if failure is not None:
                return failure
        return None

    def _failed(self, kind: str, now: Subject) -> TrialFailure | None:
        failure = now.judged()
        if failure is None:
            return None
        cause, what = failure.refusal, f"it fails ({failure.outcome.value}): "
        outcome = Outcome.UNFIT if self.phase == "admit" else failure.outcome
        return self._refuse(outcome, kind, what + cause.sentence, cause.place, cause.evidence)

    def _worse(self, kind: str, before: Launched, now: Subject) -> TrialFailure | None:
        outcome = Outcome.UNFIT if self.phase == "admit" else Outcome.REJECTED
        warning = new_warning(now.launched.warnings, before.warnings)
        if warning is not None:
            what = f"it warns: {warning.text}"
            return self._refuse(outcome, kind, what, warning.place, warning.kind)
        time = now.launched.time
        if time.low <= before.time.high * (1 + SLOWER):
            return None
        what = (
            f"it is slower by {time.median / before.time.median - 1:.0%}: {time.median:.3f} µs, "
            f"and {before.time.median:.3f} µs unchanged."
        )
        return self._refuse(outcome, kind, what, Place(case=now.case.name))

    def _refuse(
        self, outcome: Outcome, kind: str, what: str, place: Place, evidence: str = ""
    ) -> TrialFailure:
        sentence = f"With another {kind} than the workload's {what}"
        return self.refuse(outcome, sentence, place=place, evidence=evidence)
