"""Role 2: one change of the tiling inside its markers: knobs to other values, or other logic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ci.judge.diagnose import diagnose
from ci.model.operator import Operator
from ci.model.trial import Candidate, Trial
from ci.model.workload import Workload
from ci.proposer.llm.answer import Mistake
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.dialogue import check_new, converse, nothing_left, reason
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.prompts import attributes, earlier, figures, machine, messages
from ci.proposer.sources import changed_only, editable
from ci.tiling.synthesize import synthesize
from ci.tiling.template import Knob, KnobValue, TilingTemplate

_KNOB = re.compile(r"^[\s>*`-]*KNOB[\s*]+`?([\w.\-:]+)`?\s*=\s*`?(-?\d+(?:\.\d+)?)", re.MULTILINE)


@dataclass(frozen=True)
class Mutation:
    """One step of Stage I: the template, its parent and what was tried."""

    operator: Operator
    template: TilingTemplate
    best: Trial
    history: Sequence[Trial]

    def texts(self) -> dict[str, str]:
        """The parent's texts of the template's files."""
        return editable(self.operator, self.best.candidate.files, tuple(self.template.sources))

    def knobs(self) -> tuple[Knob, ...]:
        """The knobs of the parent's text."""
        now = synthesize(self.operator, self.best.candidate.files)
        return tuple(k for k in now.knobs if k.file in self.template.sources)

    def candidate(self, text: str, model: str) -> Candidate | None:
        """The candidate of an answer, None when it says that nothing is left. Raises Mistake."""
        values = self._values(text)
        texts = self.texts()
        changed: dict[str, str] = {}
        if values:
            now = synthesize(self.operator, self.best.candidate.files)
            changed = now.fill(values)
        if "<<<<<" in text or '"edits"' in text:
            changed |= apply_edits(texts | changed, read_edits(text))
        elif not values:
            if nothing_left(text):
                return None
            raise Mistake("The answer holds neither an edit nor a line 'KNOB name = value'.")
        if not changed:
            raise Mistake("The knobs have these values already: nothing changes.")
        for path, new in changed.items():
            if not self.template.admits({path: new}):
                raise Mistake(
                    f"{path} was changed outside the EVOLVE-BLOCK markers; every line outside "
                    "them must stay exactly as it is."
                )
        candidate = Candidate(
            files=changed_only(self.operator, self.best.candidate.files | changed),
            stage="tiling",
            parent=self.best.candidate.hash,
            proposer="llm",
            role="mutation",
            model=model,
            rationale=reason(text),
            knobs=values,
        )
        check_new(candidate, self.operator, self.history)
        return candidate

    def _values(self, text: str) -> dict[str, KnobValue]:
        """The knobs that an answer sets. Raises Mistake for one that is not there."""
        known = {k.name: k for k in self.knobs()}
        values: dict[str, KnobValue] = {}
        for name, said in _KNOB.findall(text):
            knob = known.get(name)
            if knob is None:
                names = ", ".join(known) or "none"
                raise Mistake(f"There is no knob {name[:60]}; there are: {names}.")
            value = next((v for v in knob.values if v == float(said)), None)
            if value is None:
                allowed = ", ".join(str(v) for v in knob.values)
                raise Mistake(f"The knob {name} cannot be {said[:20]}; allowed are {allowed}.")
            values[name] = value
        return values


def mutate_with(
    caller: Caller, step: Mutation, workload: Workload | None, device: str, model: str
) -> Candidate | None:
    """The change that a model proposes. Raises Mistake and ModelUnavailable."""
    operator, best = step.operator, step.best
    texts = step.texts()
    whole = operator.texts(best.candidate.files)
    prompt = messages(
        "mutation",
        attributes=attributes(operator, workload),
        machine=machine(device),
        best=best,
        figures=figures(best.measurement, whole),
        bottleneck=diagnose(best.measurement).bottleneck if best.measurement else "not measured",
        earlier=earlier(step.history, best, "tiling"),
        sources={p: step.template.marked(p, t) for p, t in texts.items()},
        knobs=[
            f"{k.name} = {k.current}; {', '.join(str(v) for v in k.values)}; {k.decides}: {k.why}"
            for k in step.knobs()
        ],
        kernel={p: whole[p] for p in operator.kernel_sources},
    )
    return converse(caller, "mutation", prompt, lambda text: step.candidate(text, model))
