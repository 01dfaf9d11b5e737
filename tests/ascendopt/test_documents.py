"""The page of the Python names is current, and its examples and the notebook run."""

from __future__ import annotations

import json
import re
from difflib import unified_diff
from pathlib import Path

import pytest

from ascendopt import reference
from tests.places import EXAMPLES, SAMPLE, TOP

PAGE = TOP / "docs" / reference.PAGE
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)

TILING = "op_host/affine_clamp.cpp"


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == reference.page(), "run `make docs`"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the paths of the examples mean something."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    operator = SAMPLE / "src" / "math" / "affine_clamp"
    (tmp_path / "path" / "to").mkdir(parents=True)
    (tmp_path / "path" / "to" / "operator").symlink_to(operator)
    old = (operator / TILING).read_text()
    new = old.replace("TILE_BYTES = 4096", "TILE_BYTES = 8192")
    lines = (old.splitlines(keepends=True), new.splitlines(keepends=True))
    patch = unified_diff(*lines, f"a/{TILING}", f"b/{TILING}")
    (tmp_path / "faster.patch").write_text("".join(patch))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.nightly
def test_every_example_of_the_page_runs(folder: Path) -> None:
    examples = CODE.findall(PAGE.read_text())
    # The example that loads an operator comes first; others go on with it.
    examples.sort(key=lambda text: "ascendopt.load(" not in text)
    assert len(examples) >= 4
    names: dict[str, object] = {}
    exec("import ascendopt", names)
    for number, example in enumerate(examples):
        file = folder / f"example_{number}.py"  # a function's text is read from its file
        file.write_text(example)
        exec(compile(example, str(file), "exec"), names)


@pytest.mark.nightly
def test_the_notebook_runs(folder: Path) -> None:
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text())["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            exec("".join(cell["source"]), names)
    assert (folder / "ascendopt-out" / "affine_clamp" / "report.md").is_file()
