"""Published versions, rebuilt and run for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from lab.published import runs
from lab.published.figures import SOURCES, load_pairs, load_versions, rebuilt_families
from lab.published.kept import kept_runs
from lab.published.runs import simulate
from lab.published.statistics import judge


def test_every_rebuilt_version_has_a_case_and_every_pair_two_versions() -> None:
    versions = {(one.family, one.version) for one in load_versions()}
    for family in rebuilt_families():
        workload = load_workload(load_operator(SOURCES / family), None)
        cases = {case.name for case in workload.cases}
        assert cases == {version for name, version in versions if name == family}
    for pair in load_pairs():
        assert {(pair.family, pair.before), (pair.family, pair.after)} <= versions


def test_a_published_pair_comes_out_in_order_and_its_results_are_right() -> None:
    chosen = [
        one
        for one in load_versions()
        if one.family == "bank_conflict_ub" and one.version in ("s1", "s2")
    ]
    found = judge("bank_conflict_ub", list(simulate(chosen)), load_pairs())
    assert len(found.pairs) == 1
    assert found.pairs[0].judged and found.pairs[0].ordered
    assert abs(found.pairs[0].error) < 0.15


@pytest.mark.long
def test_small_kernels_of_a_model_take_what_a_warm_launch_takes_and_not_a_cold_one() -> None:
    """On 4, 23, 47 and 48 cores, none of which the warm constants were fitted to."""
    names = ("mul_4096", "mul_23232", "relu_131072", "tensormove_307200", "relu_1384448")
    chosen = [v for v in load_versions() if v.version in names]
    assert all("foretold" in v.description for v in chosen) and len(chosen) == len(names)
    for warm in simulate(chosen):
        assert abs(warm.time / warm.version.time - 1) < 0.25
    for cold in simulate([v.model_copy(update={"conditions": "cold"}) for v in chosen[:3]]):
        assert cold.time > 1.8 * cold.version.time


def test_a_warm_version_is_timed_with_its_inputs_in_the_memory_too() -> None:
    (name,) = (v for v in load_versions() if v.version == "relugrad_1384448")
    (run,) = simulate([name])
    assert run.from_memory is not None and run.from_memory > 1.3 * run.time
    assert run.between and abs(run.error) > 0.25
    late = name.model_copy(update={"time": 1.4 * run.from_memory})
    assert not run.model_copy(update={"version": late}).between
    (cold,) = simulate([name.model_copy(update={"conditions": "cold"})])
    assert cold.from_memory is None


def test_a_loop_within_a_kernel_is_timed_without_the_rest_of_the_kernel() -> None:
    versions = [one for one in load_versions() if one.family == "reduce_256"]
    loops = list(simulate(versions))
    wholes = list(simulate([one.model_copy(update={"unit": "us"}) for one in versions]))
    rest = [whole.time - loop.time for whole, loop in zip(wholes, loops, strict=True)]
    assert all(loop.time > 1 for loop in loops)
    # One reduction of the hundred and one is in the rest.
    assert max(rest) - min(rest) < 0.05 < min(rest)
    assert all(one.judged and one.ordered for one in judge("reduce_256", loops, load_pairs()).pairs)


def test_a_kept_run_is_not_made_again_while_all_that_it_depends_on_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = next(one for one in load_versions() if one.family == "bank_conflict_ub")
    (first,) = simulate([version], kept=kept_runs(tmp_path))
    monkeypatch.setattr(runs, "_verified", None)
    assert list(simulate([version], kept=kept_runs(tmp_path))) == [first]
    other = version.model_copy(update={"device": "910B4"})
    with pytest.raises(TypeError):
        list(simulate([other], kept=kept_runs(tmp_path)))


def test_a_version_without_a_case_is_refused_by_name() -> None:
    version = next(one for one in load_versions() if one.family == "bank_conflict_ub")
    with pytest.raises(InputError, match="no case 's99'"):
        list(simulate([version.model_copy(update={"version": "s99"})]))
