"""What a model may change of a host tiling: whole functions that cut the work, and their state."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.operator import Operator
from ci.testing.scale_shift import OPERATOR
from ci.tiling.regions import tiling_regions

HOST = """#include "t.h"
namespace optiling {
constexpr uint32_t BYTES_PER_CORE = 4096;
constexpr uint32_t ROWS_PER_CORE = BYTES_PER_CORE / 32;
constexpr uint32_t UNRELATED = 7;
static uint32_t state = 1;

static bool CheckShape(gert::TilingContext *context)
{
    return context != nullptr;
}

static uint32_t Cores(uint32_t rows)
{
    return rows / ROWS_PER_CORE + state;
}

static void SetWorkspace(gert::TilingContext *context)
{
    context->GetWorkspaceSizes(1)[0] = 0;
}

static ge::graphStatus Tiling(gert::TilingContext *context)
{
    if (!CheckShape(context)) {
        return ge::GRAPH_FAILED;
    }
    context->SetBlockDim(Cores(8));
    SetWorkspace(context);
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(T).Tiling(Tiling);
}
namespace ops {
class T : public OpDef {
public:
    explicit T(const char *name) : OpDef(name)
    {
        this->AICore().SetTiling(optiling::Tiling);
    }
};
OP_ADD(T);
}
"""


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    (tmp_path / "op_host").mkdir()
    (tmp_path / "op_host" / "t.cpp").write_text(HOST)
    sources = ("op_host/t.cpp",)
    changed = {
        "root": tmp_path,
        "repository": None,
        "host_sources": sources,
        "tiling_sources": sources,
    }
    return OPERATOR.model_copy(update=changed | {"tiling_functions": ("Tiling",)})


def test_what_is_called_and_the_state_that_it_uses_may_change(operator: Operator) -> None:
    template, functions = tiling_regions(operator, "910B4")
    assert functions == ["Cores", "Tiling"]
    for old, new in (
        ("rows / ROWS_PER_CORE", "rows / 2"),
        ("BYTES_PER_CORE = 4096", "BYTES_PER_CORE = 8192"),  # through ROWS_PER_CORE
        ("state = 1", "state = 2"),
        ("Cores(8)", "Cores(9)"),
    ):
        assert template.admits({"op_host/t.cpp": HOST.replace(old, new)}), old


def test_checks_workspace_and_definition_may_not(operator: Operator) -> None:
    template, _ = tiling_regions(operator, "910B4")
    for old, new in (
        ("context != nullptr", "true"),
        ("[0] = 0", "[0] = 64"),
        ("UNRELATED = 7", "UNRELATED = 8"),
        ("OP_ADD(T)", "OP_ADD(U)"),
        ("this->AICore()", "this->AICore().Other()"),
    ):
        assert not template.admits({"op_host/t.cpp": HOST.replace(old, new)}), old
