"""A benchmark's tasks become rows: right, or with what stops them; a run goes on where it was."""

import subprocess
import sys
from pathlib import Path

import pytest

from ci.model.errors import InputError
from lab.bench.create import measure
from lab.model.create import CreateBenchSettings, CreateRow
from lab.report.created import table

SAMPLE = Path(__file__).parents[3] / "examples" / "sample_repository"

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return {}

def get_inputs():
    return [torch.rand(8, 64)]
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Of a benchmark with two tasks."""
    folder = tmp_path / "benchmark" / "reference" / "activation"
    folder.mkdir(parents=True)
    (folder / "halved.py").write_text(TASK.format("torch.relu(x) * 0.5"))
    (folder / "sorted.py").write_text(TASK.format("torch.sort(x)[0]"))
    return tmp_path / "benchmark"


@pytest.mark.nightly
def test_each_task_has_a_row_and_is_made_once(checkout: Path, tmp_path: Path) -> None:
    settings = CreateBenchSettings(out=tmp_path / "out", elements=1 << 10)
    seen: list[CreateRow] = []
    found = measure(checkout, settings, seen.append)
    halved, other = found.rows
    assert (halved.task, halved.right, halved.compiled) == ("halved", True, True)
    assert halved.varied > 10
    assert halved.microseconds > halved.floor_us > 0
    assert not other.traced
    assert "sort" in other.said
    assert (tmp_path / "out" / "activation" / "halved" / "op_kernel").is_dir()
    text = table(found)
    assert "| activation | 2 | 1 | 1 | 1 |" in text
    assert "- activation/sorted:" in text
    again = measure(checkout, settings, seen.append)
    assert again == found
    assert len(seen) == 2


@pytest.mark.nightly
def test_a_program_without_a_guard_runs_the_bench_once(checkout: Path, tmp_path: Path) -> None:
    """As console scripts of some installers are, which a spawned process would run again."""
    (checkout / "reference" / "activation" / "halved.py").unlink()
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from lab.bench.create import measure\n"
        "from lab.model.create import CreateBenchSettings\n"
        f"settings = CreateBenchSettings(out=Path({str(tmp_path / 'out')!r}))\n"
        f"found = measure(Path({str(checkout)!r}), settings, lambda row: None)\n"
        "print(len(found.rows), 'row')\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.stdout == "1 row\n", done.stderr


@pytest.mark.nightly
def test_a_golden_of_an_operator_is_held_against_it(tmp_path: Path) -> None:
    golden = SAMPLE / "src" / "math" / "affine_clamp" / "golden.py"
    lonely = tmp_path / "some.py"
    lonely.write_text(golden.read_text() + "\n\ndef nobody_has_me(x):\n    return x + 1\n")
    settings = CreateBenchSettings(
        out=tmp_path / "out", repository=SAMPLE, workloads=SAMPLE, category="some"
    )
    found = measure(lonely, settings, lambda row: None)
    assert found.pairs
    pair, alone = found.rows
    assert pair.right and pair.by_hand_us and pair.microseconds > pair.floor_us > 0
    assert pair.shapes == "fp16_512x1024, fp32_100003"
    assert "has no operator nobody_has_me" in alone.said
    text = table(found)
    assert f"| {pair.microseconds / pair.by_hand_us:.2f} |" in text
    assert "- nobody_has_me:" in text


@pytest.mark.long
def test_goldens_need_a_repository_to_be_held_against(tmp_path: Path) -> None:
    golden = SAMPLE / "src" / "math" / "affine_clamp" / "golden.py"
    with pytest.raises(InputError, match="--repository"):
        measure(golden, CreateBenchSettings(out=tmp_path / "out"), lambda row: None)


def test_a_folder_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no task at"):
        measure(tmp_path, CreateBenchSettings(out=tmp_path / "out"), lambda row: None)
