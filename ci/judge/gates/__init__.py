"""The gates that a candidate passes before it is reported, in the order in which they are asked.

To add one: a module here, a line in `GATES`, and a test with the contract of `ci.testing.gate`.
"""

from __future__ import annotations

from collections.abc import Collection

from ci.judge.gates.accuracy import AccuracyGate
from ci.judge.gates.addresses import AddressesGate
from ci.judge.gates.base import Gate, Phase
from ci.judge.gates.build import BuildGate
from ci.judge.gates.chips import ChipsGate
from ci.judge.gates.compilers import CompilersGate
from ci.judge.gates.coverage import CoverageGate
from ci.judge.gates.decisions import DecisionsGate
from ci.judge.gates.edges import EdgesGate
from ci.judge.gates.guard import GuardGate
from ci.judge.gates.host import HostGate
from ci.judge.gates.link import LinkGate
from ci.judge.gates.more_seeds import MoreSeedsGate
from ci.judge.gates.other_shapes import OtherShapesGate
from ci.judge.gates.plausible import PlausibleGate
from ci.judge.gates.room import RoomGate
from ci.judge.gates.run import RunGate
from ci.judge.gates.siblings import NearSiblingsGate, SiblingsGate
from ci.judge.gates.steady import SteadyGate
from ci.judge.gates.unordered import UnorderedGate
from ci.judge.gates.verify import VerifyGate
from ci.judge.gates.warnings import WarningsGate

GATES: tuple[Gate, ...] = (
    GuardGate(),
    BuildGate(),
    LinkGate(),
    RoomGate(),
    RunGate(),
    VerifyGate(),
    AccuracyGate(),
    PlausibleGate(),
    WarningsGate(),
    HostGate(),
    UnorderedGate(),
    OtherShapesGate(),
    NearSiblingsGate(),
    MoreSeedsGate(),
    SteadyGate(),
    EdgesGate(),
    CoverageGate(),
    ChipsGate(),
    CompilersGate(),
    AddressesGate(),
    DecisionsGate(),
    SiblingsGate(),
)


def gates_of(phase: Phase) -> tuple[Gate, ...]:
    """The gates of one phase, in order."""
    return tuple(gate for gate in GATES if gate.phase == phase)


def admission(without: Collection[str]) -> tuple[Gate, ...]:
    """The gates of admission but those named; raises ValueError for a name that is none."""
    gates = gates_of("admit")
    unknown = sorted(set(without) - {gate.name for gate in gates})
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: no gate of admission has this name.")
    return tuple(gate for gate in gates if gate.name not in without)
