"""What a tiling is told of the chip, and template kernels whose tiling sets the key itself."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from ci.backend import make_backend
from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.model.errors import CaseTooLarge, TrialFailure
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from rules.devices import FOLDER_VARIABLE, device_names
from tests.ci.judge.test_in_place import HOST, KERNEL, write
from tests.places import OPERATORS

DECLARATION = """
#include "ascendc/host_api/tiling/template_argument.h"
ASCENDC_TPL_ARGS_DECL(DoubleIt, ASCENDC_TPL_UINT_DECL(mode, 1, ASCENDC_TPL_UI_LIST, 0, 1));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(mode, ASCENDC_TPL_UI_LIST, 0, 1)));
"""


def evaluated(folder: Path, host: str, kernel: str, factor: int) -> Trial:
    """The trial of an operator with these texts that multiplies by `factor`."""
    root = folder / "src" / "math" / "double_it"
    for side, text in (("op_host", host), ("op_kernel", kernel)):
        (root / side).mkdir(parents=True)
        (root / side / "double_it.cpp").write_text(text)
    operator = load_operator(root)
    (folder / "w").mkdir()
    workload = load_workload(operator, write(folder / "w", factor=factor))
    return Evaluator(operator, workload, make_backend("sim", "910B4")).evaluate(Candidate(), 0)


def test_the_key_is_the_value_of_a_single_template_argument(tmp_path: Path) -> None:
    kernel = KERNEL.replace(
        'extern "C" __global__', "template <uint32_t mode>\n__global__"
    ).replace("FORMAT_X == FORMAT_NHWC ? 3.0f : 2.0f", "2.0f + 3.0f * mode")
    assert "template <uint32_t mode>" in kernel and "* mode" in kernel
    trial = evaluated(tmp_path, HOST, DECLARATION + kernel, factor=5)  # the tiling sets key 1
    assert trial.outcome is Outcome.OK, trial.refusal


def test_template_arguments_that_nothing_selects_are_refused_with_the_key(tmp_path: Path) -> None:
    kernel = KERNEL.replace('extern "C" __global__', "template <uint32_t mode>\n__global__")
    selected = DECLARATION.replace("_SEL(mode, ASCENDC_TPL_UI_LIST, 0, 1)", "_SEL(mode, 1, 0)")
    assert selected != DECLARATION
    refused = evaluated(tmp_path, selected + HOST, selected + kernel, factor=2)
    assert refused.outcome is Outcome.COMPILE_ERROR
    assert refused.refusal is not None
    assert (
        "lists the template arguments 1, which the tiling chose by the key 1"
        in refused.refusal.sentence
    )


CHANGES = """
enum class KIND { ROWS, COLUMNS };
template <KIND K> struct Chosen { static constexpr KIND kind = K; };
template <typename T> struct Work { static constexpr bool KIND = T::kind == KIND::ROWS; };
static_assert(Work<Chosen<KIND::ROWS>>::KIND && !Work<Chosen<KIND::COLUMNS>>::KIND);
"""


def test_a_member_may_bear_the_name_of_a_type_that_its_own_value_names(tmp_path: Path) -> None:
    head, mark, body = KERNEL.partition('extern "C" __global__')
    trial = evaluated(tmp_path, HOST, head + CHANGES + mark + body, factor=2)
    assert trial.outcome is Outcome.OK, trial.refusal


def test_what_else_the_compiler_would_let_through_is_an_error_with_it(tmp_path: Path) -> None:
    head, mark, body = KERNEL.partition('extern "C" __global__')
    wrong = "inline __aicore__ const char* named(int number) { return number; }\n"
    refused = evaluated(tmp_path, HOST, head + CHANGES + wrong + mark + body, factor=2)
    assert refused.outcome is Outcome.COMPILE_ERROR
    assert refused.refusal is not None
    assert "invalid conversion from 'int' to 'const char*'" in refused.refusal.sentence


def test_a_kernel_in_a_namespace_and_a_tiling_without_a_name_are_run(tmp_path: Path) -> None:
    function = HOST[HOST.index("static ge::graphStatus Tile") : HOST.index("}  // namespace opt")]
    body = function.partition(")")[2].replace("DoubleIt", "optiling::DoubleIt")
    tiling = f"[](gert::TilingContext* context) -> ge::graphStatus {body.strip()}"
    host = HOST.replace(function, "").replace("optiling::Tile)", f"{tiling})")
    before, mark, kernel = KERNEL.partition('extern "C"')
    kernel = f"{before}namespace own {{ namespace deep {{\n{mark}{kernel}\n}} }}\n"
    trial = evaluated(tmp_path, host, kernel, factor=2)
    assert trial.outcome is Outcome.OK, trial.refusal


ASKING = (
    HOST.replace(
        "TILING_DATA_FIELD_DEF(uint32_t, total);",
        "TILING_DATA_FIELD_DEF_ARR(uint8_t, 16, soc);\n"
        "TILING_DATA_FIELD_DEF_ARR(uint64_t, 2, bytes);\n"
        "TILING_DATA_FIELD_DEF_ARR(uint32_t, 4, numbers);",
    )
    .replace(
        "tiling.set_total(context->GetInputShape(0)->GetStorageShape().GetShapeSize());",
        """
    using namespace platform_ascendc;
    fe::PlatFormInfos* infos = context->GetPlatformInfo();
    PlatformAscendC chip(infos);
    std::string soc;
    infos->GetPlatformRes("version", "SoC_version", soc);
    soc.resize(16);
    uint64_t bytes[2];
    chip.GetCoreMemSize(CoreMemType::HBM, bytes[0]);
    chip.GetCoreMemSize(CoreMemType::UB, bytes[1]);
    uint32_t numbers[4] = {chip.GetCoreNumAic(), chip.GetCoreNumAiv(),
                           static_cast<uint32_t>(chip.GetCurNpuArch()), chip.GetVecRegLen()};
    tiling.set_soc(reinterpret_cast<uint8_t*>(&soc[0]));
    tiling.set_bytes(bytes);
    tiling.set_numbers(numbers);""",
    )
    .replace(
        '#include "register/op_def_registry.h"',
        '#include "register/op_def_registry.h"\n#include "tiling/platform/platform_ascendc.h"',
    )
)

OWN_CHIP = """base = "910B3"
device.cube_cores = 24
device.vector_cores = 48
hbm.bytes = 51539607552  # 48 GiB
"""

TOLD = {
    "910B1": ("Ascend910B1", 64 << 30, 24, 48),
    "910B2": ("Ascend910B2", 64 << 30, 24, 48),
    "910B3": ("Ascend910B3", 64 << 30, 20, 40),
    "910B4": ("Ascend910B4", 32 << 30, 20, 40),
    "910B3X": ("Ascend910B3X", 48 << 30, 24, 48),
}


def with_host(top: Path, host: str) -> Operator:
    """The operator that doubles its input, with this host side."""
    root = top / "src" / "math" / "double_it"
    for side, text in (("op_host", host), ("op_kernel", KERNEL)):
        (root / side).mkdir(parents=True)
        (root / side / "double_it.cpp").write_text(text)
    return load_operator(root)


def test_a_tiling_is_told_the_chip_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "910B3X.toml").write_text(OWN_CHIP)
    operator = with_host(tmp_path, ASKING)
    workload = load_workload(operator, write(tmp_path))
    array = np.zeros(64, np.float32)
    told = {}
    for device in device_names():
        build = SimulatorBackend(device).build(operator, {}, workload)
        data = build.tile(workload.cases[0], [array], [array]).data
        soc, hbm, ub, *numbers = struct.unpack("<16s2Q4I", data[:48])
        told[device] = (soc.rstrip(b"\0").decode(), hbm, *numbers[:2])
        assert (ub, *numbers[2:]) == ((192 << 10) - 256, 2201, 256)
    assert told == TOLD


@pytest.mark.parametrize(("gibibytes", "kind"), [(5, CaseTooLarge), (33, TrialFailure)])
def test_more_workspace_than_a_launch_has_is_no_fault_of_the_code_where_the_chip_has_it(
    tmp_path: Path, gibibytes: int, kind: type[TrialFailure]
) -> None:
    size = f"GetWorkspaceSizes(1)[0] = {gibibytes}ULL << 30"
    host = HOST.replace("GetWorkspaceSizes(1)[0] = 0", size)
    assert host != HOST
    operator = with_host(tmp_path, host)
    workload = load_workload(operator, write(tmp_path))
    build = SimulatorBackend("910B4").build(operator, {}, workload)
    array = np.zeros(64, np.float32)
    with pytest.raises(TrialFailure, match="4 GiB") as refused:
        build.tile(workload.cases[0], [array], [array])
    assert type(refused.value) is kind


@pytest.mark.long
def test_a_chip_of_the_family_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "910B3X.toml").write_text(OWN_CHIP)
    operator = load_operator(OPERATORS / "src" / "math" / "bias_add")
    workload = load_workload(operator, None)
    blocks = {}
    for device in ("910B3", "910B3X"):
        trial = Evaluator(operator, workload, make_backend("sim", device)).evaluate(Candidate(), 0)
        assert trial.outcome is Outcome.OK and trial.measurement, trial
        assert trial.measurement.fingerprint.device == device
        blocks[device] = max(case.pipes.block_dim for case in trial.measurement.cases)
    assert blocks == {"910B3": 40, "910B3X": 46}  # 320 rows over 40 and 48 cores


@pytest.mark.parametrize("marked", [False, True])
def test_values_that_the_definition_does_not_ask_for_are_named_where_the_host_side_needs_them(
    tmp_path: Path, marked: bool
) -> None:
    needs = (
        "volatile float first = context->GetInputTensor(0)->GetData<float>()[0];\n(void)first;\n"
    )
    host = HOST.replace("context->SetBlockDim", f"{needs}    context->SetBlockDim")
    if marked:
        host = host.replace('Input("x")', 'Input("x").ValueDepend(REQUIRED)')
    operator = with_host(tmp_path, host)
    workload = load_workload(operator, write(tmp_path))
    trial = Evaluator(operator, workload, SimulatorBackend("910B4")).evaluate(Candidate(), 0)
    if marked:
        assert trial.outcome is Outcome.OK
    else:
        assert trial.refusal is not None and trial.refusal.place.file == "op_host/double_it.cpp"
        assert "the values of input x, which the definition" in trial.refusal.sentence
