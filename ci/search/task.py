"""The task of a search."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ci.judge.base import Judge
from ci.model.operator import Operator
from ci.model.workload import Workload
from ci.proposer.base import Proposer
from experience.bank.bank import Bank


def hash_of_sources(operator: Operator) -> str:
    """sha256 over the operator's own original sources."""
    sources = hashlib.sha256()
    for path, text in sorted(operator.texts().items()):
        sources.update(path.encode() + b"\0" + text.encode() + b"\0")
    return sources.hexdigest()


@dataclass(frozen=True)
class Task:
    """The operator to make faster, who judges, who proposes, and with which experience."""

    operator: Operator
    workload: Workload
    evaluator: Judge
    proposer: Proposer
    bank: Bank | None = None

    @property
    def device(self) -> str:
        """Return the device that candidates are measured on."""
        return self.evaluator.fingerprint().device

    def identity(self) -> dict[str, object]:
        """Return the facts that decide, next to the settings, which trials a run makes."""
        workload = self.workload.model_dump_json(exclude={"folder"})
        roles = self.proposer.models.roles()
        return {
            "operator": self.operator.name,
            "sources": hash_of_sources(self.operator),
            "workload": hashlib.sha256(workload.encode()).hexdigest(),
            "proposer": self.proposer.name,
            **({"models": roles} if roles else {}),
        }
