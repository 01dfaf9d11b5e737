"""Functions in the manner of those that people have written for operators of cann-ops."""

from __future__ import annotations

import numpy as np
import pytest

from ci.backend.cann.arguments import Parameters, arrange
from ci.model.errors import InputError
from ci.model.operator import AttrSpec, Operator, TensorSpec
from ci.model.workload import TensorCase, WorkloadCase
from ci.testing.scale_shift import OPERATOR

TENSOR = "aclTensor*"


def tensor(name: str, kind: str = "required") -> TensorSpec:
    return TensorSpec(name=name, param_type=kind, dtypes=("float32",))  # type: ignore[arg-type]


NORM: Operator = OPERATOR.model_copy(
    update={
        "op_type": "Norm",
        "inputs": (tensor("x"), tensor("row_scale", "optional"), tensor("index", "optional")),
        "outputs": (tensor("y"), tensor("mean")),
        "attrs": (
            AttrSpec(name="num_groups", type="int"),
            AttrSpec(name="eps", type="float", required=False, default=0.5),
            AttrSpec(name="fast", type="bool", required=False, default=True),
        ),
    }
)
BY_HAND: Parameters = (
    (TENSOR, "self"),
    (TENSOR, "rowScaleOptional"),
    ("double", "eps"),
    ("int64_t", "group"),
    (TENSOR, "out"),
    (TENSOR, "meanOut"),
)


def test_parameters_are_found_by_name_and_what_is_left_by_kind_and_order() -> None:
    found = arrange("aclnnNorm", BY_HAND, NORM)
    assert found.arguments == (
        "arguments.tensor(0)",
        "arguments.tensor(1)",
        "arguments.real(1)",
        "arguments.integer(0)",
        "arguments.tensor(3)",
        "arguments.tensor(4)",
    )
    assert (found.inputs_left_out, found.attributes_left_out) == ((2,), (2,))


def test_a_case_may_not_give_what_the_function_does_not_take() -> None:
    found = arrange("aclnnNorm", BY_HAND, NORM)
    x = np.ones((2, 3), np.float32)
    one = TensorCase(shape=(2, 3), dtype="float32")
    case = WorkloadCase(name="a", inputs=(one,), attrs={"num_groups": 1, "fast": True})
    found.check(NORM, case, [x, x, None])
    with pytest.raises(InputError, match="gives 'index', which the aclnn function of Norm"):
        found.check(NORM, case, [x, x, x])
    slow = case.model_copy(update={"attrs": {"num_groups": 1, "fast": False}})
    with pytest.raises(InputError, match="gives 'fast'"):
        found.check(NORM, slow, [x, x, None])


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (BY_HAND[1:], "takes no 'y'"),
        (BY_HAND[:-1], "takes no 'mean'"),
        ((*BY_HAND, ("double", "scaleWidth")), "takes 'scaleWidth' as double"),
        ((*BY_HAND[:3], ("char*", "numGroups"), *BY_HAND[4:]), r"takes 'numGroups' as char\*"),
    ],
)
def test_what_does_not_fit_is_named(parameters: Parameters, said: str) -> None:
    with pytest.raises(InputError, match=said):
        arrange("aclnnNorm", parameters, NORM)
