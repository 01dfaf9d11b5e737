"""Edges: what the unmodified operator does anywhere near its domain's edges goes on working."""

from __future__ import annotations

from ci.judge.gates.varied import VariedGate
from ci.judge.varied_sweep import WIDE


class EdgesGate(VariedGate):
    """All kinds of variation, as many cases as a minute holds.

    A case that the unmodified operator does not take is passed over; one that it gets wrong is
    noted as a defect of its own and excuses nothing else.
    """

    name = "edges"
    phase = "confirm"
    tier = WIDE
