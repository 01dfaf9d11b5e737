import re
import shutil
from pathlib import Path

import pytest

from ascendopt import load
from ci.model.operator import AttrSpec
from ci.source.discovery import load_operator
from ci.source.launcher_attributes import launcher_attributes
from tests.places import EXAMPLES

SAMPLE = EXAMPLES / "sample_repository/src/math/affine_clamp"

LAUNCHER = """
const aclTensor* AffineClamp(const aclTensor* x, double alphaOptional, float beta, double low,
                             double upperEnd, aclOpExecutor* executor) {
    auto y = executor->AllocTensor(x->GetDataType());
    if (low < upperEnd && beta == 0) { return y; }  // OP_ATTR(nothing)
    ADD_TO_LAUNCHER_LIST_AICORE(
        AffineClamp, OP_INPUT(x), OP_OUTPUT(y),
        OP_ATTR(static_cast<float>(alphaOptional), beta, static_cast<float>(low),
                static_cast<float>(upperEnd)));
    return y;
}
"""


@pytest.fixture
def undeclared(tmp_path: Path) -> Path:
    """An operator of four attributes, none of which is in its op definition."""
    root = tmp_path / "src/math/affine_clamp"
    shutil.copytree(SAMPLE, root)
    host = root / "op_host/affine_clamp.cpp"
    host.write_text(re.sub(r"this->Attr\(.*;", "", host.read_text()))
    assert load_operator(root).attrs == ()
    (root / "op_host/op_api").mkdir()
    (root / "op_host/op_api/affine_clamp.cpp").write_text(LAUNCHER)
    return root


def test_a_definition_without_attributes_takes_those_of_its_launcher(undeclared: Path) -> None:
    attrs = load_operator(undeclared).attrs
    assert [(one.name, one.type, one.required) for one in attrs] == [
        ("alpha", "float", True),
        ("beta", "float", True),
        ("low", "float", True),
        ("upper_end", "float", True),
    ]


def test_the_host_side_finds_each_by_its_number_whatever_the_workload_s_order(
    undeclared: Path,
) -> None:
    workload = undeclared / "workload.yaml"
    text = workload.read_text()
    turned = re.sub(r"\{(alpha.*), (high: .*)\}", r"{\2, \1}", text)
    assert turned != text
    workload.write_text(turned.replace("high:", "upper_end:"))
    golden = undeclared / "golden.py"
    golden.write_text(re.sub(r"\bhigh\b", "upper_end", golden.read_text()))
    assert load(undeclared).evaluate().ok


def test_a_launcher_that_lies_elsewhere_leaves_the_operator_readable(
    undeclared: Path, tmp_path: Path
) -> None:
    place = undeclared / "op_api/affine_clamp.cpp"
    place.parent.mkdir()
    (undeclared / "op_host/op_api/affine_clamp.cpp").rename(tmp_path / "elsewhere.cpp")
    place.symlink_to(tmp_path / "elsewhere.cpp")
    assert load_operator(undeclared).attrs == ()


def test_the_launcher_of_another_operator_does_not_count() -> None:
    assert launcher_attributes("Clamp", [LAUNCHER]) == ()


@pytest.mark.parametrize(
    ("parameter", "kind"),
    [
        ("const aclIntArray *one", "list_int"),
        ("const aclFloatArray *one", "list_float"),
        ("const char *one", "string"),
        ("const std::string& one", "string"),
        ("bool one", "bool"),
        ("int64_t one", "int"),
        ("op::DataType one", "int"),
    ],
)
def test_types_are_those_of_the_launcher_s_parameters(parameter: str, kind: str) -> None:
    text = f"""const aclTensor* F(aclTensor* x, {parameter}, aclOpExecutor* e) {{
        ADD_TO_LAUNCHER_LIST_AICORE(Op, OP_INPUT(x), OP_OUTPUT(x), OP_ATTR(one)); }}"""
    assert launcher_attributes("Op", [text]) == (
        AttrSpec.model_validate({"name": "one", "type": kind}),
    )


@pytest.mark.parametrize(
    "handed", ["nowhere", "1L", "one, one", "x->GetDataType()", "(", "one, " * 200_000]
)
def test_what_cannot_be_told_leaves_the_definition_as_it_is(handed: str) -> None:
    text = f"""void F(aclTensor* x, bool one) {{
        ADD_TO_LAUNCHER_LIST_AICORE(Op, OP_INPUT(x), OP_OUTPUT(x), OP_ATTR({handed})); }}"""
    assert launcher_attributes("Op", [text]) == ()
