"""One small run of the suite over a real operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.report.page import marks, replace_part
from ci.model.errors import InputError
from ci.source.discovery import find_operators
from lab.bench.machine import measure, sample, shipped_operators
from lab.model.machine import KINDS, MachineBench, MachineBenchSettings
from lab.report.speed import goals, tables
from tests.places import OPERATORS


@pytest.fixture(scope="module")
def found() -> MachineBench:
    (operator,) = [o for o in find_operators(OPERATORS) if o.name == "row_sum"]
    return measure([operator], MachineBenchSettings(evaluations=1))


@pytest.mark.nightly
def test_every_second_of_an_evaluation_has_a_place(found: MachineBench) -> None:
    assert [share.kind for share in found.shares] == list(KINDS)
    for share in found.shares:
        parts = share.compile + share.tiling + share.run + share.verify + share.own
        assert parts == pytest.approx(share.seconds)
        assert share.run > 0
        assert share.own > 0


@pytest.mark.nightly
def test_fresh_candidates_are_compiled_and_built_ones_are_not(found: MachineBench) -> None:
    kernel, tiling, built = found.shares
    assert kernel.compile > 0
    assert tiling.compile > 0
    assert built.compile == 0


@pytest.mark.nightly
def test_the_streaming_kernel_moves_three_tensors(found: MachineBench) -> None:
    elements = 2048 * 4096
    assert [s.bytes for s in found.streams] == [3 * 2 * elements, 3 * 4 * elements]
    assert all(s.execute_seconds > 0 and s.timing_seconds > 0 for s in found.streams)


def test_a_sample_is_spread_over_all_operators_and_the_same_every_time() -> None:
    operators = shipped_operators()
    taken = sample(operators, 12)
    assert taken == sample(operators, 12)
    assert len(taken) == 12
    assert len({o.root.parent for o in taken}) >= 9  # of the folders of kinds
    assert sample(operators, 0) == operators
    assert sample(operators[:3], 12) == operators[:3]


@pytest.mark.nightly
def test_the_tables_hold_every_target_and_replace_the_measured_part_of_a_page(
    found: MachineBench, tmp_path: Path
) -> None:
    page = tmp_path / "speed.md"
    page.write_text("before\n\n{}\nstale\n{}\n\nafter\n".format(*marks("machine")))
    replace_part(page, "machine", tables(found))
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "stale" not in text
    assert tables(found) in text
    assert all(target.measured in text for target in goals(found))


@pytest.mark.nightly
def test_a_page_without_the_marks_is_refused(found: MachineBench, tmp_path: Path) -> None:
    page = tmp_path / "other.md"
    page.write_text("nothing measured here\n")
    with pytest.raises(InputError, match="no measured part"):
        replace_part(page, "machine", tables(found))


def test_the_shipped_operators_are_those_of_the_source_tree() -> None:
    assert {o.name for o in shipped_operators()} == {o.name for o in find_operators(OPERATORS)}
