from __future__ import annotations

from ci.derive.example_facts import ToldTensor
from ci.derive.tiling_tests import read_tests

TESTS = """
TEST_F(ScaleTiling, first) {
    gert::StorageShape x = {{4, 16}, {4, 16}};
    gert::StorageShape gamma = {{16}, {16}};
    auto holder = Faker().InputShapes({&x, nullptr, &gamma})
        .NodeInputTd(0, ge::DT_FLOAT16, ge::FORMAT_ND, ge::FORMAT_ND)
        .NodeInputTd(1, ge::DT_FLOAT, ge::FORMAT_ND, ge::FORMAT_ND)
        .NodeAttrs({{"epsilon", Ops::NN::AnyValue::CreateFrom<float>(0.01)}})
}
// TEST_F(ScaleTiling, second) {
//     gert::TilingContextPara para("Scale", {{{{8, 2}, {8, 2}}, ge::DT_BF16, ge::FORMAT_ND},
//                                            {{{2}, {2}}, ge::DT_FLOAT, ge::FORMAT_ND}});
// }
TEST_F(ScaleTiling, far_too_large) {
    gert::TilingContextPara para("Scale", {{{{4096, 4096}, {4096, 4096}}, ge::DT_BF16,
                                 ge::FORMAT_ND}});
}
"""


def test_a_test_of_a_tiling_tells_tensors_by_the_inputs_they_stand_for_and_its_attributes() -> None:
    first, _ = read_tests(TESTS, ["x", "mask", "gamma"])
    assert first.tensors == (
        ToldTensor("x", (4, 16), "float16"),
        ToldTensor("gamma", (16,), "float32"),
    )
    assert first.values == {"epsilon": "0.01"}


def test_a_file_without_a_test_tells_nothing() -> None:
    assert read_tests("gert::StorageShape x = {{4, 16}, {4, 16}};", ["x"]) == []


def test_a_test_in_comments_counts_and_one_that_nobody_simulates_does_not() -> None:
    _, second = read_tests(TESTS, ["x", "gamma"])
    assert second.tensors == (
        ToldTensor("x", (8, 2), "bfloat16"),
        ToldTensor("gamma", (2,), "float32"),
    )


def test_outputs_follow_the_inputs_as_a_list_of_their_own() -> None:
    text = """
    constexpr int64_t GATES = 3;
    TEST_F(A, b) {
        int64_t B = 8;
        int64_t wide = GATES * B;
        ge::DataType dtype = ge::DT_FLOAT;
        std::vector<TensorDesc> inputs = {
            {{{B, 4}, {B, 4}}, dtype, ge::FORMAT_ND}, {{{wide}, {wide}}, dtype, ge::FORMAT_ND},
        };
        std::vector<TensorDesc> outputs = {
            {{{B + 1, wide}, {B + 1, wide}}, ge::DT_INT32, ge::FORMAT_ND},
        };
    }""".replace("\n    ", "\n")
    (test,) = read_tests(text, ["x", "w", "h"], ["y"])
    assert test.tensors == (
        ToldTensor("x", (8, 4), "float32"),
        ToldTensor("w", (24,), "float32"),
        ToldTensor("y", (9, 24), "int32", is_output=True),
    )


def test_what_a_test_gives_to_a_function_of_its_file_stands_in_its_place() -> None:
    text = """
void Check(int64_t rows, gert::StorageShape& weight, std::initializer_list<int64_t>& bias,
           ge::DataType dtype)
{
    gert::StorageShape x = {{rows, 4 * rows}, {rows, 4 * rows}};
    gert::StorageShape biasShape = {bias, bias};
    string info = R"({"cores": 20})";
    auto holder = gert::Faker().InputShapes({&x, &weight, &biasShape}).OutputShapes({&x})
        .NodeInputTd(0, dtype, ge::FORMAT_ND).NodeOutputTd(0, dtype, ge::FORMAT_ND);
}

TEST_F(A, b)
{
    gert::StorageShape w = {{16, 8}, {16, 8}};
    std::initializer_list<int64_t> b = {8};
    Check(12, w, b, ge::DT_FLOAT16);
}"""
    (test,) = read_tests(text, ["x", "w", "bias"], ["y"])
    assert test.tensors == (
        ToldTensor("x", (12, 48), "float16"),
        ToldTensor("w", (16, 8), ""),
        ToldTensor("bias", (8,), ""),
        ToldTensor("y", (12, 48), "float16", is_output=True),
    )


def test_an_attribute_that_a_test_gives_by_a_name_or_as_a_product_has_its_value() -> None:
    text = """
constexpr int64_t HEAD = 16;
TEST_F(SplitTiling, named) {
    std::vector<int64_t> parts = {2 * HEAD, HEAD, -1};
    const std::string layout = "BSND";
    float scale = -0.5f;
    gert::TilingContextPara para("Split", {{{{8, 4 * HEAD}, {8, 4 * HEAD}}, ge::DT_FLOAT, FORMAT}},
        {{"parts", Ops::AnyValue::CreateFrom<std::vector<int64_t>>(parts)},
         {"layout", Ops::AnyValue::CreateFrom<std::string>(layout)},
         {"scale", Ops::AnyValue::CreateFrom<float>(scale)},
         {"heads", Ops::AnyValue::CreateFrom<int64_t>(2 * HEAD)},
         {"sizes", Ops::AnyValue::CreateFrom<std::vector<int64_t>>({3 * 8, HEAD})}});
}
"""
    (test,) = read_tests(text, ["x"])
    assert test.values == {
        "parts": "32, 16, -1",
        "layout": '"BSND"',
        "scale": "-0.5f",
        "heads": "32",
        "sizes": "24, 16",
    }
