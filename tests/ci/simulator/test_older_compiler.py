import os
import shutil
from pathlib import Path

import pytest

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.model.trial import Candidate, Outcome
from ci.simulator.older_compiler import copies_of, with_copies
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.system.cache import BuildCache
from tests.places import OPERATORS

APART = """    template <int32_t core = g_coreType> __aicore__ inline void Process();
    template <> __aicore__ inline void Process<AscendC::AIV>() {}
    template <>
    __aicore__ inline void Process<AscendC::AIC>()
"""


@pytest.mark.parametrize("place", ["op_kernel/blocks.h", "../../../common/include/blocks.h"])
def test_each_kind_of_core_runs_its_own_specialization(tmp_path: Path, place: str) -> None:
    """Also where it is in a header of the repository, as with a library that many kernels share."""
    (tmp_path / ".git").mkdir()
    root = tmp_path / "src" / "matmul" / "matmul_blocks"
    shutil.copytree(OPERATORS / "src" / "matmul" / "matmul_blocks", root)
    kernel = root / "op_kernel" / "matmul_blocks.cpp"
    head, mark, entry = kernel.read_text().partition('extern "C" __global__')
    assert head.count("    __aicore__ inline void Process()\n") == 1
    head = head.replace("    __aicore__ inline void Process()\n", APART)
    header = root / place
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(f"#pragma once\n{head}")
    kernel.write_text(f'#include "kernel_operator.h"\n#include "blocks.h"\n{mark}{entry}')
    operator = load_operator(root)
    evaluator = Evaluator(operator, load_workload(operator), make_backend("sim", "910B4"))
    trial = evaluator.evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.refusal


def test_only_folders_that_need_it_have_a_copy_which_keeps_the_names_of_the_original(
    tmp_path: Path,
) -> None:
    plain, old = tmp_path / "plain", tmp_path / "old"
    text = "struct S { template <int N> void f();\ntemplate <> void f<1>() {} };\n"
    for folder, held in ((plain, "int x;\n"), (old / "deep", text)):
        folder.mkdir(parents=True)
        (folder / "one.h").write_text(held)
    os.utime(old / "deep" / "one.h", ns=(5_000_000_000, 5_000_000_000))
    cache = BuildCache(tmp_path / "cache")
    (copy,) = copies_of([plain, old], cache)
    arguments = with_copies([f"-I{plain}", f"-idirafter{old}", "-O1"], [plain, old], cache)
    assert arguments == [
        f"-I{plain}",
        f"-idirafter{copy}",
        "-O1",
        f"-ffile-prefix-map={copy}={old}",
    ]
    made = copy / "deep" / "one.h"
    assert "requires (N == (1))" in made.read_text()
    assert made.stat().st_mtime_ns == 5_000_000_000
    assert (old / "deep" / "one.h").read_text() == text


ALONE = """    template <int32_t core = g_coreType> __aicore__ inline void Process();
    template <>
    __aicore__ inline void Process<AscendC::AIC>()
"""
STEPS = """
struct Steps {
    __aicore__ constexpr Steps(uint32_t value)
    {
        for (int i = 0; i < 2; ++i) {
            of[i] = value;
        }
    }
    uint32_t of[2];
};
static constexpr Steps HALVES(1);
static_assert(HALVES.of[0] == 1);
"""


@pytest.mark.parametrize("cores", ["", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_2"])
def test_a_kernel_without_a_body_for_vector_cores_runs_on_cube_cores(
    tmp_path: Path, cores: str
) -> None:
    """Unless it declares both: then the compiler's complaint stays. It may include <iostream>,
    and have constants that C++20 first allows."""
    root = tmp_path / "matmul_blocks"
    shutil.copytree(OPERATORS / "src" / "matmul" / "matmul_blocks", root)
    kernel = root / "op_kernel" / "matmul_blocks.cpp"
    text = kernel.read_text().replace("    __aicore__ inline void Process()\n", ALONE)
    declared = f"KERNEL_TASK_TYPE_DEFAULT({cores});" if cores else ""
    text = text.replace("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);", declared)
    kernel.write_text(
        text.replace("using namespace AscendC;", f"using namespace AscendC;{STEPS}", 1)
    )
    kernel.write_text(f"#include <iostream>\n{kernel.read_text()}")
    operator = load_operator(root)
    evaluator = Evaluator(operator, load_workload(operator), make_backend("sim", "910B4"))
    trial = evaluator.evaluate(Candidate(), 0)
    if cores.startswith("KERNEL_TYPE_MIX"):
        assert trial.outcome is Outcome.COMPILE_ERROR
        assert trial.refusal is not None and "always_inline" in trial.refusal.sentence
    else:
        assert trial.outcome is Outcome.OK, trial.refusal
