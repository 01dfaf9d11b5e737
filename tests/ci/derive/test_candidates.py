from __future__ import annotations

from pathlib import Path

import pytest

from ci.derive.candidates import (
    GENERIC_SHAPES,
    candidate_cases,
    generic_case,
    other_attributes,
)
from ci.model.operator import AttrSpec
from ci.model.workload import TensorCase
from ci.source.discovery import load_operator
from tests.ci.small_operator import DEFINITION, TILING, write_operator

EXAMPLE = """
    std::vector<int64_t> weightsShape = {3, 5};
    std::vector<int64_t> xShape = {4, 6};
    float scale = 2.5f;
    CreateAclTensor(a, xShape, &b, aclDataType::ACL_FLOAT, &x);
    CreateAclTensor(a, weightsShape, &b, aclDataType::ACL_FLOAT, &w);
"""


def test_generic_cases_cover_every_shape_and_fill_required_attributes(tmp_path: Path) -> None:
    operator = load_operator(write_operator(tmp_path))
    cases = list(candidate_cases(operator))
    assert {source for source, _ in cases} == {"generic shapes"}
    shapes = [case.inputs[0].shape for _, case in cases if isinstance(case.inputs[0], TensorCase)]
    assert set(GENERIC_SHAPES) == set(shapes)
    first = cases[0][1]
    assert first.attrs == {"scale": 1.0}
    mask, weights = first.inputs[1:]
    assert isinstance(mask, TensorCase) and not mask.present
    assert isinstance(weights, tuple) and len(weights) == 2


def test_an_input_beside_a_list_may_have_a_value_for_each_of_its_tensors(tmp_path: Path) -> None:
    lists = DEFINITION.replace('"x")\n            .ParamType(REQUIRED)', '"x").ParamType(DYNAMIC)')
    scalars = '"scalars").ParamType(REQUIRED).ScalarList()'
    lists = lists.replace('"mask").ParamType(OPTIONAL)', scalars)
    operator = load_operator(write_operator(tmp_path, host=TILING + lists))
    found = set()
    for _, case in candidate_cases(operator):
        xs, scalars, _ = case.inputs
        assert isinstance(xs, tuple) and isinstance(scalars, TensorCase)
        if scalars.shape == (len(xs),):
            found.add(xs[0].shape)
    assert (32, 1024) in found


def test_the_example_program_goes_first_with_its_shapes_and_values(tmp_path: Path) -> None:
    root = write_operator(tmp_path)
    (root / "examples").mkdir()
    (root / "examples" / "main.cpp").write_text(EXAMPLE)
    source, case = next(candidate_cases(load_operator(root)))
    x, mask, weights = case.inputs
    assert source == "example shapes"
    assert isinstance(x, TensorCase) and (x.shape, x.dtype) == ((4, 6), "float32")
    assert isinstance(mask, TensorCase) and not mask.present
    assert isinstance(weights, tuple) and weights[0].shape == (3, 5)
    assert case.attrs["scale"] == 2.5
    assert case.outputs == ()  # it creates none: the tiling is asked


def test_plain_shapes_of_an_example_become_blocks_of_channels_where_the_definition_asks_for_them(
    tmp_path: Path,
) -> None:
    blocks = ".Format({ge::FORMAT_NC1HWC0, ge::FORMAT_NC1HWC0})"
    definition = DEFINITION.replace(".Format({ge::FORMAT_ND, ge::FORMAT_ND})", blocks, 1)
    output = 'Output("y").ParamType(REQUIRED)'
    assert blocks in definition and output in definition
    host = TILING + definition.replace(output, output + blocks)
    root = write_operator(tmp_path, host=host)
    (root / "examples").mkdir()
    made = "CreateAclTensor(a, yShape, &b, aclDataType::ACL_FLOAT, &y);\n"
    example = EXAMPLE.replace("{4, 6}", "{2, 20, 6}")
    (root / "examples" / "main.cpp").write_text(
        "std::vector<int64_t> yShape = {2, 16, 7};\n" + example + made
    )
    _, case = next(candidate_cases(load_operator(root)))
    (x, _, weights), (y,) = case.inputs, case.outputs
    assert isinstance(x, TensorCase) and x.shape == (2, 2, 6, 1, 16)
    assert isinstance(weights, tuple) and weights[0].shape == (3, 5)
    assert isinstance(y, TensorCase) and y.shape == (2, 1, 7, 1, 16)


def test_an_optional_attribute_without_a_default_is_given_too(tmp_path: Path) -> None:
    definition = DEFINITION.replace(
        'Attr("scale").AttrType(REQUIRED)', 'Attr("scale").AttrType(OPTIONAL)'
    )
    operator = load_operator(write_operator(tmp_path, host=TILING + definition))
    assert next(candidate_cases(operator))[1].attrs == {"scale": 1.0}


VALUES = """
    int64_t axes = 1;
    std::vector<int64_t> xShape = {4, 6};
    std::vector<int64_t> indicesShape = {3};
    std::vector<int64_t> indicesHost = {5, 0, 3};
    CreateAclTensor(a, xShape, &b, aclDataType::ACL_FLOAT, &x);
    CreateAclTensor(indicesHost, indicesShape, &b, aclDataType::ACL_INT64, &i);
"""
INDEXED = DEFINITION.replace(
    'Input("mask").ParamType(OPTIONAL).DataType(MASKS)',
    'Input("indices").ParamType(REQUIRED).DataType({ge::DT_INT64, ge::DT_INT64})',
).replace(
    'Input("weights").ParamType(DYNAMIC).DataType({ge::DT_FLOAT, ge::DT_FLOAT})',
    'Input("axes").ParamType(REQUIRED).DataType({ge::DT_INT64, ge::DT_INT64})'
    ".ValueDepend(OPTIONAL)",
)


def test_integers_are_drawn_from_the_range_of_the_examples_and_taken_over_where_that_is_refused(
    tmp_path: Path,
) -> None:
    root = write_operator(tmp_path, host=TILING + INDEXED)
    (root / "examples").mkdir()
    (root / "examples" / "main.cpp").write_text(VALUES)
    (_, ranged), (_, exact) = list(candidate_cases(load_operator(root)))[:2]
    for case, values in ((ranged, None), (exact, (5, 0, 3))):
        _, indices, axis = case.inputs
        assert isinstance(indices, TensorCase) and isinstance(axis, TensorCase)
        assert indices.values == values
        assert axis.shape == (1,) and axis.values == (1,)  # what the tiling reads stays
    assert isinstance(ranged.inputs[1], TensorCase) and ranged.inputs[1].range == (0, 5)


def test_attributes_that_a_sketch_cannot_know_take_other_values_one_at_a_time(
    tmp_path: Path,
) -> None:
    operator = load_operator(write_operator(tmp_path))
    case = generic_case(operator)
    others = [other.attrs for other in other_attributes(operator, case)]
    assert {"scale": 0.5} in others
    assert {"scale": 1.0, "axes": (2, 2)} in others
    assert {"scale": 1.0} not in others


def test_lists_grow_together(tmp_path: Path) -> None:
    operator = load_operator(write_operator(tmp_path))
    pads = AttrSpec(name="pads", type="list_float", required=False)
    both = operator.model_copy(update={"attrs": (*operator.attrs, pads)})
    others = [other.attrs for other in other_attributes(both, generic_case(operator))]
    assert {"scale": 1.0, "axes": (1, 1, 1), "pads": (1.0, 1.0, 1.0)} in others


def test_a_test_s_cases_come_with_the_outputs_that_it_names_too(tmp_path: Path) -> None:
    root = write_operator(tmp_path)
    folder = root / "tests" / "ut"
    folder.mkdir(parents=True)
    inputs, outputs = (
        ", ".join(f"{{{{{{{s}}}, {{{s}}}}}, ge::DT_FLOAT, ge::FORMAT_ND}}" for s in side)
        for side in (("4, 6", "", "3"), ("8, 2",))
    )
    test = f"\nTEST_F(A, b) {{\n  Para para({{{inputs}}}, {{{outputs}}});\n}}"
    (folder / "test_tiling.cpp").write_text(test)
    told = [c for s, c in candidate_cases(load_operator(root)) if s != "generic shapes"]
    x, mask, _ = told[0].inputs
    assert isinstance(x, TensorCase) and x.shape == (4, 6)
    assert isinstance(mask, TensorCase) and not mask.present, "an optional one without a shape"
    assert not told[0].outputs, "inference is asked first"
    (y,) = told[-1].outputs
    assert isinstance(y, TensorCase) and y.shape == (8, 2)


def test_a_program_that_builds_a_graph_tells_shapes_by_the_names_of_its_variables(
    tmp_path: Path,
) -> None:
    root = write_operator(tmp_path)
    (root / "examples").mkdir()
    (root / "examples" / "graph.cpp").write_text(
        "std::vector<int64_t> strides = {9, 9};\n"
        "std::vector<int64_t> weights_shape = {3, 5};\nstd::vector<int64_t> x_shape = {4, 6};\n"
        "float scale_val = 2.5f;\nADD_TO_GRAPH(x, DT_FLOAT, x_shape);\n"
    )
    source, case = next(candidate_cases(load_operator(root)))
    x, _, weights = case.inputs
    assert source == "example shapes"
    assert isinstance(x, TensorCase) and (x.shape, x.dtype) == ((4, 6), "float32")
    assert isinstance(weights, tuple) and weights[0].shape == (3, 5)
    assert case.attrs["scale"] == 2.5


@pytest.mark.parametrize(
    "text",
    [
        'char layout[4] = "TND";',
        "char layout[5] = {'T', 'N', 'D', 0};",
        'char *layout = "TND";',
        'std::string layout = "TND";',
        'std::string how("TND"); char copied[how.length()]; strcpy(copied, how.c_str());',
    ],
)
def test_characters_and_lists_that_a_program_hands_over_are_attributes_and_inputs(
    tmp_path: Path, text: str
) -> None:
    asked = 'Attr("input_layout").AttrType(REQUIRED).String()'
    host = DEFINITION.replace('Attr("scale").AttrType(REQUIRED).Float()', asked)
    host = TILING + host.replace('Input("mask")', 'Input("actual_seq_len")')
    root = write_operator(tmp_path, host=host)
    (root / "examples").mkdir()
    lengths = (
        "std::vector<int64_t> lensVec = {3, 4};\n"
        "auto actualSeqLenOptional = aclCreateIntArray(lensVec.data(), lensVec.size());\n"
    )
    example = EXAMPLE.replace("float scale = 2.5f;", text + lengths)
    (root / "examples" / "main.cpp").write_text(example)
    source, case = next(candidate_cases(load_operator(root)))
    lens = case.inputs[1]
    assert (source, case.attrs["input_layout"]) == ("example shapes", "TND")
    assert isinstance(lens, TensorCase) and lens.present and lens.shape == (2,)


def test_a_tensor_that_no_output_is_called_is_the_last_one_that_the_program_creates(
    tmp_path: Path,
) -> None:
    root = write_operator(tmp_path)
    (root / "examples").mkdir()
    more = "std::vector<int64_t> otherShape = {7};\nstd::vector<int64_t> resultShape = {4, 5};\n"
    made = "".join(
        f"CreateAclTensor(a, {name}Shape, &b, aclDataType::ACL_FLOAT, &t);\n"
        for name in ("other", "result")
    )
    (root / "examples" / "main.cpp").write_text(more + EXAMPLE + made)
    _, case = next(candidate_cases(load_operator(root)))
    (output,) = case.outputs
    assert isinstance(output, TensorCase) and output.shape == (4, 5)


def test_a_name_with_its_words_in_another_order_is_the_same(tmp_path: Path) -> None:
    host = TILING + DEFINITION.replace('Input("mask")', 'Input("actual_seq_qlen")')
    root = write_operator(tmp_path, host=host)
    (root / "examples").mkdir()
    lengths = (
        "int64_t rows = 3;\nstd::vector<int64_t> lens = {rows, rows * 2};\n"
        "auto actualQSeqLen = aclCreateIntArray(lens.data(), lens.size());\n"
    )
    (root / "examples" / "main.cpp").write_text(EXAMPLE + lengths)
    _, case = next(candidate_cases(load_operator(root)))
    lens = case.inputs[1]
    assert isinstance(lens, TensorCase) and lens.present and lens.shape == (2,)
