"""Role 5: from kernel and profile to the bottleneck query."""

from __future__ import annotations

from typing import Any, Final

from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.trial import Trial
from ci.model.workload import Workload
from ci.proposer.llm.answer import Mistake, read_object, text_of, words_of
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.dialogue import converse
from ci.proposer.llm.prompts import attributes, figures, machine, messages
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
    """The classes of an answer, the first four. Raises Mistake when one is not in the taxonomy."""
    known = load_taxonomy()
    for name in names:
        if name not in known:
            raise Mistake(f"There is no class '{name[:60]}'; there are: {', '.join(known)}.")
    if not names:
        raise Mistake("Name at least one bottleneck class.")
    return names[:MOST_CLASSES]


def read_diagnosis(text: str) -> Diagnosis:
    """The diagnosis in an answer. Raises Mistake."""
    found = read_object(text)
    return Diagnosis(
        bottleneck=text_of(found, "bottleneck", 600),
        classes=known_classes(words_of(found, "classes")),
        evidence=tuple(e[:300] for e in words_of(found, "evidence")[:4]),
    )


def diagnose_with(
    caller: Caller, operator: Operator, best: Trial, by_rules: Diagnosis, workload: Workload | None
) -> Diagnosis:
    """What a model says bounds the kernel. Raises Mistake and ModelUnavailable."""
    assert best.measurement is not None
    texts = operator.texts(best.candidate.files)
    prompt = messages(
        "diagnosis",
        attributes=attributes(operator, workload),
        machine=machine(best.measurement.fingerprint.device),
        best=best,
        figures=figures(best.measurement, texts),
        bottleneck=by_rules.bottleneck,
        evidence=by_rules.evidence,
        kernel={p: texts[p] for p in operator.kernel_sources},
        taxonomy=taxonomy_lines(),
    )
    return converse(caller, "diagnosis", prompt, read_diagnosis, SCHEMA)
