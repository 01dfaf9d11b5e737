"""Role 5: from kernel and profile to the bottleneck query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.trial import Measurement, Trial
from ci.proposer.llm.answer import BadAnswer, read_object, text_of, words_of
from ci.proposer.llm.measurements import figures
from ci.proposer.llm.prompts import attributes
from ci.proposer.llm.run import ModelRun
from ci.proposer.rules.diagnosing import diagnose_by_rules
from rules.load import load_taxonomy

MOST_CLASSES: Final = 4
SCHEMA: Final[dict[str, Any]] = {
    "title": "diagnosis",
    "type": "object",
    "properties": {
        "bottleneck": {"type": "string"},
        "classes": {"type": "array", "items": {"type": "string"}},
        "evidence": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["bottleneck", "classes", "evidence"],
    "additionalProperties": False,
}


def taxonomy_lines() -> list[str]:
    """The bottleneck classes as a prompt lists them."""
    return [f"{c.id}: {c.words}" for c in load_taxonomy().values()]


def known_classes(names: tuple[str, ...]) -> tuple[str, ...]:
    """The classes of an answer, the first four. Raises BadAnswer when the taxonomy lacks one."""
    known = load_taxonomy()
    for name in names:
        if name not in known:
            raise BadAnswer(f"There is no class '{name[:60]}'; there are: {', '.join(known)}.")
    if not names:
        raise BadAnswer("Name at least one bottleneck class.")
    return names[:MOST_CLASSES]


def read_diagnosis(text: str) -> Diagnosis:
    """The diagnosis in an answer. Raises BadAnswer."""
    found = read_object(text)
    return Diagnosis(
        bottleneck=text_of(found, "bottleneck", 600),
        classes=known_classes(words_of(found, "classes")),
        evidence=tuple(e[:300] for e in words_of(found, "evidence")[:4]),
    )


@dataclass(frozen=True)
class ModelDiagnoser:
    """Asks once a program; rules answer when the model's answer cannot be used."""

    run: ModelRun

    def __call__(self, operator: Operator, best: Trial) -> Diagnosis:
        """What a model says bounds the kernel. Raises ModelUnavailable."""
        by_rules = diagnose_by_rules(operator, best)
        if best.measurement is None:
            return by_rules
        known, key = self.run.begun.diagnoses, (operator.name, best.candidate.hash)
        if key not in known:
            try:
                known[key] = self._ask(operator, best, best.measurement, by_rules)
            except BadAnswer:
                known[key] = by_rules
        return known[key]

    def _ask(
        self, operator: Operator, best: Trial, measured: Measurement, by_rules: Diagnosis
    ) -> Diagnosis:
        texts = operator.texts(best.candidate.files)
        return self.run.ask(
            "diagnosis",
            measured.fingerprint.device,
            read_diagnosis,
            SCHEMA,
            attributes=attributes(operator, self.run.begun.workload),
            best=best,
            figures=figures(measured, texts),
            bottleneck=by_rules.bottleneck,
            evidence=by_rules.evidence,
            kernel={p: texts[p] for p in operator.kernel_sources},
            taxonomy=taxonomy_lines(),
        )
