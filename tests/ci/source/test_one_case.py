"""A case on one line reads back as what it was, and what is no case says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.source.discovery import load_operator
from ci.source.one_case import case_line, one_case, workload_text_of
from ci.source.workload_file import load_workload
from tests.ci.source.test_workload_text import ALL
from tests.places import OPERATORS

BIAS_ADD = OPERATORS / "src" / "math" / "bias_add"


@pytest.mark.parametrize("folder", ALL, ids=lambda folder: folder.name)
def test_each_case_reads_back_within_its_workload(folder: Path) -> None:
    operator = load_operator(folder)
    workload = load_workload(operator)
    for case in workload.cases:
        found, varied = one_case(operator, workload, case_line(operator, workload, case, "length"))
        assert (found.cases, varied) == ((case,), "length")
        assert found.model_copy(update={"cases": workload.cases}) == workload


def test_without_a_golden_function_the_line_says_what_the_workload_says(tmp_path: Path) -> None:
    operator = load_operator(BIAS_ADD)
    own = load_workload(operator)
    output = operator.outputs[0].name
    told = {"golden": "", "initial": {output: 0.0}, "auto_sync": True, "any_order": True}
    framed = own.model_copy(update={**told, "folder": tmp_path})
    line = case_line(operator, framed, own.cases[0], "")
    assert "\n" not in line
    file = tmp_path / "workload.yaml"
    file.write_text(workload_text_of(line))
    again = load_workload(operator, file)
    assert again.model_copy(update={"folder": tmp_path}) == framed.model_copy(
        update={"cases": own.cases[:1]}
    )


def test_a_name_means_the_case_of_the_workload() -> None:
    operator = load_operator(BIAS_ADD)
    workload = load_workload(operator)
    found, varied = one_case(operator, workload, workload.cases[-1].name)
    assert (found.cases, varied) == (workload.cases[-1:], "")


@pytest.mark.parametrize(
    "asked, words",
    [
        ("nowhere", "--case is 'nowhere', but the workload has other cases: "),
        ("{inputs: {nobody: {shape: [3]}}}", "--case.* names 'nobody'"),
        ("{inputs: [", "--case.* is not YAML"),
        ("{lengths: 3}", "--case.*lengths"),
    ],
)
def test_what_is_no_case_of_the_operator_is_bad_input(asked: str, words: str) -> None:
    operator = load_operator(BIAS_ADD)
    with pytest.raises(InputError, match=words):
        one_case(operator, load_workload(operator), asked)


def test_a_name_is_no_case_where_there_is_no_workload() -> None:
    with pytest.raises(InputError, match="--case must be a case on one line"):
        workload_text_of("own")
