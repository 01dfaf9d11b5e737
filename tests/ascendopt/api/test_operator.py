"""Loading, evaluating, comparing, profiling and searching from Python."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

import ascendopt
from tests.places import SAMPLE

OPERATOR = SAMPLE / "src" / "math" / "affine_clamp"
HOST = "op_host/affine_clamp.cpp"
KERNEL = "op_kernel/affine_clamp.cpp"


@pytest.fixture(scope="module")
def operator() -> ascendopt.Operator:
    return ascendopt.load(OPERATOR)


def larger_tiles(operator: ascendopt.Operator) -> dict[str, str]:
    text = operator.sources[HOST].replace("TILE_BYTES = 4096", "TILE_BYTES = 16384")
    assert text != operator.sources[HOST]
    return {HOST: text}


def diff_of(operator: ascendopt.Operator, files: dict[str, str]) -> str:
    return "".join(
        line
        for name, text in files.items()
        for line in difflib.unified_diff(
            operator.sources[name].splitlines(True), text.splitlines(True), f"a/{name}", f"b/{name}"
        )
    )


def test_an_operator_is_loaded_with_its_sources_and_cases(operator: ascendopt.Operator) -> None:
    assert operator.name == "affine_clamp"
    assert set(operator.sources) == {HOST, KERNEL}
    assert operator.cases


def test_an_evaluation_is_shown_as_text_and_html(operator: ascendopt.Operator) -> None:
    found = operator.evaluate()
    assert found.ok
    assert found.score_us > 0
    assert "simulated time on 910B4" in str(found)
    assert all(case in found._repr_html_() for case in operator.cases)


def test_a_patch_may_be_texts_a_diff_or_a_file(
    operator: ascendopt.Operator, tmp_path: Path
) -> None:
    files = larger_tiles(operator)
    diff = diff_of(operator, files)
    (tmp_path / "a.patch").write_text(diff)
    forms = (files, diff, tmp_path / "a.patch", str(tmp_path / "a.patch"))
    assert len({operator.candidate(form).hash for form in forms}) == 1


def test_a_patch_that_does_not_compile_gives_the_compilers_words(
    operator: ascendopt.Operator,
) -> None:
    found = operator.evaluate({KERNEL: operator.sources[KERNEL] + "\nnonsense\n"})
    assert found.outcome.value == "compile_error"
    assert found.reason
    assert "nonsense" in found._repr_html_()
    assert found.score_us != found.score_us  # NaN


@pytest.mark.parametrize("patch", [{"op_host/other.cpp": ""}, "no\ndiff\n", "missing.patch"])
def test_a_patch_that_does_not_fit_is_refused_in_a_sentence(
    operator: ascendopt.Operator, patch: dict[str, str] | str
) -> None:
    with pytest.raises(ascendopt.InputError):
        operator.evaluate(patch)


def test_a_comparison_gives_the_speedup_and_its_range(operator: ascendopt.Operator) -> None:
    found = operator.compare(larger_tiles(operator), conditions="both")
    low, high = found.range
    assert found.before.ok and found.after.ok
    assert low <= found.speedup <= high
    assert low == min([*found.members.values(), found.speedup])
    assert f"{found.speedup:.3f}x" in found._repr_html_()


def test_a_profile_names_the_bottleneck_and_leaves_a_trace(
    operator: ascendopt.Operator, tmp_path: Path
) -> None:
    found = ascendopt.profile(operator, out=tmp_path)
    assert found.diagnosis is not None and found.diagnosis.bottleneck in found._repr_html_()
    assert Path(found.trace).is_file()
    assert found.plot().get_xlabel() == "busy share of the launch"


@pytest.mark.nightly
def test_a_search_gives_its_trials_and_then_its_result(
    operator: ascendopt.Operator, tmp_path: Path
) -> None:
    with operator.optimize(budget=4, out=tmp_path / "run", bank=tmp_path / "b.duckdb") as search:
        trials = list(search)
        result = search.result
    assert trials[0].candidate.stage == "baseline"
    assert [t.number for t in trials] == sorted(t.number for t in trials)
    assert result.folder == tmp_path / "run" and (result.folder / "report.md").is_file()
    assert result.budget.evaluations <= 4
    assert "<svg" in result._repr_html_()
    assert result.plot().get_xlabel() == "trial"


def test_a_cancelled_search_keeps_its_trials(operator: ascendopt.Operator, tmp_path: Path) -> None:
    search = operator.optimize(budget=40, out=tmp_path / "run", bank=tmp_path / "b.duckdb")
    first = next(iter(search))
    search.cancel()
    with pytest.raises(ascendopt.Cancelled):
        search.result  # noqa: B018
    assert first.ok
    assert search.done and (tmp_path / "run" / "trials.sqlite").is_file()


def test_an_option_that_does_not_exist_is_named(operator: ascendopt.Operator) -> None:
    with pytest.raises(ascendopt.InputError, match="no option bugdet"):
        operator.optimize(bugdet=3)


def test_a_bad_value_of_an_option_is_named(operator: ascendopt.Operator) -> None:
    with pytest.raises(ascendopt.InputError, match="stage cannot be 'host'"):
        operator.optimize(stage="host")


def test_a_folder_without_an_operator_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ascendopt.InputError):
        ascendopt.load(tmp_path)
