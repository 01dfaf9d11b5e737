"""What the profile promises of fewer cores."""

from math import isqrt

import pytest

from ci.model.trial import CaseMeasurement, Fingerprint, Measurement, PipeTime
from ci.tiling.core_knobs import CORE_ROOT
from ci.tiling.foretold import LEAST, cores_at, foretold, limits_nothing
from ci.tiling.template import Cut, Knob, TilingTemplate

ELEMENTS = 1 << 20
ROOT = Knob(
    name="coreNum.root",
    kind="core_root",
    neutral=0,
    file="op_host/scale.cpp",
    start=0,
    end=0,
    form="{value}",
    values=CORE_ROOT,
    written=0,
    decides="block_dim",
    why="Starting a core costs time.",
)


def streamed(vector_cycles: float) -> Measurement:
    """A stream of fp32 on all vector cores, with so many cycles of arithmetic on each."""
    pipes = PipeTime(
        total_cycles=35000,
        block_dim=40,
        busy_cycles={"VECTOR": vector_cycles},
        gm_read_bytes=4 * ELEMENTS,
        gm_write_bytes=4 * ELEMENTS,
    )
    case = CaseMeasurement(
        case="a",
        samples_us=(21.0,),
        median_us=21.0,
        low_us=21.0,
        high_us=21.0,
        pipes=pipes,
        members_us={"cold": 21.0, "warm": 8.0},
    )
    origin = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)
    return Measurement(fingerprint=origin, cases=(case,))


@pytest.mark.parametrize("value", [4096, 8192])
def test_a_stream_is_foretold_to_gain_by_fewer_cores(value: int) -> None:
    assert cores_at(ROOT, value, ELEMENTS) == isqrt(ELEMENTS // value)
    assert foretold(ROOT, value, (ELEMENTS,), streamed(500.0)) > LEAST


def test_arithmetic_that_fills_the_cores_wants_all_of_them() -> None:
    assert foretold(ROOT, 8192, (ELEMENTS,), streamed(30000.0)) == 1


def test_arithmetic_that_hides_under_cold_copies_shows_when_they_are_warm() -> None:
    assert foretold(ROOT, 16384, (ELEMENTS,), streamed(6000.0)) == 1


def test_nothing_is_foretold_where_the_amount_of_work_is_unknown() -> None:
    assert foretold(ROOT, 4096, (None,), streamed(500.0)) == 1


def test_nothing_is_foretold_of_a_time_below_the_floor() -> None:
    """A recording, or a clock that the model does not describe."""
    found = streamed(500.0)
    short = {"samples_us": (0.1,), "median_us": 0.1, "low_us": 0.1, "high_us": 0.1}
    case = found.cases[0].model_copy(update=short | {"members_us": {}})
    assert foretold(ROOT, 4096, (ELEMENTS,), found.model_copy(update={"cases": (case,)})) == 1


@pytest.mark.parametrize("cycles", [5000.0, 8000.0])
def test_a_case_may_lose_in_a_state_in_which_all_together_gain(cycles: float) -> None:
    """The verdict weighs the cases of a start state together. 8,000 cycles were counted in a cold
    launch: the warm one has no room for them, and takes what it has for arithmetic."""
    stream, busy = streamed(500.0).cases[0], streamed(cycles).cases[0]
    one = streamed(0.0).model_copy(update={"cases": (busy,)})
    two = one.model_copy(update={"cases": (stream, busy.model_copy(update={"case": "b"}))})
    assert foretold(ROOT, 2048, (ELEMENTS,), one) == 1
    assert foretold(ROOT, 2048, (ELEMENTS, ELEMENTS), two) > LEAST


@pytest.mark.parametrize(("elements", "nothing"), [(8192 * 39, True), (8192 * 38, False)])
def test_a_limit_that_leaves_all_cores_limits_nothing(elements: int, nothing: bool) -> None:
    knob = ROOT.model_copy(update={"name": "coreNum.work", "kind": "core_work"})
    template = TilingTemplate(
        operator="scale", device="910B4", cut=Cut(elements=(elements, 1 << 24)), sources={},
        knobs=(knob,),
    )  # fmt: skip
    assert limits_nothing(template, knob, 8192) is nothing
    assert not limits_nothing(template, knob, 0)
    assert not limits_nothing(template.at({knob.name: 65536}), knob, 8192)
    assert not limits_nothing(template.model_copy(update={"cut": Cut()}), knob, 8192)


def test_a_share_of_the_unified_buffer_that_is_all_of_it_limits_nothing() -> None:
    knob = ROOT.model_copy(update={"name": "ubSize.work", "kind": "ub_work"})
    template = TilingTemplate(
        operator="scale", device="910B4", cut=Cut(elements=(ELEMENTS,)), sources={}, knobs=(knob,)
    )
    assert limits_nothing(template, knob, 1)
    small = template.model_copy(update={"cut": Cut(elements=(ELEMENTS, 4096))})
    assert not limits_nothing(small, knob, 1)
