from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.workload import TensorCase
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.ci.small_operator import DEFINITION, TILING, write_operator

PROTO = """
operator:
  name: ScaleMask
  schema: scale_mask(Tensor x, Tensor[] weights, float scale) -> Tensor y
  precision_thresholds: {bfloat16: 0.01}
  inputs:
    - {name: x, dtype: [float32, bfloat16]}
    - {name: weights, dtype: [float32], is_list: true}
"""
CASES = """
cases:
  - operator: ScaleMask
    case_id: 1
    input_shape:
      - [4, 8]
      - - [8]
        - [4]
    dtype: [bfloat16, float32]
    attrs: {scale: 1.5, unknown: 3}
    value_range:
      - [-1, 1]
      - [0, inf]
"""


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return load_operator(write_operator(tmp_path))


def task(folder: Path, proto: str = PROTO, cases: str = CASES) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "proto.yaml").write_text(proto)
    (folder / "cases.yaml").write_text(cases)
    (folder / "golden.py").write_text("def scale_mask(x, weights, scale):\n    return x\n")
    return folder


def test_a_task_is_read_with_its_inputs_by_name(operator: Operator, tmp_path: Path) -> None:
    workload = load_workload(operator, task(tmp_path / "task"))
    (case,) = workload.cases
    x, mask, weights = case.inputs
    assert isinstance(x, TensorCase) and (x.dtype, x.shape) == ("bfloat16", (4, 8))
    assert isinstance(mask, TensorCase) and not mask.present
    assert isinstance(weights, tuple) and [w.shape for w in weights] == [(8,), (4,)]
    assert weights[0].range == (0, 65504)
    assert case.attrs == {"scale": 1.5}
    assert workload.golden == "golden.py:scale_mask"
    assert workload.tolerances["bfloat16"].relative == 0.01


def test_an_attribute_that_the_operator_takes_as_input_becomes_a_tensor(tmp_path: Path) -> None:
    host = (TILING + DEFINITION).replace(
        'this->Attr("scale").AttrType(REQUIRED).Float();',
        'this->Input("scale").Scalar().DataType({ge::DT_FLOAT, ge::DT_FLOAT});',
    )
    operator = load_operator(write_operator(tmp_path, host=host))
    scale = load_workload(operator, task(tmp_path / "task")).cases[0].inputs[3]
    assert isinstance(scale, TensorCase)
    assert (scale.values, scale.dtype, scale.shape) == ((1.5,), "float32", (1,))


@pytest.mark.parametrize(
    ("proto", "cases", "words"),
    [
        (PROTO, CASES.replace("[bfloat16, float32]", "[bfloat17, float32]"), "cases\\[0\\].dtype"),
        (PROTO, CASES.replace("      - [4, 8]", "      - text"), "input_shape\\[0\\]: must be"),
        (PROTO, CASES.replace("input_shape", "shapes"), "cases\\[0\\].input_shape is missing"),
        (PROTO, CASES.replace("[-1, 1]", "[-1]"), "value_range: must be two numbers"),
        (PROTO.replace("operator:", "operators:"), CASES, "operator is missing"),
        (PROTO.replace("scale_mask(", "other(").replace("Mask", "Other"), CASES, "defines no func"),
    ],
)
def test_mistakes_name_file_and_key(
    operator: Operator, tmp_path: Path, proto: str, cases: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        load_workload(operator, task(tmp_path / "task", proto, cases))
