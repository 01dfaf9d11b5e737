"""The proposer whose roles are all filled by rules: no model and no network.

Every role is a pure function of its arguments, so that a resumed run proposes what the
interrupted one did.
"""

from __future__ import annotations

from collections.abc import Sequence

from ci.model.operator import Operator
from ci.model.trial import Trial
from ci.model.workload import Workload
from ci.proposer.base import Proposer
from ci.proposer.rules.diagnosing import diagnose_by_rules
from ci.proposer.rules.joining import MotifJoiner
from ci.proposer.rules.mutation import KnobMutator
from ci.proposer.rules.rewinding import MotifRewinder
from ci.proposer.rules.rewriting import MotifRewriter
from ci.tiling.synthesize import cut_of, synthesize
from ci.tiling.template import TilingTemplate
from experience.bank.distill import Lesson
from rules.load import Motif, load_motifs


def rules_proposer(motifs: Sequence[Motif] | None = None) -> Proposer:
    """Proposes by the motifs that a domain expert keeps in rules/motifs, or by `motifs`."""
    known = load_motifs() if motifs is None else motifs
    rewriter = MotifRewriter(known)
    return Proposer(
        name="rules",
        synthesize=synthesize_by_rules,
        mutate=KnobMutator(known),
        diagnose=diagnose_by_rules,
        rewrite=rewriter,
        rewind=MotifRewinder(known),
        distill=keep_draft,
        rewrite_both=MotifJoiner(known),
        applicable=rewriter.applicable,
    )


def synthesize_by_rules(operator: Operator, workload: Workload, device: str) -> TilingTemplate:
    """The host tiling source with markers around what decides, and the knobs found there."""
    return synthesize(operator, device, cut=cut_of(operator, workload))


def keep_draft(operator: Operator, slow: Trial, fast: Trial, draft: Lesson) -> Lesson:
    """Distillation by rules: the draft, which is in the motif's own words."""
    return draft
