from pathlib import Path

import pytest

from ci.host.host_tiling import HostProgram
from ci.host.template_key import cpp_arguments, declared_kinds
from ci.host.tiling_request import platform_facts
from ci.model.workload import TensorCase, WorkloadCase
from ci.simulator.toolchain import Toolchain
from ci.source.discovery import load_operator
from rules.architectures import load_architecture
from rules.devices import load_device
from tests.ci.small_operator import DEFINITION, write_operator

DECLARED = """
ASCENDC_TPL_ARGS_DECL(ScaleMask,  // the arguments
    ASCENDC_TPL_DATATYPE_DECL(T, C_DT_FLOAT, C_DT_BF16, ASCENDC_TPL_INPUT(0)),
    ASCENDC_TPL_UINT_DECL(MODE, 8, ASCENDC_TPL_UI_LIST, 0, 1),
    ASCENDC_TPL_BOOL_DECL(FAST, 0, 1), );
"""


def test_the_tiling_s_choice_becomes_template_arguments(tmp_path: Path) -> None:
    host = f"""
    #include "register/op_def_registry.h"
    #include "ascendc/host_api/tiling/template_argument.h"
    {DECLARED}
    namespace optiling {{
    static ge::graphStatus Tile(gert::TilingContext* context) {{
        auto type = context->GetInputDesc(0)->GetDataType();
        ASCENDC_TPL_SEL_PARAM(context, static_cast<uint32_t>(type), 3, true, );
        context->SetBlockDim(1);
        return ge::GRAPH_SUCCESS;
    }} }}
    """
    operator = load_operator(write_operator(tmp_path, host=host + DEFINITION))
    texts = operator.texts()
    program = HostProgram(Toolchain(load_architecture("dav-c220")).compile_host(operator, texts))
    case = WorkloadCase(
        name="c",
        inputs=(
            TensorCase(shape=(4,), dtype="bfloat16"),
            TensorCase(shape=(4,), dtype="uint8"),
            (),
        ),
        attrs={"scale": 1.0},
    )
    answer = program.tile(operator, case, platform_facts(load_device("910B4")))
    assert answer.template_arguments == (27, 3, 1)
    assert cpp_arguments(declared_kinds(texts.values()), answer.template_arguments) == (
        "bfloat16_t",
        "3",
        "true",
    )


def test_sources_without_a_declaration_have_no_arguments() -> None:
    assert (
        declared_kinds(["int x;", "// ASCENDC_TPL_ARGS_DECL(X, ASCENDC_TPL_BOOL_DECL(A, 0))"]) == ()
    )


@pytest.mark.parametrize(("kinds", "values"), [(("UINT",), (1, 2)), (("DATATYPE",), (999,))])
def test_choices_that_do_not_fit_are_refused(
    kinds: tuple[str, ...], values: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match="template argument"):
        cpp_arguments(kinds, values)


def test_of_several_declarations_the_one_with_as_many_arguments_as_chosen_counts() -> None:
    other = "ASCENDC_TPL_ARGS_DECL(Other, ASCENDC_TPL_BOOL_DECL(FAST, 0, 1))"
    assert declared_kinds([other, DECLARED], 3) == ("DATATYPE", "UINT", "BOOL")
    assert declared_kinds([other, DECLARED], 1) == ("BOOL",)
    assert declared_kinds([other, DECLARED]) == ("BOOL",)
