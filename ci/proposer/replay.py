"""Plays an earlier run again without a model: its recorded answers, its retrievals, its roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ci.model.errors import InputError
from ci.model.result import RoleUse
from ci.proposer.base import Proposer, RunContext
from ci.proposer.llm.call_log import read_calls
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.proposer import compose
from ci.proposer.llm.recorded_file import STEPS, SUFFIX, read_recording
from ci.proposer.llm.recording import Recording
from ci.proposer.llm.run import BY_RULES, ModelRun
from ci.proposer.llm.settings import Models, ModelSettings
from ci.system.trial_store import TRIALS_FILE, TrialStore

NOWHERE = "https://recorded.invalid"
"""The endpoint of recorded models: nothing is ever sent."""


def replay_proposer(recorded: Path) -> Proposer:
    """Proposes what the recorded run did, as long as the same things are asked.

    `recorded` is a run's folder, its trials.sqlite, or a recording without code; raises
    `InputError`.
    """
    return compose("replay", RecordedRun(recorded))


class RecordedRun(ModelRun):
    """The models of an earlier run, of which only the recorded answers are had."""

    def __init__(self, recorded: Path) -> None:
        self.path = recorded / TRIALS_FILE if recorded.is_dir() else recorded
        if not self.path.is_file():
            raise InputError(f"There is no recorded run at {recorded}; give the folder of a run.")
        by_role = self.path.suffix == SUFFIX
        self._identity: dict[str, Any]
        self._remembered: dict[str, str] = {}
        if by_role:
            head, calls = read_recording(self.path)
            self._identity = dict(head.identity)
        else:
            with TrialStore(self.path) as store:
                self._identity = store.identity()
                self._remembered = store.remembered()
            calls = read_calls(self.path)
        answers = Recording(calls, by_role=by_role)
        roles: dict[str, str] = dict(self._identity.get("models") or {})
        named = {r: by for r, by in roles.items() if by != BY_RULES}
        if by_role:
            named = {r: by for r, by in named.items() if r in STEPS}
        models = {
            by: ModelSettings(model=by, endpoint=NOWHERE, key="ASCENDOPT_NO_KEY")
            for by in named.values()
        }
        super().__init__(
            Models.model_validate({"models": models, "roles": named}),
            caller_of=lambda m, run: Caller(m, run, replayed=answers),
        )

    def begin(self, run: RunContext) -> None:
        """Check that it is the same operator, and take over what the bank had said."""
        with TrialStore(run.calls) as store:
            now = store.identity()
            for key in ("operator", "sources", "workload"):
                if key in now and self._identity.get(key) != now[key]:
                    raise InputError(
                        f"{self.path} cannot be replayed here: its {key} differs from this run's."
                    )
            for key, value in self._remembered.items():
                store.remember(key, value)
        super().begin(run)

    def use(self) -> tuple[tuple[RoleUse, ...], str]:
        """Return the use of roles as in a run of models, with the recorded answers named as
        such."""
        uses, _ = super().use()
        told = (
            u if u.by == BY_RULES else u.model_copy(update={"by": f"recorded answers of {u.by}"})
            for u in uses
        )
        return tuple(told), ""
