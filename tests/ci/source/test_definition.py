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


TENSOR = ".ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND})"
WHOLE = f"""
        this->Input("x"){TENSOR};
        this->Input("z"){TENSOR};
        this->Output("y"){TENSOR};
        this->Attr("alpha").AttrType(OPTIONAL).Float(1.5);
        this->AICore().AddConfig("ascend910b");
"""
CLASS = "class Axpby : public OpDef { explicit Axpby(const char* name) : OpDef(name) { %s } };"
HEAD = "class Axpby : public OpDef { explicit Axpby(const char* name) : OpDef(name) {"
ADDED = "OP_ADD(Axpby);"
FORMS = {
    "loop over a list": (
        HEAD
        + f"""
        static const char* kNames[] = {{"x", "z"}};
        for (auto n : kNames) {{ this->Input(n){TENSOR}; }}
        for (const char* n : {{"y"}}) this->Output(n){TENSOR};
        this->Attr("alpha").AttrType(OPTIONAL).Float(1.5);
        for (const std::string& soc : {{std::string("ascend910b")}}) {{
            this->AICore().AddConfig(soc.c_str(), config);
        }} }} }};"""
        + ADDED,
        "",
    ),
    "loop over pairs": (
        "using Pair = std::pair<const char*, std::vector<ge::DataType>>;\n"
        + HEAD
        + f"""
        for (const auto& [name, types] : std::vector<Pair>{{{{"x", {{ge::DT_FLOAT}}}},
                                                          {{"z", {{ge::DT_FLOAT}}}}}}) {{
            this->Input(name).DataType(types).Format({{ge::FORMAT_ND}});
        }}
        this->Output("y"){TENSOR};
        this->Attr("alpha").AttrType(OPTIONAL).Float(1.5);
        this->AICore().AddConfig("ascend910b"); }} }};"""
        + ADDED,
        "",
    ),
    "constants": (
        'static constexpr const char* NAMES[] = {"x", "z"};\nconst std::string OUT{"y"};\n'
        + CLASS
        % WHOLE.replace('"x"', "NAMES[0]").replace('"z"', "NAMES[1]").replace('"y"', "OUT.c_str()")
        + ADDED,
        "",
    ),
    "helper of the class": (
        HEAD
        + f"""
        Take("x"); Take("z");
        auto give = [this](const char* one) -> void {{ this->Output(one){TENSOR}; }};
        give("y");
        Named("alpha").AttrType(OPTIONAL).Float(1.5);
        this->AICore().AddConfig("ascend910b"); }}
        void Take(const char* one) {{ this->Input(one){TENSOR}; }}
        OpAttrDef& Named(const char* one) {{ return this->Attr(one); }} }};"""
        + ADDED,
        "",
    ),
    "helpers by helpers": (
        "template <typename C> static void One(C& one, const char* name) {"
        f" one.Input(name){TENSOR}; }}\n"
        'static void Both(OpDef& op) { One(op, "x"); One(op, "z"); }\n'
        + HEAD
        + "Both(*this);"
        + WHOLE.split(";", 2)[2]
        + "} };"
        + ADDED,
        "",
    ),
    "helper of a header": (
        HEAD + 'Add(*this, "x"); Add(*this, "z");' + WHOLE.split(";", 2)[2] + "} };" + ADDED,
        f"inline void Add(OpDef& one, const char* name) {{ one.Input(name){TENSOR}; }}",
    ),
    "base in a header": (
        "class Axpby : public Elementwise<1> { explicit Axpby(const char* n) : Elementwise(n) {} };"
        + ADDED,
        "template <int N> class Elementwise : public ::ops::OpDef {"
        f" explicit Elementwise(const char* name) : OpDef(name) {{ {WHOLE} }} }};",
    ),
    "class in a header": ("namespace ops { OP_ADD(ops::Axpby); }", CLASS % WHOLE),
    "constructor outside": (
        "struct Axpby final : OpDef { explicit Axpby(const char* name); };"
        f"Axpby::Axpby(const char* name) : OpDef(name) {{ {WHOLE} }}" + ADDED,
        "",
    ),
    "another name of the base": (
        "using Base = ops::OpDef;"
        + (CLASS % WHOLE).replace(": public OpDef", ": public Base")
        + ADDED,
        "",
    ),
    "without this": (CLASS % WHOLE.replace("this->", "") + ADDED, ""),
    "blanks": (CLASS % WHOLE.replace("->", " -> ").replace('("', ' ( "') + ADDED, ""),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_definition_is_read_in_whatever_form_it_is_written(form: str) -> None:
    (found,) = find_definitions(*FORMS[form])
    assert found.op_type == "Axpby" and not found.open_name
    assert [one.name for one in found.inputs] == ["x", "z"]
    assert [one.name for one in found.outputs] == ["y"]
    assert {one.dtypes for one in (*found.inputs, *found.outputs)} == {("float32",)}
    assert [(one.name, one.default) for one in found.attrs] == [("alpha", 1.5)]
    assert found.socs == ("ascend910b",)


def test_a_name_that_only_running_the_definition_tells_is_said_to_be_open() -> None:
    text = HEAD + f"for (int i = 0; i < 2; ++i) {{ this->Input(named(i)){TENSOR}; }} }} }};" + ADDED
    (found,) = find_definitions(text)
    assert found.open_name.startswith("Input(named")
