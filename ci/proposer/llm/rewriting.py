"""Role 6: apply retrieved experience to the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ci.model.diagnosis import Diagnosis
from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.proposer.llm.answer import read_words
from ci.proposer.llm.dialogue import check_new, converse, nothing_left, reason
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.prompts import attributes, earlier, figures, messages
from ci.proposer.llm.run import ModelRun
from ci.proposer.sources import changed_only, editable
from experience.bank.retrieve import Retrieved, helpful

SHOWN_DIFF: Final = 6000
"""Characters of a tuple's diff that a prompt shows: five tuples must leave room for the kernel."""


class ModelRewriter:
    """Asks for one rewrite of the kernel, with what the bank retrieved for it."""

    def __init__(self, run: ModelRun) -> None:
        self._run = run

    def __call__(
        self, step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        """A rewritten kernel; None when the model has nothing left, or only misses."""
        begun = self._run.begun
        best = step.best
        texts = step.operator.texts(best.candidate.files)
        prompt = messages(
            "rewriting",
            step.device,
            attributes=attributes(step.operator, begun.workload),
            best=best,
            figures=figures(best.measurement, texts),
            bottleneck=diagnosis.bottleneck,
            tuples=[_shown(r) for r in retrieved],
            earlier=earlier(step.history, best, "kernel"),
            kernel=_kernel(step),
        )

        def ask() -> Candidate | None:
            return converse(
                begun.caller, "rewriting", prompt, lambda text: self._read(text, step, retrieved)
            )

        return self._run.proposed("rewriting", step, "kernel", ask)

    def _read(self, text: str, step: Step, retrieved: Sequence[Retrieved]) -> Candidate | None:
        """The candidate of an answer, None when it says that nothing is left. Raises BadAnswer."""
        if "<<<<<" not in text and nothing_left(text):
            return None
        changed = apply_edits(_kernel(step), read_edits(text))
        offered = [r.tuple.id for r in helpful(retrieved)]
        said = read_words(text, "TUPLES")
        candidate = Candidate(
            files=changed_only(step.operator, step.best.candidate.files | changed),
            stage="kernel",
            parent=step.best.candidate.hash,
            proposer="llm",
            role="rewriting",
            model=self._run.model("rewriting"),
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
