"""What bounds a kernel."""

from __future__ import annotations

from ci.model.frozen import Frozen


class Diagnosis(Frozen):
    """What bounds a kernel, in words for retrieval and for the report."""

    bottleneck: str
    classes: tuple[str, ...]
    """Ids from rules/taxonomy.yml, the most likely first."""
    evidence: tuple[str, ...]
