"""Stage I by rules: structural rewrites first, then single knobs by diagnosis, then optuna."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ci.model.diagnosis import Diagnosis
from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.proposer.motifs.rewrite import applications
from ci.proposer.rules.choice import applied, rank_motifs
from ci.proposer.rules.diagnosing import diagnose_by_rules
from ci.proposer.rules.prospects import can_matter
from ci.proposer.sources import changed_only, editable
from ci.tiling.knob_words import knob_changes, moved
from ci.tiling.parametric import knob_moves, sample
from ci.tiling.synthesize import follow
from ci.tiling.template import KnobValue, TilingTemplate
from experience.bank.retrieve import DOUBTFUL, Retrieved
from rules.load import Motif

SEVERAL: Final = "tpe"
"""In place of a motif where optuna moved several knobs at once."""

SINGLE_MOVES: Final = 8
"""One-knob moves tried from one parent before optuna takes turns with the rest of them."""


class KnobMutator:
    """Moves knobs, and applies the motifs of stage tiling."""

    def __init__(self, motifs: Sequence[Motif]) -> None:
        self._motifs = tuple(m for m in motifs if m.stage == "tiling")

    def __call__(
        self, step: Step, template: TilingTemplate, retrieved: Sequence[Retrieved] = ()
    ) -> Candidate | None:
        """The first candidate that the history does not hold."""
        best, history = step.best, step.history
        templates = follow(step.operator, template, history)
        now = templates.get(best.candidate.hash)
        if now is None:
            return None
        diagnosis = diagnose_by_rules(step.operator, best)

        def filled(values: dict[str, KnobValue], why: str, rule: str) -> Candidate:
            return Candidate(
                files=changed_only(step.operator, best.candidate.files | now.changes(values)),
                stage="tiling",
                parent=best.candidate.hash,
                proposer="rules",
                rationale=why,
                motif_ids=(rule,),
                tuple_ids=tuple(
                    r.tuple.id for r in retrieved if r.tuple.gained and r.tuple.motif_id == rule
                ),
                knobs=dict(values),
                parts=knob_changes(now, values),
            )

        known = {r.tuple.motif_id: r.reliability >= DOUBTFUL for r in retrieved}
        moves = (
            filled(values, why, move)
            for values, why, move in knob_moves(
                now, diagnosis.classes, best, history, known, templates
            )
        )
        sampled = (
            filled(values, f"{moved(now, values)} Sampled by TPE.", SEVERAL)
            for values in sample(now, best, history, step.seed, templates)
        )
        tried = sum(
            t.candidate.stage == "tiling" and t.candidate.parent == best.candidate.hash
            for t in history
        )
        by_turns = (sampled, moves) if tried >= SINGLE_MOVES and tried % 2 else (moves, sampled)
        seen = {t.candidate.hash for t in history}
        for source in (self._structural(step, template, diagnosis, retrieved), *by_turns):
            for candidate in source:
                if candidate.hash not in seen:
                    return candidate
        return None

    def _structural(
        self,
        step: Step,
        template: TilingTemplate,
        diagnosis: Diagnosis,
        retrieved: Sequence[Retrieved],
    ) -> Iterator[Candidate]:
        texts = editable(step.operator, step.best.candidate.files, tuple(template.sources))
        for motif in rank_motifs(self._motifs, diagnosis, retrieved, ()):
            if not set(motif.classes) & set(diagnosis.classes):
                continue
            for one in applications(motif, motif.forward, texts):
                if step.best.measurement and not can_matter(one, step.best.measurement):
                    continue
                candidate = applied(step, "tiling", one)
                mine = {p: t for p, t in candidate.files.items() if p in template.sources}
                if template.admits(mine):
                    yield candidate
