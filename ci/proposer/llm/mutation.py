"""Role 2: one change of the tiling inside its markers: knobs to other values, or other logic."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.proposer.llm.answer import BadAnswer
from ci.proposer.llm.dialogue import check_new, nothing_left, reason
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.prompts import attributes, earlier, figures
from ci.proposer.llm.run import ModelRun
from ci.proposer.rules.diagnosing import diagnose_by_rules
from ci.proposer.sources import changed_only
from ci.tiling.synthesize import follow
from ci.tiling.template import KnobValue, TilingTemplate

_KNOB = re.compile(r"^[\s>*`-]*KNOB[\s*]+`?([\w.\-:]+)`?\s*=\s*`?(-?\d+(?:\.\d+)?)", re.MULTILINE)


@dataclass(frozen=True)
class Mutation:
    """One step of Stage I: the template, its parent and what was tried."""

    run: ModelRun
    step: Step
    template: TilingTemplate
    now: TilingTemplate
    """The template at the parent."""

    def candidate(self, text: str) -> Candidate | None:
        """The candidate of an answer, None when it says that nothing is left. Raises BadAnswer."""
        values = self._values(text)
        changed = self.now.changes(values)
        if "<<<<<" in text or '"edits"' in text:
            changed |= apply_edits(self.now.at(values).plain(), read_edits(text))
        elif not values:
            if nothing_left(text):
                return None
            raise BadAnswer("The answer holds neither an edit nor a line 'KNOB name = value'.")
        if not changed:
            raise BadAnswer("The knobs have these values already: nothing changes.")
        for path, new in changed.items():
            if not self.template.admits({path: new}):
                raise BadAnswer(
                    f"{path} was changed outside the EVOLVE-BLOCK markers; every line outside "
                    "them must stay exactly as it is."
                )
        best = self.step.best.candidate
        candidate = self.run.candidate(
            "mutation",
            "tiling",
            changed_only(self.step.operator, best.files | changed),
            best.hash,
            rationale=reason(text),
            knobs=values,
        )
        check_new(candidate, self.step.operator, self.step.history)
        return candidate

    def _values(self, text: str) -> dict[str, KnobValue]:
        """The knobs that an answer sets. Raises BadAnswer for one that is not there."""
        known = {k.name: k for k in self.now.knobs}
        values: dict[str, KnobValue] = {}
        for name, said in _KNOB.findall(text):
            knob = known.get(name)
            if knob is None:
                names = ", ".join(known) or "none"
                raise BadAnswer(f"There is no knob {name[:60]}; there are: {names}.")
            choices = self.now.choices(knob)
            value = next((v for v in choices if v == float(said)), None)
            if value is None:
                allowed = ", ".join(str(v) for v in choices)
                raise BadAnswer(f"The knob {name} cannot be {said[:20]}; allowed are {allowed}.")
            values[name] = value
        return values


@dataclass(frozen=True)
class ModelMutator:
    """Asks for one change of the tiling."""

    run: ModelRun

    def __call__(self, step: Step, template: TilingTemplate) -> Candidate | None:
        """A change inside the markers; None when the model has nothing left, or only misses."""
        operator, best = step.operator, step.best
        now = follow(operator, template, step.history).get(best.candidate.hash)
        if now is None:
            return None
        whole = operator.texts(best.candidate.files)
        return self.run.proposed(
            "mutation",
            step,
            "tiling",
            Mutation(self.run, step, template, now).candidate,
            attributes=attributes(operator, self.run.begun.workload),
            best=best,
            figures=figures(best.measurement, whole),
            bottleneck=diagnose_by_rules(operator, best).bottleneck,
            earlier=earlier(step.history, best, "tiling"),
            sources={p: template.marked(p, t) for p, t in now.plain().items()},
            knobs=[
                f"{k.name} = {now.values[k.name]}; "
                f"{', '.join(str(v) for v in now.choices(k))}; {k.decides}: {k.why}"
                for k in now.knobs
            ],
            kernel={p: whole[p] for p in operator.kernel_sources},
        )
