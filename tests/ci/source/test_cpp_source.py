import re

import pytest

from ci.source.cpp_source import (
    Edit,
    Source,
    below,
    identifiers,
    root_name,
    shadow,
    squeeze,
    walk,
)
from ci.source.cpp_text import split_arguments, without_comments

KERNEL = """// Größe
template <typename T>
class K {
public:
    __aicore__ inline void Run(__gm__ T *x, LocalTensor<T> &y)
    {
        AscendC::Add(y, AscendC::Abs(y), y, this->n); /* Add(z) */
        if ASCEND_IS_AIV {
            q.template AllocTensor<T>();
        }
        for (int i = 0; i < 3; i++) { Muls<T>(y, y, 2, n); }
    }
    int n;
};
extern "C" __global__ __aicore__ void k(GM_ADDR x) {}
void k_do(void *s) { k<<<8, nullptr, s>>>(x); }
"""


@pytest.fixture
def source() -> Source:
    return Source(KERNEL)


def test_the_shadow_keeps_every_index(source: Source) -> None:
    assert len(source.shadow) == len(KERNEL)
    assert source.shadow.count("\n") == KERNEL.count("\n")
    assert source.shadow.isascii()


def test_ascendc_words_and_launches_leave_no_error(source: Source) -> None:
    assert source.errors == 0


@pytest.mark.parametrize("end", [";", ""])
def test_a_checking_macro_hides_nothing_behind_it(end: str) -> None:
    check = f"""    OP_CHECK(n < LEAST || n > MOST,
        Log(c->Name(), "odd"), return false){end}
"""
    text = f"bool Fits(Context *c)\n{{\n{check}{check}    c->set_n(n);\n    return true;\n}}\n"
    source = Source(text * 3)
    assert source.errors == 0
    assert len(source.functions) == 3
    assert [m.name for m in source.methods if m.object == "c"] == ["set_n"] * 3
    assert len(source.shadow) == len(source.text)


def test_strings_are_no_comments() -> None:
    assert shadow('auto a = "http://x"; // y') == 'auto a = "http://x";     '


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a; // b \\\n c\nd;", "a;\nd;"),
        ('auto x = R"(// no)";', 'auto x = R"(// no)";'),
        ("int n = 1'000; /* it's */ int m = 2'0;", "int n = 1'000;  int m = 2'0;"),
        ("a /* never closed", "a "),
    ],
)
def test_comments_are_told_from_literals(text: str, code: str) -> None:
    plain = without_comments(text)
    assert len(plain) == len(text)
    assert re.sub(r"\s+", "", plain) == re.sub(r"\s+", "", code)


def test_arguments_split_outside_brackets_and_strings() -> None:
    assert split_arguments('a, f(b, c), {d, e}, "x,y"') == ["a", "f(b, c)", "{d, e}", '"x,y"']
    assert split_arguments("i * n + f(a + b) + 1", "+") == ["i * n", "f(a + b)", "1"]
    assert split_arguments(" ") == []


def test_functions_and_methods_are_found(source: Source) -> None:
    assert [f.name for f in source.functions] == ["Run", "k", "k_do"]


def test_calls_have_names_without_namespace_and_arguments_with_it(source: Source) -> None:
    add = source.calls[0]
    assert add.name == "Add"
    assert add.arguments == ("y", "AscendC::Abs(y)", "y", "this->n")
    assert source.of(add.node).startswith("AscendC::Add")
    assert "Add(z)" not in [source.of(c.node) for c in source.calls]


def test_template_arguments_of_a_call_are_kept_apart(source: Source) -> None:
    muls = next(c for c in source.calls if c.name == "Muls")
    assert muls.template == "<T>"


def test_methods_have_object_name_and_template(source: Source) -> None:
    (method,) = source.methods
    assert (method.object, method.name, method.template) == ("q", "AllocTensor", "<T>")


def test_edits_are_made_by_index_whatever_their_order(source: Source) -> None:
    add = source.calls[0]
    new = source.apply([Edit(0, 0, "#pragma\n"), Edit(add.start, add.start + 3, "Sub")])
    assert new == "#pragma\n" + KERNEL.replace("AscendC::Add(y", "AscendC::Sub(y")


def test_overlapping_edits_are_refused(source: Source) -> None:
    with pytest.raises(ValueError, match="overlap"):
        source.apply([Edit(0, 5, ""), Edit(3, 8, "")])


def test_removing_a_statement_takes_its_line_only_when_it_is_alone_on_it() -> None:
    text = "void f() {\n    A(); B();\n    C();\n}\n"
    source = Source(text)
    b, c = source.calls[1].statement, source.calls[2].statement
    assert b is not None
    assert c is not None
    assert source.apply([source.removal(b.start_byte, b.end_byte)]).splitlines()[1] == "    A(); "
    gone = source.apply([source.removal(c.start_byte, c.end_byte)])
    assert gone == "void f() {\n    A(); B();\n}\n"


def test_a_broken_file_is_still_read() -> None:
    source = Source("void f() { Add(a, b, c, n); }\nclass {{{ ;\n")
    assert source.errors > 0
    assert source.calls[0].name == "Add"


def test_helpers_see_through_spelling() -> None:
    assert squeeze("a  +\n b ( c )") == "a+b(c)"
    assert root_name("this->x[i * n].ReinterpretCast<half>()") == "x"
    assert identifiers("a->b[c1]") == {"a", "b", "c1"}


def test_nodes_of_some_kinds_are_those_that_a_walk_meets_in_its_order() -> None:
    source = Source("void f() { g(a)(b); { if (h(g(1))) return g(2) + broken(; } }\nint k = g(3);")
    kinds = ("call_expression", "compound_statement", "return_statement")
    for top in (source.root, source.functions[0].body):
        met = [node for node in walk(top) if node.type in kinds]
        assert below(top, *kinds) == met
        assert len(met) > 5
    assert below(source.root, "lambda_expression") == []


@pytest.mark.parametrize(
    "mark", ["__forceinline__", "__noinline__", "__wide_core__", "__launch_bounds__(64)"]
)
def test_words_of_the_device_compiler_that_nobody_listed_lead_no_parser_astray(mark: str) -> None:
    text = (
        f"struct Shape {{\n    {mark} [aicore]\n    constexpr Index const &at(int i) const"
        f" {{ return shape[i]; }}\n    template <> {mark}\n"
        "    void operator()<AscendC::AIC>(Params const &p) { run(p); }\n};\n"
        "void last() { const char* said = __func__; }\n"
    )
    source = Source(text)
    assert source.errors == 0
    assert "__func__" in source.shadow and source.functions[-1].plain == "last"
