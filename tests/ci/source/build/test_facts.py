"""What a repository's build says, in layouts that no known repository has."""

import json
import os
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.source.build import evaluation
from ci.source.build.facts import read_build
from ci.source.discovery import load_operator
from tests.ci.small_operator import DEFINITION, KERNEL, TILING

TOP = """cmake_minimum_required(VERSION 9.9)
project(strange CXX)
find_package(ASC REQUIRED)
include(toolkit_that_is_not_here)
set(UNIT ascend910b)
toolkit_says_hello("nobody defines this")
function(our_kernel)
  cmake_parse_arguments(K "" "TYPE;AUTO_SYNC" "UNITS;OPTIONS" ${ARGN})
endfunction()
add_library(hosts OBJECT)
target_include_directories(hosts PRIVATE ${CMAKE_SOURCE_DIR}/deep/headers)
if(NOT EXISTS /nowhere/at/all)
  message(FATAL_ERROR "the toolkit is missing")
endif()
foreach(one IN ITEMS works/scale_mask)
  add_subdirectory(${one})
endforeach()
"""


def repository(top: Path, build: str, *, above: str = TOP, host: str = "") -> Path:
    """An operator in `works/`, built by a CMakeLists.txt of its own below one of the repository."""
    root = top / "works" / "scale_mask"
    for side in ("op_host", "op_kernel"):
        (root / side).mkdir(parents=True)
    (top / ".git").mkdir()
    (top / "deep" / "headers").mkdir(parents=True)
    (top / "deep" / "headers" / "by_build.h").write_text("#pragma once\n")
    (root / "op_host" / "scale_mask.cpp").write_text(host + TILING + DEFINITION)
    (root / "op_kernel" / "scale_mask.cpp").write_text(KERNEL)
    (top / "CMakeLists.txt").write_text(above)
    (root / "CMakeLists.txt").write_text(
        "target_sources(hosts PRIVATE op_host/scale_mask.cpp)\n" + build
    )
    return root


def sync(operator: Operator) -> tuple[str, str]:
    return operator.auto_sync_word, operator.auto_sync_said_by


def test_the_targets_of_a_strange_build_say_where_includes_start(tmp_path: Path) -> None:
    operator = load_operator(repository(tmp_path, ""))
    assert tmp_path / "deep" / "headers" in operator.include_folders
    assert operator.tree_folders == ()


def test_what_the_build_does_not_name_is_found_by_the_tree_and_kept_apart(tmp_path: Path) -> None:
    root = repository(tmp_path, "", host='#include "parts/by_tree.h"\n')
    for near, text in (("works/kept/parts", ""), ("far/away/parts", '#include "second.h"\n')):
        (tmp_path / near).mkdir(parents=True)
        (tmp_path / near / "by_tree.h").write_text(text)
    operator = load_operator(root)
    assert operator.tree_folders == (tmp_path / "works" / "kept",), "the nearest one"
    assert not set(operator.tree_folders) & set(operator.include_folders)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        ("our_kernel(TYPE ScaleMask OPTIONS --cce-auto-sync=off)", "off"),
        ("our_kernel(TYPE ScaleMask OPTIONS --cce-auto-sync=on)", "on"),
        ("our_kernel(UNITS ${UNIT} AUTO_SYNC FALSE)", "off"),
        ("our_kernel(UNITS ascend950 AUTO_SYNC FALSE)", "on"),
        ("set(how off)\nour_kernel(OPTIONS --cce-auto-sync=${how})", "off"),
        ("if(UNIT STREQUAL ascend910b)\nour_kernel(AUTO_SYNC off)\nendif()", "off"),
        ("toolkit_kernel_options(ALL OPTIONS --cce-auto-sync=off)", "off"),
        ("if(OTHER_WAY)\nour_kernel(AUTO_SYNC off)\nendif()", "open"),
        ("", "on"),
    ],
)
def test_automatic_synchronisation_is_what_the_evaluated_build_says(
    tmp_path: Path, build: str, expected: str
) -> None:
    word, said_by = sync(load_operator(repository(tmp_path, build)))
    assert word == expected
    silent = not build or "ascend950" in build
    assert said_by.startswith("the toolkit's default" if silent else "works/scale_mask/CMake")


def test_a_call_of_the_top_that_names_the_operator_counts(tmp_path: Path) -> None:
    above = TOP + "our_kernel(TYPE ScaleMask OPTIONS --cce-auto-sync=off)\n"
    word, said_by = sync(load_operator(repository(tmp_path, "", above=above)))
    assert (word, said_by) == ("off", f"CMakeLists.txt:{len(above.splitlines())}")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"auto_sync": False}, "off"),
        ({"auto_sync": True}, "on"),
        ({"auto_sync": {"ascend910b": False, "ascend950": True}}, "off"),
        ({"auto_sync": {"ascend950": False}}, "on"),
        ({"auto_sync": False, "compute_units": ["ascend950"]}, "on"),
        ({"auto_sync": False, "compute_units": ["ascend910b"]}, "off"),
    ],
)
def test_a_list_that_the_builds_scripts_read_decides_for_the_compute_unit(
    tmp_path: Path, entry: dict[str, object], expected: str
) -> None:
    root = repository(tmp_path, "")
    (tmp_path / "tools").mkdir()
    text = json.dumps([{"name": "Other", "auto_sync": False}, {"name": "ScaleMask", **entry}])
    (tmp_path / "tools" / "kernels.json").write_text(text)
    assert sync(load_operator(root))[0] == "on", "nothing reads this file"
    (tmp_path / "tools" / "build.py").write_text("open('kernels.json')")
    assert sync(load_operator(root))[0] == expected


def test_definitions_and_options_of_the_kernel_are_the_builds(tmp_path: Path) -> None:
    build = "our_kernel(TYPE ScaleMask OPTIONS -DARCH=2201 -DFAST -I. -Wall --cce-auto-sync=on)"
    operator = load_operator(repository(tmp_path, build))
    assert operator.definitions == ("ARCH=2201", "FAST")
    assert "-Wall" not in operator.compile_options


def test_an_operator_that_the_configuration_leaves_out_is_read_all_the_same(
    tmp_path: Path,
) -> None:
    above = TOP.replace("ITEMS works/scale_mask", "ITEMS")
    build = "our_kernel(TYPE ScaleMask OPTIONS --cce-auto-sync=off)"
    assert sync(load_operator(repository(tmp_path, build, above=above)))[0] == "off"


def test_where_cmake_cannot_evaluate_the_text_is_read_and_both_words_leave_it_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "cmake_program", lambda: None)
    evaluation.evaluated.cache_clear()
    both = "if(A)\nour_kernel(AUTO_SYNC off)\nelse()\nour_kernel(AUTO_SYNC on)\nendif()"
    word, said_by = sync(load_operator(repository(tmp_path / "both", both)))
    assert word == "open" and "cmake could not evaluate" in said_by
    off = load_operator(repository(tmp_path / "off", "our_kernel(AUTO_SYNC off)"))
    assert sync(off)[0] == "off"


def test_a_build_can_neither_write_beside_nor_start_a_program(tmp_path: Path) -> None:
    build = (
        "file(WRITE ${CMAKE_SOURCE_DIR}/works/planted.txt no)\n"
        f"file(WRITE {tmp_path}/planted.txt no)\n"
        f"execute_process(COMMAND touch {tmp_path}/touched.txt)\n"
        "our_kernel(AUTO_SYNC off)\n"
    )
    operator = load_operator(repository(tmp_path, build))
    assert sync(operator)[0] == "off"
    assert not [*tmp_path.rglob("planted.txt"), *tmp_path.rglob("touched.txt")]


def test_an_include_folder_of_the_kernel_is_met_from_the_top_and_from_beside(
    tmp_path: Path,
) -> None:
    build = "our_kernel(TYPE ScaleMask OPTIONS -I${CMAKE_SOURCE_DIR}/deep -I../kept)"
    root = repository(tmp_path, build)
    (tmp_path / "works" / "kept").mkdir()
    folders = load_operator(root).include_folders
    assert {tmp_path / "deep", tmp_path / "works" / "kept"} <= set(folders)


def test_a_header_of_the_toolkit_is_not_taken_from_the_tree(tmp_path: Path) -> None:
    root = repository(tmp_path, "")
    (tmp_path / "stubs").mkdir()
    (tmp_path / "stubs" / "kernel_operator.h").write_text("#define JOIN(a, b) a##b\n")
    assert load_operator(root).tree_folders == ()


def test_a_build_below_the_top_that_the_tops_does_not_read_is_its_own(tmp_path: Path) -> None:
    root = repository(tmp_path, "our_kernel(TYPE ScaleMask OPTIONS --cce-auto-sync=off)\n")
    tops = "project(serving)\nset(WHERE nowhere)\n"
    works = (
        "project(kernels)\nadd_library(hosts OBJECT)\n"
        "target_include_directories(hosts PRIVATE ${PROJECT_SOURCE_DIR}/parts ${WHERE})\n"
        "add_subdirectory(scale_mask)\n"
    )
    (tmp_path / "works" / "parts").mkdir()
    (tmp_path / "works" / "CMakeLists.txt").write_text(works)
    (tmp_path / "CMakeLists.txt").write_text(tops)
    operator = load_operator(root)
    assert tmp_path / "works" / "parts" in operator.include_folders
    assert sync(operator) == ("off", "works/scale_mask/CMakeLists.txt:2")


def test_a_project_that_the_top_reads_is_a_part_of_its_build(tmp_path: Path) -> None:
    root = repository(tmp_path, "")
    tops = "project(serving)\nset(WHERE ${CMAKE_SOURCE_DIR}/deep)\nadd_subdirectory(works)\n"
    works = (
        "project(kernels)\nadd_library(hosts OBJECT)\n"
        "target_include_directories(hosts PRIVATE ${WHERE})\nadd_subdirectory(scale_mask)\n"
    )
    (tmp_path / "works" / "CMakeLists.txt").write_text(works)
    (tmp_path / "CMakeLists.txt").write_text(tops)
    assert tmp_path / "deep" in load_operator(root).include_folders


def test_each_of_several_builds_counts_for_its_own_operators(tmp_path: Path) -> None:
    roots = []
    for name, word in (("first", "on"), ("second", "off")):
        root = repository(tmp_path / name, "")
        text = f"project({name})\ntoolkit_options(ALL OPTIONS --cce-auto-sync={word})\n"
        (root / "CMakeLists.txt").write_text(text)
        (tmp_path / name / "CMakeLists.txt").unlink()
        (tmp_path / name / ".git").rmdir()
        roots.append(root)
    (tmp_path / ".git").mkdir()
    assert [load_operator(root).auto_sync for root in roots] == [True, False]


CHIPS = "set(UNITS {chips})\nset(PLACES {places})\n"
LISTED = ["ascend310p ascend910b ascend950", "zeta9 Ascend910B omega", '"zeta9;ascend910b;omega"']


def tilings_of(operator: Operator) -> list[str]:
    return [path for path in operator.host_sources if path.endswith("tiling.cpp")]


def with_chip_folders(top: Path, listed: str, ours: str, other: str) -> Operator:
    """The operator whose tiling and kernel lie in folders of two chips."""
    root = repository(top, "", above=listed + TOP)
    for name in (ours, other):
        for side in ("op_host", "op_kernel"):
            (root / side / name).mkdir()
        (root / "op_host" / name / "tiling.cpp").write_text(f"// {name}\n{TILING}")
        (root / "op_kernel" / name / "scale_mask.cpp").write_text(KERNEL)
    (root / "op_host" / "scale_mask.cpp").write_text(DEFINITION)
    (root / "op_kernel" / "scale_mask.cpp").unlink()
    (root / "CMakeLists.txt").unlink()
    return load_operator(root)


@pytest.mark.parametrize("chips", LISTED)
@pytest.mark.parametrize(("ours", "other"), [("v2", "v5"), ("zz", "aa"), ("arch99", "arch11")])
def test_a_builds_lists_pair_chips_and_their_folders(
    tmp_path: Path, chips: str, ours: str, other: str
) -> None:
    listed = CHIPS.format(chips=chips, places=f"old {ours} {other}")
    operator = with_chip_folders(tmp_path, listed, ours, other)
    assert tilings_of(operator) == [f"op_host/{ours}/tiling.cpp"]
    assert operator.kernel_entry == f"op_kernel/{ours}/scale_mask.cpp"


def test_what_stands_in_a_list_with_our_chip_is_a_chip(tmp_path: Path) -> None:
    others = "toolkit_options(ScaleMask zeta9 OPTIONS --cce-auto-sync=off)\n"
    root = repository(tmp_path, others, above="set(MINE zeta9 ascend910b)\n" + TOP)
    assert load_operator(root).auto_sync
    (tmp_path / "CMakeLists.txt").write_text("set(MINE zeta9 ascend310p)\n" + TOP)
    assert not load_operator(root).auto_sync, "a word that no list has next to ours is no chip"


def test_the_folder_that_an_operators_build_takes_is_the_chips(tmp_path: Path) -> None:
    root = repository(tmp_path, "")
    for name in ("arch77", "arch88"):
        (root / "op_host" / name).mkdir()
        (root / "op_host" / name / "tiling.cpp").write_text(TILING)
    (root / "op_host" / "scale_mask.cpp").write_text(DEFINITION)
    taken = "target_sources(hosts PRIVATE op_host/scale_mask.cpp op_host/arch88/tiling.cpp)\n"
    (root / "CMakeLists.txt").write_text(taken)
    assert tilings_of(load_operator(root)) == ["op_host/arch88/tiling.cpp"]


def loose(folder: Path) -> Path:
    """An operator that lies in a folder of nobody's repository."""
    for side, text in (("op_host", TILING + DEFINITION), ("op_kernel", KERNEL)):
        (folder / side).mkdir(parents=True)
        (folder / side / "scale_mask.cpp").write_text(text)
    return folder


def test_without_a_repository_nothing_around_an_operator_is_looked_at(tmp_path: Path) -> None:
    root = loose(tmp_path / "mine" / "scale_mask")
    neighbour = tmp_path / "mine" / "common"
    neighbour.mkdir()
    (neighbour / "stranger.h").write_text("#pragma once\n")
    assert read_build(root, load_operator(root).root).tree.top == root
    source = root / "op_host" / "scale_mask.cpp"
    source.write_text('#include "stranger.h"\n' + source.read_text())
    assert load_operator(root).tree_folders == ()


def test_without_git_the_outermost_build_above_an_operator_is_its_repository(
    tmp_path: Path,
) -> None:
    root = repository(tmp_path, "")
    (tmp_path / ".git").rmdir()
    assert tmp_path / "deep" / "headers" in load_operator(root).include_folders


def test_a_repository_that_is_one_operator_is_built_as_its_build_says(tmp_path: Path) -> None:
    root = loose(tmp_path / "scale_mask")
    (root / ".git").mkdir()
    (root / "CMakeLists.txt").write_text(
        "project(one NONE)\nadd_library(hosts OBJECT)\n"
        "target_sources(hosts PRIVATE op_host/scale_mask.cpp)\nadd_ops_compile_options("
        "ALL OPTIONS --cce-auto-sync=off)\n"
    )
    assert sync(load_operator(root)) == ("off", "CMakeLists.txt:4")


@pytest.mark.parametrize("name", ["list.json", "build.sh", "CMakeLists.txt", "common.h"])
def test_a_pipe_in_a_repository_is_not_waited_for(tmp_path: Path, name: str) -> None:
    root = repository(tmp_path, "")
    # Scripts are read where one may name such a list.
    (tmp_path / "auto.json").write_text('{"Other": {"auto_sync": true}}')
    os.mkfifo(tmp_path / "deep" / name)
    source = root / "op_host" / "scale_mask.cpp"
    source.write_text('#include "deep/common.h"\n' + source.read_text())
    assert load_operator(root).op_type


SAID = """limits: {anything: the bot reads}
build:
  - include: [far/away]
    definitions: [WIDE=1]
  - operators: [works/scale_*]
    options: [-DNARROW]
    auto_sync: false
  - operators: [works/other]
    auto_sync: true
"""


def test_what_no_build_says_is_said_in_the_repository_s_configuration(tmp_path: Path) -> None:
    root = repository(tmp_path, "our_kernel(TYPE ScaleMask OPTIONS --cce-auto-sync=on)")
    (tmp_path / "far" / "away").mkdir(parents=True)
    assert sync(load_operator(root)) == ("on", "works/scale_mask/CMakeLists.txt:2")
    (tmp_path / ".ascendopt.yml").write_text(SAID)
    operator = load_operator(root)
    assert operator.include_folders[0] == tmp_path / "far" / "away"
    assert sync(operator) == ("off", ".ascendopt.yml")
    assert operator.definitions == ("WIDE=1", "NARROW")
    facts = {one.fact: one.said_by for one in operator.build_facts}
    assert facts == {
        "include far/away": ".ascendopt.yml",
        "include deep/headers": "target hosts",
        "option --cce-auto-sync=on": "works/scale_mask/CMakeLists.txt:2",
        "option -DWIDE=1": ".ascendopt.yml",
        "option -DNARROW": ".ascendopt.yml",
        "auto_sync off": ".ascendopt.yml",
    }


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("build:\n  - include: [../other]", r"\.ascendopt\.yml line 2: .*inside the repository"),
        ("build:\n  - definitions: ['A B']", r"must be NAME or NAME=value"),
        ("build:\n  - auto-sync: false", r"auto-sync"),
        ("build: [", r"this is not YAML"),
    ],
)
def test_a_setting_that_is_none_is_refused_with_its_line(
    tmp_path: Path, said: str, why: str
) -> None:
    root = repository(tmp_path, "")
    (tmp_path / ".ascendopt.yml").write_text(said)
    with pytest.raises(InputError, match=why):
        load_operator(root)


def test_headers_of_a_folder_without_a_kernel_are_shared_and_come_before_far_ones(
    tmp_path: Path,
) -> None:
    root = repository(tmp_path, "")
    kernel = root / "op_kernel" / "scale_mask.cpp"
    kernel.write_text('#include "common.h"\n' + kernel.read_text())
    for place in ("works/shared/op_host", "works/shared/op_kernel", "headers/of_python"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "common.h").write_text("#pragma once\n")
    assert load_operator(root).tree_folders == (tmp_path / "works/shared/op_kernel",)


def test_an_include_of_any_ending_is_found_by_the_tree(tmp_path: Path) -> None:
    root = repository(tmp_path, "")
    kernel = root / "op_kernel" / "scale_mask.cpp"
    kernel.write_text('#include "parts/body.cce"\n' + kernel.read_text())
    body = tmp_path / "common" / "parts" / "body.cce"
    body.parent.mkdir(parents=True)
    body.write_text("#pragma once\n")
    assert load_operator(root).tree_folders == (tmp_path / "common",)


def test_a_folder_that_a_link_lends_the_repository_is_none_to_include_from(tmp_path: Path) -> None:
    top = tmp_path / "repository"
    root = repository(top, "")
    (tmp_path / "private").mkdir()
    (top / "far").mkdir()
    (top / "far" / "away").symlink_to(tmp_path / "private")
    (top / ".ascendopt.yml").write_text(SAID)
    assert tmp_path / "private" not in load_operator(root).include_folders


def test_a_pipe_in_place_of_the_configuration_says_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path, "")
    os.mkfifo(tmp_path / ".ascendopt.yml")
    assert load_operator(root).op_type


def test_what_a_preset_sets_is_what_the_build_reads(tmp_path: Path) -> None:
    options = "OPTIONS -DROWS=${ROWS} ${WAITS}"
    root = repository(tmp_path, f"add_ops_compile_options(ScaleMask {options})\n")
    said = {"ROWS": "7", "WAITS": "--cce-auto-sync=off"}
    preset = {"configurePresets": [{"name": "default", "cacheVariables": said}]}
    (tmp_path / "CMakePresets.json").write_text(json.dumps(preset))
    operator = load_operator(root)
    assert "-DROWS=7" in operator.compile_options
    assert sync(operator)[0] == "off"
