"""Kernels that a program launches itself, run from what a workload says of the launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import find_operators, load_operator
from ci.source.launched.load import is_launched
from ci.source.workload_file import load_workload
from ci.tiling.synthesize import synthesize

BACKEND = SimulatorBackend("910B4", launch_seconds=20)

SCALE = """#include "acl/acl.h"
#include "kernel_operator.h"
#include "parts/plan.h"
using namespace AscendC;

template <typename T> class Scale {
public:
    __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, uint32_t each, int32_t factor, float shift)
    {
        xs_.SetGlobalBuffer((__gm__ T*)x + each * GetBlockIdx(), each);
        ys_.SetGlobalBuffer((__gm__ T*)y + each * GetBlockIdx(), each);
        pipe_.InitBuffer(in_, 1, each * sizeof(T));
        pipe_.InitBuffer(out_, 1, each * sizeof(T));
        LocalTensor<T> in = in_.AllocTensor<T>();
        DataCopy(in, xs_, each);
        in_.EnQue(in);
        in = in_.DeQue<T>();
        LocalTensor<T> out = out_.AllocTensor<T>();
        Muls(out, in, static_cast<T>(factor), each);
        Adds(out, out, static_cast<T>(shift), each);
        out_.EnQue(out);
        in_.FreeTensor(in);
        out = out_.DeQue<T>();
        DataCopy(ys_, out, each);
        out_.FreeTensor(out);
    }

private:
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> in_;
    TQue<TPosition::VECOUT, 1> out_;
    GlobalTensor<T> xs_, ys_;
};

#define SCALE_KERNEL(NAME, T)                                                              \\
    extern "C" __global__ [aicore] void NAME(GM_ADDR x, GM_ADDR y, uint32_t each,          \\
                                             int32_t factor, float shift)                  \\
    {                                                                                      \\
        Scale<T> op;                                                                       \\
        op.Run(x, y, each, factor, shift);                                                 \\
    }
SCALE_KERNEL(scale_fp32, float)
SCALE_KERNEL(scale_fp16, half)

namespace ours {
__global__ __aicore__ void planned(__gm__ float* x, GM_ADDR workspace, __gm__ float* y,
                                   __gm__ Plan* plan, Plan copy, GM_ADDR sync)
{
    SetSyncBaseAddr((uint64_t)sync);
    const bool same = plan->each[0] == copy.each[0] && plan->shift == copy.shift;
    auto* marks = reinterpret_cast<__gm__ int32_t*>(workspace);
    marks[GetBlockIdx() * 128] = same ? 1 : 0;
    Scale<float> op;
    op.Run((GM_ADDR)x, (GM_ADDR)y, plan->each[0], plan->each[1], copy.shift);
}
}  // namespace ours

template <typename T> __global__ __aicore__ void typed(GM_ADDR x, GM_ADDR y, uint32_t each)
{
    Scale<T> op;
    op.Run(x, y, each, 2, 1.0f);
}

// What a framework's headers know, which are not here.
namespace framework {
class Scaled : public Eager, public Shaped {
public:
    Status Run(Context* context) override { return context->Good(); }
};
REGISTER_EAGER(Scaled);
}  // namespace framework

static aclError Checked(aclError said) { return said; }

int main()
{
    aclrtStream stream = nullptr;
    Checked(aclrtCreateStream(&stream));
    scale_fp32<<<8, nullptr, stream>>>(nullptr, nullptr, 256, 2, 1.0f);
    return 0;
}
"""

PLAN = """#pragma once
#include <cstdint>
struct Plan {
    uint32_t each[2];
    float shift;
};
"""

GOLDEN = "def scaled(x):\n    return x * 2 + 1\n"

VALUES = """golden: golden.py:scaled
launch:
  kernel: ../../csrc/scale.asc
  entry: scale_fp32
  blocks: used
  outputs: {y: x}
  values:
    used: min(x.shape[0], cores)
    each: x.size // used
    factor: 2
    shift: x.ndim / 2
cases:
  - inputs:
      x: {shape: [8, 1024], dtype: float32}
"""

PLANNED = """golden: golden.py:scaled
launch:
  kernel: ../../csrc/scale.asc
  entry: planned
  blocks: 4
  outputs: {y: x}
  workspace: {workspace: 4 * 512}
  values: {sync: 0}
  structs:
    plan: {type: Plan, fields: {each: ["ceil_div(x.size, 4)", 2], shift: 1}}
    copy: {fields: {each: ["ceil_div(x.size, 4)", 2], shift: 1}}
cases:
  - inputs:
      x: {shape: [4, 1024], dtype: float32}
"""

TYPED = """golden: golden.py:scaled
launch:
  kernel: ../../csrc/scale.asc
  entry: typed
  template: [half]
  blocks: 4
  outputs: {y: {shape: [x.size], dtype: x}}
  values: {each: x.size // 4}
cases:
  - inputs:
      x: {shape: [4096], dtype: float16}
"""


def repository(top: Path, workload: str) -> Path:
    """A repository with the kernels, and the folder of a workload for one of them."""
    (top / ".git").mkdir(parents=True)
    (top / "csrc" / "parts").mkdir(parents=True)
    (top / "csrc" / "scale.asc").write_text(SCALE)
    (top / "csrc" / "parts" / "plan.h").write_text(PLAN)
    folder = top / "perf" / "scale"
    folder.mkdir(parents=True)
    (folder / "golden.py").write_text(GOLDEN)
    (folder / "workload.yaml").write_text(workload)
    return folder


@pytest.mark.few(1)
@pytest.mark.parametrize("workload", [VALUES, PLANNED, TYPED], ids=["values", "structs", "typed"])
def test_a_launched_kernel_is_judged_with_its_program_around_it(
    tmp_path: Path, workload: str
) -> None:
    operator = load_operator(repository(tmp_path, workload))
    judge = Evaluator(operator, load_workload(operator), BACKEND)
    trial = judge.evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.refusal
    (kernel, *_) = operator.kernel_sources
    wrong = operator.read(kernel).replace("Muls(", "Adds(")
    changed = Candidate(files={kernel: wrong}, stage="kernel")
    assert judge.evaluate(changed, 1).outcome is Outcome.WRONG_RESULT


def test_what_a_candidate_may_change_is_the_kernels_own_sources(tmp_path: Path) -> None:
    operator = load_operator(repository(tmp_path, VALUES))
    places = ["perf/scale/workload.yaml", "csrc/scale.asc", "csrc/parts/plan.h"]
    assert [operator.repository_path(one) for one in operator.sources] == places
    judge = Evaluator(operator, load_workload(operator), BACKEND)
    for written in operator.written:
        trial = judge.evaluate(Candidate(files={written.name: "int x;"}), 0)
        assert trial.outcome is Outcome.REJECTED, "it is ours, and in no repository"


NUMBERED = """golden: golden.py:scaled
launch:
  kernel: ../../csrc/scale.asc
  entry: scale_fp32
  blocks: 16 if x.size > 4096 else 8   # 8 of them
  outputs: {y: x}
  values: {each: "x.size // (16 if x.size > 4096 else 8)", factor: 2, shift: 1}
cases:
  - inputs:
      x: {shape: [16, 1024], dtype: float32}
"""


def test_a_search_changes_the_launchs_numbers_in_the_workload(tmp_path: Path) -> None:
    operator = load_operator(repository(tmp_path, NUMBERED))
    assert operator.launch is not None
    names = [number.name for number in operator.launch.numbers]
    blocks = ["launch.blocks.0", "launch.blocks.1", "launch.blocks.2"]
    each = [f"launch.values.each.{number}" for number in range(3)]
    assert names == blocks + each, "but not the factor, which is no size"
    template = synthesize(operator, "910B4")
    assert {knob.decides for knob in template.knobs} == {"block_dim", "partition"}
    files = template.changes({"launch.blocks.0": 8, "launch.values.each.0": 8})
    (source,) = files
    assert files[source] == NUMBERED.replace("16 if", "8 if"), "remarks and all else stay"
    (again,) = (t for p, t in synthesize(operator, "910B4", files).plain().items() if p == source)
    assert again == files[source]
    judge = Evaluator(operator, load_workload(operator), BACKEND)
    before, after = judge.evaluate(Candidate(), 0), judge.evaluate(Candidate(files=files), 1)
    assert before.measurement and after.measurement, after.refusal
    assert [m.cases[0].pipes.block_dim for m in (before.measurement, after.measurement)] == [16, 8]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[16, 1024]", "[16, 512]"),
        ("factor: 2", "factor: 3"),
        ("entry: scale_fp32", "entry: scale_fp16"),
        ("16 if", "-16 if"),
        ("16 if", "16 * 2 if"),
        ("golden: golden.py:scaled\n", ""),
    ],
)
def test_no_candidate_changes_anything_else_of_a_workload(
    tmp_path: Path, old: str, new: str
) -> None:
    operator = load_operator(repository(tmp_path, NUMBERED))
    assert operator.launch is not None
    judge = Evaluator(operator, load_workload(operator), BACKEND)
    files = {operator.launch.source: NUMBERED.replace(old, new, 1)}
    trial = judge.evaluate(Candidate(files=files), 0)
    assert trial.outcome is Outcome.REJECTED
    assert trial.refusal is not None
    assert "more of the workload than the launch's numbers" in trial.refusal.sentence


def test_a_repository_lists_its_launched_kernels(tmp_path: Path) -> None:
    folder = repository(tmp_path, VALUES)
    assert [operator.root for operator in find_operators(tmp_path)] == [folder]
    assert is_launched(folder)
    (folder / "workload.yaml").write_text("cases: []\n")
    assert not is_launched(folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("scale.asc", "scall.asc", "there is no such file"),
        ("../../csrc", "../../../csrc", "no such file"),
        ("entry: scale_fp32", "entry: scale", "it has scale_fp32, scale_fp16, planned, typed"),
        ("entry: scale_fp32\n", "\n", "several kernels"),
        ("csrc/scale.asc", 'csrc/scale".asc', "file name of more than letters"),
        ("    factor: 2", "    'f(); int f': 1\n    factor: 2", "must match pattern"),
        ("blocks: used", "template: ['half>();']\n  blocks: used", "must match pattern"),
        ("blocks: used", "attrs: {a: .inf}\n  blocks: used", "finite"),
        ("    factor: 2\n", "", "lacks 'factor', which scale_fp32 takes as int32_t"),
        ("factor: 2", "factor: 0.5", "is no whole number, but scale_fp32 takes it as int32_t"),
        ("factor: 2", "factor: z.size", "names 'z', no input; inputs are x"),
        ("factor: 2", "factor: each.real", "it may use numbers"),
        ("factor: 2", "factor: (", "which is no expression"),
        ("{y: x}", "{}", "leaves open what the pointer 'y' of scale_fp32 is"),
        ("{y: x}", "{z: x}", "is no parameter of the kernel"),
        ("{y: x}", "{y: z}", "is 'z', no input"),
        ("dtype: float32", "dtype: float33", "no dtype"),
        ("blocks: used", "blocks: used / 2", "is no whole number"),
        ("  - inputs:\n      x:", "  - inputs:\n      factor:", "no tensor that the kernel reads"),
    ],
)
def test_what_does_not_fit_the_kernel_is_said_with_its_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in VALUES
    folder = repository(tmp_path, VALUES.replace(old, new))
    with pytest.raises(InputError) as problem:
        load_workload(load_operator(folder))
    assert said in str(problem.value), problem.value


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("type: Plan, ", "", "needs a type: a pointer says none"),
        (
            "type: Plan",
            "type: Plans",
            "has the type Plans, which the kernel's source and its headers do not",
        ),
        (", shift: 1}}\n    copy", "}}\n    copy", "leaves out shift of Plan"),
        ("shift: 1", "shift: 1, more: 2", "is no field of Plan, which has each, shift"),
        ("fields: {each", "words: [1], fields: {each", "has fields and words"),
    ],
)
def test_a_structure_is_filled_whole_and_with_fields_that_it_has(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in PLANNED
    folder = repository(tmp_path, PLANNED.replace(old, new, 1))
    with pytest.raises(InputError) as problem:
        load_operator(folder)
    assert said in str(problem.value), problem.value


@pytest.mark.parametrize(("words", "fits"), [("[1024, 2, 0x3f800000]", True), ("[1024, 2]", False)])
def test_the_words_of_a_structure_are_all_its_bytes(tmp_path: Path, words: str, fits: bool) -> None:
    fields = '{fields: {each: ["ceil_div(x.size, 4)", 2], shift: 1}}'
    assert fields in PLANNED
    operator = load_operator(repository(tmp_path, PLANNED.replace(fields, f"{{words: {words}}}")))
    trial = Evaluator(operator, load_workload(operator), BACKEND).evaluate(Candidate(), 0)
    assert trial.outcome is (Outcome.OK if fits else Outcome.COMPILE_ERROR), trial.refusal
    assert fits or "too few words" in str(trial.refusal)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("each: x.size // used", "each: x.size // (used - 8)", "launch.values.each"),
        ("each: x.size // used", "each: x.size - 9000", "launch.values.each"),
        ("blocks: used", "blocks: used - 8", "launch.blocks"),
        ("factor: 2", "factor: x.shape[2]", "launch.values.factor"),
    ],
)
def test_a_number_that_a_case_has_no_value_for_is_refused_by_name(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    operator = load_operator(repository(tmp_path, VALUES.replace(old, new)))
    trial = Evaluator(operator, load_workload(operator), BACKEND).evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.LAUNCH_ERROR
    assert trial.refusal is not None
    assert said in f"{trial.refusal.sentence}\n{trial.refusal.evidence}", trial.refusal


def test_a_kernel_outside_of_the_repository_is_not_read(tmp_path: Path) -> None:
    folder = repository(tmp_path / "inner", VALUES)
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "scale.asc").write_text(SCALE)
    text = VALUES.replace("../../csrc", "../../../csrc")
    (folder / "workload.yaml").write_text(text)
    with pytest.raises(InputError, match="outside of its git checkout"):
        load_operator(folder)
    (folder / "workload.yaml").write_text(VALUES)
    (tmp_path / "inner" / "csrc" / "scale.asc").unlink()
    (tmp_path / "inner" / "csrc" / "scale.asc").symlink_to(tmp_path / "csrc" / "scale.asc")
    with pytest.raises(InputError, match="leads out of"):
        load_operator(folder)


def test_a_launched_kernels_source_leads_to_its_frame(tmp_path: Path) -> None:
    repository(tmp_path, VALUES)
    with pytest.raises(InputError, match=r"workload frame .*scale\.asc --out FOLDER"):
        load_operator(tmp_path / "csrc" / "scale.asc")
    with pytest.raises(InputError) as problem:
        load_operator(tmp_path / "csrc" / "parts" / "plan.h")
    assert "workload frame" not in str(problem.value)
