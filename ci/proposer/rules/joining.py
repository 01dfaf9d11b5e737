"""Steps of both halves by rules: motifs that change the host tiling and the kernel at once."""

from __future__ import annotations

from collections.abc import Sequence

from ci.model.diagnosis import Diagnosis
from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.proposer.motifs.rewrite import joint_applications
from ci.proposer.rules.choice import applied, idle, rank_motifs
from ci.proposer.rules.prospects import can_matter
from ci.proposer.sources import editable
from ci.tiling.new_constants import tuned
from experience.bank.retrieve import Retrieved
from rules.load import Motif


class MotifJoiner:
    """Applies the motifs of stage joint."""

    def __init__(self, motifs: Sequence[Motif]) -> None:
        self._motifs = tuple(m for m in motifs if m.stage == "joint")

    def __call__(
        self, step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        """The first application not tried yet, the motifs in the order of their promise.

        Not what another parent showed to change nothing, or to be refused by the gates. Then other
        values of the constants that earlier steps introduced.
        """
        operator, files = step.operator, step.best.candidate.files
        host = editable(operator, files, operator.host_sources)
        kernel = editable(operator, files, operator.kernel_sources)
        seen, vain = {t.candidate.hash for t in step.history}, idle(step)
        for motif in rank_motifs(self._motifs, diagnosis, retrieved, step.history):
            for one in joint_applications(motif, host, kernel):
                if frozenset(one.sites) in vain:
                    continue
                if step.best.measurement and not can_matter(one, step.best.measurement):
                    continue
                candidate = applied(step, "joint", one)
                if candidate.hash not in seen:
                    return candidate
        return next(tuned(operator, step.best, step.history, "joint", (*host, *kernel)), None)
