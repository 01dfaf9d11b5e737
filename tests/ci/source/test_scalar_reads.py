"""When a value that the scalar unit read counts as used."""

from __future__ import annotations

import pytest

from ci.source.scalar_reads import used_too_late

KERNEL = """
void Run(LocalTensor<float>& a, uint32_t n)
{{
    for (uint32_t i = 0; i < n; i++) {{
        {read}
        {between}
        Muls(a, a, 2.0f, n);
        {behind}
    }}
}}
"""


def late(read: str, between: str = "", behind: str = "") -> bool:
    """Whether the read on line 5 is used too late for the call on line 7."""
    text = KERNEL.format(read=read, between=between, behind=behind)
    return used_too_late(text, read=5, written=7)


@pytest.mark.parametrize(
    "read",
    [
        "float v = a.GetValue(0);",
        "auto v = static_cast<float>(a.GetValue(i + 1));",
        "v = a.GetValue(0);",
    ],
)
def test_a_value_that_is_only_used_behind_the_call_is_too_late(read: str) -> None:
    assert late(read, behind="y.SetValue(i, v);")
    assert not late(read, between="if (v > 1) { continue; }", behind="y.SetValue(i, v);")
    assert not late(read)


@pytest.mark.parametrize(
    "read",
    ["float v = 1.0f / a.GetValue(0);", "y.SetValue(i, a.GetValue(0));", "if (a.GetValue(0)) n--;"],
)
def test_a_value_that_the_reading_statement_computes_with_is_used(read: str) -> None:
    assert not late(read, behind="y.SetValue(i, v);")


def test_an_operand_of_the_overwriting_call_itself_is_in_time() -> None:
    text = KERNEL.format(read="float v = a.GetValue(0);", between="", behind="y.SetValue(i, v);")
    assert not used_too_late(text.replace("2.0f", "v"), read=5, written=7)


def test_a_call_in_the_next_turn_of_a_loop_comes_after_what_follows_the_read() -> None:
    call, read = "Muls(a, a, 2.0f, n);", "float v = a.GetValue(0);"
    text = KERNEL.format(read=call, between="", behind="n -= v;")
    text = read.join(text.rsplit(call, 1))
    assert not used_too_late(text, read=7, written=5)


def test_other_lines_than_a_read_say_nothing() -> None:
    assert not used_too_late("", read=1, written=2)
    assert not used_too_late("int a;\n", read=9, written=2)
