from ci.model.columns import case_column
from ci.model.operator import TensorSpec
from ci.model.workload import TensorCase, WorkloadCase
from ci.testing.scale_shift import OPERATOR

FORMATS = ("NCDHW", "NCDHW", "NCHW", "NCHW")
DTYPES = ("float32", "float16", "float32", "float16")


def test_of_columns_that_differ_in_format_one_with_as_many_dimensions_as_the_input_is_taken() -> (
    None
):
    spec = TensorSpec(name="x", dtypes=DTYPES, formats=FORMATS)
    operator = OPERATOR.model_copy(update={"inputs": (spec,), "outputs": (spec,)})

    def column(shape: tuple[int, ...], form: str = "") -> int:
        tensor = TensorCase(shape=shape, dtype="float16", format=form)
        return case_column(operator, WorkloadCase(name="a", inputs=(tensor,), outputs=(tensor,)))

    assert column((2, 3, 4, 5)) == 3
    assert column((2, 3, 4, 5, 6)) == 1
    assert column((2, 3)) == 1, "where none suits, the first"
    assert column((2, 3, 4, 5), "NCDHW") == 1, "what a case names is taken"
