import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ci.host import host_room
from ci.host.host_tiling import HostProgram, TilingAnswer
from ci.host.tiling_layout import TilingField, TilingStruct, declarations
from ci.host.tiling_request import platform_facts
from ci.model.errors import TrialFailure
from ci.model.launch import Tensors
from ci.model.operator import Operator
from ci.model.trial import Outcome
from ci.model.workload import TensorCase, WorkloadCase
from ci.simulator.toolchain import Toolchain
from ci.source.discovery import load_operator
from ci.system.sandbox import Limits
from rules.architectures import load_architecture
from rules.devices import load_device
from tests.ci.small_operator import DEFINITION, TILING, write_operator

pytestmark = pytest.mark.every_level

FACTS = platform_facts(load_device("910B4"))
CHIP = FACTS["soc.definition"]


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain(load_architecture("dav-c220"))


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    host = TILING + DEFINITION.replace(
        "this->AICore().SetTiling(optiling::Tile);",
        "this->SetInferShape(ge::InferShape); this->AICore().SetTiling(optiling::Tile);",
    )
    return load_operator(write_operator(tmp_path_factory.mktemp("operator"), host=host))


@pytest.fixture(scope="module")
def program(toolchain: Toolchain, operator: Operator) -> HostProgram:
    return HostProgram(toolchain.compile_host(operator, operator.texts()))


def build(toolchain: Toolchain, folder: Path, host: str) -> tuple[Operator, HostProgram]:
    operator = load_operator(write_operator(folder, host=host))
    return operator, HostProgram(toolchain.compile_host(operator, operator.texts()))


def make_case(scale: float = 2.0, elements: int = 1000, mask: bool = False) -> WorkloadCase:
    return WorkloadCase(
        name="c",
        inputs=(
            TensorCase(shape=(elements,), dtype="float32"),
            TensorCase(shape=(elements,), dtype="uint8", present=mask),
            (TensorCase(shape=(4,), dtype="float32"), TensorCase(shape=(5,), dtype="float32")),
        ),
        attrs={"scale": scale},
    )


def test_tiling_sees_shapes_attributes_platform_and_absent_inputs(
    program: HostProgram, operator: Operator
) -> None:
    answer = program.tile(operator, make_case(), FACTS)
    assert (answer.block_dim, answer.tiling_key, answer.workspace) == (40, 10, (1024,))
    # Offsets: total 0, scale 4, forgotten 8, part 16 (small 0, list 2), ub 24.
    total, scale, forgotten = struct.unpack_from("<IfB", answer.data)
    small, *numbers = struct.unpack_from("<Bx3h", answer.data, 16)
    (ub,) = struct.unpack_from("<Q", answer.data, 24)
    assert (total, scale, forgotten) == (1000, 2.0, 0)
    assert (small, numbers) == (5, [7, 8, 9])
    assert ub == 192 * 1024 - 256  # the framework keeps 256 bytes
    assert len(answer.data) == 32
    assert program.tile(operator, make_case(mask=True), FACTS).tiling_key == 11
    assert program.tile(operator, make_case(elements=8), FACTS).block_dim == 1


def test_inference_tells_the_output_shape(program: HostProgram, operator: Operator) -> None:
    answer = program.tile(operator, make_case(elements=12), FACTS)
    assert answer.outputs == ((("float32", (12,)),),)


def test_a_tiling_that_fails_is_a_launch_error_with_its_log(
    program: HostProgram, operator: Operator
) -> None:
    with pytest.raises(TrialFailure, match="returned a failure \\(case 'c'\\)") as caught:
        program.tile(operator, make_case(scale=-1), FACTS)
    assert caught.value.outcome is Outcome.LAUNCH_ERROR
    assert "the scale -1 is negative" in caught.value.refusal.evidence


def test_the_described_layout_compiles_to_the_same_offsets(
    program: HostProgram, operator: Operator, tmp_path: Path
) -> None:
    description = program.describe(operator, CHIP)
    used = description.struct_for(10)
    assert used is not None and used.name == "ScaleMaskTilingData"
    assert description.dtypes["input x"] == ("float32", "bfloat16")
    source = declarations(s for _, s in description.tilings)
    checks = "".join(
        f"static_assert(__builtin_offsetof({used.name}, {f.name}) == {f.offset});\n"
        for f in used.fields
    )
    (tmp_path / "unit.cpp").write_text(f"#include <cstdint>\n{source}\n{checks}")
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", "unit.cpp"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize(
    "field",
    [
        TilingField(name="x; system(0)", ctype="int32_t", bytes=4, offset=0),
        TilingField(name="x", ctype="struct {} y; int", bytes=3, offset=0),
        TilingField(name="x", ctype="int8_t", bytes=1, count=1 << 30, offset=0),
    ],
)
def test_a_layout_that_would_inject_source_is_refused(field: TilingField) -> None:
    with pytest.raises(ValueError, match="tiling field"):
        declarations([TilingStruct(name="S", bytes=8, fields=(field,))])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("int* p = nullptr; *p = 1; return 0;", "was killed by SIGSEGV"),
        ("for (;;) { }", "was stopped after|was killed by SIG"),
        ('throw std::runtime_error("odd");', "An exception: odd"),
        ("_exit(0);", "left no usable answer"),
        ("return 0;", "set no block dim"),
        ("context->SetBlockDim(1); return 0;", ""),
    ],
)
def test_hostile_or_broken_tilings_end_as_launch_errors(
    toolchain: Toolchain, tmp_path: Path, body: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_room, "LIMITS", Limits(seconds=2.0, memory_bytes=1 << 30))
    host = (
        '#include "register/op_def_registry.h"\n#include <stdexcept>\n#include <unistd.h>\n'
        "namespace optiling { static ge::graphStatus Tile(gert::TilingContext* context) {"
        + body
        + "} }\n"
        + DEFINITION
    )
    operator, program = build(toolchain, tmp_path, host)
    if not words:
        assert program.tile(operator, make_case(), FACTS).data == b""
        return
    with pytest.raises(TrialFailure, match=words) as caught:
        program.tile(operator, make_case(), FACTS)
    assert caught.value.outcome is Outcome.LAUNCH_ERROR


def test_both_registration_styles_and_value_dependent_inputs(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    host = """
    #include "register/op_impl_registry.h"
    #include "register/op_def_registry.h"
    // The library's tiling, which is not included, has a constant of this name.
    using namespace AscendC;
    namespace { constexpr int BLOCK_CUBE = 100; }
    struct Info { uint32_t cores = 0; };
    static ge::graphStatus Parse(gert::TilingParseContext* context) {
        auto* info = context->GetCompiledInfo<Info>();
        info->cores = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAic();
        return ge::GRAPH_SUCCESS;
    }
    static ge::graphStatus Tile(gert::TilingContext* context) {
        const auto* info = static_cast<const Info*>(context->GetCompileInfo());
        const float* x = context->GetInputTensor(0)->GetData<float>();
        const float* hidden = context->GetDynamicInputTensor(2, 1)->GetData<float>();
        context->SetBlockDim(info->cores);
        context->SetTilingKey(static_cast<uint64_t>(x[2]) + (hidden == nullptr ? BLOCK_CUBE : 0));
        return ge::GRAPH_SUCCESS;
    }
    IMPL_OP_OPTILING(ScaleMask).Tiling(Tile).TilingParse<Info>(Parse)
        .TilingInputsDataDependency({0});
    """ + DEFINITION.replace("this->AICore().SetTiling(optiling::Tile);", "")
    operator, program = build(toolchain, tmp_path, host)
    values: Tensors = [np.array([1, 2, 7], np.float32), None, [np.ones(4, np.float32)] * 2]
    answer = program.tile(operator, make_case(elements=3), FACTS, values, read=("x", "hidden"))
    assert (answer.block_dim, answer.tiling_key) == (20, 107)
    assert program.describe(operator, CHIP).value_inputs == ("x",)


def test_the_librarys_scratch_sizes_and_splits_suit_its_kernels(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    host = (
        """
    #include "register/op_impl_registry.h"
    #include "register/op_def_registry.h"
    #include "tiling/tiling_api.h"
    #include "atvoss/reduce/reduce_tiling.h"
    #include "util/math_util.h"
    #include "util/fp16.h"
    #include "util/bfloat16.h"
    #include "acl/acl_rt.h"
    #include "register/tuning_bank_key_registry.h"
    #include "register/tuning_tiling_registry.h"
    #ifndef __INC_REGISTER_TUNING_TILING_REGISTRY_HEADER__
    #error "A repository's own copy of that header, met by another path, would be read too."
    #endif
    #include <nlohmann/json.hpp>
    BEGIN_TUNING_TILING_DEF(Tuned)
    TUNING_TILING_DATA_FIELD_DEF(uint32_t, cores);
    FieldHandler cores_handler_ = FieldHandler(this, "uint32_t", "cores");
    END_TUNING_TILING_DEF
    static int CHECKED = [] {
        ops::OpAICoreDef core;
        optiling::OpCheckFuncHelper(FUNC_CHECK_SUPPORTED, "ScaleMask", core.GetCheckSupport());
        return 0;
    }();
    namespace optiling {
    BEGIN_TILING_DATA_DEF(ScaleMaskTilingData)
    TILING_DATA_FIELD_DEF_STRUCT(LayerNormTiling, layer);
    TILING_DATA_FIELD_DEF_STRUCT(RmsNormTiling, rms);
    END_TILING_DATA_DEF;
    REGISTER_TILING_DATA_CLASS(ScaleMask, ScaleMaskTilingData)
    static ge::graphStatus Tile(gert::TilingContext* context) {
        ScaleMaskTilingData tiling;
        uint32_t layer = 0, rms = 0, sum = 0, low = 0;
        AscendC::GetLayerNormMaxMinTmpSize(ge::Shape({2, 3, 112, 100}), 2, false, layer, low);
        AscendC::GetLayerNormNDTilingInfo(ge::Shape({2, 3, 112, 100}), layer, 2, false,
                                          tiling.layer);
        const ge::Shape rows({2, 3, 112});
        if (!AscendC::GetRmsNormMaxMinTmpSize(rows, 2, rms, low)) return ge::GRAPH_FAILED;
        if (AscendC::GetRmsNormTilingInfo(rows, rows, rms - 1, 2, tiling.rms)) {
            return ge::GRAPH_FAILED;  // too little space
        }
        AscendC::GetReduceSumMaxMinTmpSize(ge::Shape({4, 70}), ge::DT_FLOAT,
                                           AscendC::ReducePattern::AR, true, false, sum, low);
        const auto chip = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
        uint32_t glu = 0, gelu = 0, silu = 0, sums = 0, least_sums = 0;
        AscendC::GetSwiGLUMaxMinTmpSize(ge::Shape({4, 70}), 4, glu, low, false);
        AscendC::GetGeluMaxMinTmpSize(ge::Shape({4, 70}), 4, gelu, low);
        AscendC::GetSiluTmpSize(ge::Shape({4, 70}), 4, false, silu, low);
        AscendC::GetCumSumMaxMinTmpSize(ge::Shape({4, 70}), 4, false, false, sums, least_sums);
        if (glu != 2 * 280 * 4 || gelu != glu || silu != 280 * 4 || sums != 2 * 128 * 4 ||
            AscendC::GetGeluMaxTmpSize(ge::Shape({4, 70}), 4) != gelu || sums != least_sums ||
            AscendC::GetSortTmpSize(chip, 128, 2) != 1024 ||
            AscendC::GetConcatTmpSize(chip, 128, 2) != 0 ||
            gert::TensorPlacementUtils::IsOnHost(gert::kOnDeviceHbm) ||
            !gert::TensorPlacementUtils::IsOnHost(gert::kFollowing)) {
            return ge::GRAPH_FAILED;
        }
        uint32_t least[3], most[3];
        AscendC::GetWelfordUpdateMaxMinTmpSize(ge::Shape({1, 200}), 2, 4, false, false, most[0],
                                               least[0]);
        AscendC::GetWelfordFinalizeMaxMinTmpSize(ge::Shape({200}), 4, false, most[1], least[1]);
        AscendC::GetNormalizeMaxMinTmpSize(ge::Shape({5, 100}), 2, 2, false, true, false, most[2],
                                           least[2]);
        if (least[0] != 3 * 256 || most[0] != 4 * 3 * 256 || least[1] != 4 * 256 ||
            most[1] != (2 * 64 + 2 * 200) * 4 || least[2] != 4 * 112 * 4 ||
            most[2] != (2 * 112 + 2 * 8 * 112) * 4) {
            return ge::GRAPH_FAILED;
        }
        const ge::Shape batch({5, 2, 48}), image({2, 6, 4, 8}), narrow({8, 15});
        optiling::DeepNormTiling deep;
        AscendC::tiling::GroupNormTiling group;
        optiling::BatchNormTiling lanes;
        AscendC::tiling::LayerNormGradTiling grad;
        AscendC::tiling::PadTiling pad;
        AscendC::tiling::LogSoftMaxTiling logs;
        uint32_t deep_bytes = 0, cast = 0, apart = 0, pad_bytes = 0, logic = 0;
        if (!AscendC::GetDeepNormMaxMinTmpSize(batch, 2, false, false, deep_bytes, low) ||
            !AscendC::GetDeepNormTilingInfo(batch, batch, deep_bytes, 2, false, false, deep) ||
            AscendC::GetDeepNormTilingInfo(batch, batch, deep_bytes - 1, 2, false, false, deep) ||
            !AscendC::GetBatchNormNDTilingInfo(batch, batch, 4096, 4, false, lanes)) {
            return ge::GRAPH_FAILED;
        }
        AscendC::GetGroupNormNDTilingInfo(image, 4096, 4, false, 3, group);
        AscendC::GetLayerNormGradNDTilingInfo(ge::Shape({5, 2, 48, 40}), 4096, 4, false, grad);
        AscendC::PadTilingFunc(narrow, narrow, 4096, 2, pad);
        AscendC::LogSoftMaxTilingFunc(ge::Shape({16, 64}), 4, 65536, logs);
        AscendC::GetPadMaxMinTmpSize(narrow, 2, pad_bytes, low);
        AscendC::GetReduceAllMaxMinTmpSize(narrow, ge::DT_UINT8, AscendC::ReducePattern::AR, true,
                                           false, logic, low);
        AscendC::GetBroadCastMaxMinTmpSize(chip, ge::Shape({300, 1}), ge::Shape({300, 20}), 2,
                                           false, cast, apart);
        if (deep_bytes != 5 * 64 * 4 || deep.get_hLength() != 48 || lanes.get_meanVarSize() != 96 ||
            group.hw != 32 || group.g != 3 || group.d != 2 || grad.originalHLength != 40 ||
            pad.srcWidth != 15 || pad_bytes != 16 * 4 || logs.srcK != 64 || logic != 256 ||
            apart != 16 * 96 || cast != 19 * 16 * 96) {
            return ge::GRAPH_FAILED;
        }
        const nlohmann::json compiled = nlohmann::json::parse("{}");
        std::string form;
        form = compiled["ori_format"];
        const auto names = compiled.at("_vars").begin().value().get<std::vector<std::string>>();
        if (compiled["tiling_type"] == "binary" || !names.empty() ||
            context->GetInputStride(0) || context->GetOutputStride(0) ||
            compiled.type() != nlohmann::json::value_t::object ||
            Ops::Base::ReduceOpCompileInfo().ubSize + Ops::Base::ReduceTilingKey().patternID != 0 ||
            !Ops::Base::IsFloatEqual(0.1f + 0.2f, 0.3f) || Ops::Base::IsFloatEqual(1.0f, 1.1f) ||
            aclsysGetVersionNum("toolkit", nullptr) == ACL_SUCCESS ||
            sizeof(AscendC::tiling::TCubeTiling) % 8 != 0 || AscendC::BLOCK_CUBE != 16 ||
            ge::FORMAT_FRACTAL_NZ_C0_8 != 54) {
            return ge::GRAPH_FAILED;
        }
        gert::Shape reduced;
        const gert::Shape from{4, 5, 6};
        const int64_t axes[] = {-1};
        Ops::Base::ReduceDimsWithKeepDims(&from, axes, 1, &reduced);
        gert::Shape broadcast;
        const gert::Shape column{5, 1};
        Ops::Base::BroadcastShape({&from, &column, &reduced}, &broadcast);
        const Ops::Base::fp16_t half(1.0 / 3);
        const Ops::Base::bfloat16 brain(1.00390625f + 1e-6f);  // just above the middle of two
        const bool right = reduced == gert::Shape{4, 5, 1} && broadcast == from &&
                           half.val == 0x3555 && brain.value == 0x3f81;
        context->SetBlockDim(right ? 1 : 2);
        context->SetTilingKey(layer + sum);
        tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                            context->GetRawTilingData()->GetCapacity());
        context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
        return ge::GRAPH_SUCCESS;
    }
    }  // namespace optiling
    """
        + DEFINITION
    )
    operator, program = build(toolchain, tmp_path, host)
    answer = program.tile(operator, make_case(), FACTS)
    assert answer.block_dim == 1
    assert answer.tiling_key == 5 * 128 * 4 + 512  # five rows in whole repeats; one row of 70
    assert np.frombuffer(answer.data, np.uint32).tolist() == [2, 3, 112, 100, 2, 3, 112, 112]


def test_attentions_tilings_are_classes_with_setters_and_plain_data_alike(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    host = (
        """
    #include "alog_pub.h"
    #include "dlog_pub.h"
    #include "err_msg.h"
    #include "slog.h"
    #include "error_manager/error_manager.h"
    #include "register/op_impl_registry.h"
    #include "register/op_def_registry.h"
    #include "tiling/tiling_api.h"
    struct Shared { SoftMaxTiling soft; TopkTiling top; ConfusionTransposeTiling turn; };
    namespace optiling {
    BEGIN_TILING_DATA_DEF(ScaleMaskTilingData)
    TILING_DATA_FIELD_DEF_STRUCT(SoftMaxTiling, soft);
    END_TILING_DATA_DEF;
    REGISTER_TILING_DATA_CLASS(ScaleMask, ScaleMaskTilingData)
    static ge::graphStatus Tile(gert::TilingContext* context) {
        const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
        ScaleMaskTilingData tiling;
        Shared shared;
        const ge::Shape rows({16, 64});
        AscendC::SoftMaxFlashV2TilingFunc(rows, 4, 4, 6 * (64 * 4 + 288), tiling.soft, true, true);
        AscendC::SoftMaxFlashV2TilingFunc(rows, 4, 4, 8 * (64 * 4 + 288), shared.soft, true);
        AscendC::TopKTilingFunc(platform, 96, 4, 5, 4, true, AscendC::TopKMode::TOPK_NORMAL, true,
                                shared.top);
        AscendC::GetConfusionTransposeTilingInfo(rows, 0, 4, 7, shared.turn);
        uint32_t one = 0, small = 0, low = 0, mask = 0, anti = 0;
        AscendC::GetTopKMaxMinTmpSize(platform, 96, 4, false, true, AscendC::TopKMode::TOPK_NORMAL,
                                      true, 4, one, low);
        AscendC::GetTopKMaxMinTmpSize(platform, 32, 4, false, false,
                                      AscendC::TopKMode::TOPK_NSMALL, false, 4, small, low);
        AscendC::GetSelectWithBytesMaskMaxMinTmpSize(rows, ge::Shape({1}), 4, rows, 1, false, mask,
                                                     low);
        AscendC::GetAscendAntiQuantMaxMinTmpSize(rows, rows, false, ge::DT_INT8, ge::DT_FLOAT16,
                                                 anti, low);
        ::TCubeTiling cube{};
        cube.shareUbSize = 77;
        matmul_tiling::SysTilingTempBufSize sizes;
        MatmulGetTmpBufSizeV2(cube, sizes);
        matmul_tiling::MatmulApiTiling narrow(platform);  // 256 x 256 of 4 bits fit L0B twice
        narrow.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND,
                        matmul_tiling::DataType::DT_INT4);
        narrow.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::NZ,
                        matmul_tiling::DataType::DT_INT4);
        narrow.SetShape(128, 256, 512);
        narrow.SetFixSplit(128, 256, 256);
        optiling::TCubeTiling cut;
        matmul_tiling::MultiCoreMatmulTiling many;
        many.SetDim(40);
        many.SetShape(1024, 640, 256);
        many.SetFixSplit(-1, 160, -1);
        optiling::TCubeTiling share;
        // Kernels write whole base blocks of each core's share.
        const bool whole = many.GetTiling(share) == 0 && share.get_singleCoreN() % 160 == 0 &&
            1024 % share.get_singleCoreM() == 0 && share.get_usedCoreNum() == 32;
        // Of two grids that cost the same they take the one with more rows.
        matmul_tiling::MultiCoreMatmulTiling two;
        two.SetDim(2);
        two.SetShape(512, 512, 128);
        optiling::TCubeTiling square;
        const bool rows_first = two.GetTiling(square) == 0 && square.get_singleCoreM() == 256 &&
            square.get_singleCoreN() == 512;
        const bool right = whole && rows_first && narrow.GetTiling(cut) == 0 &&
            cut.get_baseK() == 256 &&
            shared.soft.splitM == 8 && AscendC::IsBasicBlockInSoftMax(shared.soft) &&
            !AscendC::IsBasicBlockInSoftMax(tiling.soft) && shared.top.kAlignFourBytes == 8 &&
            shared.turn.param1 == 16 && shared.turn.param2 == 64 && one == 2 * 96 * 8 &&
            small == 4 * 32 * (2 * 8 + 4 + 4) &&
            mask > AscendC::GetDropOutMinTmpSize(rows, 4, false) && anti >= low &&
            sizes.ubSize == 77 && sizeof(half) == 2;
        OpLogSub(OP, DLOG_ERROR, "who", "a line of %d words", 5);
        context->SetBlockDim(right ? 1 : 2);
        tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                            context->GetRawTilingData()->GetCapacity());
        context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
        return ge::GRAPH_SUCCESS;
    }
    IMPL_OP_OPTILING(ScaleMask).Tiling(Tile).TilingInputsDataDependency(
        {0}, {gert::TilingPlacement::TILING_ON_HOST, gert::TilingPlacement::TILING_ON_AICPU});
    }  // namespace optiling
    """
        + DEFINITION
    )
    operator, program = build(toolchain, tmp_path, host)
    answer = program.tile(operator, make_case(), FACTS)
    assert answer.block_dim == 1
    data = np.frombuffer(answer.data, np.uint32).tolist()
    assert data[6:9] == [6, 64, 6 * 64] and data[12:] == [2, 4, 4 * 64, 4 * 8]
    assert "a line of 5 words" in "".join(answer.log)


def test_answers_are_plain_values(program: HostProgram, operator: Operator) -> None:
    first = program.tile(operator, make_case(), FACTS)
    assert first == program.tile(operator, make_case(), FACTS)
    assert isinstance(first, TilingAnswer)


def test_what_the_toolkits_closed_library_brings_is_there_or_says_that_it_is_not(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    host = (
        """
    #include "register/op_def_registry.h"
    #include "nlohmann/json.hpp"
    #include "log/log.h"
    namespace optiling {
    struct BatchmatmulCompileParas {}; struct BatchmatmulRunParas {}; class CacheTilingData {};
    bool TilingPrepareForOpCache(gert::TilingContext* context);
    bool GenTiling(const std::string& op, const BatchmatmulCompileParas& compile,
                   BatchmatmulRunParas& run, CacheTilingData& tiling, gert::TilingContext* context);
    static ge::graphStatus Tile(gert::TilingContext* context) {
        nlohmann::json record;
        int rows = 3;
        record["rows"] = rows;
        if (record.find("rows") != record.cend()) record.at("rows").get_to(rows);
        BatchmatmulRunParas run;
        CacheTilingData tiling;
        if (!TilingPrepareForOpCache(context)) return ge::GRAPH_FAILED;
        const std::vector<const gert::Shape*> shapes{&context->GetInputShape(0)->GetStorageShape()};
        if (Ops::Base::ToString(shapes) != "[[1000]]") return ge::GRAPH_FAILED;
        const bool stored = GenTiling("MatMul", BatchmatmulCompileParas(), run, tiling, context);
        return context->SetSimdNumBlocks(stored ? 9 : rows);
    } }
    """
        + DEFINITION
    )
    operator, program = build(toolchain, tmp_path, host)
    answer = program.tile(operator, make_case(), FACTS)
    assert answer.block_dim == 3
    assert "GenTiling is in a closed library" in "".join(answer.log)
