from pathlib import Path

import pytest

from ci.model.workload import TensorCase, WorkloadCase
from ci.source.discovery import load_operator
from lab.bench.sanitizers import explanations, longer, measure
from lab.model.sanitizers import Explanation, Mutant, SanitizerBench, SanitizerBenchSettings
from lab.report.sanitizers import tables
from tests.places import SAMPLE


def test_a_dropped_hand_over_of_a_real_kernel_is_found() -> None:
    operator = load_operator(SAMPLE / "src" / "math" / "affine_clamp")
    found = measure([operator], SanitizerBenchSettings(limit=1))
    (mutant,) = found.mutants
    assert mutant.verdict == "found" and mutant.outcome != "ok"


@pytest.mark.long
def test_a_record_spares_what_was_measured_on_the_same_machine(tmp_path: Path) -> None:
    operator = load_operator(SAMPLE / "src" / "math" / "affine_clamp")
    settings = SanitizerBenchSettings(limit=2, record=tmp_path / "record.jsonl")
    measure([operator], settings)
    lines = (tmp_path / "record.jsonl").read_text().splitlines()
    assert len(lines) == 2
    told = Mutant.model_validate_json(lines[0]).model_copy(update={"message": "from the record"})
    (tmp_path / "record.jsonl").write_text(told.model_dump_json() + "\n")
    again = measure([operator], settings)
    assert again.mutants[0] == told and again.mutants[1].model_dump_json() == lines[1]
    assert len((tmp_path / "record.jsonl").read_text().splitlines()) == 2


def made(verdict: str, line: int, **more: str) -> Mutant:
    return Mutant.model_validate(
        {
            "operator": "add",
            "file": "op_kernel/add.cpp",
            "line": line,
            "fault": "statement dropped",
            "words": "PipeBarrier<PIPE_V>()",
            "auto_sync": True,
            "verdict": verdict,
            "outcome": "race" if verdict == "found" else "ok",
        }
        | more
    )


def test_the_share_leaves_out_what_is_put_back_or_not_run_and_lists_what_is_not_found() -> None:
    verdicts = ("found", "found", "found", "put back", "not reached", "not found", "not built")
    bench = SanitizerBench(mutants=tuple(made(v, n) for n, v in enumerate(verdicts)))
    assert (bench.built, bench.share()) == (6, 0.75)
    page = tables(bench, explanations())
    assert "75.0% are found" in page and "add.cpp:5" in page and "1 are not explained" in page
    assert "| race | 3 |" in page
    assert "| statement dropped | 6 | 3 | 1 | 1 | 1 | 75.0% |" in page


def test_an_explanation_is_of_one_statement_of_one_operator() -> None:
    said = Explanation(operator="add", words=r"PipeBarrier.*", file="add.cpp", why="because")
    assert said.explains(made("not found", 1))
    for other in ({"operator": "sub"}, {"words": "SetFlag(0)"}, {"file": "op_kernel/sub.h"}):
        assert not said.explains(made("not found", 1, **other))
    assert all(one.why.endswith(".") for one in explanations())


def test_a_longer_case_grows_what_goes_by_rows_and_leaves_the_rest() -> None:
    case = WorkloadCase.model_validate(
        {
            "name": "rows",
            "inputs": (
                {"shape": (6, 8), "dtype": "float32"},
                {"shape": (8,), "dtype": "float32"},
                ({"shape": (6, 2), "dtype": "int32", "values": (0.0,) * 12},),
            ),
            "outputs": ({"shape": (6,), "dtype": "float32"}, {"shape": (1,), "dtype": "float32"}),
        }
    )
    grown = longer(case)
    first, bias, listed = grown.inputs
    assert isinstance(first, TensorCase) and first.shape == (24, 8)
    assert (bias, listed) == case.inputs[1:]
    assert [t.shape for t in grown.outputs if isinstance(t, TensorCase)] == [(24,), (1,)]
