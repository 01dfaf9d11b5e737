"""Other shapes: what the unmodified operator does on cases near the workload's goes on working.

A tiling constant can be right for the shapes at hand only by luck: the work divides evenly, the
tail is empty. And a core count can be so cut for small inputs that larger ones crawl.
"""

from __future__ import annotations

from ci.judge.gates.varied import VariedGate
from ci.judge.varied_sweep import QUICK


class OtherShapesGate(VariedGate):
    """A handful of cases: each costs a launch for every candidate that would be inherited."""

    name = "other_shapes"
    phase = "admit"
    tier = QUICK
