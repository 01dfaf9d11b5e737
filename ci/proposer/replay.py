"""Plays an earlier run again without a model: its recorded answers, its retrievals, its roles."""

from __future__ import annotations

from pathlib import Path

from ci.model.errors import InputError
from ci.model.result import RoleUse
from ci.proposer.base import Proposer, RunContext
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.calls import read_calls
from ci.proposer.llm.proposer import compose
from ci.proposer.llm.recording import Recording
from ci.proposer.llm.run import BY_RULES, ModelRun
from ci.proposer.llm.settings import Models, ModelSettings
from ci.system.trial_store import TRIALS_FILE, TrialStore

NOWHERE = "https://recorded.invalid"
"""The endpoint of recorded models: nothing is ever sent."""


def replay_proposer(recorded: Path) -> Proposer:
    """Proposes what the recorded run did, as long as the same things are asked.

    `recorded` is a run's folder or its trials.sqlite; raises `InputError`.
    """
    return compose("replay", RecordedRun(recorded))


class RecordedRun(ModelRun):
    """The models of an earlier run, of which only the recorded answers are had."""

    def __init__(self, recorded: Path) -> None:
        self.path = recorded / TRIALS_FILE if recorded.is_dir() else recorded
        if not self.path.is_file():
            raise InputError(f"There is no recorded run at {recorded}; give the folder of a run.")
        with TrialStore(self.path) as store:
            self._identity = store.identity()
            self._remembered = store.remembered()
        calls = read_calls(self.path)
        roles = self._identity.get("models", {})
        named = {r: by for r, by in roles.items() if by != BY_RULES} if roles else {}
        models = {
            by: ModelSettings(model=by, endpoint=NOWHERE, key="ASCENDOPT_NO_KEY")
            for by in named.values()
        }
        super().__init__(
            Models.model_validate({"models": models, "roles": named}),
            caller_of=lambda m, run: Caller(m, run, replayed=Recording(calls)),
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
        """As in a run of models, with the recorded answers named as such."""
        uses, _ = super().use()
        told = (
            u if u.by == BY_RULES else u.model_copy(update={"by": f"recorded answers of {u.by}"})
            for u in uses
        )
        return tuple(told), ""
