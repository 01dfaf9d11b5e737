"""The regimes that a host side distinguishes, and the cases that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ci.judge.varied.base import Known, elements
from ci.judge.varied.regimes import Answered, regimes_of, rough_regimes
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.testing.scale_shift import OPERATOR

TILE = 100
CORES = 4


def known(*shapes: tuple[int, ...]) -> Known:
    cases = tuple(
        WorkloadCase(name=f"c{n}", inputs=(TensorCase(shape=shape, dtype="float32"),))
        for n, shape in enumerate(shapes)
    )
    workload = Workload(operator="X", cases=cases, folder=Path())
    return Known(OPERATOR, workload, lambda _: False, cores=CORES)


def host(cases: Sequence[WorkloadCase]) -> list[Answered | None]:
    """Cuts into tiles of `TILE`: one tile, several, with and without a tail; takes no empty one."""
    said: list[Answered | None] = []
    for case in cases:
        tiles, tail = divmod(elements(case), TILE)
        size = "n" if tiles > 1 else str(tiles)
        pattern = f"{size} {'n' if tail else '0'}"
        said.append(Answered(1, min(CORES, max(1, tiles)), pattern) if elements(case) else None)
    return said


def test_a_case_of_each_regime_is_found_by_shortening_a_large_one() -> None:
    found = regimes_of(known((1024, 4096)), host, most=1 << 22)
    patterns = {r.pattern for r in found}
    assert {"0 n", "1 n", "n n", "n 0"} <= patterns
    assert {r.cores for r in found} == {"one core", "some of the cores", "all cores"}
    smallest = {r: elements(cases[0]) for r, cases in found.items()}
    assert max(smallest.values()) < 10_000  # by construction, whatever the workload's sizes


def test_the_workload_is_lengthened_to_regimes_of_larger_sizes() -> None:
    found = regimes_of(known((8, 8)), host, most=1 << 12)
    assert "n n" in {r.pattern for r in found}
    assert max(elements(c) for cases in found.values() for c in cases) <= 1 << 12


def test_what_the_host_refuses_is_in_no_regime() -> None:
    found = regimes_of(known((0, 8)), host, most=64)
    assert all(elements(case) for cases in found.values() for case in cases)


def test_a_dtype_of_the_definition_is_a_regime_of_its_own() -> None:
    declared = OPERATOR.inputs[0].dtypes
    found = regimes_of(known((64, 64)), host, most=1 << 12)
    assert {r.dtypes[0] for r in found} == {*declared}


def test_rough_regimes_leave_out_tiles_and_tails() -> None:
    found = regimes_of(known((1024, 4096)), host, most=1 << 22)
    rough = rough_regimes(found)
    assert len(rough) < len(found)
    assert sum(map(len, rough.values())) == sum(map(len, found.values()))
    assert all([*map(elements, cases)] == sorted(map(elements, cases)) for cases in rough.values())


def test_regimes_of_whole_tiles_are_found_by_what_the_tiling_says_that_a_tile_has() -> None:
    tile = 2 * 3 * 5 * 7 * 11

    def cut(cases: Sequence[WorkloadCase]) -> list[Answered | None]:
        """A tile is longer than one row; only all cores have whole ones."""
        said: list[Answered | None] = []
        for case in cases:
            tiles, tail = divmod(elements(case), tile * CORES)
            size = "n" if tiles > 1 else str(tiles)
            said.append(Answered(1, CORES, f"{size} {'n' if tail else '0'}"))
        return said

    found = regimes_of(known((8, 6)), cut, most=1 << 22)
    assert "n 0" not in {r.pattern for r in found}
    told = replace(known((8, 6)), numbers_of=lambda case: frozenset({tile}))
    found = regimes_of(told, cut, most=1 << 22)
    assert {"n n", "n 0"} <= {r.pattern for r in found}
