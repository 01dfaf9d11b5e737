"""A kernel that reads its tiling data where they lie, by the toolkit's word for such a pointer."""

import shutil
from pathlib import Path

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

CHANGES = {
    "GM_ADDR y, const BiasAddTilingData& tiling)\n    {\n": (
        "GM_ADDR y, __tiling_data_ptr__ BiasAddTilingData* given)\n    {\n"
        "        const BiasAddTilingData tiling = *given;\n"
    ),
    "GET_TILING_DATA(tilingData, tiling);": (
        "GET_TILING_DATA_PTR_WITH_STRUCT(BiasAddTilingData, tilingData, tiling);"
    ),
}


def test_a_function_takes_the_pointer_to_the_tiling_data_as_the_macro_gives_it(
    tmp_path: Path,
) -> None:
    root = tmp_path / "bias_add"
    shutil.copytree(OPERATORS / "src" / "math" / "bias_add", root)
    kernel = root / "op_kernel" / "bias_add.cpp"
    text = kernel.read_text()
    for old, new in CHANGES.items():
        assert old in text
        text = text.replace(old, new)
    kernel.write_text(text)
    operator = load_operator(root)
    evaluator = Evaluator(operator, load_workload(operator), make_backend("sim", "910B4"))
    trial = evaluator.evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.refusal
