"""A generator's right, subtly wrong and cheating answers are judged as each should be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.model.errors import InputError
from lab.bench.create import measure as create
from lab.bench.generators import measure
from lab.model.create import CreateBenchSettings
from lab.model.generators import AnswerRow, GeneratorsSettings
from lab.report.generators import table
from tests.lab.bench.test_create import TASK

NAMES = ("right", "wrong", "cheating", "missing", "broken")


def changed(folder: Path, side: str, old: str, new: str) -> None:
    file = next(p for p in sorted((folder / side).glob("*.cpp")) if old in p.read_text())
    file.write_text(file.read_text().replace(old, new))


@pytest.mark.nightly
def test_answers_are_judged_as_they_should_be(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks" / "activation"
    tasks.mkdir(parents=True)
    for name in NAMES:
        (tasks / f"{name}.py").write_text(TASK.format("torch.relu(x) * 0.5"))
    made = CreateBenchSettings(out=tmp_path / "made", elements=1 << 10)
    create(tasks / "right.py", made, lambda row: None)
    answers = tmp_path / "answers"
    for name in NAMES[:3]:
        shutil.copytree(tmp_path / "made" / "activation" / "right", answers / name)
    changed(answers / "wrong", "op_kernel", "0.5", "0.501")
    cheat = next((answers / "cheating" / "op_kernel").glob("*.cpp"))
    cheat.write_text("#include <fstream>\n" + cheat.read_text())
    (answers / "broken.txt").write_text("no python (")
    given = {"answers": answers, "out": tmp_path / "out", "elements": 1 << 10}
    settings = GeneratorsSettings(**given, against=tmp_path / "made")
    seen: list[AnswerRow] = []
    found = measure(tmp_path / "tasks", settings, seen.append)
    rows = {row.task: row for row in found.rows}
    assert {name: row.right for name, row in rows.items()} == {n: n == "right" for n in NAMES}
    assert rows["right"].varied > 10
    assert rows["right"].fast(1.0)
    assert rows["wrong"].outcome == "wrong_result"
    assert rows["wrong"].compiled
    assert (rows["cheating"].outcome, rows["cheating"].gate) == ("rejected", "guard")
    assert rows["missing"].outcome == "no answer"
    assert "no Python text" in rows["broken"].said
    assert "| activation | 5 | 3 |" in table(found)
    again = measure(tmp_path / "tasks", settings, seen.append)
    assert again == found
    judged = [row.task for row in seen]
    assert judged.count("right") == judged.count("cheating") == 1


def test_a_folder_without_answers_is_a_sentence(tmp_path: Path) -> None:
    settings = GeneratorsSettings(answers=tmp_path / "none", out=tmp_path / "out")
    with pytest.raises(InputError, match="no folder of answers"):
        measure(tmp_path, settings, lambda row: None)
    (tmp_path / "none").mkdir()
    against = settings.model_copy(update={"against": tmp_path})
    with pytest.raises(InputError, match="holds no rows.jsonl"):
        measure(tmp_path, against, lambda row: None)
