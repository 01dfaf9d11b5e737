from pathlib import Path

import pytest

from ci.host.tiling_request import host_request
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.workload import TensorCase, Tolerance
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.ci.small_operator import write_operator

GOOD = """
operator: ScaleMask
golden: golden.py:scale
seeds: [3, 4]
tolerances: {float32: {relative: 1e-4, absolute: 1e-5}}
cases:
  - name: named
    inputs:
      x: {shape: [4, 8], dtype: float32, range: [-2, 2]}
      weights: [{shape: [8], dtype: float32}, {shape: [4], dtype: float32, value: 2}]
    attrs: {scale: 2, axes: [0]}
  - inputs:
      - {shape: [2], dtype: bfloat16, values: [1, 2]}
      - null
      - [{shape: [2], dtype: float32}]
    outputs: [{shape: [2], dtype: bfloat16}]
    attrs: {scale: 0.5}
"""


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    root = write_operator(tmp_path)
    (root / "golden.py").write_text("def scale(x, mask, weights, scale):\n    return x * scale\n")
    return load_operator(root)


def read(operator: Operator, text: str) -> Path:
    file = operator.root / "workload.yaml"
    file.write_text(text)
    return file


def test_a_whole_workload_is_read_in_the_order_of_the_definition(operator: Operator) -> None:
    read(operator, GOOD)
    workload = load_workload(operator)
    first, second = workload.cases
    x, mask, weights = first.inputs
    assert isinstance(x, TensorCase) and x.shape == (4, 8) and x.range == (-2, 2)
    assert isinstance(mask, TensorCase) and not mask.present
    assert isinstance(weights, tuple) and weights[1].values == (2.0,)
    assert first.attrs == {"scale": 2.0, "axes": (0,)}
    assert second.name == "case1"
    assert workload.seeds == (3, 4)
    assert workload.tolerances == {"float32": Tolerance(relative=1e-4, absolute=1e-5)}
    assert workload.folder == operator.root


def test_an_absent_input_needs_neither_shape_nor_dtype_and_a_case_may_be_deterministic(
    operator: Operator,
) -> None:
    read(operator, GOOD.replace("- null", "- {present: false}") + "    deterministic: true\n")
    first, second = load_workload(operator).cases
    mask = second.inputs[1]
    assert isinstance(mask, TensorCase) and not mask.present and mask.shape == (0,)
    assert (first.deterministic, second.deterministic) == (False, True)
    facts: dict[str, str] = {}
    assert "deterministic\t1" in host_request(operator, second, facts).text
    assert "deterministic" not in host_request(operator, first, facts).text


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("[9007199254740993, -1]", (9007199254740993, -1)),
        ("[[1.5], ['1e-3']]", (1.5, 0.001)),
        ("['1+2j', 3]", (1 + 2j, 3)),
    ],
)
def test_values_are_read_as_exactly_as_they_are_written(
    operator: Operator, written: str, read_as: tuple[complex, ...]
) -> None:
    read(operator, GOOD.replace("values: [1, 2]", f"values: {written}"))
    found = load_workload(operator).cases[1].inputs[0]
    assert isinstance(found, TensorCase) and found.values is not None
    assert found.values == read_as
    assert [type(v) for v in found.values] == [type(v) for v in read_as]


MISTAKES = [
    (GOOD.replace("values: [1, 2]", "values: [1, two]"), "must be a number, not 'two'"),
    (GOOD.replace("values: [1, 2]", "value: {a: 1}"), "must be a number"),
    ("cases: [", "line 1: this is not YAML"),
    ("- 1\n- 2", "must be a mapping of keys"),
    ("operator: ScaleMask", "cases is missing"),
    (GOOD.replace("operator: ScaleMask", "operator: Other"), "this workload is for ScaleMask"),
    (GOOD.replace("seeds:", "sedes:"), "sedes is not a known key"),
    (
        GOOD.replace("[3, 4]", "[-1]"),
        "line 4: seeds.0.: must be gr",
    ),
    (GOOD.replace("golden.py:scale", "lost.py:scale"), "there is no such file next to it"),
    (
        GOOD.replace("tolerances: {float32", "tolerances: {float33"),
        "line 5: .*.float33: is",
    ),
    (GOOD.replace("relative: 1e-4", "relative: -1"), "tolerances.float32.relative: must be"),
    (
        GOOD.replace("shape: [4, 8]", "shape: [4, x]"),
        "line 9: cases.*x.shape: must be a",
    ),
    (GOOD.replace("shape: [4, 8]", "shape: [65536, 65536, 65536]"), "at most 1099511627776"),
    (GOOD.replace("[4, 8], dtype: float32", "[4, 8], dtype: float16"), "takes no float16 for 'x'"),
    (GOOD.replace("[4, 8], dtype: float32", "[4, 8], dtype: fp99"), "no dtype; known"),
    (GOOD.replace("range: [-2, 2]", "range: [2, -2]"), "low ≤ high"),
    (GOOD.replace("range: [-2, 2]", "range: [0, .inf]"), "two finite numbers"),
    (GOOD.replace("values: [1, 2]", "values: [1, 2, 3]"), "has 3 numbers, but the shape holds 2"),
    (GOOD.replace("      x: {", "      z: {"), "names 'z'; the op definition has"),
    (
        GOOD.replace("attrs: {scale: 2,", "attrs: {scales: 2,"),
        "line 11: .*scales: is no",
    ),
    (GOOD.replace("attrs: {scale: 2,", "attrs: {scale: two,"), "must be of type float"),
    (GOOD.replace("attrs: {scale: 0.5}", ""), "required attribute 'scale' is missing"),
    (GOOD.replace("- {shape: [2], dtype: bfloat16, values: [1, 2]}", "- null"), "required but"),
    (GOOD.replace("name: named", "name: case1"), "line 12: cases.1.: there are two cases named"),
    (GOOD.replace("cases:", "seeds: [1]\ncases:"), "line 6: seeds is given twice"),
    (GOOD.replace("cases:", "in_place: &me [*me]\ncases:"), "line 6: .* an alias of itself"),
    (GOOD.replace("cases:", "in_place: word\ncases:"), "in_place: must be a list, not 'word'"),
]


@pytest.mark.parametrize(("text", "words"), MISTAKES)
def test_each_mistake_is_one_sentence_that_names_the_file(
    operator: Operator, text: str, words: str
) -> None:
    file = read(operator, text)
    with pytest.raises(InputError, match=words) as caught:
        load_workload(operator, file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_binary_files_are_named(operator: Operator, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no workload: .*workload derive"):
        load_workload(operator)
    with pytest.raises(InputError, match="no file or folder"):
        load_workload(operator, tmp_path / "none.yaml")
    with pytest.raises(InputError, match="holds no workload"):
        load_workload(operator, tmp_path)
    for data in (b"\xff\xfe\x00", b"a: \0", b"version https://git-lfs.github.com/spec/v1\noid x\n"):
        file = operator.root / "workload.yaml"
        file.write_bytes(data)
        lfs = b"lfs" in data
        words = "is a pointer of Git LFS" if lfs else "not UTF-8 text|not YAML"
        with pytest.raises(InputError, match=words):
            load_workload(operator, file)
