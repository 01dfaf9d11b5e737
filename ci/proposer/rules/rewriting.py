"""Stage II by rules: motifs that the bank is sure of at once, then one place after the other."""

from __future__ import annotations

from collections.abc import Sequence

from ci.model.diagnosis import Diagnosis
from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.proposer.motifs.rewrite import Application
from ci.proposer.rules.choice import applied, promising, rank_motifs
from ci.proposer.sources import editable
from experience.bank.retrieve import CONFIDENT, Retrieved
from rules.load import Motif

MOST_AT_ONCE = 4
"""Motifs in one candidate: a reviewer, and the search for the one at fault, must follow."""

COMBINED = 0.35
"""Several motifs are tried at once as long as they all hold with this chance, by the bank."""


class MotifRewriter:
    """Applies the motifs of stage kernel."""

    def __init__(self, motifs: Sequence[Motif]) -> None:
        self._motifs = tuple(m for m in motifs if m.stage == "kernel")

    def __call__(
        self, step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        """What the bank is sure of at once, then one application not tried yet after the other.

        The motifs come in the order of their promise.
        """
        texts = _kernel(step)
        ordered = rank_motifs(self._motifs, diagnosis, retrieved, step.history)
        seen = {t.candidate.hash for t in step.history}
        together = _together(ordered, texts, step, retrieved)
        if together is not None and together.hash not in seen:
            return _with_tuples(together, retrieved)
        for _, candidate in promising(ordered, texts, step):
            return _with_tuples(candidate, retrieved)
        return None

    def applicable(self, step: Step) -> tuple[str, ...]:
        """Motifs with an application that was not tried yet."""
        texts = _kernel(step)
        return tuple(
            m.id for m in self._motifs if next(promising([m], texts, step), None) is not None
        )


def _kernel(step: Step) -> dict[str, str]:
    return editable(step.operator, step.best.candidate.files, step.operator.kernel_sources)


def _together(
    motifs: Sequence[Motif], texts: dict[str, str], step: Step, retrieved: Sequence[Retrieved]
) -> Candidate | None:
    """The motifs that the bank is sure of, one on top of the other; None for fewer than two.

    A small budget does not reach them one by one. When four of them fail, one is at fault:
    the first two are tried, then each alone.
    """
    sure = {
        r.tuple.motif_id: r.reliability
        for r in retrieved
        if r.tuple.direction != "negative" and r.reliability >= CONFIDENT
    }
    before = [
        len(t.candidate.motif_ids)
        for t in step.history
        if len(t.candidate.motif_ids) > 1 and t.candidate.parent == step.best.candidate.hash
    ]
    if before and min(before) <= 2:
        return None
    most = 2 if before else MOST_AT_ONCE
    chance, changed = 1.0, dict(texts)
    taken: list[Application] = []
    for motif in motifs:
        chance *= sure.get(motif.id, 0.0)
        if len(taken) == most or chance < COMBINED:
            break
        found = next(promising([motif], changed, step), None)
        if found is not None:
            taken.append(found[0])
            changed = {**changed, **found[0].also, found[0].path: found[0].text}
    if len(taken) < 2:
        return None
    return applied(step, "kernel", *taken)


def _with_tuples(candidate: Candidate, retrieved: Sequence[Retrieved]) -> Candidate:
    """The candidate with the tuples that speak for its motifs."""
    tuples = tuple(
        r.tuple.id
        for r in retrieved
        if r.tuple.motif_id in candidate.motif_ids and r.tuple.direction != "negative"
    )
    return candidate.model_copy(update={"tuple_ids": tuples})
