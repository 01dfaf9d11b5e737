"""Role 6: apply retrieved experience to the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.trial import Candidate, Trial
from ci.model.workload import Workload
from ci.proposer.llm.answer import read_words
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.dialogue import check_new, converse, nothing_left, reason
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.prompts import attributes, earlier, figures, machine, messages
from ci.proposer.sources import changed_only, editable
from experience.bank.retrieve import Retrieved, helpful

SHOWN_DIFF: Final = 6000
"""Characters of a tuple's diff that a prompt shows: five tuples must leave room for the kernel."""


@dataclass(frozen=True)
class Rewriting:
    """One step of Stage II: the parent, what was retrieved for it and what was tried."""

    operator: Operator
    best: Trial
    retrieved: Sequence[Retrieved]
    history: Sequence[Trial]

    def texts(self) -> dict[str, str]:
        """The parent's kernel texts: all that an answer may change."""
        return editable(self.operator, self.best.candidate.files, self.operator.kernel_sources)

    def candidate(self, text: str, model: str) -> Candidate | None:
        """The candidate of an answer, None when it says that nothing is left. Raises Mistake."""
        if "<<<<<" not in text and nothing_left(text):
            return None
        changed = apply_edits(self.texts(), read_edits(text))
        offered = [r.tuple.id for r in helpful(self.retrieved)]
        said = read_words(text, "TUPLES")
        candidate = Candidate(
            files=changed_only(self.operator, self.best.candidate.files | changed),
            stage="kernel",
            parent=self.best.candidate.hash,
            proposer="llm",
            role="rewriting",
            model=model,
            rationale=reason(text),
            tuple_ids=tuple(i for i in offered if i in said),  # only what it was shown
        )
        check_new(candidate, self.operator, self.history)
        return candidate


def rewrite_with(
    caller: Caller,
    step: Rewriting,
    diagnosis: Diagnosis,
    workload: Workload | None,
    device: str,
    model: str,
) -> Candidate | None:
    """The rewrite that a model proposes. Raises Mistake and ModelUnavailable."""
    texts = step.operator.texts(step.best.candidate.files)
    prompt = messages(
        "rewriting",
        attributes=attributes(step.operator, workload),
        machine=machine(device),
        best=step.best,
        figures=figures(step.best.measurement, texts),
        bottleneck=diagnosis.bottleneck,
        tuples=[_shown(r) for r in step.retrieved],
        earlier=earlier(step.history, step.best, "kernel"),
        kernel=step.texts(),
    )
    return converse(caller, "rewriting", prompt, lambda text: step.candidate(text, model))


def _shown(one: Retrieved) -> dict[str, str]:
    earned = one.tuple
    return {
        "id": earned.id,
        "effect": f"{earned.evidence.failure or f'{earned.evidence.speedup:.2f}x'}",
        "text": f"{earned.title}\n{earned.description}\nBottleneck: {earned.bottleneck}",
        "diff": earned.diff[:SHOWN_DIFF],
    }
