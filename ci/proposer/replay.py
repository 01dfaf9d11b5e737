"""Plays an earlier run again without a model: its recorded answers, its retrievals, its roles."""

from __future__ import annotations

from pathlib import Path

import duckdb

from ci.model.errors import InputError
from ci.model.result import RoleUse
from ci.proposer.base import RunContext
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.ledger import read_calls
from ci.proposer.llm.proposer import BY_RULES, LlmProposer
from ci.proposer.llm.recording import Recording
from ci.proposer.llm.settings import Models, ModelSettings
from ci.system.duckdb_file import open_file
from experience.bank.trial_store import TrialStore

NOWHERE = "https://recorded.invalid"
"""The endpoint of recorded models: nothing is ever sent."""

TRIALS = "trials.duckdb"


class ReplayProposer(LlmProposer):
    """Proposes what the recorded run did, as long as the same things are asked."""

    name = "replay"

    def __init__(self, recorded: Path) -> None:
        """`recorded` is a run's folder or its trials.duckdb; raises `InputError`."""
        self.path = recorded / TRIALS if recorded.is_dir() else recorded
        if not self.path.is_file():
            raise InputError(f"There is no recorded run at {recorded}; give the folder of a run.")
        try:
            self._identity = TrialStore(self.path).identity()
            calls = read_calls(self.path)
        except duckdb.Error as problem:
            said = str(problem).splitlines()[0]
            raise InputError(f"{self.path} is not the record of a run: {said}") from problem
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
        store = TrialStore(run.calls)
        now = store.identity()
        for key in ("operator", "sources", "workload"):
            if key in now and self._identity.get(key) != now[key]:
                raise InputError(
                    f"{self.path} cannot be replayed here: its {key} differs from this run's."
                )
        with open_file(self.path) as recorded:
            rows = recorded.execute("SELECT round, step, retrieved FROM retrievals").fetchall()
        store.take_retrievals(rows)
        super().begin(run)

    def model_use(self) -> tuple[tuple[RoleUse, ...], str]:
        """As in a run of models, with the recorded answers named as such."""
        uses, _ = super().model_use()
        told = (
            u if u.by == BY_RULES else u.model_copy(update={"by": f"recorded answers of {u.by}"})
            for u in uses
        )
        return tuple(told), ""
