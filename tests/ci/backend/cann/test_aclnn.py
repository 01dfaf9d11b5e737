"""A call's program follows from header and definition; what does not fit them is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ci.backend.cann.aclnn import caller_unit, find_function, functions, write_call
from ci.backend.cann.package import Package
from ci.model.errors import InputError
from ci.model.operator import AttrSpec, Operator, TensorSpec
from ci.model.workload import TensorCase, WorkloadCase
from ci.testing.scale_shift import OPERATOR

HEADER = """
// aclnnOtherGetWorkspaceSize(in a comment)
aclnnStatus aclnnAddNGetWorkspaceSize(const aclTensorList *x, aclTensor *varRef,
    const aclTensor *biasOptional, double eps, const aclIntArray *axes /* sorted */,
    char *mode, bool keep, const aclTensor* out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddN(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
    aclrtStream stream);
aclnnStatus aclnnScaledGetWorkspaceSize(const aclTensor* x, const aclScalar* s, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
"""


def spec(name: str, kind: str = "required", dtype: str = "float32") -> TensorSpec:
    return TensorSpec(name=name, param_type=kind, dtypes=(dtype,), formats=("ND",))  # type: ignore[arg-type]


ADD_N: Operator = OPERATOR.model_copy(
    update={
        "op_type": "AddN",
        "inputs": (spec("x", "dynamic"), spec("var"), spec("bias", "optional", "bfloat16")),
        "outputs": (spec("var"), spec("y")),
        "attrs": (
            AttrSpec(name="eps", type="float", required=False, default=0.5),
            AttrSpec(name="axes", type="list_int"),
            AttrSpec(name="mode", type="string", required=False, default="fast"),
            AttrSpec(name="keep", type="bool", required=False, default=True),
        ),
    }
)


@pytest.fixture
def package(tmp_path: Path) -> Package:
    (tmp_path / "op_api/include/aclnnop").mkdir(parents=True)
    (tmp_path / "op_api/include/aclnnop/aclnn_add_n.h").write_text(HEADER)
    return Package(tmp_path)


def test_each_parameter_is_given_by_its_type_and_its_order(package: Package) -> None:
    unit = caller_unit(find_function(package, ADD_N), ADD_N)
    given = unit[unit.index("aclnnAddNGetWorkspaceSize(") :].split(";")[0]
    assert given == (
        "aclnnAddNGetWorkspaceSize(arguments.list(0), arguments.tensor(1), arguments.tensor(2),"
        " arguments.real(0), arguments.integers(1), arguments.text(2), arguments.truth(3),"
        " arguments.tensor(3), bytes, executor)"
    )


def test_what_a_header_declares_is_named_when_the_operator_is_not_in_it(package: Package) -> None:
    assert [f.name for f in functions(package.headers[0])] == ["aclnnAddN", "aclnnScaled"]
    with pytest.raises(InputError, match="declares aclnnAddN, aclnnScaled, but not aclnnScaleSh"):
        find_function(package, OPERATOR)


def test_a_function_that_takes_what_nobody_declares_is_told_to_go_directly(
    package: Package,
) -> None:
    scaled = OPERATOR.model_copy(update={"op_type": "Scaled"})
    with pytest.raises(InputError, match=r"takes 's' as aclScalar\*.*--backend cann-direct"):
        caller_unit(find_function(package, scaled), scaled)
    fewer = ADD_N.model_copy(update={"attrs": ADD_N.attrs[:2]})
    with pytest.raises(InputError, match=r"takes 'mode' as char\*"):
        caller_unit(find_function(package, ADD_N), fewer)


def test_a_request_has_lists_absent_tensors_and_tensors_in_place(tmp_path: Path) -> None:
    one = TensorCase(shape=(2, 3), dtype="float32")
    absent = TensorCase(shape=(3,), dtype="bfloat16", present=False)
    case = WorkloadCase(name="a", inputs=((one, one), one, absent), attrs={"axes": [0, -1]})
    x = np.ones((2, 3), np.float32)
    request, files = write_call(
        tmp_path, ADD_N, case, [[x, x], x, None], [x, x], device=2, launches=3
    )
    lines = [line.split("\t") for line in request.read_text().splitlines()]
    assert lines[:2] == [["device", "2"], ["repeat", "3"]]
    assert [line[1] for line in lines[2:6]] == ["0.5", "0,-1", "fast", "1"]
    assert [line[0] for line in lines[6:]] == [
        "parameter", "input", "input", "parameter", "both", "parameter", "parameter", "output"
    ]  # fmt: skip
    assert lines[7][1:5] == ["0", "2", "2,3", "24"]
    assert [[path.name for path in some] for some in files] == [
        ["tensor1_0.out"],
        ["tensor3_0.out"],
    ]


def test_an_attribute_that_nobody_gives_is_named(tmp_path: Path) -> None:
    case = WorkloadCase(name="a", inputs=())
    with pytest.raises(InputError, match="case 'a' gives no attribute 'axes'"):
        write_call(tmp_path, ADD_N, case, [], [], device=0, launches=1)
