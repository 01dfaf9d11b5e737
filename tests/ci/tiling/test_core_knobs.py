"""Limits on the cores are written as the file's author would: by the names that are there."""

import pytest

from ci.source.cpp_source import Source
from ci.tiling.core_knobs import find_core_knobs
from ci.tiling.template import Knob

SIZE = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
HOST = """
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    DECLARED
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    BEFORE
    auto coreNum = platform.GetCoreNum();
    AFTER
    context->SetBlockDim(coreNum);
    return ge::GRAPH_SUCCESS;
}
"""


def knobs(declared: str = "", before: str = "", after: str = "", host: str = HOST) -> list[Knob]:
    text = host.replace("DECLARED", declared).replace("BEFORE", before).replace("AFTER", after)
    return find_core_knobs(Source(text), "op_host/one.cpp", (20, 40), 0)


def text_of(found: list[Knob], ending: str) -> str:
    return next(one.form for one in found if one.name.endswith(ending))


@pytest.mark.parametrize("kind", ["int64_t", "const int64_t", "auto"])
def test_a_limit_uses_the_variable_that_holds_the_number_of_elements(kind: str) -> None:
    found = knobs(f"{kind} total = {SIZE};")
    assert "* {value} > total)" in text_of(found, ".root")
    assert "std::min<int64_t>(coreNum, total / {value} + 1);" in text_of(found, ".work")


def test_one_without_a_sign_is_cast_where_it_is_compared_with_a_signed_number() -> None:
    found = knobs(f"uint64_t total = {SIZE};")
    assert "* {value} > static_cast<int64_t>(total))" in text_of(found, ".root")
    assert "total / {value} + 1" in text_of(found, ".work")


@pytest.mark.parametrize(
    ("declared", "after"),
    [
        ("", f"uint64_t total = {SIZE};"),  # comes later
        (f"uint32_t total = {SIZE};", ""),  # is too small for large tensors
        (f"{{ uint64_t total = {SIZE}; }}", ""),  # has gone
        (f"uint64_t total = {SIZE}; total *= 2;", ""),
        (f"uint64_t total = {SIZE}; Align(&total);", ""),
        (f"uint64_t total = {SIZE}; total++;", ""),
        ("uint64_t total = context->GetInputShape(1)->GetStorageShape().GetShapeSize();", ""),
    ],
)
def test_a_variable_that_may_hold_something_else_is_not_used(declared: str, after: str) -> None:
    found = knobs(declared, after=after)
    assert "total" not in text_of(found, ".root") + text_of(found, ".work")


@pytest.mark.parametrize("compared", ["if (total == 0 && total < 8) { return 1; }", "use(total);"])
def test_a_variable_that_is_only_read_is_used(compared: str) -> None:
    assert "> total)" in text_of(knobs(f"int64_t total = {SIZE}; {compared}"), ".root")


@pytest.mark.parametrize("declared", [f"int64_t total = {SIZE};", f"use({SIZE});"])
def test_a_limit_that_is_there_is_found_in_either_spelling(declared: str) -> None:
    """A file may have got the name after the limit."""
    limit = text_of(knobs(declared), ".root").replace("{value}", "4096")
    written = next(
        one for one in knobs(f"int64_t total = {SIZE};", after=limit) if one.name.endswith(".root")
    )
    assert written.written == 4096


def test_a_limit_within_an_expression_uses_the_name_too() -> None:
    host = HOST.replace("SetBlockDim(coreNum)", "SetBlockDim(platform.GetCoreNum())")
    host = host.replace("auto coreNum = platform.GetCoreNum();", "")
    assert "* {value} > total)" in text_of(knobs(f"int64_t total = {SIZE};", host=host), ".root")
