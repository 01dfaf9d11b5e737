"""The small example of the whole method."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import EXAMPLES, SAMPLE

MINI = EXAMPLES / "mini.py"
OPERATOR = SAMPLE / "src" / "activation" / "silu_gate"


def test_the_example_stays_small() -> None:
    assert len(MINI.read_text().splitlines()) <= 300


@pytest.mark.nightly
def test_it_finds_a_faster_program_has_it_verified_and_keeps_what_it_learnt(tmp_path: Path) -> None:
    command = [sys.executable, str(MINI), str(OPERATOR), "--budget", "7", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("SiluGate: at least 1.")
    lessons = [json.loads(line) for line in (tmp_path / "lessons.jsonl").read_text().splitlines()]
    assert lessons and all(one["gain"] > 1 and one["bottleneck"] for one in lessons)
    assert lessons[0]["diff"].startswith("--- a/op_")
    assert (tmp_path / "verified" / "result.json").is_file()
