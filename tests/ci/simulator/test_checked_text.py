from __future__ import annotations

import pytest

from ci.simulator.checked_text import cast_texts, checked_texts, computed_texts, host_texts


def _made(statement: str) -> str:
    text = f"void f(uint32_t n, float* p)\n{{\n{statement}\n}}\n"
    lines = computed_texts({"op_kernel/a.h": text})["op_kernel/a.h"].split("\n")
    assert len(lines) == len(text.split("\n"))
    return lines[2].replace("::AscendC::", "").replace("::std::decay_t", "")


@pytest.mark.parametrize(
    ("statement", "made"),
    [
        ("g(a * b);", "g(a * Checked() * b);"),
        ("g(a + b * c);", "g(a + Checked() + b * Checked() * c);"),
        ("uint16_t k = n;", "uint16_t k = Cut<<decltype(k)>>() = n;"),
        ("this->at = n;", "this->at = Cut<<decltype(this->at)>>() = n;"),
        ("at += n;", "at += Grown(at) = n;"),
        ("for (T i = 0; i < n; i++) {}", "for (T i = 0; i < n; counted(i), i++) {}"),
        ("for (; i > 0; i--) {}", "for (; i > 0; counted_down(i), i--) {}"),
        ("while (i < n) { g(); i++; }", "while (i < n) { g(); counted(i), i++; }"),
        ("while (i < n) i++;", "while (i < n) counted(i), i++;"),
        ("do { ++i; } while (i < n);", "do { counted(i), ++i; } while (i < n);"),
        ("while (a < n) { i++; }", "while (a < n) { i++; }"),
        ("g(a - b);", "g(a - Checked() - b);"),
        ("at += 256;", "at += Grown(at) = 256;"),
        ("at -= 256;", "at -= Shrunk(at) = 256;"),
        ("at -= n;", "at -= Shrunk(at) = n;"),
        ("for (; a < n; i++) {}", "for (; a < n; i++) {}"),
        ("at /= n;", "at /= Scaled(at) = n;"),
        ("g(a / b);", "g(a / Checked() / b);"),
        ("g(float(a / b));", "g(float( Cut<float>() = a / Checked() / b));"),
        ("g((float)(a));", "g((float)(a));"),
        (
            "g(static_cast<float>(a / b));",
            "g(static_cast<float>( Cut<float>() = a / Checked() / b));",
        ),
        ("auto l = [] { return n; };", "auto l = [] { return n; };"),
    ],
)
def test_what_may_lose_something_gets_an_object_of_ours(statement: str, made: str) -> None:
    assert _made(statement) == made


@pytest.mark.parametrize(
    "statement",
    [
        "Kind * name;",
        "Kind<int> * name = p;",
        "uint16_t k = 4, m{3};",
        "p = nullptr;",
        "at = {1, 2};",
        'g("a" "b");',
        "// a * b",
        "*p += n;",
        "#define ROW a * b",
        "#if A * B > 3",
        "return;",
    ],
)
def test_what_is_no_number_stays_as_it_is(statement: str) -> None:
    assert _made(statement) == statement


def test_a_value_that_a_function_of_a_narrow_type_returns_is_checked() -> None:
    texts = {"op_kernel/a.h": "uint32_t f(uint64_t n) { return n; }"}
    made = checked_texts(texts)["op_kernel/a.h"]
    assert made == "uint32_t f(uint64_t n) { return ::AscendC::Cut<uint32_t>() = n; }"


def test_casts_alone_are_replaced_where_nothing_else_is_wanted() -> None:
    texts = {"op_kernel/a.h": "void f() { g(a * b, (uint8_t)n); }", "op_host/a.h": "(uint8_t)n"}
    made = cast_texts(texts)
    assert made["op_kernel/a.h"] == "void f() { g(a * b, ::AscendC::Cut<uint8_t>() ->*n); }"
    assert made["op_host/a.h"] == texts["op_host/a.h"]


def test_the_host_side_says_what_keeps_a_number() -> None:
    texts = {
        "op_host/a.cpp": 'void f() { uint32_t n = g(); t->rows = n; k[m["a"]] = n * n;'
        " n += 1; n += n; }",
        "op_kernel/a.cpp": "void f() { n = g(); }",
    }
    made = host_texts(texts)
    assert made["op_kernel/a.cpp"] == texts["op_kernel/a.cpp"]
    bare = made["op_host/a.cpp"].replace("::std::decay_t", "").replace(" ::optiling::Cut", " Cut")
    assert bare == (
        'void f() { uint32_t n = Cut<<decltype(n)>>("n") = g();'
        ' t->rows = Cut<<decltype(t->rows)>>("t->rows") = n;'
        ' k[m["a"]] = Cut<<decltype(k[m["a"]])>>("a number") = n * ::optiling::Checked() * n;'
        " n += 1; n += n; }"
    )


def _parameters(text: str) -> str:
    made = checked_texts({"op_kernel/a.h": text})["op_kernel/a.h"]
    return made.replace("::AscendC::", "").replace(" [[maybe_unused]]", "")


def test_a_definition_sees_what_it_is_given_and_computes_with_what_it_had() -> None:
    assert _parameters("void f(uint8_t n, const int32_t m) { g(n); }") == (
        "void f(Given<uint8_t> n_given, const Given<int32_t> m_given)"
        " { uint8_t n = n_given;"
        " const int32_t m = m_given; g(n); }"
    )


def test_a_declaration_has_the_types_of_its_definition() -> None:
    assert _parameters("struct K { void f(uint8_t n = 3); };") == (
        "struct K { void f(Given<uint8_t> n = 3); };"
    )


@pytest.mark.parametrize(
    "text",
    [
        "struct K { K(uint8_t n) : n_(n) {} };",
        'extern "C" __global__ __aicore__ void k(uint32_t n) {}',
        "void f(uint8_t& n, uint8_t* m, float x, T t) {}",
    ],
)
def test_constructors_kernels_and_other_parameters_stay(text: str) -> None:
    assert _parameters(text) == text
