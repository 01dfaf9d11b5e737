"""Template kernels whose tiling sets the key itself."""

from __future__ import annotations

from pathlib import Path

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.ci.judge.test_in_place import HOST, KERNEL, write

DECLARATION = """
#include "ascendc/host_api/tiling/template_argument.h"
ASCENDC_TPL_ARGS_DECL(DoubleIt, ASCENDC_TPL_UINT_DECL(mode, 1, ASCENDC_TPL_UI_LIST, 0, 1));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(mode, ASCENDC_TPL_UI_LIST, 0, 1)));
"""


def test_the_key_is_the_value_of_a_single_template_argument(tmp_path: Path) -> None:
    kernel = KERNEL.replace(
        'extern "C" __global__', "template <uint32_t mode>\n__global__"
    ).replace("FORMAT_X == FORMAT_NHWC ? 3.0f : 2.0f", "2.0f + 3.0f * mode")
    assert "template <uint32_t mode>" in kernel and "* mode" in kernel
    root = tmp_path / "src" / "math" / "double_it"
    for side, text in (("op_host", HOST), ("op_kernel", DECLARATION + kernel)):
        (root / side).mkdir(parents=True)
        (root / side / "double_it.cpp").write_text(text)
    operator = load_operator(root)
    (tmp_path / "w").mkdir()
    workload = load_workload(operator, write(tmp_path / "w", factor=5))  # the tiling sets key 1
    trial = Evaluator(operator, workload, make_backend("sim", "910B4")).evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.evidence
