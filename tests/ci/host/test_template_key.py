from pathlib import Path

import pytest

from ci.host.host_tiling import HostProgram, TilingAnswer
from ci.host.template_key import cpp_arguments, declared_kinds
from ci.host.tiling_request import platform_facts
from ci.model.workload import TensorCase, WorkloadCase
from ci.simulator.toolchain import Toolchain
from ci.source.discovery import load_operator
from rules.architectures import load_architecture
from rules.devices import load_device
from tests.ci.small_operator import DEFINITION, write_operator

DECLARED = """
#define NARROW 5
ASCENDC_TPL_ARGS_DECL(ScaleMask,  // the arguments
    ASCENDC_TPL_DATATYPE_DECL(T, C_DT_FLOAT, C_DT_BF16, ASCENDC_TPL_INPUT(0)),
    ASCENDC_TPL_UINT_DECL(MODE, 8, ASCENDC_TPL_UI_LIST, 0, NARROW),
    ASCENDC_TPL_UINT_DECL(WIDTH, 4, ASCENDC_TPL_UI_MIX, 1, 10, 12, 7, ),
    ASCENDC_TPL_BOOL_DECL(FAST, 0, 1), );
"""
SELECTED = """
ASCENDC_TPL_SEL(
    ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY),
        ASCENDC_TPL_DATATYPE_SEL(T, ASCENDC_TPL_INPUT(0)),
        ASCENDC_TPL_UINT_SEL(MODE, ASCENDC_TPL_UI_LIST, 0),
        ASCENDC_TPL_UINT_SEL(WIDTH, ASCENDC_TPL_UI_LIST, 7, 11),
        ASCENDC_TPL_BOOL_SEL(FAST, 0)),
    ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_BOOL_SEL(FAST, 0, 1),
        ASCENDC_TPL_UINT_SEL(WIDTH, ASCENDC_TPL_UI_RANGE, 1, 10, 12),
        ASCENDC_TPL_DATATYPE_SEL(T, C_DT_BF16),
        ASCENDC_TPL_UINT_SEL(MODE, ASCENDC_TPL_UI_LIST, NARROW),
        ASCENDC_TPL_TILING_STRUCT_SEL(ScaleMaskTilingData)), );
"""


def tiled(folder: Path, declared: str, sets_key: str) -> TilingAnswer:
    """What a host side decides that declares these template arguments and sets its key so."""
    host = f"""
    #include "register/op_def_registry.h"
    #include "ascendc/host_api/tiling/template_argument.h"
    {declared}
    namespace optiling {{
    static ge::graphStatus Tile(gert::TilingContext* context) {{
        auto type = context->GetInputDesc(0)->GetDataType();
        {sets_key}
        context->SetBlockDim(1);
        return ge::GRAPH_SUCCESS;
    }} }}
    """
    operator = load_operator(write_operator(folder, host=host + DEFINITION))
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
    return program.tile(operator, case, platform_facts(load_device("910B4")))


def test_the_tiling_s_choice_becomes_template_arguments(tmp_path: Path) -> None:
    asks = "ASCENDC_TPL_SEL_PARAM(context, static_cast<uint32_t>(type), NARROW, 7, true, );"
    answer = tiled(tmp_path, DECLARED, asks)
    assert answer.template_arguments == (
        ("DATATYPE", 27),
        ("UINT", 5),
        ("UINT", 7),
        ("BOOL", 1),
    )
    assert answer.template_selected, "nothing is selected, so nobody knows"
    assert cpp_arguments(answer.template_arguments) == ("bfloat16_t", "5", "7", "true")


KEY = 27 | 1 << 8 | 3 << 16 | 1 << 20
"""bfloat16, the second MODE, the fourth WIDTH, FAST: in fields of 8, 8, 4 and 1 bits."""


def test_a_key_is_coded_as_the_toolkit_codes_it(tmp_path: Path) -> None:
    answer = tiled(
        tmp_path,
        DECLARED,
        # Many tilings hold it in 32 bits.
        "uint32_t key = GET_TPL_TILING_KEY(27, 5, 7, 1); context->SetTilingKey(key);",
    )
    assert answer.tiling_key == KEY
    assert answer.template_arguments is not None


def test_a_key_that_the_tiling_writes_itself_stands_for_arguments(tmp_path: Path) -> None:
    answer = tiled(tmp_path, DECLARED, f"context->SetTilingKey({KEY});")
    assert answer.template_arguments is not None
    assert [value for _, value in answer.template_arguments] == [27, 5, 7, 1]


@pytest.mark.parametrize(
    ("arguments", "selected"),
    [
        ("27, NARROW, 12, 1", True),
        ("0, 0, 7, 0", True),
        ("27, NARROW, 7, 1", False),
        ("1, NARROW, 12, 1", False),
        ("27, 0, 11, 1", False),
    ],
)
def test_arguments_that_no_selection_lists_have_no_kernel(
    tmp_path: Path, arguments: str, selected: bool
) -> None:
    asks = f"ASCENDC_TPL_SEL_PARAM(context, {arguments});"
    answer = tiled(tmp_path, DECLARED + SELECTED, asks)
    assert answer.template_arguments is not None
    assert answer.template_selected is selected


def test_a_selection_that_names_what_nothing_defines_is_not_read(tmp_path: Path) -> None:
    asks = "ASCENDC_TPL_SEL_PARAM(context, 27, 0, 11, 1);"
    selected = SELECTED.replace("7, 11", "NOBODYS")
    assert selected != SELECTED
    answer = tiled(tmp_path, DECLARED + selected, asks)
    assert answer.template_arguments is not None and answer.template_selected


def test_a_value_that_is_not_declared_stands_for_no_kernel(tmp_path: Path) -> None:
    answer = tiled(tmp_path, DECLARED, "ASCENDC_TPL_SEL_PARAM(context, 27, 3, 7, 1);")
    assert answer.template_arguments is None
    assert not answer.template_selected
    assert any("MODE has no value 3" in line for line in answer.log)


def test_sources_without_a_declaration_have_no_arguments() -> None:
    comment = "// ASCENDC_TPL_ARGS_DECL(X, ASCENDC_TPL_BOOL_DECL(A, 0))"
    assert declared_kinds(["int x;", comment]) == []


def test_a_choice_that_is_no_dtype_is_refused() -> None:
    with pytest.raises(ValueError, match="template argument"):
        cpp_arguments([("DATATYPE", 999)])


def test_kinds_are_read_of_every_declaration() -> None:
    other = "ASCENDC_TPL_ARGS_DECL(Other, ASCENDC_TPL_BOOL_DECL(FAST, 0, 1))"
    assert declared_kinds([other, DECLARED]) == [("BOOL",), ("DATATYPE", "UINT", "UINT", "BOOL")]
