"""The namespaces around a kernel's entry, whatever marks the functions beside it."""

import pytest

from ci.source.launched.entry import qualified

MARKS = ("__forceinline__ [aicore]", "__aicore__ inline", "WIDE_DEVICE", "__wide__")
CLASS = """
namespace Wide::Product {
template <class Block>
class Product {
public:
    struct Params {
        Shape shape;
        @
        Params(Shape const &shape_) : shape(shape_) {}
    };
    @
    Product() {}
    template <int32_t CORE = g_coreType>
    @
    void operator()(Params const &params);
    template <>
    @
    void operator()<AscendC::AIC>(Params const &params) {
        for (uint32_t i = AscendC::GetBlockIdx(); i < loops; i += AscendC::GetBlockNum()) {
            run(params.shape[i]);
        }
    }
};
}  // namespace Wide::Product {
"""
ENTRY = 'extern "C" __global__ __aicore__ void wide(GM_ADDR x) { use(x); }\n'


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    ("around", "name"),
    [
        ("%s", "wide"),
        ("namespace {\n%s}\n", "wide"),
        ("namespace A {\nnamespace B::C {\n%s}\n}\n", "A::B::C::wide"),
        ("namespace A = Wide;\n%s", "wide"),
    ],
)
def test_an_entry_has_the_namespaces_that_are_open_where_it_stands(
    mark: str, around: str, name: str
) -> None:
    assert qualified(CLASS.replace("@", mark) + around % ENTRY, "wide") == name


def test_a_call_of_the_entry_in_another_namespace_is_not_taken_for_it() -> None:
    text = "namespace A {\ninline void other() { wide(0); }\n}\n" + ENTRY
    assert qualified(text, "wide") == "wide"
