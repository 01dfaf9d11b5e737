"""The bottleneck of a kernel."""

from __future__ import annotations

from ci.model.frozen import Frozen


class Diagnosis(Frozen):
    """The bottleneck of a kernel, in words for retrieval and for the report."""

    bottleneck: str
    classes: tuple[str, ...]
    """Ids from rules/taxonomy.yml, the most likely first."""
    evidence: tuple[str, ...]
