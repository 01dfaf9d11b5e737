"""Programs are put together as their build says, and run with what it gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.derive.example_run import Call, calls_of
from ci.derive.program import program_of

HEADER = """
#pragma once
#include "aclnn/of_the_toolkit.h"
#include <fstream>
#include <vector>
struct Runner {
    explicit Runner(aclTensorDesc* desc);
    bool Run();
    std::vector<int64_t> shape;
    aclTensorDesc* desc;
    void* data = nullptr;
};
bool ReadFile(const char* path, void* to, size_t room);
"""
MAIN = """
#include "runner.h"
int main() {
    int64_t lengths[] = {ROWS, 256};
    aclTensorDesc* desc = aclCreateTensorDesc(ACL_INT32, 2, lengths, ACL_FORMAT_ND);
    Runner runner(desc);
    int32_t first[2] = {7, 9};
    if (!ReadFile(INPUT, first, sizeof first)) return 1;
    aclrtMemcpy(runner.data, 8, first, 8, ACL_MEMCPY_HOST_TO_DEVICE);
    return !runner.Run();
}
"""
RUNNER = """
#include "runner.h"
Runner::Runner(aclTensorDesc* given) : desc(given) {
    for (size_t place = 0; place < aclGetTensorDescNumDims(desc); ++place) {
        int64_t length = 0;
        if (aclGetTensorDescDimV2(desc, place, &length) == ACL_SUCCESS) shape.push_back(length);
    }
    aclrtMalloc(&data, aclGetTensorDescSize(desc), ACL_MEM_MALLOC_HUGE_FIRST);
}
bool Runner::Run() {
    aclTensor* x = aclCreateTensor(shape.data(), shape.size(), aclGetTensorDescType(desc), nullptr,
                                   0, ACL_FORMAT_ND, shape.data(), shape.size(), data);
    uint64_t size = 0;
    aclOpExecutor* next = nullptr;
    return aclnnPickGetWorkspaceSize(x, 3, &size, &next) == ACL_SUCCESS;
}
"""
FILES = """
#include "runner.h"
bool ReadFile(const char* path, void* to, size_t room) {
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode)) return false;
    std::ifstream file(path, std::ios::binary);
    if (found.st_size <= 0 || size_t(found.st_size) > room) return false;
    return bool(file.read((char*)to, found.st_size));
}
"""
BUILD = """
project(pick CXX)
include_directories(../inc ${TOOLKIT}/include)
set(ROWS 3 CACHE STRING "")
add_executable(pick main.cpp runner.cpp files.cpp)
"""


def _calls(top: Path, build: str, main: str = MAIN, **more: str) -> list[Call]:
    """What the program calls, in a repository that is reached by a link."""
    sources = {"main.cpp": main, "runner.cpp": RUNNER, "files.cpp": FILES, **more}
    (top / "real").mkdir(parents=True, exist_ok=True)
    (top / "link").symlink_to("real")
    top /= "link"
    place = top / "call" / "src"
    place.mkdir(parents=True)
    (top / "call" / "inc").mkdir()
    (top / "call" / "inc" / "runner.h").write_text(HEADER)
    for name, text in sources.items():
        (place / name).write_text(text.replace("INPUT", '"../input/x.bin"'))
    (place / "CMakeLists.txt").write_text(build)
    return calls_of(program_of(top, place / "main.cpp", (place / "main.cpp").read_text()))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "given",
    [
        "target_compile_definitions(pick PRIVATE ROWS=${ROWS})",
        "target_compile_options(pick PRIVATE -Wall -DROWS=${ROWS})",
        "target_compile_options(pick PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-DROWS=3>)",
        "add_definitions(-DROWS=3)",
    ],
)
def test_sources_headers_and_macros_are_those_of_the_target(given: str, tmp_path: Path) -> None:
    (call,) = _calls(tmp_path, BUILD + given, **{"unrelated.cpp": "#error not of this program"})
    tensor = call.arguments[0].tensor
    assert tensor is not None and (tensor.dtype, tensor.shape) == ("INT32", (3, 256))


@pytest.mark.long
def test_no_values_are_known_where_a_file_was_not_there(tmp_path: Path) -> None:
    main = MAIN.replace("256}", "2}")
    (call,) = _calls(tmp_path / "a", BUILD + "add_definitions(-DROWS=1)", main)
    tensor = call.arguments[0].tensor
    assert tensor is not None and tensor.shape == (1, 2) and tensor.values == ()
    main = main.replace("if (!ReadFile(INPUT, first, sizeof first)) return 1;", "")
    (call,) = _calls(tmp_path / "b", BUILD + "add_definitions(-DROWS=1)", main)
    tensor = call.arguments[0].tensor
    assert tensor is not None and tensor.values == (7, 9)


def test_a_program_reads_the_data_that_its_script_makes(tmp_path: Path) -> None:
    script = 'import numpy as np\nnp.array([5, 6], np.int32).tofile("../input/x.bin")\n'
    (tmp_path / "real" / "call" / "scripts").mkdir(parents=True)
    (tmp_path / "real" / "call" / "scripts" / "gen.py").write_text(script)
    main = MAIN.replace("256}", "2}")
    (call,) = _calls(tmp_path, BUILD + "add_definitions(-DROWS=1)", main)
    tensor = call.arguments[0].tensor
    assert tensor is not None and tensor.values == (5, 6)


@pytest.mark.few(1)
@pytest.mark.parametrize("path", ["../../../../x.bin", "/var/tmp/ascendopt-absent/x.bin", "input"])
def test_only_data_beside_a_program_is_made_up(path: str, tmp_path: Path) -> None:
    main = MAIN.replace("INPUT", f'"{path}"')
    assert _calls(tmp_path, BUILD + "add_definitions(-DROWS=1)", main) == []
    assert not Path("/var/tmp/ascendopt-absent").exists()


@pytest.mark.long
def test_without_a_build_what_lies_beside_is_linked_or_left_out(tmp_path: Path) -> None:
    main = "#define ROWS 5\n" + MAIN.replace('"runner.h"', '"../inc/runner.h"')
    runner = RUNNER.replace('"runner.h"', '"../inc/runner.h"')
    files = FILES.replace('"runner.h"', '"../inc/runner.h"')
    more = {"runner.cpp": runner, "files.cpp": files, "other.cpp": "int main() {}"}
    (call,) = _calls(tmp_path / "a", "", main, **more)
    tensor = call.arguments[0].tensor
    assert tensor is not None and tensor.shape == (5, 256)
    alone = "int main() { uint64_t s; aclOpExecutor* n; aclnnPickGetWorkspaceSize(1, &s, &n); }"
    (call,) = _calls(tmp_path / "b", "", alone, **{"broken.cpp": "int f( {"})
    assert call.arguments[0].number == 1
