"""Role 4: from a slow/fast pair to what it teaches, in words that hold for other operators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from ci.model.operator import Operator
from ci.model.trial import Trial
from ci.proposer.llm.answer import BadAnswer, read_object, text_of, words_of
from ci.proposer.llm.diagnosing import known_classes, taxonomy_lines
from ci.proposer.llm.measurements import figures
from ci.proposer.llm.run import ModelRun
from ci.source.cpp_source import identifiers, parse
from ci.source.source_diff import git_diff
from experience.bank.distill import Lesson
from experience.bank.fitting import changed_names, misfit

SHOWN_DIFF: Final = 20_000  # characters
SCHEMA: Final[dict[str, Any]] = {
    "title": "lesson",
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "description": {"type": "string"},
        "bottleneck": {"type": "string"},
        "classes": {"type": "array", "items": {"type": "string"}},
        "shown_by": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title", "description", "bottleneck", "classes", "shown_by"],
    "additionalProperties": False,
}
# A name is the operator's own when it looks like one: camelCase, snake_case or a trailing _.
_OWN_LOOK: Final = re.compile(r"[a-z0-9][A-Z]|_")


def own_names(operator: Operator) -> frozenset[str]:
    """Names that mean something in this operator only: its own, its functions', its variables'."""
    names = {operator.name, operator.op_type}
    for path, text in operator.texts().items():
        if path not in operator.kernel_sources:
            continue
        source = parse(text)
        called = {c.name for c in source.calls} | {m.name for m in source.methods}
        defined = {f.name.split("::")[-1] for f in source.functions}
        looks = {n for n in identifiers(source.shadow) if _OWN_LOOK.search(n) and n[0].islower()}
        names |= (looks - called) | {n for n in defined if _OWN_LOOK.search(n)}
    return frozenset(n for n in names if len(n) > 3)


def read_lesson(text: str, operator: Operator, draft: Lesson, diff: str) -> Lesson:
    """The lesson in an answer; the motif's id stays.

    Raises BadAnswer when it is not general, or is not about `diff`: what shows the optimization
    must be in the lines that changed.
    """
    found = read_object(text)
    title = text_of(found, "title", 100)
    description = text_of(found, "description", 800)
    bottleneck = text_of(found, "bottleneck", 600)
    said = identifiers(f"{title} {description} {bottleneck}")
    particular = sorted(said & own_names(operator))
    if particular:
        raise BadAnswer(
            f"The lesson names {', '.join(particular[:5])}, which only this operator has; say it "
            "in words that fit other operators."
        )
    shown, changed = words_of(found, "shown_by"), changed_names(diff)
    missing = [w for w in shown if not identifiers(w) or identifiers(w) - changed]
    if missing or not shown:
        raise BadAnswer(
            f"'shown_by' must name one to four calls, types or variables of the lines that this "
            f"diff changes; {', '.join(missing[:4]) or 'nothing'} is none. Is the lesson about "
            "another diff?"
        )
    lesson = Lesson(
        title=title,
        description=description,
        bottleneck=bottleneck,
        classes=known_classes(words_of(found, "classes")),
        motif_id=draft.motif_id,
    )
    if wrong := misfit(lesson, diff):
        raise BadAnswer(wrong)
    return lesson


@dataclass(frozen=True)
class ModelDistiller:
    """Says what a measured pair teaches; the draft stays when no usable answer says it better."""

    run: ModelRun

    def __call__(self, operator: Operator, slow: Trial, fast: Trial, draft: Lesson) -> Lesson:
        """The model's lesson, or `draft`. Raises ModelUnavailable."""
        if slow.measurement is None or fast.measurement is None:
            return draft
        before = operator.texts(slow.candidate.files)
        after = operator.texts(fast.candidate.files)
        diff = git_diff(before, after)
        try:
            return self.run.ask(
                "distillation",
                fast.measurement.fingerprint.device,
                lambda text: read_lesson(text, operator, draft, diff),
                SCHEMA,
                effect=f"{slow.measurement.score_us / fast.measurement.score_us:.2f}x",
                diff=diff[:SHOWN_DIFF],
                slow=figures(slow.measurement, before),
                fast=figures(fast.measurement, after),
                draft=draft,
                taxonomy=taxonomy_lines(),
            )
        except BadAnswer:
            return draft
