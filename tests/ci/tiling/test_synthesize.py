from pathlib import Path

import pytest

from ci.model.trial import Candidate, Outcome, Trial
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator
from ci.testing.model_operator import HOST, HOST_FILE, KERNEL_FILE, write
from ci.tiling.synthesize import cut_of, follow, knobs_within, synthesize
from ci.tiling.template import TilingTemplate


@pytest.fixture
def template(tmp_path: Path) -> TilingTemplate:
    return synthesize(write(tmp_path), "910B4")


def test_what_decides_the_tiling_is_inside_the_markers(template: TilingTemplate) -> None:
    lines = template.sources[HOST_FILE].splitlines()
    inside: list[str] = []
    for block in template.blocks:
        inside += lines[block.first_line - 1 : block.last_line]
    text = "\n".join(inside)
    for part in (
        "BUFFER_NUM = 1",
        "GetCoreNumAiv()",
        "ubParts = 4",
        "coreNum = 1;",
        "SetTilingKey",
    ):
        assert part in text
    for part in ("SaveToBuffer", "OP_ADD", "GRAPH_SUCCESS", "#include"):
        assert part not in text


def test_a_tiling_that_another_file_computes_is_found_there(tmp_path: Path) -> None:
    head, body = HOST.split("static ge::graphStatus TilingFunc", 1)
    body, rest = body.split("}  // namespace optiling", 1)
    call = "static ge::graphStatus TilingFunc(gert::TilingContext* c)\n{\n    return Cut(c);\n}\n"
    operator = write(tmp_path, host=f"{head}{call}}}  // namespace optiling{rest}")
    (operator.root / "op_host/cut.h").write_text(
        f"namespace optiling {{\nge::graphStatus Cut{body}}}\n"
    )
    template = synthesize(load_operator(operator.root), "910B4")
    assert set(template.sources) == {"op_host/cut.h"}
    assert any(k.name == "coreNum.work" for k in template.knobs)


def test_a_tiling_that_shared_code_computes_has_its_whole_function_as_a_block(
    tmp_path: Path,
) -> None:
    head, body = HOST.split("{\n    ScaleRowsTilingData tiling;", 1)
    rest = body.split("}\n}  // namespace optiling", 1)[1]
    host = f"{head}{{\n    return SharedCut(context);\n}}\n}}  // namespace optiling{rest}"
    template = synthesize(write(tmp_path, host=host), "910B4")
    (block,) = template.blocks
    lines = host.splitlines()[block.first_line - 1 : block.last_line]
    assert lines == ["    return SharedCut(context);"]


def test_blocks_say_what_they_decide(template: TilingTemplate) -> None:
    decided = {d for block in template.blocks for d in block.decides}
    assert {"block_dim", "tiling_key", "partition", "buffer_number", "alignment"} <= decided


def test_markers_are_no_part_of_what_a_candidate_holds(template: TilingTemplate) -> None:
    assert template.plain() == {HOST_FILE: HOST}
    assert "EVOLVE" not in template.at({"coreNum.work": 8192}).plain()[HOST_FILE]


def test_knobs_are_found_in_the_text(template: TilingTemplate) -> None:
    kinds = {k.name: k.kind for k in template.knobs}
    assert kinds["coreNum.work"] == "core_work"
    assert "coreNum.cap" not in kinds  # a fixed limit would fit the workload's shapes only
    assert kinds["ubSize.share"] == "ub_share"
    assert kinds["BUFFER_NUM"] == "constant"
    assert kinds["ubParts"] == "divisor"
    assert "BLOCK_SIZE" not in kinds  # 32 bytes are the hardware's, not a choice


def test_a_limit_that_the_author_wrote_is_a_knob(tmp_path: Path) -> None:
    asked = "auto coreNum = platform.GetCoreNumAiv();"
    limited = asked + "\n    if (coreNum > 20) {\n        coreNum = 20;\n    }"
    template = synthesize(write(tmp_path, host=HOST.replace(asked, limited)), "910B4")
    assert template.values["coreNum.cap"] == 20


def test_a_constant_number_of_cores_is_tried_at_the_devices_counts(tmp_path: Path) -> None:
    asked = "auto coreNum = platform.GetCoreNumAiv();"
    named = "constexpr uint32_t CORE_NUM = 8;\n    auto coreNum = CORE_NUM;"
    template = synthesize(write(tmp_path, host=HOST.replace(asked, named)), "910B4")
    knob = next(k for k in template.knobs if k.name == "CORE_NUM")
    assert knob.decides == "block_dim"
    assert {20, 40, 48} <= set(template.choices(knob))


def test_a_set_knob_is_found_again_with_its_value(tmp_path: Path) -> None:
    operator = write(tmp_path)
    values = {
        "coreNum.work": 1024,
        "coreNum.output": 512,
        "coreNum.root": 4096,
        "ubSize.share": 8,
        "ubSize.work": 4,
        "ubParts": 3,
    }
    changed = synthesize(operator, "910B4").changes(values)
    again = synthesize(operator, "910B4", files=changed)
    assert again.values | values == again.values
    plain = {"coreNum.work": 0, "coreNum.output": 0, "coreNum.root": 0, "ubSize.share": 16}
    assert again.changes(plain | {"ubSize.work": 0, "ubParts": 4}) == {HOST_FILE: HOST}


def test_every_knob_setting_stays_inside_the_markers(template: TilingTemplate) -> None:
    for pick in (0, -1):
        moved = template.at({k.name: template.choices(k)[pick] for k in template.knobs})
        assert template.admits(moved.plain())


def test_a_core_count_kept_in_a_const_is_limited_within_its_expression(tmp_path: Path) -> None:
    asked = "auto coreNum = platform.GetCoreNumAiv();"
    host = HOST.replace(asked, asked.replace("auto coreNum", "const uint32_t cores"))
    host = host.replace("if (coreNum == 0)", "auto coreNum = cores;\n    if (coreNum == 0)")
    operator = write(tmp_path, host=host)
    text = synthesize(operator, "910B4").changes({"cores.root": 4096})[HOST_FILE]
    assert "? platform.GetCoreNumAiv() : [&] {" in text
    assert f"static_cast<int64_t>(paying) * paying * 4096 > {ELEMENTS})" in text
    again = synthesize(operator, "910B4", files={HOST_FILE: text})
    assert again.values["cores.root"] == 4096
    assert again.changes({"cores.root": 0}) == {HOST_FILE: host}


def test_a_limit_by_the_work_that_stands_in_an_expression_stays_one(tmp_path: Path) -> None:
    call = "platform.GetCoreNumAiv()"
    host = HOST.replace(f"auto coreNum = {call};", f"const uint32_t cores = {call};")
    host = host.replace("if (coreNum == 0)", "auto coreNum = cores;\n    if (coreNum == 0)")
    limited = (
        f"context->GetInputShape(0) == nullptr ? {call} : std::min<uint32_t>({call}, {ELEMENTS}"
    )
    text = host.replace(f"cores = {call};", f"cores = {limited} / 4096 + 1);")
    template = synthesize(write(tmp_path, host=text), "910B4")
    assert template.values["cores.work"] == 4096 and "cores.root" not in template.values
    assert template.changes({"cores.work": 0}) == {HOST_FILE: host}


def test_limits_go_by_the_input_with_the_most_elements(tmp_path: Path) -> None:
    operator = write(tmp_path)
    x = operator.inputs[0]
    other = x.model_copy(update={"name": "other"})
    optional = x.model_copy(update={"name": "maybe", "param_type": "optional"})
    two = operator.model_copy(update={"inputs": (x, other, optional, x)})

    def case(*lengths: int) -> WorkloadCase:
        inputs = tuple(TensorCase(shape=(n, 8), dtype="float32") for n in lengths)
        return WorkloadCase(name=f"{lengths}", inputs=inputs)

    workload = Workload(
        operator="X", cases=(case(1, 64, 1, 9), case(1, 128, 1, 9)), folder=tmp_path
    )
    cut = cut_of(two, workload)
    assert (cut.input, cut.elements) == (1, (512, 1024))
    template = synthesize(operator, "910B4", cut=cut)
    text = template.changes({"coreNum.work": 4096})[HOST_FILE]
    assert "GetInputShape(1)" in text
    again = synthesize(operator, "910B4", files={HOST_FILE: text}, cut=cut)
    assert again.values["coreNum.work"] == 4096
    behind = workload.model_copy(update={"cases": (case(1, 2, 1, 1 << 20),)})
    assert cut_of(two, behind).input == 1, "behind an optional input numbers differ"


def test_a_file_that_cannot_be_decoded_is_left_alone(tmp_path: Path) -> None:
    operator = write(tmp_path)
    path = operator.root / HOST_FILE
    path.write_bytes(path.read_bytes().replace(b"how many", b"\xb6\xe0 many"))
    assert synthesize(operator, "910B4").sources == {}


GIVEN = "const auto* shape = context->GetInputShape(0)"
COUNTED = "shape->GetStorageShape().GetShapeSize()"
REMARK = "// At least 512 elements a core: starting one costs time."
ELEMENTS = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
USED = HOST.replace("    if (coreNum == 0)", "    use(coreNum);\n    if (coreNum == 0)")
"""The host side that uses the number of cores at once, so that limits come before."""

CLASS_TILING = """#include "register/op_def_registry.h"
namespace optiling {
constexpr uint32_t MAX_TILE_ROWS = 16;
class Tiling {
public:
    explicit Tiling(gert::TilingContext* context) : context_(context) {}
    void Run() { Split(); Save(); }
private:
    void Split()
    {
        tileRows_ = fit_ < MAX_TILE_ROWS ? fit_ : MAX_TILE_ROWS;
        Log(message_);
    }
    void Save()
    {
        ScaleRowsTilingData tiling;
        tiling.set_tileRows(tileRows_);
        context_->SetBlockDim(cores_);
    }
    gert::TilingContext* context_;
    uint32_t tileRows_;
};
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    Tiling(context).Run();
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
"""


def test_members_that_one_method_sets_and_another_stores_are_inside_the_markers(
    tmp_path: Path,
) -> None:
    definition = HOST[HOST.index("namespace ops") :]
    template = synthesize(write(tmp_path, host=CLASS_TILING + definition), "910B4")
    assert "MAX_TILE_ROWS" in template.values
    changed = template.plain()[HOST_FILE].replace("fit_ < MAX_TILE_ROWS", "fit_ > MAX_TILE_ROWS")
    assert template.admits({HOST_FILE: changed})


def test_a_core_count_inside_a_call_is_limited_in_place(tmp_path: Path) -> None:
    host = HOST.replace(
        "context->SetBlockDim(coreNum)",
        "context->SetBlockDim(std::min<uint64_t>(total, platform.GetCoreNumAiv()))",
    )
    operator = write(tmp_path, host=host)
    text = synthesize(operator, "910B4").changes({"cores.root": 512})[HOST_FILE]
    assert "(total, [&] {" in text and " * paying * 512 > static_cast<int64_t>(total)) {" in text
    again = synthesize(operator, "910B4", files={HOST_FILE: text})
    assert again.values["cores.root"] == 512
    assert again.changes({"cores.root": 0}) == {HOST_FILE: host}


def test_a_core_count_that_is_only_told_is_not_limited(tmp_path: Path) -> None:
    asked = "auto coreNum = platform.GetCoreNumAiv();"
    told = HOST.replace(asked, f'{asked}\n    OP_LOGD("cores %u", platform.GetCoreNumAiv());')
    knobs = synthesize(write(tmp_path, host=told), "910B4").values
    assert "coreNum.root" in knobs and "cores.root" not in knobs


@pytest.mark.parametrize(
    "asked",
    [
        "uint32_t cores = 40;",
        "auto cores = static_cast<uint32_t>(platform.GetCoreNumAiv());",
        "uint32_t cores = compileInfo->totalCoreNum;",
        "auto cores = info == nullptr ? platform.GetCoreNumAiv() : compileInfo->coreNum;",
        "auto cores = platform.GetCoreNumAic();",
    ],
)
def test_a_number_of_cores_is_limited_by_the_work_wherever_it_comes_from(
    tmp_path: Path, asked: str
) -> None:
    named = asked.replace("cores", "coreNum", 1)
    host = USED.replace("auto coreNum = platform.GetCoreNumAiv();", named)
    template = synthesize(write(tmp_path, host=host), "910B4")
    assert template.changes({"coreNum.work": 512})[HOST_FILE] == host.replace(
        named,
        f"{named}\n    {REMARK}\n    if ({GIVEN}) {{"
        f"\n        coreNum = std::min<int64_t>(coreNum, {COUNTED} / 512 + 1);\n    }}",
    )


def test_the_number_of_cores_follows_the_root_of_the_work(tmp_path: Path) -> None:
    asked = "auto coreNum = platform.GetCoreNumAiv();"
    template = synthesize(write(tmp_path, host=USED), "910B4")
    text = template.changes({"coreNum.root": 4096})[HOST_FILE]
    limit = f"coreNum > 1 && static_cast<int64_t>(coreNum) * coreNum * 4096 > {COUNTED}"
    lowered = f"        while ({limit}) {{\n            coreNum -= 1;\n        }}\n    }}"
    assert f"    if ({GIVEN}) {{\n{lowered}" in text.split(asked)[1]


def test_short_rows_count_as_longer_ones_where_the_number_of_cores_follows_them(
    tmp_path: Path,
) -> None:
    operator = write(tmp_path)
    text = synthesize(operator, "910B4").changes({"coreNum.rows": 1024})[HOST_FILE]
    made = "shape->GetStorageShape()"
    assert "if (const auto* shape = context->GetOutputShape(0)) {" in text
    assert f"i < {made}.GetDimNum(); i++) {{" in text
    assert f"rowLength = {made}.GetDim(i);" in text
    size, pays = f"{made}.GetShapeSize()", "static_cast<int64_t>(coreNum) * coreNum * 1024"
    assert f"{pays} > {size} && {pays} * rowLength > {size} * 2048) {{" in text
    (operator.root / HOST_FILE).write_text(text)
    again = synthesize(operator, "910B4")
    assert again.values["coreNum.rows"] == 1024
    assert again.changes({"coreNum.rows": 0}) == {HOST_FILE: HOST}


def test_numbers_that_a_tiling_key_is_added_up_from_are_no_knobs(tmp_path: Path) -> None:
    host = HOST.replace(
        "const uint32_t BUFFER_NUM = 1;",
        "const uint32_t BUFFER_NUM = 1;\nconst uint32_t SPLIT_ROWS = 100;\n"
        "const uint32_t KEY_ROWS = SPLIT_ROWS + 1;\nconst uint32_t TILE_ROWS = 100;",
    )
    host = host.replace("SetTilingKey(1)", "SetTilingKey(KEY_ROWS + SPLIT_ROWS)")
    host = host.replace("ubParts = 4;", "ubParts = 4 * TILE_ROWS;")
    values = synthesize(write(tmp_path, host=host), "910B4").values
    assert "TILE_ROWS" in values
    assert "SPLIT_ROWS" not in values


@pytest.mark.parametrize(
    "use",
    [
        "ubParts = 4 * (context->GetInputShape(0)->GetStorageShape().GetDim(1) / SPLIT_ROWS);",
        "ubParts = 4 * (total % 2 == SPLIT_ROWS ? 1 : 2);",
        "ubParts = 4; switch (total) { case SPLIT_ROWS: ubParts = 2; }",
    ],
    ids=["a dimension is divided by it", "it is compared for equality", "it is a case"],
)
def test_a_number_that_the_work_is_not_cut_by_is_no_knob_whatever_its_name(
    tmp_path: Path, use: str
) -> None:
    given = "const uint32_t BUFFER_NUM = 1;"
    host = HOST.replace(given, f"{given}\nconst uint32_t SPLIT_ROWS = 2;")
    host = host.replace("ubParts = 4;", use)
    values = synthesize(write(tmp_path, host=host), "910B4").values
    assert "BUFFER_NUM" in values
    assert "SPLIT_ROWS" not in values


def test_a_size_that_is_called_a_buffer_is_no_number_of_buffers(tmp_path: Path) -> None:
    given = "const uint32_t BUFFER_NUM = 1;"
    host = HOST.replace(given, f"{given}\nconst uint32_t DOUBLE_BUFFER_SIZE = 65536;")
    host = host.replace("ubParts = 4;", "ubParts = length > DOUBLE_BUFFER_SIZE ? 4 : 2;")
    knobs = {k.name: k for k in synthesize(write(tmp_path, host=host), "910B4").knobs}
    assert knobs["BUFFER_NUM"].values == (1, 2, 3, 4)
    assert knobs["DOUBLE_BUFFER_SIZE"].values == ()


def test_what_is_given_as_the_block_dim_is_a_knob_whatever_its_name(tmp_path: Path) -> None:
    given = "const uint32_t BUFFER_NUM = 1;"
    host = HOST.replace(given, f"{given}\nconst uint32_t BLOCK_DIM = 8;")
    host = host.replace("SetBlockDim(coreNum)", "SetBlockDim(BLOCK_DIM)")
    template = synthesize(write(tmp_path, host=host), "910B4")
    knob = next(k for k in template.knobs if k.name == "BLOCK_DIM")
    assert knob.decides == "block_dim"


def test_the_memory_for_tiles_is_limited_in_proportion_to_the_work(tmp_path: Path) -> None:
    text = synthesize(write(tmp_path), "910B4").changes({"ubSize.work": 8})[HOST_FILE]
    limited = f"ubSize = std::min<int64_t>(ubSize, {COUNTED} * 8 + 16384);"
    assert f"if ({GIVEN}) {{\n        {limited}\n    }}" in text


@pytest.mark.parametrize(
    "counted",
    [
        "uint32_t coreNum = 5;",  # no device has so few, nor half of its cores
        "uint32_t coreNum = compileInfo->ubSize;",
        "uint64_t coreNum = total / platform.GetCoreNumAiv();",
        "uint32_t vectors = 40;",
    ],
)
def test_what_is_no_number_of_cores_is_not_limited(tmp_path: Path, counted: str) -> None:
    host = HOST.replace("auto coreNum = platform.GetCoreNumAiv();", counted)
    values = synthesize(write(tmp_path, host=host), "910B4").values
    assert not any(name.startswith(("coreNum.", "vectors.")) for name in values)


def test_a_method_asks_the_context_that_its_class_keeps(tmp_path: Path) -> None:
    asking = "auto cores = info_->coreNum;\n        tileRows_ = fit_"
    host = CLASS_TILING.replace("tileRows_ = fit_", asking, 1).replace("info_", "compileInfo_")
    definition = HOST[HOST.index("namespace ops") :]
    template = synthesize(write(tmp_path, host=host + definition), "910B4")
    text = template.changes({"cores.work": 512})[HOST_FILE]
    assert "if (const auto* shape = context_->GetInputShape(0)) {" in text
    assert "cores = std::min<int64_t>(cores, shape->" in text


def test_cores_are_limited_by_the_sum_of_all_tensors_where_the_tiling_adds_them_up(
    tmp_path: Path,
) -> None:
    host = """#include "register/op_def_registry.h"
namespace optiling {
ge::graphStatus Cut::Count() {
    for (uint32_t i = 0; i < count_; i++) {
        sizes_[i] = context_->GetDynamicInputShape(0, i)->GetStorageShape().GetShapeSize();
        total_ += sizes_[i];
    }
    return ge::GRAPH_SUCCESS;
}
ge::graphStatus Cut::Run() {
    Share(platform_.GetCoreNumAiv());
    context_->SetBlockDim(cores_);
    return ge::GRAPH_SUCCESS;
}
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
    Cut cut(context);
    return cut.Run();
}
}  // namespace optiling
"""
    host += HOST[HOST.index("namespace ops") :]
    operator = write(tmp_path, host=host)
    text = synthesize(operator, "910B4").changes({"cores.root": 512})[HOST_FILE]
    assert "Share([&] {" in text and "static_cast<int64_t>(paying) * paying * 512 > total_)" in text
    again = synthesize(operator, "910B4", files={HOST_FILE: text})
    assert again.values["cores.root"] == 512
    elsewhere = host.replace("Cut::Count", "Other::Count")
    knobs = synthesize(write(tmp_path, host=elsewhere), "910B4").values
    assert "cores.cap" in knobs and "cores.root" not in knobs


COUNTING = """static uint32_t Needed(uint64_t total, uint32_t most) {
    uint32_t wanted = total / 8;
    if (wanted < most) {
        return wanted;
    }
    return most;
}
static ge::graphStatus TilingFunc("""


@pytest.mark.parametrize(
    "asked",
    [
        "auto coreNum = Needed(total, platform.GetCoreNumAiv());",
        "uint32_t most = platform.GetCoreNumAiv();\n    auto coreNum = Needed(total, most);",
        "auto coreNum = Needed(total, compileInfo->coreNum);",
    ],
)
def test_cores_are_limited_behind_a_function_that_counts_them(tmp_path: Path, asked: str) -> None:
    host = USED.replace("static ge::graphStatus TilingFunc(", COUNTING, 1).replace(
        "auto coreNum = platform.GetCoreNumAiv();", asked
    )
    operator = write(tmp_path, host=host)
    template = synthesize(operator, "910B4")
    text = template.changes({"coreNum.work": 512})[HOST_FILE]
    behind = text.split(asked.splitlines()[-1])[1].split("\n", 3)
    assert behind[1].lstrip().startswith("// At least 512 elements a core")
    assert "coreNum = std::min<int64_t>(coreNum," in "".join(behind[2:])
    assert not any(name.startswith(("most.", "cores.")) for name in template.values)
    again = synthesize(operator, "910B4", files={HOST_FILE: text})
    assert again.values["coreNum.work"] == 512
    assert again.changes({"coreNum.work": 0}) == {HOST_FILE: host}


def test_cores_are_limited_behind_what_holds_them_against_the_work(tmp_path: Path) -> None:
    asked = "auto coreNum = platform.GetCoreNumAiv();"
    bound = "coreNum = (coreNum < total / 8) ? coreNum : total / 8;"
    host = HOST.replace(asked, f"{asked}\n    {bound}")
    operator = write(tmp_path, host=host)
    template = synthesize(operator, "910B4")
    text = template.changes({"coreNum.work": 512, "coreNum.root": 64})[HOST_FILE]
    assert text.index(bound) < text.index("coreNum = std::min<int64_t>(coreNum,")
    again = synthesize(operator, "910B4", files={HOST_FILE: text})
    assert (again.values["coreNum.work"], again.values["coreNum.root"]) == (512, 64)
    assert again.changes({"coreNum.work": 0, "coreNum.root": 0}) == {HOST_FILE: host}


def test_a_limit_that_was_written_before_it_is_found_there(tmp_path: Path) -> None:
    asked = "auto coreNum = platform.GetCoreNumAiv();"
    bound = "coreNum = (coreNum < total / 8) ? coreNum : total / 8;"
    limited = synthesize(write(tmp_path, host=USED), "910B4").changes({"coreNum.work": 512})
    kept = limited[HOST_FILE].replace("    use(coreNum);\n", f"    {bound}\n")
    assert bound in kept and asked in kept
    template = synthesize(write(tmp_path, host=kept), "910B4")
    assert template.values["coreNum.work"] == 512
    assert bound in template.changes({"coreNum.work": 0})[HOST_FILE]


def test_cores_are_limited_before_a_function_that_stores_each_ones_share(tmp_path: Path) -> None:
    asked = "auto coreNum = Needed(total, platform.GetCoreNumAiv());"
    storing = COUNTING.replace("    return most;", "    g_share = total / most;\n    return most;")
    host = HOST.replace("static ge::graphStatus TilingFunc(", storing, 1).replace(
        "auto coreNum = platform.GetCoreNumAiv();", asked
    )
    values = synthesize(write(tmp_path, host=host), "910B4").values
    assert "cores.root" in values and "coreNum.work" not in values


def test_a_sum_limits_the_cores_behind_a_method_that_counts_them(tmp_path: Path) -> None:
    host = """#include "register/op_def_registry.h"
namespace optiling {
ge::graphStatus Cut::Count() {
    for (uint32_t i = 0; i < count_; i++) {
        total_ += context_->GetDynamicInputShape(0, i)->GetStorageShape().GetShapeSize();
    }
    return ge::GRAPH_SUCCESS;
}
uint32_t Cut::Needed(uint32_t most) {
    return std::min<uint64_t>(total_ / 8, most);
}
ge::graphStatus Cut::Run() {
    uint32_t cores = Needed(platform_.GetCoreNumAiv());
    context_->SetBlockDim(cores);
    return ge::GRAPH_SUCCESS;
}
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
    Cut cut(context);
    return cut.Run();
}
}  // namespace optiling
"""
    operator = write(tmp_path, host=host + HOST[HOST.index("namespace ops") :])
    template = synthesize(operator, "910B4")
    assert [name for name in template.values if name.startswith("cores.")] == ["cores.root"]
    text = template.changes({"cores.root": 512})[HOST_FILE]
    assert "static_cast<int64_t>(cores) * cores * 512 > total_) {" in text


def test_a_shape_that_was_asked_for_before_is_not_asked_whether_it_is_there(tmp_path: Path) -> None:
    host = USED.replace("auto coreNum =", f"use({ELEMENTS});\n    auto coreNum =")
    text = synthesize(write(tmp_path, host=host), "910B4").changes({"coreNum.work": 512})[HOST_FILE]
    limited = f"coreNum = std::min<int64_t>(coreNum, {ELEMENTS} / 512 + 1);"
    assert f"    {REMARK}\n    {limited}" in text


def trial(files: dict[str, str], parent: str = "", **knobs: float) -> Trial:
    candidate = Candidate(files=files, parent=parent, stage="tiling", knobs=knobs)
    return Trial(number=0, candidate=candidate, outcome=Outcome.TIMEOUT)


def test_steps_of_knobs_are_followed_without_reading_a_text(tmp_path: Path) -> None:
    operator = write(tmp_path)
    template = synthesize(operator, "910B4")
    one = trial(template.changes({"ubParts": 3}), ubParts=3)
    kernel = trial(one.candidate.files | {KERNEL_FILE: "// changed"}, one.candidate.hash)
    values = {"ubParts": 3, "coreNum.work": 512}
    two = trial(kernel.candidate.files | template.changes(values), kernel.candidate.hash, **values)
    before = knobs_within.cache_info().misses
    at = follow(operator, template, [one, kernel, two])
    assert knobs_within.cache_info().misses == before
    assert at[kernel.candidate.hash].values["ubParts"] == 3
    assert at[two.candidate.hash] == template.at(values)
    assert at[two.candidate.hash].skeleton() == template.skeleton()


def test_a_text_that_was_changed_otherwise_is_read_within_the_blocks(tmp_path: Path) -> None:
    operator = write(tmp_path)
    template = synthesize(operator, "910B4")
    written = trial({HOST_FILE: HOST.replace("ubParts = 4", "ubParts = 2 + 5")})
    outside = trial({HOST_FILE: HOST.replace("OP_ADD", "OP_ADD_2")})
    at = follow(operator, template, [written, outside])
    assert outside.candidate.hash not in at
    read = at[written.candidate.hash]
    assert {"ubParts": 2, "ubParts.1": 5}.items() <= read.values.items()
    assert read.plain() == written.candidate.files
