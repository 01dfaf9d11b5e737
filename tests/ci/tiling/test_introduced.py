from __future__ import annotations

from ci.model.trial import Candidate
from ci.testing.proposer import profiled
from ci.testing.scale_shift import KERNEL, OPERATOR
from ci.tiling.new_constants import introduced, tuned

BEFORE = "constexpr int OLD = 4;\n"
AFTER = BEFORE + (
    "constexpr uint32_t ROWS = 8u;\nconstexpr int perBlock = 32;\nconstexpr int ONE = 1;\n"
    "constexpr int HUGE_MASK = 268435456;\n#define TILES 2\n"
)


def test_new_whole_numbers_in_capitals_are_choices() -> None:
    found = [(name, value) for name, _, _, value in introduced(BEFORE, AFTER)]
    assert found == [("ROWS", 8), ("TILES", 2)]


def test_each_is_doubled_and_halved_and_what_was_tried_is_left_out() -> None:
    text = f"constexpr uint32_t ROWS = 8u;\n{OPERATOR.read(KERNEL)}"
    best = profiled(9000, Candidate(files={KERNEL: text}, stage="kernel"))
    first, second = tuned(OPERATOR, best, [best], "kernel", (KERNEL,))
    assert "ROWS = 16u;" in first.files[KERNEL] and "ROWS = 4u;" in second.files[KERNEL]
    assert (first.stage, first.parent) == ("kernel", best.candidate.hash)
    tried = profiled(9000, first)
    assert [c.hash for c in tuned(OPERATOR, best, [best, tried], "kernel", (KERNEL,))] == [
        second.hash
    ]
