"""What an example's folder says: its build, and its text as host and as device code."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.errors import InputError
from lab.examples.source import conditioned, device_text, host_text, load_example

BUILD = """
set(CMAKE_ASC_ARCHITECTURES "dav-2201" CACHE STRING "NPU architecture: dav-2201, dav-3510")
set(WHERE "UB" CACHE STRING "UB or L1")
if(NOT WHERE STREQUAL "UB" AND NOT WHERE STREQUAL "L1")
    message(FATAL_ERROR "WHERE must be UB or L1, but got ${WHERE}")
endif()
add_executable(demo
    copy.asc
)
if(WHERE STREQUAL "UB")
    target_compile_definitions(demo PRIVATE TO_UB=1)
elseif(WHERE STREQUAL "L1")
    target_compile_definitions(demo PRIVATE TO_L1=1 NUMBER=${NUMBER})
else()
    target_compile_definitions(demo PRIVATE NOWHERE=1)
endif()
"""


def folder(tmp_path: Path, build: str) -> Path:
    (tmp_path / "CMakeLists.txt").write_text(build)
    return tmp_path


def test_definitions_are_those_of_the_branches_that_are_taken(tmp_path: Path) -> None:
    place = folder(tmp_path, BUILD)
    assert load_example(place, {}).definitions == ("TO_UB=1",)
    other = load_example(place, {"WHERE": "L1", "NUMBER": "3"})
    assert (other.source, other.definitions) == ("copy.asc", ("TO_L1=1", "NUMBER=3"))


def test_what_the_build_refuses_is_refused_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="WHERE must be UB or L1, but got GM"):
        load_example(folder(tmp_path, BUILD), {"WHERE": "GM"})


def test_an_example_for_other_chips_is_refused(tmp_path: Path) -> None:
    build = BUILD.replace("dav-2201", "dav-3510")
    with pytest.raises(InputError, match="is for other chips"):
        load_example(folder(tmp_path, build), {})


def test_a_launch_becomes_a_call_with_its_blocks_and_arguments() -> None:
    text = "add<A, (B + 1)>\n    <<<cores, 0, stream>>>(x, f(y));\nplain<<<1, nullptr, s>>>();"
    said = host_text(text)
    assert "Launch<(add<A, (B + 1)>)>::with(cores, x, f(y));" in said
    assert "Launch<(plain)>::with(1);" in said


def test_device_code_keeps_what_the_device_runs_and_loses_what_is_the_host_alone() -> None:
    text = """
constexpr int SIZE = 4;
int32_t helper(const std::string& path)
{
    return open(path.c_str());
}
namespace inner {
__aicore__ inline int Twice(int x) { return 2 * x; }
void Print() { std::cout << "{"; }
}
class Kernel {
public:
    __aicore__ inline void Process() { if (true) { Twice(1); } }
};
__global__ __vector__ void run(__gm__ uint8_t* x) { Kernel k; k.Process(); }
#define OPEN {
int main() { run<<<1, 0, s>>>(x); }
"""
    kept = device_text(text)
    for word in ("SIZE = 4", "Twice(int x)", "class Kernel", "k.Process()", "#define OPEN {"):
        assert word in kept
    for word in ("helper", "Print", "main"):
        assert word not in kept
    assert kept.count("\n") == text.count("\n")


def test_of_two_heads_the_one_that_the_build_chooses_is_left() -> None:
    text = '#include "a.h"\n#if N == 0\n__mix__(1, 1)\n#else\n__mix__(1, 2)\n#endif\nvoid f();\n'
    assert conditioned(text, ["N=0"]).split() == ["__mix__(1,", "1)", "void", "f();"]
    assert "__mix__(1, 2)" in conditioned(text, ["N=5"])
