"""Unchanged sides are never compiled again, and code addresses lead to the operator's lines."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ci import simulator
from ci.host.host_tiling import HostProgram
from ci.host.kernel_unit import (
    KernelVariant,
    formats_of,
    kernel_function,
    selecting_keys,
    translation_unit,
)
from ci.host.source_tree import lay_operator, neighbours
from ci.host.tiling_layout import declarations
from ci.model.dtypes import BY_NAME
from ci.model.errors import TrialFailure
from ci.simulator.source_lines import operator_lines
from ci.simulator.symbols import check_symbols, instructions, undefined_symbols
from ci.simulator.toolchain import Toolchain
from ci.source.device_half import without_launches
from ci.system.cache import BuildCache
from ci.system.ledger import ledger
from ci.testing.scale_shift import HOST, KERNEL, OPERATOR, changed, line_of, with_statement
from rules.architectures import load_architecture
from rules.guards import priced_symbols


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain(load_architecture("dav-c220"))


@pytest.fixture(scope="module")
def variant(toolchain: Toolchain) -> KernelVariant:
    program = HostProgram(toolchain.compile_host(OPERATOR, OPERATOR.texts()))
    struct = program.describe(OPERATOR, "ascend910b").struct_for(0)
    assert struct
    return KernelVariant(
        dtypes=("float32", "float32"),
        formats=formats_of(OPERATOR, 0),
        tiling_key=0,
        tiling_declarations=declarations([struct]),
        tiling_struct=struct.name,
    )


def test_a_changed_tiling_keeps_the_kernel(toolchain: Toolchain, variant: KernelVariant) -> None:
    kernel = toolchain.compile_kernel(OPERATOR, OPERATOR.texts(), variant)
    texts = OPERATOR.texts(changed("BLOCK_DIM = 4", "BLOCK_DIM = 2", HOST).files)
    assert toolchain.compile_kernel(OPERATOR, texts, variant) == kernel
    assert toolchain.compile_host(OPERATOR, texts) != toolchain.compile_host(
        OPERATOR, OPERATOR.texts()
    )


def test_a_changed_kernel_keeps_the_host(toolchain: Toolchain, variant: KernelVariant) -> None:
    texts = OPERATOR.texts(changed("2.0f", "2.5f").files)
    assert toolchain.compile_host(OPERATOR, texts) == toolchain.compile_host(
        OPERATOR, OPERATOR.texts()
    )
    plain = toolchain.compile_kernel(OPERATOR, OPERATOR.texts(), variant)
    assert toolchain.compile_kernel(OPERATOR, texts, variant) != plain


def test_hundreds_of_shared_folders_are_read_once_for_all_compilations(
    toolchain: Toolchain, variant: KernelVariant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / f"shared{n}" for n in range(300)]
    for number, folder in enumerate(folders):
        folder.mkdir()
        (folder / "constants.h").write_text(f"constexpr int NUMBER = {number};\n")
    operator = OPERATOR.model_copy(update={"include_folders": tuple(folders)})
    read: list[Path] = []
    digested = simulator.toolchain.digest_tree

    def watched(folder: Path, endings: tuple[str, ...]) -> str:
        read.append(folder)
        return digested(folder, endings)

    monkeypatch.setattr(simulator.toolchain, "digest_tree", watched)
    for factor in ("2.0f", "2.5f", "3.0f"):
        texts = operator.texts(changed("2.0f", factor).files)
        toolchain.compile_kernel(operator, texts, variant)
    assert [folder for folder in read if folder in folders] == folders


def test_an_installation_elsewhere_finds_the_machine_built(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = toolchain.machine_runner
    copy = tmp_path / "machine"
    shutil.copytree(simulator.toolchain.MACHINE, copy)
    monkeypatch.setattr(simulator.toolchain, "MACHINE", copy)
    elsewhere = Toolchain(load_architecture("dav-c220"), BuildCache())

    def build(folder: Path) -> None:
        raise AssertionError("it is built again")

    monkeypatch.setattr(elsewhere, "_build_machine", build)
    assert elsewhere.machine_runner == built
    source = copy / "image.cpp"
    assert elsewhere.machine_object(source) == toolchain.machine_object(source)


def test_code_addresses_lead_to_the_operators_line(
    toolchain: Toolchain, variant: KernelVariant
) -> None:
    kernel = toolchain.compile_kernel(OPERATOR, OPERATOR.texts(), variant)
    said = subprocess.run(["objdump", "-d", str(kernel)], capture_output=True, text=True).stdout
    calls = [line for line in said.splitlines() if "call" in line and "copy_ubuf_to_gm" in line]
    after = [said.splitlines()[said.splitlines().index(call) + 1] for call in calls]
    address = after[0].split(":")[0].strip()
    assert operator_lines(kernel, [address])[0] == (KERNEL, line_of(
        changed("2.0f", "2.0f"), "DataCopy(yGm_"))  # fmt: skip
    assert operator_lines(kernel, []) == []
    assert operator_lines(kernel, ["0x1"]) == [("", 0)]


def test_a_kernel_asks_only_for_instructions_and_harmless_functions(
    toolchain: Toolchain, variant: KernelVariant
) -> None:
    kernel = toolchain.compile_kernel(OPERATOR, OPERATOR.texts(), variant)
    assert check_symbols(kernel, toolchain.machine_runner) is None
    assert any("copy_gm_to_ubuf" in name for name in undefined_symbols(kernel))


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ('extern "C" int system(const char *);', 'system("id");'),
        ('extern "C" void *dlsym(void *, const char *);', 'dlsym(nullptr, "x");'),
        ('extern "C" int open(const char *, int, ...);', 'open("/etc/passwd", 0);'),
        ("namespace dav { extern int secret; }", "dav::secret = 1;"),
        ("namespace dav { void free_time(); }", "dav::free_time();"),
    ],
)
def test_forbidden_symbols_are_found_in_the_built_kernel(
    toolchain: Toolchain, variant: KernelVariant, declared: str, used: str
) -> None:
    text = declared + "\n" + with_statement(used).files[KERNEL]
    kernel = toolchain.compile_kernel(OPERATOR, OPERATOR.texts({KERNEL: text}), variant)
    found = check_symbols(kernel, toolchain.machine_runner)
    assert found
    assert used.split("(")[0].split(" ")[0].rstrip(";") in found.message


def test_a_priced_function_is_free_to_whom_the_unmodified_kernel_calls_it(
    toolchain: Toolchain, variant: KernelVariant
) -> None:
    runner = toolchain.machine_runner
    plain = toolchain.compile_kernel(OPERATOR, OPERATOR.texts(), variant)
    declared = 'extern "C" float expf(float);\n'
    text = declared + with_statement("volatile float e = 2.0f; e = expf(e);").files[KERNEL]
    calling = toolchain.compile_kernel(OPERATOR, OPERATOR.texts({KERNEL: text}), variant)
    assert "__wrap_expf" in undefined_symbols(calling)
    found = check_symbols(calling, runner, lambda: plain)
    assert found and "expf" in found.message
    assert check_symbols(calling, runner, lambda: calling) is None
    assert check_symbols(calling, runner) is not None


def test_the_machine_offers_every_priced_function(toolchain: Toolchain) -> None:
    offered = instructions(toolchain.machine_runner)
    assert all("__wrap_" + name in offered for name in priced_symbols())


def test_the_machine_offers_instructions_but_not_its_inside(toolchain: Toolchain) -> None:
    offered = instructions(toolchain.machine_runner)
    assert "__sanitizer_cov_trace_pc" in offered
    assert not any(name.startswith("_ZN3dav") or name == "main" for name in offered)


def test_an_error_in_the_kernel_is_a_compile_error(
    toolchain: Toolchain, variant: KernelVariant
) -> None:
    texts = OPERATOR.texts(with_statement("int x = nowhere;").files)
    with pytest.raises(TrialFailure, match="'nowhere' was not declared"):
        toolchain.compile_kernel(OPERATOR, texts, variant)


def test_what_the_compiler_refused_once_is_refused_without_asking_it_again(
    variant: KernelVariant,
) -> None:
    toolchain = Toolchain(load_architecture("dav-c220"))
    host = OPERATOR.texts(changed("BLOCK_DIM = 4", "BLOCK_DIM = four", HOST).files)
    kernel = OPERATOR.texts(with_statement("int x = two;").files)
    with ledger() as spent:
        for _ in range(2):
            with pytest.raises(TrialFailure, match="four"):
                toolchain.compile_host(OPERATOR, host)
            with pytest.raises(TrialFailure, match="two"):
                toolchain.compile_kernel(OPERATOR, kernel, variant)
    assert spent.times["compile"] == 2  # the host side, the kernel


def test_the_unit_defines_what_the_operator_compiler_would(variant: KernelVariant) -> None:
    unit = translation_unit(OPERATOR, variant, OPERATOR.read(KERNEL))
    for line in (
        "#define DTYPE_X float",
        "#define ORIG_DTYPE_Y DT_FLOAT",
        "#define FORMAT_X FORMAT_ND",
        "#define ASCENDOPT_TILING_KEY 0",
        "#define scale_shift kernel_entry_scale_shift",
    ):
        assert line in unit.splitlines()
    assert "kernel_entry_scale_shift(a[0], a[1], AscendC::GetUserWorkspace(a[2]), a[3]);" in unit


@pytest.mark.parametrize("chosen", [0, 1])
def test_template_arguments_go_to_the_kernel_that_is_there_for_this_chip(
    toolchain: Toolchain, variant: KernelVariant, chosen: int
) -> None:
    """Some kernels are templates for one chip and plain functions for another."""
    head = re.compile(r'extern "C" (__global__ __aicore__ void scale_shift\([^)]*\))')
    either = rf"#if {chosen}\ntemplate <int number> \1\n#else\n\g<0>\n#endif"
    files = {file: head.sub(either, text) for file, text in OPERATOR.texts().items()}
    if chosen:
        files[KERNEL] = files[KERNEL].replace(
            "GET_TILING", "static_assert(number == 7); GET_TILING"
        )
    asked = replace(variant, template_arguments=("7",))
    toolchain.compile_kernel(OPERATOR, files, asked)


FORMS = """
#include "kernel_operator_block_sync_intf.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
constexpr TransDataTo5HDParams ONE(false, false, 1, 0, 0);
constexpr MatmulConfig MM_CFG_NO_PRELOAD = GetMDLConfig();  // a name of the operator's own
constexpr MatmulConfig ORDERED = GetNormalConfig(
    false, false, false, BatchMode::BATCH_LESS_THAN_L1, true, IterateOrder::ORDER_M,
    ScheduleType::INNER_PRODUCT, true, false, BatchOutMode::{});
using Side = MatmulType<TPosition::GM, CubeFormat::ND, half>;
constexpr MatmulApiStaticTiling FIXED = GetMatmulApiTiling<Side, Side, Side, Side>(ORDERED);
template <int> struct Selected {{
    template <const auto& CONFIG, typename IMPL, typename A, typename B, typename C, typename BIAS>
    struct Result : AscendC::Impl::Detail::MatmulPolicy<CONFIG, IMPL, A, B, C, BIAS> {{}};
}};
__aicore__ inline void forms(uint16_t flag) {{
    uint32_t rows = CeilAlign(uint32_t(flag), 32) + CeilDiv(flag, 4);
    NotifyEvent<PIPE_MTE3>(flag);
    WaitEvent(flag);
    WaitEvent<PIPE_S>(flag);
    static_assert(TOTAL_L0A_SIZE + TOTAL_L0B_SIZE == TOTAL_L0C_SIZE);
    LocalTensor<float> sums;
    BlockReduceSum<float, false>(sums, sums, 1, 0, 1, 1, 8);  // a mask that is set before
    Matmul<Side, Side, Side, Side, ORDERED> product;
    static_assert(ToMatmulConfig(ORDERED).bmmOutMode == BatchOutMode::SINGLE_BATCH);
    static_assert(ToMatmulConfig(FIXED).iterateOrder == IterateOrder::ORDER_M);
    MatmulImpl<Side, Side, Side, Side, FIXED, MatmulCallBackFunc<nullptr, nullptr, nullptr>,
               AscendC::Impl::Detail::NBuffer33MatmulPolicy> buffered;
    Matmul<Side, Side, Side, Side, ORDERED, void, Selected<0>::Result> selected;
}}
"""
OWN_MODULE = """
template <const auto& CONFIG, typename IMPL, typename A, typename B, typename C, typename BIAS>
struct Moved : AscendC::Impl::Detail::MatmulPolicy<CONFIG, IMPL, A, B, C, BIAS> {
    using CopyCubeInA = int;
};
__aicore__ inline void moved() { Matmul<Side, Side, Side, Side, ORDERED, void, Moved> product; }
"""


def test_call_forms_of_real_products_compile_and_output_of_batches_is_refused(
    toolchain: Toolchain, variant: KernelVariant
) -> None:
    text = OPERATOR.read(KERNEL)
    toolchain.compile_kernel(
        OPERATOR, OPERATOR.texts({KERNEL: text + FORMS.format("SINGLE_BATCH")}), variant
    )
    with pytest.raises(TrialFailure, match="no CopyCubeInA of the kernel's own"):
        own = FORMS.format("SINGLE_BATCH") + OWN_MODULE
        toolchain.compile_kernel(OPERATOR, OPERATOR.texts({KERNEL: text + own}), variant)
    with pytest.raises(TrialFailure, match="BatchOutMode::SINGLE_BATCH only"):
        toolchain.compile_kernel(
            OPERATOR, OPERATOR.texts({KERNEL: text + FORMS.format("MULTI_BATCH")}), variant
        )


def test_dtypes_of_later_chips_are_told_from_float32_where_a_kernel_names_them(
    variant: KernelVariant,
) -> None:
    text = OPERATOR.read(KERNEL)
    asked = text + "#if ORIG_DTYPE_X == DT_HIFLOAT8\n#error taken for float32\n#endif\n"
    assert "#define DT_HIFLOAT8 34" in translation_unit(OPERATOR, variant, asked)
    assert "DT_HIFLOAT8" not in translation_unit(OPERATOR, variant, text)


def test_a_template_kernel_is_instantiated(variant: KernelVariant) -> None:
    unit = translation_unit(
        OPERATOR, replace(variant, template_arguments=("half", "3")), OPERATOR.read(KERNEL)
    )
    assert "kernel_entry_scale_shift<half, 3>(" in unit


def test_a_kernel_that_tells_the_shape_of_its_output_gets_room_for_it(
    variant: KernelVariant,
) -> None:
    told = OPERATOR.outputs[0].model_copy(update={"shape_depends": True})
    operator = OPERATOR.model_copy(update={"outputs": (told,)})
    text = OPERATOR.read(KERNEL).replace("GM_ADDR workspace", "GM_ADDR shape, GM_ADDR workspace")
    call = "kernel_entry_scale_shift(a[0], a[1], a[2], AscendC::GetUserWorkspace(a[3])"
    assert call in translation_unit(operator, variant, text)


def test_an_output_with_the_name_of_an_input_gets_macros_of_its_own(
    variant: KernelVariant,
) -> None:
    output = OPERATOR.outputs[0].model_copy(update={"name": OPERATOR.inputs[0].name})
    operator = OPERATOR.model_copy(update={"outputs": (output,)})
    lines = translation_unit(operator, variant, OPERATOR.read(KERNEL)).splitlines()
    assert {"#define DTYPE_X float", "#define DTYPE_X_REF float"} <= set(lines)


def test_kernels_without_a_global_function_are_told() -> None:
    with pytest.raises(TrialFailure, match="no __global__ function"):
        kernel_function(OPERATOR, "// __global__ void scale_shift(int a)\n")


def test_launchers_are_blanked_to_equal_length() -> None:
    text = "void f() {\n  k<int><<<a,\n b>>>(x, y);\n  other();\n}\n"
    plain = without_launches(text)
    assert len(plain) == len(text)
    assert plain.count("\n") == text.count("\n")
    assert plain.split() == ["void", "f()", "{", "other();", "}"]


def test_a_host_function_that_launches_may_call_what_only_programs_have(
    toolchain: Toolchain, variant: KernelVariant
) -> None:
    name = OPERATOR.read(KERNEL).partition("__aicore__ void ")[2].partition("(")[0]
    launcher = f"""
#ifndef __CCE_KT_TEST__
int wait_for_it(void* stream) {{ return aclrtSynchronizeStream(stream); }}
void start_it(uint32_t blocks, void* stream, GM_ADDR x) {{
    {name}<<<blocks, nullptr, stream>>>(x);
    wait_for_it(stream);
}}
#endif
"""
    text = OPERATOR.read(KERNEL) + launcher
    toolchain.compile_kernel(OPERATOR, OPERATOR.texts({KERNEL: text}), variant)
    with pytest.raises(TrialFailure, match="aclrtSynchronizeStream"):
        alone = text.replace(f"{name}<<<blocks, nullptr, stream>>>(x);", "")
        toolchain.compile_kernel(OPERATOR, OPERATOR.texts({KERNEL: alone}), variant)


def test_only_the_selected_tiling_key_is_instantiated(
    toolchain: Toolchain, variant: KernelVariant
) -> None:
    start = "    GET_TILING_DATA(data, tiling);\n"
    never = 'template <typename T> void never() { static_assert(sizeof(T) == 0, "built"); }\n'
    text = OPERATOR.read(KERNEL)
    text = text.replace('extern "C"', f'{never}extern "C"').replace(
        start, f"{start}    if (TILING_KEY_IS(7) || TILING_KEY_IS(8ULL)) {{ never<float>(); }}\n"
    )
    toolchain.compile_kernel(OPERATOR, OPERATOR.texts({KERNEL: text}), variant)
    with pytest.raises(TrialFailure, match="built"):
        other = replace(variant, tiling_key=8)
        toolchain.compile_kernel(OPERATOR, OPERATOR.texts({KERNEL: text}), other)


def test_only_tests_of_nothing_but_keys_become_constant() -> None:
    kept = "if (TILING_KEY_IS(1) && count > 0) {} elif(TILING_KEY_IS(2)) {}"
    assert selecting_keys(kept) == kept
    assert selecting_keys("else if(TILING_KEY_IS( KEY_A )) {") == (
        "else if constexpr(TILING_KEY_IS( KEY_A )) {"
    )


def test_every_dtype_has_a_kernel_type() -> None:
    assert all(d.kernel_type for d in BY_NAME.values())


def test_headers_of_neighbours_are_laid_beside_but_nothing_from_outside(tmp_path: Path) -> None:
    base = tmp_path / "repository"
    root = base / "src" / "math" / "mine"
    other = base / "src" / "math" / "other"
    for folder in (root / "op_kernel", other):
        folder.mkdir(parents=True)
    (other / "shared.h").write_text('#include "more.h"\n')
    (other / "more.h").write_text("int more;\n")
    (tmp_path / "secret.h").write_text("int secret;\n")
    (other / "link.h").symlink_to(tmp_path / "secret.h")
    text = (
        '#include "../../other/shared.h"\n#include "../../../../../secret.h"\n'
        '#include "../../other/link.h"\n'
    )
    (root / "op_kernel" / "mine.cpp").write_text(text)
    operator = OPERATOR.model_copy(update={"root": root, "repository": base})
    texts = {"op_kernel/mine.cpp": text}
    assert sorted(neighbours(operator, texts)) == [
        "src/math/other/more.h",
        "src/math/other/shared.h",
    ]
    place = lay_operator(tmp_path / "build", operator, texts)
    assert (place / "../other/more.h").read_text() == "int more;\n"
    assert not list((tmp_path / "build").rglob("secret.h"))


def test_a_neighbours_kernel_header_is_found_by_its_installed_path(tmp_path: Path) -> None:
    root, other = tmp_path / "math" / "mine", tmp_path / "math" / "other"
    for folder in (root, other):
        (folder / "op_kernel").mkdir(parents=True)
    (other / "op_kernel" / "shared.h").write_text("int shared;\n")
    texts = {"op_kernel/mine.cpp": '#include "../other/shared.h"\n'}
    operator = OPERATOR.model_copy(update={"root": root, "repository": tmp_path})
    place = lay_operator(tmp_path / "build", operator, texts)
    assert (place / "op_kernel" / "../other/shared.h").read_text() == "int shared;\n"
