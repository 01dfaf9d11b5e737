"""Which of the cases that a tiling takes are worth a launch."""

from __future__ import annotations

from ci.derive.accepted_cases import that_differ
from ci.derive.candidates import TEST_OUTPUTS
from ci.derive.case_selection import Option
from ci.derive.host_queries import Taken
from ci.model.workload import TensorCase, WorkloadCase


def option(source: str, rows: int) -> Option:
    x, y = (TensorCase(shape=(n,), dtype="float32") for n in (64, rows))
    case = WorkloadCase(name=source, inputs=(x,), outputs=(y,))
    return Option(source, Taken(case, case, 1, "", 1))


def test_outputs_that_a_test_names_count_where_inference_says_others() -> None:
    plain, same, other = option("test shapes", 8), option(TEST_OUTPUTS, 8), option(TEST_OUTPUTS, 2)
    assert that_differ([plain, same, other]) == [plain, other]
