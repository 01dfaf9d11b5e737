from __future__ import annotations

from pathlib import Path

from ci.lab.census.probe import GENERIC_SHAPES, probe_cases
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
    cases = list(probe_cases(operator))
    assert {source for source, _ in cases} == {"generic shapes"}
    shapes = [case.inputs[0].shape for _, case in cases if isinstance(case.inputs[0], TensorCase)]
    assert set(GENERIC_SHAPES) == set(shapes)
    first = cases[0][1]
    assert first.attrs == {"scale": 1.0}
    mask, weights = first.inputs[1:]
    assert isinstance(mask, TensorCase) and not mask.present
    assert isinstance(weights, tuple) and len(weights) == 2


def test_the_example_program_goes_first_with_its_shapes_and_values(tmp_path: Path) -> None:
    root = write_operator(tmp_path)
    (root / "examples").mkdir()
    (root / "examples" / "main.cpp").write_text(EXAMPLE)
    source, case = next(probe_cases(load_operator(root)))
    x, mask, weights = case.inputs
    assert source == "example shapes"
    assert isinstance(x, TensorCase) and (x.shape, x.dtype) == ((4, 6), "float32")
    assert isinstance(mask, TensorCase) and not mask.present
    assert isinstance(weights, tuple) and weights[0].shape == (3, 5)
    assert case.attrs["scale"] == 2.5
    assert case.outputs == ()  # it creates none: the tiling is asked


def test_an_optional_attribute_without_a_default_is_given_too(tmp_path: Path) -> None:
    definition = DEFINITION.replace(
        'Attr("scale").AttrType(REQUIRED)', 'Attr("scale").AttrType(OPTIONAL)'
    )
    operator = load_operator(write_operator(tmp_path, host=TILING + definition))
    assert next(probe_cases(operator))[1].attrs == {"scale": 1.0}
