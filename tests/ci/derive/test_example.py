from __future__ import annotations

from ci.derive.example import ToldTensor, read_example, read_tests

PROGRAM = """
int main() {
    std::vector<int64_t> inputXShape = {8, 2048};
    int64_t width = 2;
    std::vector<int64_t> outShape{8, width * 2};
    std::vector<float> xHost = {1.0f, -2.5};
    float epsilon = 1e-5;
    int64_t dim = -1;
    std::vector<int64_t> paddingData = {1, 2, 3};
    ret = CreateAclTensor(xHost, inputXShape, &xAddr, aclDataType::ACL_FLOAT16, &x);
    ret = CreateAclTensor(outHost, outShape, &outAddr, ACL_BF16, &out);
    ret = CreateAclTensor(gone, missingShape, &outAddr, ACL_FLOAT, &out);
}
"""


def test_tensors_come_in_the_order_of_their_creation() -> None:
    assert read_example(PROGRAM).tensors == (
        ToldTensor("inputXShape", (8, 2048), "float16", (1.0, -2.5)),
        ToldTensor("outShape", (8, 4), "bfloat16"),
    )


def test_plain_values_and_lists_are_kept_by_lowered_name() -> None:
    values = read_example(PROGRAM).values
    assert values["epsilon"] == "1e-5"
    assert values["dim"] == "-1"
    assert values["paddingdata"] == "1, 2, 3"


def test_a_text_without_tensors_has_none() -> None:
    assert read_example("int main() { return 0; }").tensors == ()


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
