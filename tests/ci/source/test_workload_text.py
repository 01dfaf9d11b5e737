"""A workload that was written reads back as what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.source.workload_text import workload_text
from tests.places import OPERATORS, SAMPLE

ALL = sorted(file.parent for top in (OPERATORS, SAMPLE) for file in top.rglob("workload.yaml"))


@pytest.mark.parametrize("folder", ALL, ids=lambda folder: folder.name)
def test_every_shipped_workload_reads_back(folder: Path, tmp_path: Path) -> None:
    operator = load_operator(folder)
    before = load_workload(operator)
    text = workload_text(operator, before, ["A remark."], tmp_path)
    (tmp_path / "workload.yaml").write_text(text)
    after = load_workload(operator, tmp_path / "workload.yaml")
    assert text.startswith("# A remark.\n")
    assert after.model_copy(update={"folder": before.folder, "golden": before.golden}) == before
    if before.golden:
        told, function = after.golden.rsplit(":", 1)
        assert before.golden.endswith(f":{function}")
        assert (tmp_path / told).resolve() == (
            before.folder / before.golden.split(":")[0]
        ).resolve()
