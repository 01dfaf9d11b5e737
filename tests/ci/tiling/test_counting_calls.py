import pytest

from ci.source.cpp_source import below, parse
from ci.tiling.counting_calls import counting_call, counting_functions

TILING = """
template <typename T> static T Rounded(T a, T b) { return b == 0 ? a : (a + b - 1) / b; }
uint32_t Cut::Needed(uint32_t most) {
    uint32_t wanted = Rounded(total_, kBlock);
    if (wanted < most) {
        return std::max<uint32_t>(wanted, 1);
    }
    return most;
}
void Cut::Run() {
    cores_ = Needed(platform_.GetCoreNumAiv());
}
"""


def needed(change: tuple[str, str]) -> bool:
    text = TILING.replace(*change)
    assert text != TILING
    return "Needed" in counting_functions([parse(text)])


def test_a_function_that_answers_a_number_counts() -> None:
    assert counting_functions([parse(TILING)]) == {"Rounded", "Needed"}


@pytest.mark.parametrize(
    "change",
    [
        ("    return most;", "    share_ = total_ / most;\n    return most;"),
        ("    return most;", "    share_++;\n    return most;"),
        ("    return most;", "    data_.set_share(total_ / most);\n    return most;"),
        ("    return most;", "    Fill(&share_);\n    return most;"),
        ("    return most;", "    uint32_t& kept = share_;\n    kept = 1;\n    return most;"),
        ("uint32_t most)", "uint32_t& most)"),
        ("Rounded(T a, T b) { return", "Rounded(T a, T b) { asked_ = 1; return"),
        ("Rounded(total_", "Unknown(total_"),
    ],
)
def test_a_function_that_stores_elsewhere_does_not_count(change: tuple[str, str]) -> None:
    assert not needed(change)


def test_a_function_may_say_what_it_counts() -> None:
    assert needed(("    if (wanted", '    OP_LOGD(name_, "wanted %u", wanted);\n    if (wanted'))


def test_a_function_may_change_its_own_variables() -> None:
    assert needed(("    if (wanted", "    wanted += 1;\n    if (wanted"))


def test_a_name_with_two_bodies_counts_where_both_do() -> None:
    other = "uint32_t Other::Needed(uint32_t most) { kept_ = most; return most; }"
    assert "Needed" not in counting_functions([parse(TILING), parse(other)])


def test_functions_that_call_each_other_count() -> None:
    text = "int F(int n) { return n > 1 ? G(n - 1) : 1; } int G(int n) { return F(n); }"
    assert counting_functions([parse(text)]) == {"F", "G"}


def test_the_statement_that_stores_the_answer_is_found() -> None:
    source = parse(TILING)
    asked = next(
        node
        for node in below(source.root, "call_expression")
        if source.code(node) == "platform_.GetCoreNumAiv()"
    )
    assert counting_call(source, asked, {"Other"}) is None
    found = counting_call(source, asked, {"Needed"})
    assert found is not None
    assert found[0] == "cores_"
    assert source.code(found[1]) == "cores_=Needed(platform_.GetCoreNumAiv());"
