from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.chips import ChipsGate, other_chips
from ci.testing.gate import GateContract
from ci.testing.scale_shift import HOST, changed
from rules.devices import load_device

ASKED = "platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv()"
FEWER = changed(
    "context->SetBlockDim(BLOCK_DIM);", f"context->SetBlockDim({ASKED} > 40 ? 2 : BLOCK_DIM);", HOST
)


class TestChipsGate(GateContract):
    gate = ChipsGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """Right where it was measured, and incomplete on a chip of more cores."""
        return evaluator.subject(FEWER)


def test_a_chip_of_each_other_number_of_cores_is_asked() -> None:
    own = load_device("910B4")
    found = other_chips(own)
    assert found
    cores = [(d.cube_cores, d.vector_cores) for d in found]
    assert len({*cores}) == len(cores) and (own.cube_cores, own.vector_cores) not in cores
