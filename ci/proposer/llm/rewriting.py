"""Role 6: apply retrieved experience to the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ci.model.diagnosis import Diagnosis
from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.proposer.llm.answer import read_words
from ci.proposer.llm.dialogue import check_new, nothing_left, reason
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.prompts import attributes, earlier, figures
from ci.proposer.llm.run import ModelRun
from ci.proposer.sources import changed_only, editable
from experience.bank.retrieve import Retrieved, helpful

SHOWN_DIFF: Final = 6000
"""Characters of a tuple's diff that a prompt shows: five tuples must leave room for the kernel."""


@dataclass(frozen=True)
class ModelRewriter:
    """Asks for one rewrite of the kernel, with what the bank retrieved for it."""

    run: ModelRun

    def __call__(
        self, step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        """A rewritten kernel; None when the model has nothing left, or only misses."""
        best = step.best
        return self.run.proposed(
            "rewriting",
            step,
            "kernel",
            lambda text: self._read(text, step, retrieved),
            attributes=attributes(step.operator, self.run.begun.workload),
            best=best,
            figures=figures(best.measurement, step.operator.texts(best.candidate.files)),
            bottleneck=diagnosis.bottleneck,
            tuples=[_shown(r) for r in retrieved],
            earlier=earlier(step.history, best, "kernel"),
            kernel=_kernel(step),
        )

    def _read(self, text: str, step: Step, retrieved: Sequence[Retrieved]) -> Candidate | None:
        """The candidate of an answer, None when it says that nothing is left. Raises BadAnswer."""
        if "<<<<<" not in text and nothing_left(text):
            return None
        changed = apply_edits(_kernel(step), read_edits(text))
        offered = [r.tuple.id for r in helpful(retrieved)]
        said = read_words(text, "TUPLES")
        candidate = self.run.candidate(
            "rewriting",
            "kernel",
            changed_only(step.operator, step.best.candidate.files | changed),
            step.best.candidate.hash,
            rationale=reason(text),
            tuple_ids=tuple(i for i in offered if i in said),  # only what it was shown
        )
        check_new(candidate, step.operator, step.history)
        return candidate


def _kernel(step: Step) -> dict[str, str]:
    """The parent's kernel texts: all that an answer may change."""
    return editable(step.operator, step.best.candidate.files, step.operator.kernel_sources)


def _shown(one: Retrieved) -> dict[str, str]:
    earned = one.tuple
    return {
        "id": earned.id,
        "effect": f"{earned.evidence.failure or f'{earned.evidence.speedup:.2f}x'}",
        "text": f"{earned.title}\n{earned.description}\nBottleneck: {earned.bottleneck}",
        "diff": earned.diff[:SHOWN_DIFF],
    }
