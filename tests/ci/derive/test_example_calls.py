"""Arguments of a call become inputs and attributes of the operator, by name and by order."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.derive.candidates import candidate_cases
from ci.model.workload import TensorCase, WorkloadCase
from ci.source.discovery import load_operator
from tests.ci.derive.test_example_run import HEAD
from tests.ci.small_operator import DEFINITION, TILING, write_operator

CALL = """
int main() {
    uint64_t size; aclOpExecutor* next;
    auto* first = filled<float>({4, 6}, {}, ACL_FLOAT);
    std::vector<aclTensor*> both{filled<float>({3, 5}, {}, ACL_FLOAT)};
    both.push_back(filled<float>({2}, {}, ACL_FLOAT));
    auto* second = aclCreateTensorList(both.data(), 2);
    auto* third = filled<float>({4}, {}, ACL_FLOAT);
    float factor = 2.5f;
    aclnnScaledAddGetWorkspaceSize(ARGUMENTS, &size, &next);
}
"""
DECLARED = """
aclnnStatus aclnnScaledAddGetWorkspaceSize(
    const aclTensor* x, /* summed */ const aclTensorList* weights, const aclTensor* maskOptional,
    double scale, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
"""

GRAPH = """
#include "ge_api.h"
#include "experiment_ops.h"

int main() {
    for (int64_t rows : {3, 5}) {
        std::vector<ge::Tensor> fed, given;
        ge::TensorDesc desc(ge::Shape({rows, 8}), ge::FORMAT_ND, ge::DT_BF16);
        auto x = ge::op::Data("x");
        fed.emplace_back(desc);
        auto scaled = ge::op::ScaleMask("scaled").set_input_x(x).set_attr_scale(0.5);
        ge::Graph graph("graph");
        graph.SetInputs({x}).SetOutputs({scaled});
        ge::Session session({});
        session.AddGraph(0, graph);
        session.RunGraph(0, fed, given);
    }
}
"""


def _case(tmp_path: Path, arguments: str, header: str = "") -> WorkloadCase:
    root = write_operator(tmp_path, host=TILING + DEFINITION)
    (root / "examples").mkdir()
    (root / "examples" / "main.cpp").write_text(HEAD + CALL.replace("ARGUMENTS", arguments))
    if header:
        (root / "op_api").mkdir()
        (root / "op_api" / "aclnn_scaled_add.h").write_text(header)
    source, case = next(candidate_cases(load_operator(root)))
    assert source == "example shapes"
    return case


def _shapes(case: WorkloadCase) -> list[object]:
    return [
        [t.shape for t in entry]
        if isinstance(entry, tuple)
        else (entry.shape if entry.present else None)
        for entry in case.inputs
    ]


def test_arguments_go_by_the_names_of_the_declaration(tmp_path: Path) -> None:
    case = _case(tmp_path, "first, second, third, factor, first", DECLARED)
    assert _shapes(case) == [(4, 6), (4,), [(3, 5), (2,)]]
    assert case.attrs == {"scale": 2.5}


def test_each_graph_of_a_program_is_a_case_by_the_definition_s_names(tmp_path: Path) -> None:
    root = write_operator(tmp_path, host=TILING + DEFINITION)
    (root / "examples").mkdir()
    (root / "examples" / "graphs.cpp").write_text(GRAPH)
    cases = [case for source, case in candidate_cases(load_operator(root)) if "example" in source]
    assert [_shapes(case) for case in cases[:2]] == [[(3, 8), None, []], [(5, 8), None, []]]
    given = [case.inputs[0] for case in cases[:2]]
    assert all(isinstance(one, TensorCase) and one.dtype == "bfloat16" for one in given)
    assert all(case.attrs == {"scale": 0.5} for case in cases[:2])


def test_what_is_left_out_is_absent(tmp_path: Path) -> None:
    case = _case(tmp_path, "first, second, nullptr, factor, first", DECLARED)
    assert _shapes(case) == [(4, 6), None, [(3, 5), (2,)]]


def test_a_list_that_is_left_out_is_empty(tmp_path: Path) -> None:
    case = _case(tmp_path, "first, nullptr, third, factor, first", DECLARED)
    assert _shapes(case) == [(4, 6), (4,), []]


@pytest.mark.long
def test_without_a_declaration_they_follow_the_definition(tmp_path: Path) -> None:
    case = _case(tmp_path, 'first, third, second, factor, nullptr, "sum", first')
    assert _shapes(case) == [(4, 6), (4,), [(3, 5), (2,)]]
    assert case.attrs == {"scale": 2.5, "mode": "sum"}


@pytest.mark.long
def test_else_they_go_by_the_program_s_own_names(tmp_path: Path) -> None:
    arguments = "first, second, factor"
    case = _case(tmp_path, arguments)
    assert isinstance(case.inputs[0], TensorCase) and case.inputs[0].shape == (4, 6)
    assert _shapes(case)[2] == [(3, 5), (2,)]


def test_an_argument_of_another_name_is_known_by_its_place(tmp_path: Path) -> None:
    parameters = "const aclTensor* x, const aclTensor* hidden, const aclTensorList* weights, "
    header = f"""aclnnStatus aclnnScaledAddGetWorkspaceSize({parameters}
        double by, const aclIntArray* axes, uint64_t* workspaceSize, aclOpExecutor** executor);"""
    case = _case(tmp_path, "first, third, second, factor, nullptr", header)
    assert _shapes(case) == [(4, 6), (4,), [(3, 5), (2,)]]
    assert case.attrs == {"scale": 2.5}


@pytest.mark.long
def test_what_is_changed_in_place_is_the_output_of_its_name(tmp_path: Path) -> None:
    root = write_operator(tmp_path, host=TILING + DEFINITION.replace('Output("y")', 'Output("x")'))
    (root / "examples").mkdir()
    arguments = 'first, third, second, factor, nullptr, "sum"'
    (root / "examples" / "main.cpp").write_text(HEAD + CALL.replace("ARGUMENTS", arguments))
    _, case = next(candidate_cases(load_operator(root)))
    assert [out.shape for out in case.outputs if isinstance(out, TensorCase)] == [(4, 6)]


@pytest.mark.parametrize("element", ["int", "float"])
def test_values_that_a_program_computed_come_before_drawn_ones(
    tmp_path: Path, element: str
) -> None:
    root = write_operator(
        tmp_path, host=TILING + DEFINITION.replace("ge::DT_UINT8", "ge::DT_INT32")
    )
    (root / "examples").mkdir()
    given = CALL.replace(
        "filled<float>({4}, {}, ACL_FLOAT)", f"filled<{element}>({{2}}, {{3, 9}}, ACL_INT32)"
    )
    (root / "examples" / "main.cpp").write_text(
        HEAD + given.replace("ARGUMENTS", "first, second, third, factor, first")
    )
    (root / "op_api").mkdir()
    (root / "op_api" / "aclnn_scaled_add.h").write_text(DECLARED)
    cases = [case for source, case in candidate_cases(load_operator(root)) if "example" in source]
    masks = [case.inputs[1] for case in cases]
    assert [(m.values, m.range) for m in masks if isinstance(m, TensorCase)] == [
        ((3, 9), (1.0, 3.0)),
        (None, (3.0, 9.0)),
    ]


def test_numbers_of_four_bits_that_a_program_packs_into_integers_are_counted(
    tmp_path: Path,
) -> None:
    host = TILING + DEFINITION.replace("ge::DT_UINT8", "ge::DT_INT4")
    root = write_operator(tmp_path, host=host)
    (root / "examples").mkdir()
    given = CALL.replace("filled<float>({4}, {}, ACL_FLOAT)", "filled<int>({3, 2}, {}, ACL_INT32)")
    (root / "examples" / "main.cpp").write_text(
        HEAD + given.replace("ARGUMENTS", "first, second, third, factor, first")
    )
    (root / "op_api").mkdir()
    (root / "op_api" / "aclnn_scaled_add.h").write_text(DECLARED)
    _, case = next(candidate_cases(load_operator(root)))
    mask = case.inputs[1]
    assert isinstance(mask, TensorCase) and (mask.dtype, mask.shape) == ("int4", (3, 16))
