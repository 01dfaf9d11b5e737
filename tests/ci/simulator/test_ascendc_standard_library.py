"""AscendC::Std on the device: the standard library's names, and what the API adds to them."""

from __future__ import annotations

import numpy as np

from tests.ci.simulator.ascendc_harness import AscendCHarness

NAMES = """
    static_assert(Std::is_floating_point_v<half> && Std::is_floating_point_v<const float>);
    static_assert(!Std::is_floating_point_v<bfloat16_t> && Std::is_integral_v<int8_t>);
    static_assert(Std::is_void_v<void> && Std::is_same_v<Std::remove_cvref_t<const int&>, int>);
    static_assert(Std::is_tuple_v<const Std::tuple<int>> && !Std::is_tuple_v<int>);
    static_assert(Std::is_one_of_v<int, half, int> && !Std::is_one_of_v<int, half>);
    static_assert(Std::is_one_of_value_v<int, 2, 1, 2> && !Std::is_one_of_value_v<int, 3, 1, 2>);
    static_assert(Std::tuple_size_v<Std::tuple<int, half>> == 2);
    const auto pair = Std::make_tuple(int32_t(3), 2.5f);
    int32_t whole = 0;
    float part = 0;
    Std::tie(whole, part) = pair;
    const int32_t found[] = {Std::get<0>(pair), int32_t(2 * part), Std::ceil_division(17, 8),
                             Std::ceil_align(17, 8), Std::divide(17, 8), Std::abs(-5),
                             int32_t(Std::sqrt(49.0f)), Std::max(3, 2) * Std::min(3, 2)};
    for (int i = 0; i < 8; ++i) ((__gm__ int32_t*)a[0])[i] = found[i];
"""


def test_the_standard_librarys_names_are_there_and_mean_what_they_do(
    kernels: AscendCHarness,
) -> None:
    wanted = np.array([3, 5, 3, 24, 2, 5, 7, 6], np.int32)
    found = kernels.run(f"using namespace AscendC;{NAMES}", outputs=[wanted])
    assert found.outcome == "ok", found.message
    np.testing.assert_array_equal(found.outputs[0], wanted)
