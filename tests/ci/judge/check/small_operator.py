"""A small operator around the statements of its kernel, for faults that a check must find."""

from __future__ import annotations

from pathlib import Path

from ci.model.finding import CheckReport, CheckSettings, Finding
from ci.model.settings import EvaluationSetup
from ci.session.session import open_session

_HOST = """#include "small_tiling.h"
#include "register/op_def_registry.h"

namespace optiling {
static ge::graphStatus Tile(gert::TilingContext* context)
{
    SmallTilingData tiling;
    tiling.set_total(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    context->SetBlockDim(BLOCKS);
    context->SetScheduleMode(1);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class Small : public OpDef {
public:
    explicit Small(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DTYPE}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DTYPE}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Small);
}  // namespace ops
"""

_TILING = """#pragma once
#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(SmallTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Small, SmallTilingData)
}
"""

_KERNEL = """#include "kernel_operator.h"
using namespace AscendC;
class Small {
public:
    __aicore__ inline void Process(GM_ADDR xa, GM_ADDR ya, uint32_t n)
    {
        x.SetGlobalBuffer((__gm__ TYPE*)xa);
        y.SetGlobalBuffer((__gm__ TYPE*)ya);
BODY
    }

private:
    TPipe pipe;
    TBuf<> first, second, third;
    GlobalTensor<TYPE> x, y;
MEMBERS
};
extern "C" __global__ __aicore__ void small(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Small op;
    op.Process(x, y, data.total);
}
"""

ORDER = "SetFlag<HardEvent::{0}>(EVENT_ID0); WaitFlag<HardEvent::{0}>(EVENT_ID0);"


def ordered(event: str) -> str:
    """A flag that is set and waited for."""
    return ORDER.format(event)


def write_operator(
    folder: Path,
    body: str,
    *,
    golden: str,
    shape: tuple[int, ...] = (1024,),
    output: tuple[int, ...] | None = None,
    members: str = "",
    blocks: int | str = 1,
    auto_sync: bool = False,
    types: tuple[str, str, str] = ("float", "FLOAT", "float32"),
) -> Path:
    """An operator y = golden(x) in `folder`, whose kernel runs `body` on as many `blocks` as C++
    says; `golden` is an expression of x, `types` the element type in C++, in the definition and in
    the workload."""
    cpp, enum, dtype = types
    for part in ("op_host", "op_kernel"):
        (folder / part).mkdir(parents=True)
    host = _HOST.replace("BLOCKS", str(blocks)).replace("DTYPE", f"DT_{enum}")
    kernel = _KERNEL.replace("BODY", body.strip("\n")).replace("MEMBERS", members)
    (folder / "op_host/small.cpp").write_text(host)
    (folder / "op_host/small_tiling.h").write_text(_TILING)
    (folder / "op_kernel/small.cpp").write_text(kernel.replace("TYPE", cpp))
    switch = "on" if auto_sync else "off"
    (folder / "CMakeLists.txt").write_text(
        f"add_ops_compile_options(OP_NAME Small OPTIONS --cce-auto-sync={switch})\n"
        "target_sources(optiling PRIVATE op_host/small.cpp)\n"
    )
    (folder / "golden.py").write_text(
        f"import numpy as np\n\n\ndef small(x):\n    return {golden}\n"
    )
    declared = f"\n    outputs: [{{shape: {list(output)}, dtype: {dtype}}}]" if output else ""
    (folder / "workload.yaml").write_text(
        "operator: Small\ngolden: golden.py:small\nseeds: [1]\ncases:\n  - name: own\n"
        f"    inputs: {{x: {{shape: {list(shape)}, dtype: {dtype}, range: [-4, 4]}}}}{declared}\n"
    )
    return folder


def line_of(folder: Path, text: str) -> int:
    """The first line of the kernel that holds a text."""
    lines = (folder / "op_kernel/small.cpp").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


LOAD = f"""
        pipe.InitBuffer(first, n * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n);
        {ordered("MTE2_V")}
"""
STORE = f"""
        {ordered("V_MTE3")}
        DataCopy(y, a, n);
"""
TWICE = LOAD + "        Muls(a, a, 2.0f, n);\n" + STORE


def in_tiles(step: str, tile: int = 1024) -> str:
    """A body that copies tiles of x to `a`, takes a step on `m` numbers there, and stores them."""
    return f"""
        pipe.InitBuffer(first, {tile} * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        for (uint64_t at = GetBlockIdx() * {tile}; at < n; at += GetBlockNum() * {tile}) {{
            uint32_t m = n - at < {tile} ? n - at : {tile};
            DataCopyPad(a, x[at], {{1, m * 4, 0, 0, 0}}, {{false, 0, 0, 0.0f}});
            {ordered("MTE2_V")}
            {step}
            {ordered("V_MTE3")}
            DataCopyPad(y[at], a, {{1, m * 4, 0, 0, 0}});
            {ordered("MTE3_MTE2")}
        }}
"""


def edited(folder: Path, *edits: tuple[str, str, str]) -> Path:
    """The operator in `folder` with texts of its files changed: file, before, after."""
    for file, before, after in edits:
        text = (folder / file).read_text()
        assert text.count(before) == 1
        (folder / file).write_text(text.replace(before, after))
    return folder


def changed(folder: Path, file: str, before: str, after: str) -> Path:
    """An operator that doubles its input, with a text of one of its files changed."""
    write_operator(folder, TWICE, golden="x * np.float32(2)")
    return edited(folder, (file, before, after))


def checked(folder: Path, varied: int = 0) -> CheckReport:
    """The report of an operator's own case, or of varied ones too."""
    settings = CheckSettings(varied=varied, seconds=600)
    return open_session(folder, EvaluationSetup()).check(settings)


def found(report: CheckReport, kind: str) -> list[Finding]:
    """The findings of a kind."""
    return [one for one in report.findings if one.kind == kind]


def line_with(folder: Path, text: str) -> str:
    """The place of the first line of the host side that holds a text."""
    lines = (folder / "op_host/small.cpp").read_text().splitlines()
    return f"op_host/small.cpp:{next(n for n, line in enumerate(lines, 1) if text in line)}"
