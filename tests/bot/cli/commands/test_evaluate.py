"""What `evaluate` says of a golden function that cannot be asked."""

import shutil
from pathlib import Path

import pytest

from bot.cli.main import run
from tests.places import SAMPLE


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
        (["--conditions", "warm"], ["warm", "warm code, inputs in memory"]),
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
