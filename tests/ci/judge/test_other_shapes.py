from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.other_shapes import OtherShapes, other_shapes
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.testing.scale_shift import HOST, OPERATOR, WORKLOAD, changed


def case(*shapes: tuple[int, ...], values: tuple[float, ...] | None = None) -> WorkloadCase:
    tensors = tuple(TensorCase(shape=s, dtype="float32") for s in shapes)
    if values is not None:
        given = TensorCase(shape=(len(values),), dtype="int32", values=values)
        tensors = (*tensors, given)
    return WorkloadCase(name="c", inputs=tensors)


def shapes_of(*cases: WorkloadCase) -> list[list[tuple[int, ...]]]:
    workload = Workload(operator="X", cases=cases, folder=Path())
    return [
        [t.shape for t in found.inputs if isinstance(t, TensorCase)]
        for found in other_shapes(workload)
    ]


def test_a_dimension_changes_in_all_inputs_that_have_it() -> None:
    assert [(101, 24), (24,)] in shapes_of(case((100, 24), (24,)))
    assert [(100, 40), (40,)] in shapes_of(case((100, 24), (24,)))


def test_dimensions_of_given_values_stay() -> None:
    for x, index in shapes_of(case((8, 3), values=(0.0, 1.0, 2.0))):
        assert index == (3,)
        assert x[1] == 3
        assert x[0] != 8


def test_cases_take_turns() -> None:
    found = shapes_of(case((100, 24)), case((50, 8)))
    assert found[0][0] == (101, 24)
    assert found[1][0] == (51, 8)


@pytest.fixture(scope="module")
def check() -> OtherShapes:
    return OtherShapes(OPERATOR, WORKLOAD, SimulatorBackend("910B4"))


def test_shapes_that_the_operator_handles_are_kept(check: OtherShapes) -> None:
    names = [c.name for c in check.handled]
    assert "fp32_16x4096 with 17 for 16" in names
    assert "fp32_16x4096 with 4095 for 4096" not in names  # no whole tiles


def test_a_harmless_change_has_no_fault(check: OtherShapes) -> None:
    assert check.fault(changed("        PipeBarrier<PIPE_V>();", "\nPipeBarrier<PIPE_V>();")) == ""


def test_a_tile_that_fits_only_the_workload_is_found_out(check: OtherShapes) -> None:
    fault = check.fault(changed("TILE_LENGTH = 1024", "TILE_LENGTH = 4096", HOST))
    assert fault.startswith("on other shapes than the workload's it fails")


def test_a_tiling_that_is_much_slower_elsewhere_is_found_out(check: OtherShapes) -> None:
    fault = check.fault(changed("BLOCK_DIM = 4", "BLOCK_DIM = 1", HOST))
    assert fault.startswith("on other shapes than the workload's it is slower")
