"""What `evaluate` says: of a golden that cannot be asked, of conditions, and of a patch."""

import difflib
import re
import shutil
from pathlib import Path

import pytest

from bot.cli.main import run
from ci.model.trial import Trial
from tests.places import SAMPLE, TOP

pytestmark = pytest.mark.every_level
OPERATORS = TOP / "tests/operators/src"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def other(x):\n    return x\n", "defines no function 'affine_clamp'"),
        ("import not_there\n", "needs the Python package 'not_there'"),
        ("while True: pass\n", "was stopped after"),
    ],
)
def test_a_golden_that_cannot_be_loaded_is_told_before_anything_is_built(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    words: str,
) -> None:
    monkeypatch.setattr("ci.source.golden.LOAD_SECONDS", 2.0)
    place = tmp_path / "affine_clamp"
    shutil.copytree(SAMPLE / "src/math/affine_clamp", place)
    kernel = place / "op_kernel/affine_clamp.cpp"
    kernel.write_text(kernel.read_text() + "this does not compile\n")
    (place / "golden.py").write_text(source)
    assert run(["evaluate", str(place)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (
            ["--conditions", "warm"],
            ["warm", "warm code, inputs in memory", "warm code, dirty cache"],
        ),
        (["--conditions", "both", "--inputs", "l2"], ["warm", "cold code, inputs in L2"]),
        (["--uncertainty"], ["cold", "warm", "cold, over the machine's uncertainty"]),
        ([], []),
    ],
)
def test_the_conditions_that_are_asked_for_are_shown(
    capsys: pytest.CaptureFixture[str], asked: list[str], shown: list[str]
) -> None:
    assert run(["evaluate", str(SAMPLE / "src/math/affine_clamp"), *asked]) == 0
    said = [line.split(":")[0].strip() for line in capsys.readouterr().out.splitlines()]
    for words in shown:
        assert words in said
    if "--uncertainty" not in asked:
        assert len([s for s in said if s.startswith(("cold", "warm"))]) == len(shown) * 2


def test_the_first_condition_that_is_asked_for_is_what_all_figures_are_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = {}
    for state in ("cold", "warm"):
        operator = str(SAMPLE / "src/math/affine_clamp")
        assert run(["evaluate", operator, "--conditions", state, "--json"]) == 0
        said[state] = Trial.model_validate_json(capsys.readouterr().out).measurement
    cold, warm = said["cold"], said["warm"]
    assert cold is not None and warm is not None
    assert (cold.fingerprint.state, warm.fingerprint.state) == ("cold", "warm")
    assert warm.score_us < 0.8 * cold.score_us
    for case in (*cold.cases, *warm.cases):
        first = next(iter(case.members_us.values()))
        assert case.median_us == pytest.approx(first)


def test_a_patch_is_weighed_over_the_machine_s_uncertainty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    operator = SAMPLE / "src/math/affine_clamp"
    kernel = "op_kernel/affine_clamp.cpp"
    before = (operator / kernel).read_text()
    after = before.replace("BUFFER_NUM = 2", "BUFFER_NUM = 1")
    assert after != before
    lines = difflib.unified_diff(
        before.splitlines(True), after.splitlines(True), f"a/{kernel}", f"b/{kernel}"
    )
    patch = tmp_path / "shallow.patch"
    patch.write_text("".join(lines))
    assert run(["evaluate", str(operator), "--patch", str(patch), "--uncertainty"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"before: .* after: .* ratio: \d\.\d+ \(\d.* to \d.*; cold\)", said)
    assert re.search(r"least: \d\.\d+× (in the start state|if) ", said)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "operator",
    [
        "activation/fast_gelu",
        "conversion/transpose_2d",
        "foreach/foreach_scale_add",
        "index/take_positive",
        "matmul/matmul_relu_scale",
        "norm/layer_norm_rows",
        "quant/round_to_int4",
        "reduce/row_mean",
    ],
)
def test_an_operator_of_each_kind_is_right(operator: str) -> None:
    assert run(["evaluate", str(OPERATORS / operator)]) == 0
