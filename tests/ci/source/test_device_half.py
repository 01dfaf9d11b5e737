"""What of a source is compiled for the device, where its program lies around it."""

from __future__ import annotations

from ci.source.device_half import device_half, host_half

AROUND = """#include "torch/extension.h"
#include "parts/launch.h"
constexpr int Twice(int n) { return 2 * n; }
int plain(int n) { return n; }
template <typename T> int host_only(T given) { return plain(given); }
__aicore__ inline int Half(int n) { return helper(n); }
int helper(int n) { return n / 2; }
struct Kept { int n; int Get() { return n; } };
__global__ __vector__ void kernel(GM_ADDR x) { Kept one{Half(4)}; }
extern "C" int launch(void* stream)
{
    constexpr int blocks = 8;
    kernel<<<8, nullptr, stream>>>(nullptr);  // on eight
    return host_only(1);
}
class Executed : public Base {
public:
    Status Execute(Context* context) override { return kernel<<<8>>>(context); }
};
TORCH_LIBRARY_FRAGMENT(ours, m)
{
    m.def("launch");
}
"""


def test_functions_that_no_device_code_names_are_left_out() -> None:
    half = device_half(AROUND)
    assert len(half) == len(AROUND), "places stay"
    assert half.count("\n") == AROUND.count("\n"), "lines stay"
    for gone in (
        "plain",
        "host_only",
        "int launch",
        "template",
        "TORCH_LIBRARY",
        "Executed",
        "};\nTORCH",
        'extern "C"',
        "<<<",
    ):
        assert gone not in half, gone
    for kept in ("Twice", "Half", "int helper(int n) { return n / 2; }", "Get()", "void kernel"):
        assert kept in half, kept


def test_a_source_of_the_device_alone_stays_as_it_is() -> None:
    text = "template <class T> __aicore__ inline T One() { return T(1); }\n"
    assert device_half(text) == text


def test_the_hosts_half_is_what_is_not_marked_for_the_device() -> None:
    half = host_half(AROUND + "class Kernel {\n    __aicore__ void Run() { Half(4); }\n};\n")
    assert half.startswith(AROUND[: AROUND.index("__aicore__")]), "places stay"
    for gone in ("Half(", "kernel(GM_ADDR", "class Kernel", "Run()"):
        assert gone not in half, gone
    for kept in ("int launch(void* stream)", "int helper(int n) { return n / 2; }", "Twice"):
        assert kept in half, kept
    assert host_half("int main() { return 0; }") == "int main() { return 0; }"
