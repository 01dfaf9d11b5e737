"""Agreement of simulated with published times, on figures that are known beforehand."""

from __future__ import annotations

import pytest

from lab.published.doors import DoorResult, differing, recommended
from lab.published.figures import Pair, Simulated, Version
from lab.published.page import misses, page, summary
from lab.published.statistics import judge, rank_correlation


def run(name: str, published: float, simulated: float, **pipes: tuple[float, float]) -> Simulated:
    version = Version(
        family="f", version=name, device="910B1", unit="us", time=published,
        pipes_us={pipe: pair[0] for pipe, pair in pipes.items()}, description="d", source="s",
    )  # fmt: skip
    own = {pipe: pair[1] for pipe, pair in pipes.items()}
    return Simulated(version=version, time=simulated, pipes_us=own)


def pair(before: str, after: str) -> Pair:
    return Pair(family="f", before=before, after=after, optimization="o", source="s")


def test_equal_times_are_perfect() -> None:
    runs = [run("a", 100, 100, MTE2=(80, 80)), run("b", 50, 50), run("c", 10, 10)]
    found = judge("f", runs, [pair("a", "b"), pair("b", "c"), pair("b", "absent")])
    assert (found.rank_correlation, found.in_order, found.to_order) == (1.0, 3, 3)
    assert found.time_error == found.ratio_error == found.pipe_error == 0
    assert len(found.pairs) == 2
    assert misses([found]) == []


def test_a_pair_in_the_wrong_order_is_counted_and_named() -> None:
    found = judge("f", [run("a", 100, 90), run("b", 80, 95)], [pair("a", "b")])
    assert (found.in_order, found.to_order) == (0, 1)
    assert found.pairs[0].judged and not found.pairs[0].ordered
    assert found.pairs[0].error == pytest.approx((90 / 95) / (100 / 80) - 1)
    assert any("ordered wrong" in sentence for sentence in misses([found]))


def test_versions_that_hardware_times_alike_need_no_order() -> None:
    found = judge("f", [run("a", 100, 90), run("b", 98, 95)], [pair("a", "b")])
    assert found.to_order == 0
    assert not found.pairs[0].judged
    assert misses([found]) == []


def test_a_pipe_off_by_more_than_a_quarter_is_named_and_an_idle_one_is_not_judged() -> None:
    found = judge("f", [run("a", 100, 100, MTE3=(40, 52), VECTOR=(0.1, 0.2))], [])
    assert [one.pipe for one in found.pipes] == ["MTE3"]
    assert found.pipe_error == pytest.approx(0.3)
    assert [s for s in misses([found]) if "MTE3 is +30% off" in s]


def test_a_miss_whose_reason_is_known_says_it() -> None:
    found = judge("f", [run("a", 100, 100, SCALAR=(7, 3))], [])
    known = found.model_copy(update={"family": "bank_conflict_nd2nz"})
    assert misses([found])[0].endswith("(3.0 for 7.0 µs).")
    assert "instruction cache" in misses([known])[0]


def test_rank_correlation_takes_times_within_one_percent_as_ties() -> None:
    assert rank_correlation([2389, 2390, 3584, 4167], [88, 88, 120, 152]) == 1.0
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == -1.0


def test_the_page_holds_the_figures_and_what_was_missed() -> None:
    found = judge("f", [run("a", 100, 90), run("b", 80, 95)], [pair("a", "b")])
    text = page([DoorResult(door="own", families=(found,))], [found.versions[0].version], "910B1")
    assert "| a → b | o | 1.250 | 0.947 | -24.2% | wrong |" in text
    assert "Not rebuilt: f." in text
    assert all(line in text for line in summary([found]))


def test_a_door_counts_the_pairs_that_differ_and_tells_the_versions_that_it_times_otherwise() -> (
    None
):
    pairs = [pair("a", "b"), pair("b", "c")]
    own = judge("f", [run("a", 100, 90), run("b", 80, 95), run("c", 79, 60)], pairs)
    real = judge("f", [run("a", 100, 100), run("b", 80, 95.5), run("c", 79, 60)], pairs)
    doors = [DoorResult(door=n, families=(f,)) for n, f in (("own", own), ("kit 1", real))]
    assert [(one.ordered, len(one.judged)) for one in doors] == [(0, 1), (1, 1)]
    assert doors[1].ratio_error == pytest.approx(1 - (100 / 95.5) / 1.25)
    assert recommended(doors).door == "kit 1"
    assert recommended([doors[0], doors[0].model_copy(update={"door": "as good"})]).door == "own"
    assert [one.own.version.version for one in differing(*doors)] == ["a"]
    text = page(doors, [], "910B1")
    assert "| kit 1 | 1 of 1 | 16.2% | 19.4% |" in text
    assert "| f a | 100.0 µs | 90.0 (-10.0%) | 100.0 (+0.0%) |" in text
