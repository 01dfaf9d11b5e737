"""Diagnosis by rules: the tests of `ci.judge.diagnose` on the measured profile."""

from __future__ import annotations

from ci.judge.diagnose import diagnose
from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.trial import Trial

UNTOUCHED = Diagnosis(bottleneck="Not measured.", classes=(), evidence=())


def diagnose_by_rules(operator: Operator, best: Trial) -> Diagnosis:
    """The bottleneck of the kernel as profiled in `best`."""
    return diagnose(best.measurement) if best.measurement else UNTOUCHED
