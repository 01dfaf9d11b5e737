from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.compilers import CompilersGate
from ci.testing.gate import GateContract
from ci.testing.scale_shift import HOST, changed, with_statement

UNSET = changed(
    "tiling.set_coreLength(length / BLOCK_DIM);",
    "uint32_t slack; tiling.set_coreLength(length / BLOCK_DIM + slack);",
    HOST,
)


class TestCompilersGate(GateContract):
    gate = CompilersGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """A local of the host that our flags alone set to zero."""
        return evaluator.subject(UNSET)


@pytest.mark.long
def test_a_conversion_that_the_language_leaves_open_is_found_out(evaluator: Evaluator) -> None:
    below = "float below = -float(coreLength_); uint32_t turned = uint32_t(below);"
    use = f"{below} if (turned == 5) {{ coreLength_ = 0; }}"
    failure = CompilersGate().check(evaluator.subject(with_statement(use)))
    assert failure and "this conversion" in failure.refusal.sentence


@pytest.mark.parametrize("bits", ["& 511u) / 64u", ">> 40) & 1u"])
def test_no_answer_may_hang_on_the_address_of_a_tensor(bits: str, evaluator: Evaluator) -> None:
    place = "reinterpret_cast<uint64_t>(xGm_.GetPhyAddr())"
    candidate = with_statement(f"coreLength_ *= static_cast<uint32_t>((({place} {bits}) == 0);")
    failure = CompilersGate().check(evaluator.subject(candidate))
    assert failure and "at other addresses" in failure.refusal.sentence
