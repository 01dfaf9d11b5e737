from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.addresses import AddressesGate
from ci.testing.gate import GateContract
from ci.testing.scale_shift import changed

NARROW = changed(
    "yGm_.SetGlobalBuffer((__gm__ float *)y + coreLength * GetBlockIdx(), coreLength);",
    "int32_t bytes = coreLength * GetBlockIdx() * sizeof(float);"
    " yGm_.SetGlobalBuffer((__gm__ float *)((__gm__ uint8_t *)y + bytes), coreLength);",
)


class TestAddressesGate(GateContract):
    gate = AddressesGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """Right up to 2 GiB, which nobody launches."""
        return evaluator.subject(NARROW)


def test_a_limit_of_elements_that_no_launch_reaches_is_found_out(evaluator: Evaluator) -> None:
    limited = changed("coreLength_ = coreLength;", "coreLength_ = coreLength & 0x3ffffff;")
    failure = AddressesGate().check(evaluator.subject(limited))
    assert failure and failure.refusal.evidence == "addresses"
