"""The result of `ascendopt bench sanitizers` as Markdown tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from lab.model.sanitizers import KINDS, Explanation, SanitizerBench, Verdict
from lab.report.view import page

COLUMNS: Final[tuple[Verdict, ...]] = ("found", "put back", "not reached", "not found")


def tables(found: SanitizerBench, explanations: Sequence[Explanation]) -> str:
    """The figures by fault and by finding, then every mutant that was not found with its reason."""
    missed = [m for m in found.mutants if m.verdict == "not found"]
    reasons = [
        (mutant, next((e for e in explanations if e.explains(mutant)), None)) for mutant in missed
    ]
    outcomes = Counter(
        "a warning" if m.outcome == "ok" else m.outcome.replace("_", " ")
        for m in found.mutants
        if m.verdict == "found"
    )
    return page(
        "sanitizers.md.j2",
        found=found,
        operators=len({m.operator for m in found.mutants}),
        reasons=reasons,
        harmless=sum(why is not None and not why.miss for _, why in reasons),
        holes=sum(why is not None and why.miss for _, why in reasons),
        faults=[(kind, [found.count(v, kind) for v in COLUMNS]) for kind in KINDS],
        outcomes=outcomes.most_common(),
    )
