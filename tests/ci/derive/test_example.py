from __future__ import annotations

from ci.derive.example import read_example
from ci.derive.example_facts import ToldTensor

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


DESCRIBED = """
Description describe() {
    const std::vector<int64_t> rows{64, 256};
    std::vector<int64_t> sums = {64};
    aclDataType kind = ACL_FLOAT16;
    Description made;
    made.keep_dims = true;
    made.AddInputTensorDesc(kind, rows.size(), rows.data(), ACL_FORMAT_ND);
    made.AddOutputTensorDesc(ACL_FLOAT, sums.size(), sums.data(), ACL_FORMAT_ND);
    return made;
}
"""


def test_tensors_that_are_described_are_read_with_the_dtype_of_a_variable() -> None:
    found = read_example(DESCRIBED)
    assert found.tensors == (
        ToldTensor("rows", (64, 256), "float16"),
        ToldTensor("sums", (64,), "float32"),
    )
    assert found.values["keep_dims"] == "true"
