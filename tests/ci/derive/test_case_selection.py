"""Which cases are worth keeping, and what mends one that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ci.derive.case_repair import Mended, mended
from ci.derive.case_selection import MOST_KERNELS, Option, best, of_other_dtypes
from ci.derive.host_queries import Taken
from ci.derive.runner import Failed
from ci.model.operator import AttrSpec, Operator
from ci.model.trial import Outcome, Unwritten
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator
from ci.source.empty_body import EMPTY_BODY, NOTHING_TO_DO
from tests.places import OPERATORS

FRAME = Workload(
    operator="RowSum", cases=(WorkloadCase(name="a", inputs=()),), folder=Path("/nowhere")
)


def option(rows: int, dtype: str = "float32", key: int = 1, *, guessed: bool = False) -> Option:
    tensor = TensorCase(shape=(rows, 64), dtype=dtype)
    case = WorkloadCase(name=f"{dtype}_{rows}", inputs=(tensor,), outputs=(tensor,))
    return Option("test", Taken(case, case, key, f"{key} {rows}", 1, guessed))


def row_sum() -> Operator:
    return load_operator(OPERATORS / "src" / "math" / "row_sum")


def test_another_dtype_goes_before_another_size_and_that_before_another_key() -> None:
    first, large = option(64), option(1 << 14)
    half, keyed = option(64, "float16"), option(65, key=2)
    assert best([first, keyed, large, half], [first], set()) == half
    assert best([first, keyed, large], [first, half], set()) == large
    assert best([first, keyed], [first, half, large], set()) == keyed


def test_what_shows_nothing_new_and_kernels_that_failed_are_passed_over() -> None:
    kept = [option(64), option(1 << 14), option(600), option(64, "float16")]
    assert best([option(63)], kept, set()) is None
    assert best([option(64, "int8")], kept, {(("int8",), 1)}) is None


def test_no_more_kernels_are_asked_for_than_a_search_can_compile() -> None:
    kept = [option(64, key=key) for key in range(MOST_KERNELS)]
    assert best([option(64, key=99)], kept, set()) is None
    assert best([option(1 << 14, key=0)], kept, set()) is not None


def test_dtypes_that_no_case_shows_are_shown_by_one_of_middling_size() -> None:
    kept = [option(64), option(1 << 14), option(600, "float16"), option(64, "int32")]
    odd = [option(rows, "int64", 7) for rows in (32, 500, 1 << 14)]
    assert best(odd, kept, set()) is None
    assert of_other_dtypes([*kept, *odd], kept, set()) == odd[1]
    assert of_other_dtypes([*kept, *odd], kept, {(("int64",), 7)}) is None
    assert of_other_dtypes([*kept, *odd], [*kept, odd[0]], set()) is None


def left(count: int, first: int) -> Failed:
    """A launch that left bytes of 16 KiB as they were."""
    unwritten = Unwritten(output=0, first=first, count=count, size=16384)
    return Failed(Outcome.MEMORY_ERROR, "It leaves bytes.", unwritten)


def test_a_kernel_that_leaves_the_end_of_a_guessed_output_tells_its_shape() -> None:
    found = mended(row_sum(), FRAME, option(64, guessed=True), left(16128, first=256))
    assert found is not None
    frame, changed, note = found
    output = changed.taken.case.outputs[0]
    assert isinstance(output, TensorCase) and output.shape == (64, 1)
    assert changed.taken.asked.outputs == changed.taken.case.outputs
    assert (frame, note) == (FRAME, "")


def test_bytes_that_stay_are_named_where_the_shape_is_told() -> None:
    found = mended(row_sum(), FRAME, option(64), left(32, first=256))
    assert found is not None
    name = row_sum().outputs[0].name
    assert found[0].initial == {name: 0.0} and name in found[2]


def test_a_launch_that_wrote_nothing_is_not_mended() -> None:
    assert mended(row_sum(), FRAME, option(64), left(16384, first=0)) is None


def test_a_race_is_mended_only_where_the_operator_is_built_without_synchronisation() -> None:
    race = Failed(Outcome.RACE, "Two cores meet.")
    off = row_sum().model_copy(update={"auto_sync": False})
    found = mended(off, FRAME, option(64), race)
    assert found is not None and found[0].auto_sync is True and "Two cores meet." in found[2]
    assert mended(row_sum(), FRAME, option(64), race) is None


def test_cores_that_meet_where_indices_name_one_place_are_asked_with_each_index_once() -> None:
    def indexed(low: float, **more: Any) -> Option:
        x = TensorCase(shape=(8, 64), dtype="float32")
        index = TensorCase(shape=(8,), dtype="int32", range=(low, low + 1), **more)
        case = WorkloadCase(name="indexed", inputs=(x, index), outputs=(x,))
        return Option("test", Taken(case, case, 1, "1", 1, False))

    def indices(found: Mended | None) -> TensorCase:
        assert found is not None and found[0] == FRAME and "twice" in found[2]
        assert found[1].taken.asked == found[1].taken.case
        x, index = found[1].taken.case.inputs
        assert isinstance(x, TensorCase) and x.distribution == "uniform"
        assert isinstance(index, TensorCase)
        return index

    where = "the same global memory, byte 0 of output 0, and no SyncAll orders the two."
    race = Failed(Outcome.RACE, f"Core 0 writes and core 1 writes {where}")
    found = mended(row_sum(), FRAME, indexed(0), race)
    assert indices(found).distribution == "permutation"
    assert found is not None and mended(row_sum(), FRAME, found[1], race) is None, "a race stays"
    assert mended(row_sum(), FRAME, indexed(0, values=(0,)), race) is None
    assert mended(row_sum(), FRAME, indexed(1), race) is None, "these are no indices"
    reads = Failed(Outcome.RACE, f"Core 0 writes and core 1 reads {where}")
    assert mended(row_sum(), FRAME, indexed(0), reads) is None


def test_a_case_that_asks_for_nothing_is_asked_with_ones_in_place_of_zeros() -> None:
    counted = AttrSpec(name="rows", type="int", required=True, default=0)
    operator = row_sum().model_copy(update={"attrs": (counted,)})
    idle = Failed(Outcome.MEMORY_ERROR, NOTHING_TO_DO)
    found = mended(operator, FRAME, option(64), idle)
    assert found is not None and found[1].taken.case.attrs == {"rows": 1}
    assert found[1].taken.asked.attrs == {"rows": 1}
    assert mended(operator, FRAME, found[1], idle) is None, "it was asked with ones already"
    assert mended(row_sum(), FRAME, option(64), idle) is None, "its first axis is long already"
    found = mended(row_sum(), FRAME, option(3), idle)
    assert found is not None and found[1].shapes == ((192, 64),)
    output = found[1].taken.case.outputs[0]
    assert isinstance(output, TensorCase) and output.shape == (192, 64)
    assert mended(row_sum(), FRAME, option(64), Failed(Outcome.MEMORY_ERROR, EMPTY_BODY)) is None
