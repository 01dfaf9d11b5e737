"""A check of one operator: on its workload, or on what is derived where it has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.session.session import open_session
from ci.system.read_once import reading_once as reading_once

if TYPE_CHECKING:
    from ci.model.finding import CheckReport, CheckSettings
    from ci.model.operator import Operator
    from ci.model.settings import EvaluationSetup
    from ci.session.derive import DerivedCases
    from ci.session.session import Session

DERIVED = "The workload was derived; `ascendopt workload derive` writes it down."


@dataclass(frozen=True)
class OperatorCheck:
    """An operator that is ready to be checked."""

    session: Session
    """Has its workload; without one, the case of `failing`."""
    failing: Session | None = None
    """Has a case that fails by the operator's fault, which a derived workload leaves out."""
    note: str = ""
    """What the report says of the workload."""

    @property
    def operator(self) -> Operator:
        """What is checked."""
        return self.session.operator

    def report(
        self, settings: CheckSettings, say: Callable[[str], None] = lambda what: None
    ) -> CheckReport:
        """All that is wrong with the operator as it is; `say` hears what is going on.

        Of a case that fails nothing is varied. Raises InputError when the golden function fails on
        the workload's own cases, EnvironmentProblem when this machine cannot build.
        """
        alone = settings.model_copy(update={"varied": 0})
        if self.failing is None:
            found = self.session.check(settings, say)
        elif self.failing is self.session:
            found = self.session.check(alone, say)
        else:
            first = self.failing.check(alone, say)
            found = self.session.check(settings, say).joined(first)
        notes = (self.note, *found.notes) if self.note else found.notes
        return found.model_copy(update={"notes": notes})


def open_check(path: Path, setup: EvaluationSetup, cases: DerivedCases | None) -> OperatorCheck:
    """Open the sessions of a check on derived cases, or on the workload of the setup for None.

    Raises InputError as `open_session` does.
    """
    if cases is None:
        return OperatorCheck(open_session(path, setup))
    failing, passing = (
        open_session(path, setup.model_copy(update={"workload": file})) if file else None
        for file in (cases.failing, cases.passing)
    )
    session = passing or failing
    assert session is not None
    return OperatorCheck(session, failing, cases.refused or DERIVED)
