import os
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.model.layout import operators
from ci.model.regular_file import MOST_BYTES
from ci.source import placed
from ci.source.discovery import (
    declared_for_others,
    find_operators,
    load_operator,
)
from ci.source.placed import operator_folders
from ci.source.seen_kernels import holds_none
from tests.ci.small_operator import DEFINITION, KERNEL, TILING, write_operator
from tests.places import OPERATORS


def test_reads_the_whole_declaration_from_text(tmp_path: Path) -> None:
    operator = load_operator(write_operator(tmp_path))
    assert (operator.name, operator.op_type) == ("scale_mask", "ScaleMask")
    assert (operator.category, operator.layout) == ("math", "cann-ops")
    assert [t.param_type for t in operator.inputs] == ["required", "optional", "dynamic"]
    assert operator.inputs[0].dtypes == ("float32", "bfloat16")
    assert operator.inputs[1].dtypes == ("uint8", "uint8")
    attrs = {a.name: a for a in operator.attrs}
    assert attrs["scale"].required and attrs["scale"].default is None
    assert attrs["axes"].default == (0, -1)
    assert attrs["mode"].default == "mean"
    assert operator.socs == ("ascend910b",)
    assert operator.tiling_functions == ("Tile",)


def test_ops_math_layout_has_no_src_folder(tmp_path: Path) -> None:
    root = write_operator(tmp_path)
    moved = tmp_path / "math" / "scale_mask"
    moved.parent.mkdir()
    root.rename(moved)
    assert load_operator(moved).layout == "ops-math"


def in_the_ops_nn_layout(
    top: Path, host: str = TILING + DEFINITION, kernel: str = KERNEL, build: str = "op_host"
) -> Path:
    """math/scale_mask, which needs math/math_common; the CMakeLists.txt in `build` says so."""
    root = write_operator(top, host=host, kernel=kernel)
    moved = top / "math" / "scale_mask"
    common = moved.parent / "math_common"
    for folder in (common / "op_host" / "arch22", common / "op_host" / "arch35"):
        folder.mkdir(parents=True)
    (common / "op_kernel").mkdir()
    (top / "common" / "inc").mkdir(parents=True)
    (top / ".git").mkdir()
    root.rename(moved)
    says = "add_modules_sources(OPTYPE scale_mask ACLNNTYPE aclnn DEPENDENCIES math_common)\n"
    (moved / build / "CMakeLists.txt").write_text(says)
    for name in ("shared.cpp", "arch22/tiling.cpp", "arch35/tiling.cpp", "op_def.cpp"):
        (common / "op_host" / name).write_text("int nothing;\n")
    return moved


@pytest.mark.parametrize("build", ["op_host", "."])
def test_what_a_family_keeps_beside_its_operators_belongs_to_their_build(
    tmp_path: Path, build: str
) -> None:
    moved = in_the_ops_nn_layout(tmp_path, build=build)
    common = moved.parent / "math_common"
    (common / "op_host" / "op_def.cpp").unlink()
    operator = load_operator(moved)
    units = [path.relative_to(common).as_posix() for path in operator.shared_host_sources]
    assert units == ["op_host/shared.cpp", "op_host/arch22/tiling.cpp"]
    assert {common / "op_host", common / "op_kernel"} <= set(operator.include_folders)


def test_a_header_that_only_the_family_s_source_includes_is_found_in_the_tree(
    tmp_path: Path,
) -> None:
    moved = in_the_ops_nn_layout(tmp_path)
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    (tmp_path / "lib" / "deep" / "odd.h").write_text("int odd;\n")
    shared = moved.parent / "math_common" / "op_host" / "shared.cpp"
    shared.with_name("op_def.cpp").unlink()
    shared.write_text('#include "deep/odd.h"\n')
    assert load_operator(moved).tree_folders == (tmp_path / "lib",)


def test_another_operator_that_is_needed_tiles_only_for_one_that_has_no_tiling(
    tmp_path: Path,
) -> None:
    moved = in_the_ops_nn_layout(tmp_path, host=DEFINITION)
    (moved / "op_host" / "arch35").mkdir()
    (moved / "op_host" / "arch35" / "scale_mask_tiling.cpp").write_text(TILING)
    (moved / "op_host" / "scale_mask_tiling_helper.cpp").write_text("int helper;")
    names = [path.name for path in load_operator(moved).shared_host_sources]
    assert names == ["shared.cpp", "tiling.cpp"], "it has none for this chip"
    (moved / "op_host" / "scale_mask_tiling.cpp").write_text(TILING)
    assert load_operator(moved).shared_host_sources == ()


def test_a_folder_that_only_holds_what_others_share_is_no_operator(tmp_path: Path) -> None:
    moved = in_the_ops_nn_layout(tmp_path)
    common = moved.parent / "math_common"
    macros = common / "op_host" / "macros.h"
    macros.write_text("#define A_OPDEF(name) class name : public OpDef {}")
    assert operator_folders(tmp_path) == [common, moved]
    assert [holds_none(folder) for folder in (common, moved)] == [True, False]
    for kernel in (moved / "op_kernel").glob("*.cpp"):
        kernel.unlink()
    assert not holds_none(moved), "an operator that lacks its kernel is one all the same"
    assert not declared_for_others(moved)
    host = moved / "op_host" / "scale_mask.cpp"
    host.write_text(host.read_text().replace("ascend910b", "ascend950"))
    assert declared_for_others(moved)


@pytest.mark.parametrize(("value", "expected"), [("on", True), ("off", False)])
def test_automatic_synchronisation_comes_from_cmake(
    tmp_path: Path, value: str, expected: bool
) -> None:
    cmake = f"add_ops_compile_options(OP_NAME ScaleMask OPTIONS --cce-auto-sync={value} -Werror)"
    assert load_operator(write_operator(tmp_path, cmake=cmake)).auto_sync is expected


def test_shared_sources_and_folders_come_from_cmake_but_stay_in_the_repository(
    tmp_path: Path,
) -> None:
    shared = tmp_path / "repo" / "src" / "common" / "src" / "shared_tiling.cpp"
    shared.parent.mkdir(parents=True)
    shared.write_text("int shared;")
    (tmp_path / "outside.cpp").write_text("int outside;")
    (tmp_path / "repo" / ".git").mkdir()
    top = (
        "set(OP_COMMON_DIR ${CMAKE_SOURCE_DIR}/src/common)\nadd_subdirectory(src/math/scale_mask)\n"
    )
    (tmp_path / "repo" / "CMakeLists.txt").write_text(top)
    cmake = (
        "target_sources(optiling PRIVATE ${OP_COMMON_DIR}/src/shared_tiling.cpp"
        " ../../../../outside.cpp)\n"
        "target_include_directories(optiling PRIVATE ${OP_COMMON_DIR}/src ../../../..)"
    )
    operator = load_operator(write_operator(tmp_path / "repo", cmake=cmake))
    assert operator.shared_host_sources == (shared,)
    assert shared.parent in operator.include_folders
    assert tmp_path not in operator.include_folders


def test_the_source_that_implements_an_included_header_of_a_neighbour_is_built_too(
    tmp_path: Path,
) -> None:
    root = write_operator(tmp_path / "repo")
    top = tmp_path / "repo"
    (top / "common" / "inc").mkdir(parents=True)  # this layout includes from its top
    (top / ".git").mkdir()
    other = root.parent / "other" / "op_host"
    other.mkdir(parents=True)
    (other / "parts.h").write_text("int Parts();\n")
    (other / "parts.cpp").write_text('#include "parts.h"\nint Parts() { return 1; }\n')
    (other / "more.cpp").write_text("int more;\n")
    own = root / "op_host" / "own_tiling.h"
    own.write_text('#include "src/math/other/op_host/parts.h"\n')
    assert load_operator(root).shared_host_sources == (other / "parts.cpp",)
    (other / "all.h").write_text('#include "parts.h"\n')
    own.write_text('#include "src/math/other/op_host/all.h"\n')
    assert load_operator(root).shared_host_sources == (other / "parts.cpp",), "by another header"


def test_an_output_whose_shape_the_kernel_tells_is_known(tmp_path: Path) -> None:
    definition = DEFINITION.replace(
        'Output("y").ParamType(REQUIRED)', 'Output("y").OutputShapeDependOnCompute()'
    )
    operator = load_operator(write_operator(tmp_path, host=TILING + definition))
    assert operator.tells_output_shape
    assert not load_operator(write_operator(tmp_path / "plain")).tells_output_shape


def test_sources_that_call_the_runtime_are_left_out(tmp_path: Path) -> None:
    root = write_operator(tmp_path)
    (root / "op_host" / "aclnn_scale_mask.cpp").write_text(
        '#include "opdev/make_op_executor.h"\nint TilingContext;'
    )
    # Executes the operator by calling another interface, where no kernel takes the case.
    (root / "op_host" / "fallback_scale_mask.cpp").write_text(
        '#include "shared/fallback.h"\nIMPL_OP(ScaleMask).OpExecuteFunc(Run);'
        "ge::graphStatus Run(gert::OpExecuteContext* context) { return Call(context); }"
    )
    assert load_operator(root).host_sources == ("op_host/scale_mask.cpp",)


def test_definitions_behind_macros_are_expanded(tmp_path: Path) -> None:
    host = """
    #define PARAM(KIND, NAME) this->KIND(#NAME).ParamType(DYNAMIC).DataType(list);
    #define BODY(...) std::vector<ge::DataType> list = {__VA_ARGS__}; \\
        PARAM(Input, x) PARAM(Output, y)
    #define DEFINE(NAME, ...) class Foreach##NAME : public OpDef { public: \\
        explicit Foreach##NAME(const char* n) : OpDef(n) { BODY(__VA_ARGS__) } }; \\
        OP_ADD(Foreach##NAME);
    DEFINE(Neg, ge::DT_FLOAT, ge::DT_INT32)
    """
    operator = load_operator(write_operator(tmp_path, host=TILING + host))
    assert operator.op_type == "ForeachNeg"
    assert operator.inputs[0].param_type == "dynamic"
    assert operator.outputs[0].dtypes == ("float32", "int32")


def test_what_is_said_of_a_configuration_after_it_was_added_is_for_the_next_chip(
    tmp_path: Path,
) -> None:
    said = 'config.Input("x").DataType({{ge::{}}}).Format({{ge::FORMAT_{}}});'
    configured = (
        "OpAICoreConfig config;"
        + said.format("DT_INT8", "ND")
        + said.format("DT_FLOAT16", "NZ")
        + 'this->AICore().AddConfig("ascend910b", config);'
        + said.format("DT_INT32", "NCHW")
        + 'this->AICore().AddConfig("ascend310p", config);'
    )
    definition = DEFINITION.replace('this->AICore().AddConfig("ascend910b");', configured)
    operator = load_operator(write_operator(tmp_path, host=TILING + definition))
    assert operator.inputs[0].dtypes == ("float16",)
    assert operator.inputs[0].formats == ("NZ",)


def test_a_dtype_that_stands_until_code_fills_it_in_is_none(tmp_path: Path) -> None:
    open_ = "DataType({ge::DT_MAX}).Format({ge::FORMAT_END})"
    definition = DEFINITION.replace("DataType(MASKS)", open_)
    operator = load_operator(write_operator(tmp_path, host=TILING + definition))
    assert (operator.inputs[1].dtypes, operator.inputs[1].formats) == ((), ())


def test_our_own_operators_are_all_found() -> None:
    folders = {p.parent.resolve() for p in OPERATORS.rglob("workload.yaml")}
    assert folders <= {o.root for o in find_operators(OPERATORS)}


def test_the_path_of_a_source_or_of_a_folder_around_one_operator_will_do(tmp_path: Path) -> None:
    root = write_operator(tmp_path)
    for path in (root / "op_host", root / "op_kernel" / "scale_mask.cpp", tmp_path):
        assert load_operator(path).root == root


def test_bad_paths_say_what_is_wrong(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    note = tmp_path / "note.txt"
    note.write_text("no operator")
    only_host = write_operator(tmp_path / "a")
    (only_host / "op_kernel" / "scale_mask.cpp").unlink()
    (only_host / "op_kernel").rmdir()
    for path, words in (
        (tmp_path / "missing", "no file or folder"),
        (empty, "is empty"),
        (note, "is a file"),
        (only_host, "has no op_kernel folder"),
    ):
        with pytest.raises(InputError, match=words):
            load_operator(path)


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 4242\n"


@pytest.mark.parametrize(
    ("host", "kernel", "words"),
    [
        (TILING + DEFINITION, "int nothing;", "No kernel in"),
        (TILING, KERNEL, "No op definition in"),
        (DEFINITION.replace("SetTiling(optiling::Tile)", ""), KERNEL, "No host tiling in"),
        (DEFINITION + "\0", KERNEL, "binary file"),
        (POINTER, KERNEL, "op_host/scale_mask.cpp is a pointer of Git LFS.*`git lfs pull`"),
        (TILING + DEFINITION, POINTER, "op_kernel/scale_mask.cpp is a pointer of Git LFS"),
        ("", KERNEL, "holds no C\\+\\+ source"),
    ],
)
def test_incomplete_operators_say_what_is_missing(
    tmp_path: Path, host: str, kernel: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        load_operator(write_operator(tmp_path, host=host, kernel=kernel))


def test_several_operators_ask_to_name_one(tmp_path: Path) -> None:
    write_operator(tmp_path / "a")
    write_operator(tmp_path / "b")
    with pytest.raises(InputError, match="holds 2 operators; give the folder of one"):
        load_operator(tmp_path)


ODD: dict[str, bytes | None] = {
    "binary": b"\0",
    "UTF-16": "int a;\n".encode("utf-16"),
    "too large": None,
    "no UTF-8": b"",
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_source_of_one_operator_keeps_no_other_from_being_found(
    tmp_path: Path, what: str
) -> None:
    good = write_operator(tmp_path / "good", cmake="project(good)\n")
    odd = write_operator(tmp_path / "odd", cmake="project(odd)\n")
    source, data = odd / "op_kernel" / "odd.h", ODD[what]
    if data is None:
        source.touch()
        os.truncate(source, MOST_BYTES + 1)
    elif what == "no UTF-8":
        odd = odd.rename(Path(os.fsdecode(os.fsencode(odd.parent) + b"/\xff")))
    else:
        source.write_bytes(data)
    (tmp_path / ".git").mkdir()
    (tmp_path / "CMakeLists.txt").write_text("project(all)\n")
    assert [one.root for one in find_operators(tmp_path)] == [good]
    with pytest.raises(InputError, match=f"{what}|larger than"):
        load_operator(odd)
    assert not declared_for_others(odd)


def test_a_link_out_of_the_operator_is_refused(tmp_path: Path) -> None:
    root = write_operator(tmp_path / "repo")
    (tmp_path / "secret.h").write_text("secret")
    (root / "op_host" / "stolen.h").symlink_to(tmp_path / "secret.h")
    with pytest.raises(InputError, match="leads out of"):
        load_operator(root)


def test_a_source_that_only_implements_a_tiling_header_belongs_to_the_operator(
    tmp_path: Path,
) -> None:
    root = write_operator(tmp_path)
    (root / "op_host" / "split_tiling.h").write_text("int Parts(int rows);\n")
    (root / "op_host" / "split.cpp").write_text('#include "split_tiling.h"\nint Parts(int) {}\n')
    (root / "op_host" / "other.cpp").write_text("int Other() {}\n")
    sources = load_operator(root).host_sources
    assert "op_host/split.cpp" in sources
    assert "op_host/other.cpp" not in sources


def test_a_source_that_implements_a_header_of_the_operators_tiling_belongs_to_it(
    tmp_path: Path,
) -> None:
    root = write_operator(tmp_path)
    host = root / "op_host"
    (host / "limits.h").write_text("bool Fits(int rows);\n")
    (host / "limits.cpp").write_text('#include "limits.h"\nbool Fits(int) { return true; }\n')
    (host / "call.h").write_text("int Call();\n")
    (host / "call.cpp").write_text('#include "call.h"\nint Call() { return 1; }\n')
    (host / "more_tiling.h").write_text('#include "limits.h"\n')
    sources = load_operator(root).host_sources
    assert "op_host/limits.cpp" in sources
    assert "op_host/call.cpp" not in sources, "nobody includes its header"


def in_a_repository_with_common_folders(tmp_path: Path) -> tuple[Path, Path]:
    """An operator and the common folder of its repository, which has inc/op_host."""
    root = write_operator(tmp_path / "repo")
    common = tmp_path / "repo" / "common"
    for folder in ("inc/op_host", "src/op_host"):
        (common / folder).mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    build = "target_sources(hosts PRIVATE op_host/scale_mask.cpp)\n"
    build += "target_include_directories(hosts PRIVATE ${CMAKE_SOURCE_DIR}/common/inc)\n"
    (root / "CMakeLists.txt").write_text(build)
    return root, common


def test_a_header_below_inc_is_implemented_below_src(tmp_path: Path) -> None:
    root, common = in_a_repository_with_common_folders(tmp_path)
    (common / "inc/op_host/store.h").write_text("int Store();\n")
    unit = common / "src/op_host/store.cpp"
    unit.write_text('#include "op_host/store.h"\nint Store() { return 1; }\n')
    (common / "src/op_host/other.cpp").write_text('#include "op_host/store.h"\nint other;\n')
    (root / "op_host" / "own_tiling.h").write_text('#include "store.h"\n')
    assert load_operator(root).shared_host_sources == (unit,)


def test_what_a_neighbours_source_needs_is_built_too(tmp_path: Path) -> None:
    root, common = in_a_repository_with_common_folders(tmp_path)
    other = root.parent / "other" / "op_host"
    other.mkdir(parents=True)
    (other / "parts.h").write_text("int Parts();\n")
    (other / "parts.cpp").write_text('#include "parts.h"\n#include "deep.h"\nint Parts() {}\n')
    (other / "deep.h").write_text("int Deep();\n")
    (other / "deep.cpp").write_text('#include "deep.h"\nint Deep() { return 1; }\n')
    (root / "op_host" / "own_tiling.h").write_text('#include "src/math/other/op_host/parts.h"\n')
    sources = load_operator(root).shared_host_sources
    assert set(sources) == {other / "parts.cpp", other / "deep.cpp"}


def test_what_looks_functions_up_in_a_library_of_the_toolkits_is_left_out(tmp_path: Path) -> None:
    root, common = in_a_repository_with_common_folders(tmp_path)
    loader = common / "inc/loader.h"
    loader.write_text("#include <dlfcn.h>\ninline void* At() { return dlsym(library, name); }\n")
    (common / "inc/op_host/store.h").write_text("int Store();\n")
    text = '#include "op_host/store.h"\n#include "loader.h"\nint Store() { return 1; }\n'
    store = common / "src/op_host/store.cpp"
    store.write_text(text)
    (root / "op_host" / "own_tiling.h").write_text('#include "store.h"\n')
    assert load_operator(root).shared_host_sources == ()
    loader.write_text("#include <dlfcn.h>\n")  # and calls nothing of it
    assert load_operator(root).shared_host_sources == (store,)


@pytest.mark.parametrize("place", ["examples/first", "docs/zh/shown", "a/b/c/d/e/f/g/h/i"])
def test_operators_are_found_in_folders_of_any_name_and_at_any_depth(
    tmp_path: Path, place: str
) -> None:
    root = write_operator(tmp_path / place)
    assert operator_folders(tmp_path) == [root]
    files = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.cpp")]
    assert set(operators(files)) == {root.relative_to(tmp_path).as_posix()}
    assert load_operator(root).root == root.resolve()


def test_what_shows_how_to_call_an_operator_is_none(tmp_path: Path) -> None:
    root = write_operator(tmp_path)
    write_operator(root / "examples")
    assert operator_folders(root.parent) == [root]


def test_a_source_whose_own_header_calls_the_runtime_is_not_of_the_host_side(
    tmp_path: Path,
) -> None:
    root = write_operator(tmp_path, cmake="target_sources(opapi PRIVATE op_host/api.cpp)")
    (root / "op_host" / "api.h").write_text('#include "aclnn/aclnn_base.h"\n')
    (root / "op_host" / "api.cpp").write_text('#include "api.h"\nint call() { return 1; }\n')
    assert load_operator(root).host_sources == ("op_host/scale_mask.cpp",)


def test_a_folder_of_thousands_of_folders_is_no_operator(tmp_path: Path) -> None:
    for number in range(2_001):
        (tmp_path / f"f{number}").mkdir()
    (tmp_path / "f0" / "op_host").mkdir()
    with pytest.raises(InputError) as problem:
        load_operator(tmp_path)
    assert str(problem.value) == (
        f"{tmp_path} is no operator: it holds more than 2,000 folders. Give the folder that holds"
        " op_host and op_kernel."
    )


def test_an_operator_in_a_folder_of_thousands_is_read(tmp_path: Path) -> None:
    root = write_operator(tmp_path)
    for number in range(2_001):
        (tmp_path / f"f{number}").mkdir()
    assert load_operator(root).op_type == "ScaleMask"


def test_a_folder_too_large_for_a_repository_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placed, "MOST_FOLDERS", 10)
    write_operator(tmp_path)
    for number in range(11):
        (tmp_path / f"f{number}").mkdir()
    with pytest.raises(InputError, match="is no repository of operators: it holds more than 10 f"):
        find_operators(tmp_path)


def test_a_misspelt_path_in_a_huge_checkout_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placed, "MOST_FOLDERS", 10)
    for name in (".git", *(f"f{number}" for number in range(11))):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="There is no file or folder .*/scale_mask"):
        load_operator(tmp_path / "scale_mask")
