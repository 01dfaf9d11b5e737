"""What is read of an op definition's attributes."""

from __future__ import annotations

import pytest

from ci.source.definition import find_definitions

TEXT = """
class Scale : public OpDef {{
public:
    explicit Scale(const char* name) : OpDef(name)
    {{
        this->Input("x").ParamType(REQUIRED).DataType({{ge::DT_FLOAT}});
        this->Output("y").ParamType(REQUIRED).DataType({{ge::DT_FLOAT}});
        this->Attr("most").AttrType(OPTIONAL).Int({0});
    }}
}};
OP_ADD(Scale);
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3", -3),
        ("INT64_MAX", (1 << 63) - 1),
        ("UINT8_MAX", 255),
        ("INT_MIN", -(1 << 31)),
        ("UINT_MAX", (1 << 32) - 1),
        ("SHRT_MAX", 32767),
        ("std::numeric_limits<int32_t>::max()", (1 << 31) - 1),
        ("std::numeric_limits<uint16_t>::min( )", 0),
    ],
)
def test_a_default_may_be_the_limit_of_a_type(text: str, value: int) -> None:
    (found,) = find_definitions(TEXT.format(text))
    assert found.attrs[0].default == value
