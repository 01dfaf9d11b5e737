"""Every row that is not element by element against the machine: random numbers, masks, modes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.reference.vector_rows import move
from lab.reference.vector_rows.window import KEEP_INFINITY, Whole, Window
from lab.reference.vector_table import WHOLE
from tests.ci.simulator.vector_unit import FULL, WINDOW, Outcome, State, VectorUnit
from tests.lab.reference.same import same

BY_MASK_NUMBERS = ("vreducev2",)
"""In counter mode their count is the length of one iteration, which must not be 0."""


@pytest.fixture(scope="module")
def unit() -> Iterator[VectorUnit]:
    unit = VectorUnit({row.name: row.call for row in WHOLE})
    yield unit
    unit.close()


MASKS = st.one_of(
    st.just((1 << 128) - 1),
    st.integers(0, 128).map(lambda n: (1 << n) - 1),
    st.integers(0, (1 << 128) - 1),
)


@st.composite
def draws(draw: st.DrawFn, row: Whole) -> tuple[list[int], Window, int]:
    """Numbers for the arguments, and a window with registers and prepared operands."""
    numbers = [draw(st.sampled_from(choices)) for choices in row.numbers]
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    mask = draw(MASKS)
    counter = draw(st.sampled_from([None, None, draw(st.integers(1, 200))]))
    window = Window(
        ub=random.integers(0, 256, WINDOW, dtype=np.uint8),
        low=mask & FULL if counter is None else counter,
        high=mask >> 64,
        counter=counter is not None,
        control=draw(st.sampled_from([KEEP_INFINITY, KEEP_INFINITY, 0])),
        compare=[int(x) for x in random.integers(0, 2**63, 2)],
        scalar=float(draw(st.sampled_from([0.0, 1.0, -2.0, 0.001, 30.0]))),
    )
    row.prepare(window, numbers, random)
    return numbers, window, seed


@pytest.mark.parametrize("row", WHOLE, ids=lambda row: row.name)
@settings(max_examples=12, derandomize=True, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_a_row_does_what_it_means(unit: VectorUnit, row: Whole, data: st.DataObject) -> None:
    numbers, window, seed = data.draw(draws(row))
    state = State(
        window.ub.copy(), low=window.low, high=window.high, counter=window.counter,
        control=window.control, compare=(window.compare[0], window.compare[1]),
    )  # fmt: skip
    outcome = unit.run(row.name, state, numbers, window.scalar)
    row.meaning(window, numbers)
    element = "" if row.mnemonic in move.MEANINGS else row.dtype  # what is moved keeps its bits
    wrong = np.flatnonzero(~same(outcome.ub, window.ub, element))
    assert len(wrong) == 0, f"byte {wrong[0]} is {outcome.ub[wrong[0]]}, not {window.ub[wrong[0]]}"
    for register, value in window.left.items():
        left = [
            np.array([n], np.uint64).view(np.uint8) for n in (getattr(outcome, register), value)
        ]
        assert same(left[0], left[1], row.dtype).all(), register
    if row.mnemonic.startswith("vcmp_"):
        assert outcome.compare == tuple(window.compare)
    check_declaration(unit, row, state, numbers, window.scalar, outcome, seed)


def check_declaration(
    unit: VectorUnit, row: Whole, state: State, numbers: list[int], scalar: float,
    outcome: Outcome, seed: int,
) -> None:  # fmt: skip
    """What it declared to touch covers what it touched: other checks see nothing else."""
    written = outcome.ub != state.ub
    assert not (written & ~outcome.declared(write=True)).any(), "wrote what it did not declare"
    noise = np.random.default_rng(seed + 1).integers(0, 256, WINDOW, dtype=np.uint8)
    known = outcome.declared(write=False) | outcome.declared(write=True)
    disturbed = replace(state, ub=np.where(known, state.ub, noise))
    again = unit.run(row.name, disturbed, numbers, scalar)
    touched = outcome.declared(write=True)
    assert (again.ub[touched] == outcome.ub[touched]).all(), "read what it did not declare"


def test_every_row_has_its_own_name() -> None:
    assert len({row.name for row in WHOLE}) == len(WHOLE)
