"""Folders of cann-bench are read as tasks: shapes, ranges and attributes of each case."""

from pathlib import Path

import pytest

from ci.create.benchmark import bench_task, is_torch_task
from ci.create.operator_files import make
from ci.model.errors import InputError

pytestmark = pytest.mark.every_level

PROTO = """
operator:
  name: SwiGate
  schema: "swi_gate(Tensor x, Tensor gate, float alpha=1.0) -> Tensor"
  inputs: [{name: x}, {name: gate}]
"""
CASES = """
cases:
  - {case_id: 1, input_shape: [[12, 70], [12, 70]], dtype: [float16], attrs: {alpha: 0.5}}
  - {case_id: 2, input_shape: [[3, 5, 33], [3, 5, 33]], dtype: [float32], value_range: [0, 1]}
"""
GOLDEN = """
import numpy as np

def swi_gate(x, gate, alpha: float = 1.0):
    return x / (1 + np.exp(-alpha * x)) * gate
"""


def test_a_folder_becomes_a_task_that_can_be_made(tmp_path: Path) -> None:
    for name, text in (("proto.yaml", PROTO), ("cases.yaml", CASES), ("golden.py", GOLDEN)):
        (tmp_path / name).write_text(text)
    task, tracer = bench_task(tmp_path)
    try:
        assert [c.shapes[0] for c in task.cases] == [(12, 70), (3, 5, 33)]
        assert task.cases[0].attrs == {"alpha": 0.5}
        made = make(task, tracer)
    finally:
        tracer.close()
    assert [a.name for a in made.interface.attributes] == ["alpha"]
    assert made.interface.columns["y"] == ("float32", "float16", "bfloat16")
    assert "op_kernel/swi_gate.cpp" in made.files


def test_what_is_no_task_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cann-bench task"):
        bench_task(tmp_path)
    (tmp_path / "broken.py").write_text("class Model(")
    assert not is_torch_task(tmp_path / "broken.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("proto.yaml", ""),
        ("proto.yaml", "[operator]"),
        ("proto.yaml", "operator: {inputs: 3}"),
        ("proto.yaml", "operator: {inputs: [{nam: x}]}"),
        ("proto.yaml", "operator: !!bool x"),
        ("cases.yaml", "cases: {}"),
        ("cases.yaml", "cases: [1]"),
        ("cases.yaml", "cases: [{input_shape: [[1]], dtype: []}]"),
        ("cases.yaml", "cases: [{input_shape: [x, y], dtype: [1]}]"),
        ("cases.yaml", "cases: [{input_shape: [[1], [1]], dtype: [int8], value_range: 5}]"),
        ("cases.yaml", "cases: [" + "[" * 2000),
    ],
)
def test_a_folder_of_another_form_is_a_sentence(tmp_path: Path, name: str, text: str) -> None:
    files = {"proto.yaml": PROTO, "cases.yaml": CASES, "golden.py": GOLDEN, name: text}
    for one, content in files.items():
        (tmp_path / one).write_text(content)
    with pytest.raises(InputError):
        bench_task(tmp_path)
