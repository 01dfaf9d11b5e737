"""Programs that call an operator are run, whatever they look like, and harm nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.derive.example_run import Call, calls_of
from ci.derive.program import Program
from tests.ci.system.levels import needs_hidden_files

pytestmark = pytest.mark.every_level

HEAD = """
#include "acl/acl.h"
#include "aclnnop/aclnn_scaled_sum.h"
#include <numeric>
#include <vector>

template <typename T>
aclTensor* filled(std::vector<int64_t> lengths, const std::vector<T>& from, aclDataType dtype) {
    int64_t count = 1;
    for (int64_t length : lengths) count *= length;
    void* at = nullptr;
    aclrtMalloc(&at, count * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST);
    size_t bytes = from.size() * sizeof(T);
    aclrtMemcpy(at, count * sizeof(T), from.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    std::vector<int64_t> strides(lengths.size(), 1);
    return aclCreateTensor(lengths.data(), lengths.size(), dtype, strides.data(), 0, ACL_FORMAT_ND,
                           lengths.data(), lengths.size(), at);
}
"""
MAIN = """
int main() {
    aclInit(nullptr);
    aclrtStream stream = nullptr;
    if (aclrtCreateStream(&stream) != ACL_SUCCESS) return 1;
    std::vector<int64_t> ends(3);
    std::iota(ends.begin(), ends.end(), 1);
    for (auto& end : ends) end *= 8;
    std::vector<aclTensor*> parts;
    for (int64_t rows : ends) parts.push_back(filled<float>({rows, 4}, {0.5f, -1.f}, ACL_FLOAT));
    auto* list = aclCreateTensorList(parts.data(), parts.size());
    auto* sizes = filled<int64_t>({3}, ends, ACL_INT64);
    std::vector<int64_t> axes{-1, 0};
    float alpha = 0.25f;
    char layout[] = "BSH";
    uint64_t workspace = 7;
    aclOpExecutor* next = nullptr;
    auto ret = aclnnScaledSumGetWorkspaceSize(
        list, nullptr, sizes, aclCreateIntArray(axes.data(), axes.size()),
        aclCreateScalar(&alpha, ACL_FLOAT), layout, true, 1.5, (int64_t)axes.size(), &workspace,
        &next);
    if (ret != ACL_SUCCESS || workspace != 0 || next == nullptr) return 1;
    ret = aclnnScaledSum(nullptr, workspace, next, stream);
    return aclrtSynchronizeStream(stream);
}
"""

PROTO = """
#include "graph/operator_reg.h"
namespace ge {
REG_OP(ScaledSum)
    .INPUT(x, TensorType({DT_FLOAT, DT_BF16}))
    .OPTIONAL_INPUT(mask, TensorType({DT_BOOL}))
    .DYNAMIC_INPUT(parts, TensorType({DT_FLOAT}))
    .INPUT(sizes, "T1")
    .OUTPUT(y, TensorType({DT_FLOAT}))
    .ATTR(axes, ListInt, {0, -1})
    .REQUIRED_ATTR(mode, String)
    .ATTR(scale, Float, 1.0)
    .ATTR(keep, Bool, false)
    .DATATYPE(T1, TensorType({DT_INT32, DT_INT64}))
    .OP_END_FACTORY_REG(ScaledSum)
}  // namespace ge
"""
GRAPH = """
#include "ge_api.h"
#include "array_ops.h"
#include "op_graph/scaled_sum_proto.h"
#define FAILED -1
#define SUCCESS 0
using namespace ge;
#define FEED(port, ...) \\
    auto port##Data = op::Data("data_" #port).set_attr_index(0); \\
    TensorDesc port##Desc(ge::Shape(__VA_ARGS__), FORMAT_ND, DT_FLOAT); \\
    port##Desc.SetPlacement(ge::kPlacementHost); \\
    std::vector<float> port##Values(port##Desc.GetShape().GetShapeSize(), 0.5f); \\
    fed.push_back(Tensor(port##Desc, (uint8_t*)port##Values.data(), port##Values.size() * 4)); \\
    port##Data.update_input_desc_x(port##Desc); \\
    graph.AddOp(port##Data); \\
    inputs.push_back(port##Data)

int build(Graph& graph, std::vector<Operator>& inputs, std::vector<Tensor>& fed) {
    auto sum = op::ScaledSum("sum");
    std::vector<int64_t> lengths = {4};
    lengths.insert(lengths.begin(), 3 * 8);
    FEED(parts, {2, 3});
    FEED(x, lengths);
    sum.set_input_x(xData);
    sum.create_dynamic_input_parts(2);
    sum.set_dynamic_input_parts(0, partsData);
    sum.set_dynamic_input_parts(1, xData, "y");
    int32_t two[] = {7, 9};
    Tensor sizes(TensorDesc(Shape({2}), FORMAT_ND, DT_INT32), (uint8_t*)two, 8);
    sum.set_input_sizes(op::Const("sizes").set_attr_value(sizes));
    sum.set_attr_axes({1, 2}).set_attr_mode("mean").set_attr_scale(2);
    sum.SetAttr("keep", true);
    sum.update_output_desc_y(TensorDesc(Shape({24}), FORMAT_ND, DT_BF16));
    graph.AddOp(sum);
    graph.SetInputs(inputs).SetOutputs({sum});
    return SUCCESS;
}

int main() {
    std::map<AscendString, AscendString> options = {{"ge.exec.deviceId", "0"}};
    if (GEInitialize(options) != SUCCESS) return FAILED;
    Graph graph("graph");
    std::vector<Operator> inputs;
    std::vector<Tensor> fed, given;
    build(graph, inputs, fed);
    Session* session = new Session(options);
    if (session->AddGraph(0, graph) != SUCCESS) return FAILED;
    if (session->RunGraph(0, fed, given) != SUCCESS) std::cout << GEGetErrorMsgV2().GetString();
    return GEFinalize();
}
"""


def _calls(folder: Path, text: str) -> list[Call]:
    return calls_of(Program(folder / "main.cpp", folder, [text]))


def test_a_call_has_what_the_program_computes(tmp_path: Path) -> None:
    (call,) = _calls(tmp_path, HEAD + MAIN)
    assert call.name == "aclnnScaledSum"
    parts, none, sizes, axes, alpha, layout, flag, ratio, count, *own = call.arguments
    assert [(one.dtype, one.shape) for one in parts.tensors or () if one] == [
        ("FLOAT", (8, 4)),
        ("FLOAT", (16, 4)),
        ("FLOAT", (24, 4)),
    ]
    assert none.null
    assert sizes.tensor is not None and sizes.tensor.values == (8, 16, 24)
    assert axes.array == (-1, 0)
    assert alpha.scalar is not None and alpha.scalar.values == (0.25,)
    assert (layout.text, flag.number, ratio.number, count.number) == ("BSH", True, 1.5, 2)
    assert len(own) == 2
    assert call.spelled.startswith("list, nullptr, sizes")


def _graph(folder: Path) -> Call:
    (folder / "op_graph").mkdir()
    (folder / "op_graph" / "scaled_sum_proto.h").write_text(PROTO)
    (call,) = _calls(folder, GRAPH)
    return call


def test_an_operator_of_a_graph_has_what_the_graph_gives_to_it(tmp_path: Path) -> None:
    call = _graph(tmp_path)
    assert call.name == "ScaledSum"
    given = {one.name: one for one in call.arguments}
    x, parts, sizes = given["x"].tensor, given["parts"].tensors, given["sizes"].tensor
    assert x and (x.dtype, x.shape, {*x.values}) == ("FLOAT", (24, 4), {0.5})
    assert parts and [one and one.shape for one in parts] == [(2, 3), (24, 4)]
    assert sizes and (sizes.dtype, sizes.values) == ("INT32", (7, 9))
    assert given["mask"].null
    assert given["axes"].array == (1, 2)
    assert given["mode"].text == "mean"
    assert (given["scale"].number, given["keep"].number) == (2.0, True)
    y = given["y"]
    assert y.is_output and y.tensor and (y.tensor.dtype, y.tensor.shape) == ("BF16", (24,))


@pytest.mark.long
def test_many_values_are_told_by_their_range(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
int main() {
    std::vector<int32_t> rows(5000, 3);
    rows[17] = -40;
    rows[18] = 99;
    uint64_t size; aclOpExecutor* next;
    aclnnPickGetWorkspaceSize(filled<int32_t>({5000}, rows, ACL_INT32), &size, &next);
}
"""
    )
    (call,) = _calls(tmp_path, text)
    tensor = call.arguments[0].tensor
    assert tensor is not None and tensor.values == () and tensor.range == (-40, 99)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "line",
    [
        "aclrtSetOpWaitTimeout(30);",
        "HcclComm group = nullptr; (void)group;",
        "int mode = ACL_OF_A_LATER_TOOLKIT; (void)mode;",
    ],
    ids=["function", "type", "number"],
)
def test_what_only_a_toolkit_knows_is_made_up(line: str, tmp_path: Path) -> None:
    text = HEAD + MAIN.replace("aclInit(nullptr);", line)
    assert [call.name for call in _calls(tmp_path, text)] == ["aclnnScaledSum"]


def test_a_number_that_was_made_up_is_not_known(tmp_path: Path) -> None:
    text = HEAD + MAIN.replace("true, 1.5,", "ACL_LATER, ACL_OTHER,").replace("-1, 0", "-1, ACL_X")
    (call,) = _calls(tmp_path, text)
    assert [one.number for one in call.arguments[6:9]] == [None, None, 2]
    assert call.arguments[3].array == (-1, None)
    assert _calls(tmp_path, HEAD + MAIN.replace("{rows, 4}", "{rows, ACL_LATER}")) == []


def test_headers_of_the_program_itself_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "rows.h").write_text("constexpr int64_t ROWS = 24;\n")
    text = HEAD + '#include "rows.h"\n' + MAIN.replace("{rows, 4}", "{ROWS, 4}")
    (call,) = _calls(tmp_path, text)
    assert {one.shape for one in call.arguments[0].tensors or () if one} == {(24, 4)}


@pytest.mark.long
def test_what_was_called_before_a_crash_counts(tmp_path: Path) -> None:
    text = HEAD + MAIN.replace("ret = aclnnScaledSum(", "__builtin_trap(); ret = aclnnScaledSum(")
    assert len(_calls(tmp_path, text)) == 1


@pytest.mark.parametrize(
    "text",
    ["int main() { return 0; }", HEAD + MAIN.replace("return 1;", "return 1"), HEAD],
    ids=["no call", "does not compile", "no main"],
)
def test_a_program_that_cannot_be_run_calls_nothing(text: str, tmp_path: Path) -> None:
    assert _calls(tmp_path, text) == []


@needs_hidden_files
def test_a_program_reads_no_file_that_it_does_not_include(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    for place in (tmp_path / "secret", tmp_path / "own" / "beside"):
        place.write_text("x")
    files = f'{{"{tmp_path}/secret", "{tmp_path}/own/beside", "/etc/passwd"}}'
    reads = f"for (auto file : {files}) if (std::ifstream(file).good()) axes.push_back(9);"
    text = HEAD + MAIN.replace("float alpha", f"{reads} float alpha")
    (call,) = _calls(tmp_path / "own", text)
    assert call.arguments[3].array == (-1, 0)


@needs_hidden_files
def test_no_hidden_file_and_no_link_is_compiled_into_a_program(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "secret.h").write_text("constexpr int64_t ROWS = 24;\n")
    (tmp_path / "own" / ".hidden.h").write_text("constexpr int64_t ROWS = 24;\n")
    (tmp_path / "own" / "link.h").symlink_to(tmp_path / "secret.h")
    for name in (".hidden.h", "link.h", "../secret.h", str(tmp_path / "secret.h")):
        text = HEAD + f'#include "{name}"\n' + MAIN.replace("{rows, 4}", "{ROWS, 4}")
        shapes = [call.arguments[0].tensors for call in _calls(tmp_path / "own", text)]
        assert not any(one and one.shape == (24, 4) for many in shapes for one in many or ()), name


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "include",
    ["x" * 300, "a/" * 90 + "b.h", "stdio.h/b.h", "a\nb"],
    ids=["long", "deep", "file", "two"],
)
def test_no_name_of_a_header_ends_the_derivation(include: str, tmp_path: Path) -> None:
    (tmp_path / "stdio.h").write_text("")
    assert len(_calls(tmp_path, f'#include "{include}"\n{HEAD}{MAIN}')) <= 1


def test_a_text_of_many_launches_is_read_once(tmp_path: Path) -> None:
    many = "void f() { kernel<<<1, nullptr, nullptr>>>(); }\n" * 20_000
    assert _calls(tmp_path, many + "int main( {") == []
