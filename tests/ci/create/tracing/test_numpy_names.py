"""Every public function of numpy is traced, derived or refused with a reason."""

import numpy as np
import pytest

from ci.create.tracing import array, definitions, derived, refused
from ci.create.tracing.tape import Untraceable
from tests.ci.create.traced import LocalTracer

UFUNCS = {*array.UNARY, *array.BINARY, *array.COMPARISONS, *array.LOGIC} | {
    *("logical_not", "invert", "floor_divide", "remainder")
}
DISPATCHED = sorted(
    {
        getattr(space, name).__name__
        for space in (np, np.linalg)
        for name in dir(space)
        if hasattr(getattr(space, name), "_implementation")
    }
)
ALL_UFUNCS = sorted(
    {v.__name__ for name in dir(np) if isinstance(v := getattr(np, name), np.ufunc)}
)


@pytest.mark.parametrize("name", DISPATCHED)
def test_a_function_has_one_fate(name: str) -> None:
    ufunc = name in derived.UFUNCS  # of numpy.linalg: matmul, vecdot
    made = ufunc or name in definitions.FUNCTIONS
    assert made != (name in refused.REFUSED)


@pytest.mark.parametrize("name", ALL_UFUNCS)
def test_a_ufunc_has_one_fate(name: str) -> None:
    assert (name in UFUNCS or name in derived.UFUNCS) != (name in refused.REFUSED)


def test_a_refusal_says_what_to_write() -> None:
    tracer = LocalTracer(lambda x: np.unique(x))
    with pytest.raises(Exception, match="numpy.unique, which .* Compute a mask"):
        tracer.trace([((4, 5), "float32")], {}, [])


UNARY = (
    *("arctan", "arcsin", "arccos", "arctanh", "arcsinh", "tan", "cbrt", "isnan", "isinf"),
    *("isfinite", "signbit", "deg2rad", "rad2deg", "nan_to_num", "ptp", "fix", "sinc", "diff"),
    *("tril", "triu", "fliplr", "flipud", "rot90", "gradient", "hstack", "vstack", "nansum"),
    *("nanmean", "nanvar", "nanmax", "average", "trace", "ravel", "column_stack", "dstack"),
)


@pytest.mark.parametrize("name", UNARY)
def test_a_derived_function_is_traced_from_a_tensor_alone(name: str) -> None:
    function = getattr(np, name)
    listed = name in ("hstack", "vstack", "column_stack", "dstack")
    tracer = LocalTracer(lambda x: function([x, x] if listed else x))
    graph = tracer.trace([((4, 6), "float32")], {}, [])
    right = function([np.ones((4, 6))] * 2 if listed else np.ones((4, 6)))
    for place, one in enumerate(right if isinstance(right, list | tuple) else [right]):
        assert graph.nodes[graph.outputs[place]].shape == np.shape(one)


def test_what_a_reference_says_of_arguments_it_lacks_is_a_sentence() -> None:
    tracer = LocalTracer(lambda x: np.sum(x, where=x > 0))
    with pytest.raises(Exception, match="numpy.sum with where"):
        tracer.trace([((4, 6), "float32")], {}, [])
    assert issubclass(Untraceable, Exception)
