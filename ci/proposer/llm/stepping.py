"""Roles 2 and 6: one step of a search, asked in one prompt whatever it may change.

Tiling steps change the host tiling inside its markers, kernel steps the kernel, joint steps both.
The prompt shows both halves each time; what stands first in it is the same for every step from a
program. When a model sees nothing more in a stage, rules go on there: first with the constants that
the model introduced, then as in any run by rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ci.model.diagnosis import Diagnosis
from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.proposer.llm.answer import BadAnswer, read_words
from ci.proposer.llm.dialogue import check_new, nothing_left, reason
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.knob_lines import knob_lines, read_knobs
from ci.proposer.llm.run import ModelRun
from ci.proposer.llm.settings import Role
from ci.proposer.llm.step_prompt import Shown, step_facts
from ci.proposer.sources import changed_only, editable
from ci.tiling.new_constants import tuned
from ci.tiling.regions import tiling_regions
from ci.tiling.synthesize import follow
from ci.tiling.template import TilingTemplate
from experience.bank.retrieve import Retrieved, helpful

Stage: TypeAlias = Literal["tiling", "kernel", "joint"]

ROLES: Final[dict[Stage, Role]] = {
    "tiling": "mutation", "kernel": "rewriting", "joint": "rewriting",
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """One step: who asks, from where, and what an answer may change."""

    run: ModelRun
    stage: Stage
    step: Step
    template: TilingTemplate
    now: TilingTemplate
    """The template at the parent; without blocks when the host tiling cannot be changed."""
    retrieved: Sequence[Retrieved] = ()

    def texts(self) -> dict[str, str]:
        """All that an answer may change, as the parent has it."""
        operator, files = self.step.operator, self.step.best.candidate.files
        host = self.now.plain() if self.stage != "kernel" else {}
        kernel = editable(operator, files, operator.kernel_sources)
        return host | (kernel if self.stage != "tiling" else {})

    def candidate(self, text: str) -> Candidate | None:
        """The candidate of an answer, None when it says that nothing is left. Raises BadAnswer."""
        knobs = self.now.knobs if self.stage != "kernel" else ()
        values = read_knobs(text, self.now) if knobs else {}
        edited = "<<<<<" in text or '"edits"' in text
        if not values and not edited:
            if nothing_left(text):
                return None
            raise BadAnswer("The answer holds neither an edit nor a line 'KNOB name = value'.")
        changed = self.now.changes(values)
        if edited:
            changed |= apply_edits(self.texts() | changed, read_edits(text))
        if not changed:
            raise BadAnswer("The knobs have these values already: nothing changes.")
        for path, new in changed.items():
            if path in self.template.sources and not self.template.admits({path: new}):
                raise BadAnswer(
                    f"{path} was changed outside the EVOLVE-BLOCK markers; every line outside "
                    "them must stay exactly as it is."
                )
        best, operator = self.step.best.candidate, self.step.operator
        offered, said = [r.tuple.id for r in helpful(self.retrieved)], read_words(text, "TUPLES")
        candidate = self.run.candidate(
            ROLES[self.stage],
            self.stage,
            changed_only(operator, best.files | changed),
            best.hash,
            rationale=reason(text),
            knobs=values,
            tuple_ids=tuple(i for i in offered if i in said),  # only what it was shown
        )
        check_new(candidate, operator, self.step.history)
        return candidate


@dataclass(frozen=True)
class ModelSteps:
    """Asks for one step of a stage; goes on by rules where the model sees nothing more."""

    run: ModelRun

    def mutate(
        self,
        step: Step,
        template: TilingTemplate,
        retrieved: Sequence[Retrieved],
        by_rules: Callable[[], Candidate | None],
    ) -> Candidate | None:
        """A step of the tiling."""
        now = follow(step.operator, template, step.history).get(step.best.candidate.hash)
        if now is None:
            return by_rules()
        question = Question(self.run, "tiling", step, template, now, retrieved)
        return self._ask(question, None, by_rules)

    def rewrite(
        self,
        stage: Literal["kernel", "joint"],
        step: Step,
        diagnosis: Diagnosis,
        retrieved: Sequence[Retrieved],
        by_rules: Callable[[], Candidate | None],
    ) -> Candidate | None:
        """A step of the kernel, or of both halves."""
        begun = self.run.begun
        if begun.template is None:  # a run of kernel steps alone
            begun.template = tiling_regions(step.operator, step.device)[0]
        template = begun.template
        now = follow(step.operator, template, step.history).get(step.best.candidate.hash, template)
        if stage == "joint" and not now.blocks:
            return by_rules()
        question = Question(self.run, stage, step, template, now, retrieved)
        return self._ask(question, diagnosis, by_rules)

    def _ask(
        self,
        question: Question,
        diagnosis: Diagnosis | None,
        by_rules: Callable[[], Candidate | None],
    ) -> Candidate | None:
        begun, step, stage = self.run.begun, question.step, question.stage
        asked = (stage, step.best.candidate.hash)
        both = ("joint", step.best.candidate.hash)  # who sees nothing for both sees none for one
        if not {asked, both} & begun.closed:
            shown = Shown(
                begun.view_of(step, question.template), question.template, begun.workload,
                diagnosis, question.retrieved, knob_lines(question.now),
            )  # fmt: skip
            found = self.run.proposed(
                ROLES[stage], step, stage, question.candidate, **step_facts(stage, step, shown)
            )
            if found is not None:
                return found
            begun.closed.add(asked)
        paths = tuple(question.texts())
        for candidate in tuned(step.operator, step.best, step.history, stage, paths):
            mine = {p: t for p, t in candidate.files.items() if p in question.template.sources}
            if question.template.admits(mine):
                return candidate
        return by_rules()
