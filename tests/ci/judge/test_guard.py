"""The guard refuses by tokens, tells where, and leaves the operator's own oddities alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.judge.guard import guard
from ci.model.operator import Operator
from ci.model.trial import Candidate
from ci.testing.scale_shift import HOST, KERNEL, OPERATOR, changed, with_statement
from rules.guards import source_rules


def refusal(candidate: Candidate, operator: Operator = OPERATOR) -> str:
    """The message of the refusal; '' when there is none."""
    found = guard(operator, candidate.files)
    return found.message if found else ""


def with_line(line: str, file: str = KERNEL) -> Candidate:
    """The source with a line added below its includes."""
    lines = OPERATOR.read(file).splitlines(keepends=True)
    at = max(n for n, text in enumerate(lines) if text.startswith("#include")) + 1
    return Candidate(files={file: "".join([*lines[:at], line + "\n", *lines[at:]])})


def odd_operator(folder: Path, head: str) -> Operator:
    """A copy of the fixture operator with `head` added to its kernel, as its author's own."""
    for file in (*OPERATOR.host_sources, *OPERATOR.kernel_sources):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        text = OPERATOR.read(file)
        (folder / file).write_text(head + text if file == KERNEL else text)
    return OPERATOR.model_copy(update={"root": folder, "repository": None})


def test_every_source_unchanged_or_lightly_edited_passes() -> None:
    assert not refusal(Candidate())
    for file in (HOST, KERNEL):
        assert not refusal(Candidate(files={file: OPERATOR.read(file) + "\n// note\n"}))
    assert not refusal(changed("2.0f", "4.0f"))
    assert not refusal(with_statement("#pragma once"))
    assert not refusal(with_statement("[[maybe_unused]] constexpr uint32_t two = 2;"))


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("#include <fstream>", "fstream"),
        ("#include <unistd.h>", "unistd.h"),
        ("#include <sys/socket.h>", "sys/socket.h"),
        ('#include "/etc/passwd"', "/etc/passwd"),
        ('#include "../../../secret.h"', "../../../secret.h"),
        ('#include "../op_host/../../x.h"', "x.h"),
        ("#include SECRET", "SECRET"),
        ("#  include /* x */ <thread>", "thread"),
        ("%:include <thread>", "thread"),
        ("#inc\\\nlude <thread>", "thread"),
        ("#include_next <cstdio>", "include_next"),
        ('#line 1 "op_host/other.cpp"', "line"),
        ("#if __has_include(</etc/shadow>)\n#endif", "__has_include"),
        ("#pragma GCC optimize(\"O3\")", "GCC optimize"),
        ('_Pragma("GCC poison x")', "_Pragma"),
        ("#define private public", "private"),
        ("#define GET_TILING_DATA(a, b)", "GET_TILING_DATA"),
        ("#undef TILING_KEY_IS", "TILING_KEY_IS"),
        ("#define JOIN(a, b) a##b", "##"),
        ("#define CALL(a) a##tem(\"id\")\nvoid f() { CALL(sys); }", "system"),
        ("#define PART(a) a##tem\n#define CALL(a) PART(a)(\"id\")", "##"),
        ("#define PART(a) a##tem\nauto f = PART(PART(s));", "##"),
        ("#include <vector>", "vector"),
        ("__attribute__((noinline)) int f(int x) { return x; }", "noinline"),
        ("inline std::unordered_map<int, int>* m;", "std::unordered_map"),
        ("inline int f() { return sizeof(long double); }", "long double"),
        ("inline int f() { return sizeof(double const long); }", "long double"),
        ("inline int f() { return sizeof(1.5L); }", "1.5L"),
        ("inline int f() { return sizeof(__PRETTY_FUNCTION__); }", "__PRETTY_FUNCTION__"),
        ("#ifdef __GNUC__\n#endif", "__GNUC__"),
        ("#ifdef _GLIBCXX_RELEASE\n#endif", "_GLIBCXX_RELEASE"),
        ("// half \\\nint hidden;", "backslash"),
        ("// L\u0435aky", "U+0435"),
        ("#define JOIN(a, b) a%:%:b", "%:%:"),
        ("static int a<::> = {1};", "<:"),
        ("static int x = __COUNTER__;", "__COUNTER__"),
        ("__attribute__((constructor)) void f() {}", "constructor"),
        ("__attribute__((no_sanitize_coverage)) void f();", "no_sanitize_coverage"),
        ("__attribute__((unused, section(\".x\"))) int a;", "section"),
        ("#define A __attribute__\nA((noreturn)) void f();", "without a list in place"),
        ("#define unused noreturn\n__attribute__((unused)) void f();", "redefines unused"),
        ("#define M(unused) __attribute__((unused))\nM(noreturn) void f();", "redefines unused"),
        ("#define B [\nB B gnu::no_sanitize(\"thread\") ]] void f();", "no_sanitize"),
        ("[[gnu::no_sanitize(\"thread\")]] void f();", "no_sanitize"),
        ("void f() { asm(\"nop\"); }", "asm"),
        ("void f() { __asm__ volatile(\"nop\"); }", "__asm__"),
        ("void f() { as\\\nm(\"nop\"); }", "asm"),
        ("void f() { /* */ system /* */ (\"id\"); }", "system"),
        ("void f() { std::system(\"id\"); }", "system"),
        ("auto f = &execve;", "execve"),
        ("void f() { syscall(1); }", "syscall"),
        ("void f() { ptrace(0); }", "ptrace"),
        ("void f() { mmap(0, 1, 2, 3, 4, 5); }", "mmap"),
        ("void f() { dlopen(0, 1); }", "dlopen"),
        ("void f() { kill(1, 9); }", "kill"),
        ("void f() { signal(11, 0); }", "signal"),
        ("void f() { open(\"/etc/passwd\", 0); }", "open"),
        ("auto p = environ;", "environ"),
        ("namespace dav { struct Launch; }", "dav"),
        ("using x = ::dav::Launch;", "dav"),
        ("void dav_scalar(unsigned);", "dav_scalar"),
        ("int x = DAV_SITE;", "DAV_SITE"),
        ("int x = ASCENDOPT_TILING_KEY;", "ASCENDOPT_TILING_KEY"),
        ("extern \"C\" void ascendopt_entry(unsigned char**);", "ascendopt_entry"),
        ("extern \"C\" void __tsan_write8(void*);", "__tsan_write8"),
        ("void f() { __builtin_return_address(0); }", "__builtin_return_address"),
        ("void f() { try { } catch (...) { } }", "try"),
        ("static int *p = new int;", "new"),
        ("thread_local int x;", "thread_local"),
        ("static const char *s = R\"(x)\";", "raw string"),
        ("static const char s[] = \"??/\";", "trigraph"),
        ("int caf\u00e9;", "\u00e9"),
        ("int \\u0073ystem;", "\\"),
        ("int a;\u202e int b;", "U+202E"),
        ("int a = rand();", "rand"),
        ("inline int f() { return sizeof(__FILE__) / 64; }", "__FILE__"),
        ("constexpr int a = __cplusplus / 202002;", "__cplusplus"),
        ("inline int f() { return GetSystemCycle() >> 42; }", "GetSystemCycle"),
        ("inline void f(int n) { assert((n = 3) > 0); }", "assert"),
        ("inline void f(int n) { std::printf(\"%d\", n++); }", "printf"),
        ("inline void f(int n) { OP_LOGD(0, \"%d\", n += 2); }", "OP_LOGD"),
        ("auto t = std::chrono::seconds(1);", "chrono"),
    ],
)  # fmt: skip
def test_a_forbidden_line_is_refused_by_name(line: str, word: str) -> None:
    assert word in refusal(with_line(line))


def test_the_evidence_has_file_line_and_rule() -> None:
    found = guard(OPERATOR, with_line("void f() { fork(); }").files)
    assert found
    assert (found.place.file, found.place.line, found.evidence) == (KERNEL, 3, "process_call")


@pytest.mark.parametrize(
    "line",
    [
        "#pragma unroll",
        "#pragma unroll(4)",
        "#define MEMBER(name) name##Gm_\ninline int f(int xGm_) { return MEMBER(x); }",
        "// \u4f7f\u7528UB\u7f13\u5b58, 10 \u03bcs",
        "inline long f(double x) { return long(x); }",
        "inline long f(long n) { return n * 10L; }",
        "constexpr uint32_t vector = 1, map = 2;",
        "enum class NpuArch { DAV_2201, DAV_RESV }; constexpr int DAV_3510_TYPES = 4;",
        "inline void f(LocalTensor<float> x, int n) { Log(x, x[n++], 8); }",
    ],
)
def test_a_line_that_says_what_it_does_passes(line: str) -> None:
    assert not refusal(with_line(line))


@pytest.mark.parametrize(
    "line",
    [
        'inline void f(int n) { printf("%d", n == 3); }',
        "inline void f(int n) { n = 3; assert(n > 0); }",
        "inline void Dump(int n = 3);",
    ],
)
def test_a_call_that_other_builds_leave_out_passes_where_it_changes_nothing(line: str) -> None:
    assert not refusal(with_line(line))


def test_an_include_of_an_own_source_passes_however_it_is_spelled() -> None:
    for spelled in ("scale_shift_tiling.h", "../op_host/scale_shift_tiling.h"):
        assert not refusal(with_line(f'#include "{spelled}"', HOST))
    assert not refusal(with_line('#include "../op_host/scale_shift_tiling.h"'))
    for spelled in ("../op_host/other.h", "../op_host/../scale_shift_tiling.h"):
        assert spelled in refusal(with_line(f'#include "{spelled}"'))


def test_a_spliced_line_keeps_its_number() -> None:
    found = guard(
        OPERATOR, with_line("/* a \\\nstill a comment */\nvoid f() { fo\\\nrk(); }").files
    )
    assert found
    assert found.place.line in (5, 6)


def test_comments_and_strings_say_nothing() -> None:
    assert not refusal(with_line('// fork(); asm("x") \n/* system("id") */'))
    assert not refusal(with_line('static const char *name = "fork() // \\" asm";'))


def test_a_comment_that_only_looks_closed_hides_nothing() -> None:
    assert "fork" in refusal(with_line('static const char *s = "/*"; void f() { fork(); } /* */'))
    assert "fork" in refusal(with_line("static char c = '\"'; void f() { fork(); } // \""))


def test_methods_and_names_that_merely_sound_alike_pass() -> None:
    passing = "struct Forked { void Read(); }; inline void f(Forked& q) { q.Read(); }"
    assert not refusal(with_line(passing))
    assert not refusal(with_line("struct Log { int open; }; inline int g(Log& q) { return 1; }"
                                 .replace("int open; ", "")))  # fmt: skip
    assert not refusal(with_line("struct Q; template <class T> void h(T& q) { q.open(); }"))


@pytest.mark.parametrize("call", ["ValueDepend(OPTIONAL)", "InitValue(0)"])
def test_a_definition_that_takes_work_off_the_device_is_refused(call: str) -> None:
    text = OPERATOR.read(HOST).replace(".ParamType(REQUIRED)", f".ParamType(REQUIRED).{call}")
    assert call.partition("(")[0] in refusal(Candidate(files={HOST: text}, stage="tiling"))


def test_the_operators_own_oddities_are_allowed_but_not_multiplied(tmp_path: Path) -> None:
    head = '#include <fstream>\n#pragma GCC diagnostic push\nvoid Log() { abort(); getenv("A"); }\n'
    operator = odd_operator(tmp_path, head)
    text = operator.read(KERNEL)
    edited = text.replace("2.0f", "4.0f")
    assert not refusal(Candidate(files={KERNEL: edited}), operator)
    again = edited.replace("    TPipe pipe_;", '    TPipe pipe_; int f() { getenv("B"); }')
    assert "getenv" in refusal(Candidate(files={KERNEL: again}), operator)
    doubled = text + "#pragma GCC diagnostic push\n"
    assert "GCC diagnostic push" in refusal(Candidate(files={KERNEL: doubled}), operator)


def test_repeating_an_original_line_counts_as_adding(tmp_path: Path) -> None:
    line = 'void Log() { getenv("A"); }\n'
    operator = odd_operator(tmp_path, line)
    repeated = operator.read(KERNEL).replace("2.0f", "4.0f") + "namespace n {\n" + line + "}\n"
    assert "getenv" in refusal(Candidate(files={KERNEL: repeated}), operator)


@pytest.mark.parametrize(
    "path",
    [
        "op_kernel/new.cpp",
        "../other/op_kernel/x.cpp",
        "/etc/cron.d/x",
        "CMakeLists.txt",
        "op_host/",
    ],
)
def test_only_the_operators_own_sources_may_change(path: str) -> None:
    assert path in refusal(Candidate(files={path: "int x;"}))


def test_absurd_sizes_and_broken_text_are_refused() -> None:
    text = OPERATOR.read(KERNEL)
    assert "bytes long" in refusal(Candidate(files={KERNEL: text + "int x;\n" * 200_000}))
    assert "line of" in refusal(Candidate(files={KERNEL: text + "// " + "x" * 5000 + "\n"}))
    assert "invisible" in refusal(Candidate(files={KERNEL: text + "\x00"}))
    assert "Unicode" in refusal(Candidate(files={KERNEL: text + "\udcff"}))


def test_every_rule_has_what_its_kind_needs() -> None:
    rules = source_rules()
    assert len({r.id for r in rules}) == len(rules)
    for rule in rules:
        assert bool(rule.patterns) != bool(rule.allow), rule.id
        assert "{name}" in rule.message
