"""Rewind by rules: every motif the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from ci.model.operator import Operator
from ci.model.trial import Candidate
from ci.proposer.base import Rewound
from ci.proposer.motifs.rewrite import applications
from ci.proposer.rules.choice import rationale
from ci.proposer.sources import changed_only, editable
from rules.load import Motif


class MotifRewinder:
    """Removes what a motif would add, one place or one motif at a time."""

    def __init__(self, motifs: Sequence[Motif]) -> None:
        self._motifs = tuple(motifs)

    def __call__(
        self, operator: Operator, files: dict[str, str], removed: Sequence[str]
    ) -> list[Rewound]:
        """Every way to remove one optimization; motifs removed before come last."""
        texts = editable(operator, files, operator.kernel_sources)
        found: list[Rewound] = []
        ordered = sorted(self._motifs, key=lambda m: (m.id in removed, m.order, m.id))
        for motif in ordered:
            for one in applications(motif, motif.rewind, texts):
                candidate = Candidate(
                    files=changed_only(operator, files | {one.path: one.text}),
                    stage="rewind",
                    parent=Candidate(files=files).hash,
                    proposer="rules",
                    rationale=f"Without: {rationale(one)}",
                    motif_ids=(motif.id,),
                    sites=one.sites,
                )
                found.append(
                    Rewound(
                        candidate=candidate,
                        motif_id=motif.id,
                        title=motif.title,
                        description=motif.why,
                        classes=motif.classes,
                    )
                )
        return found
