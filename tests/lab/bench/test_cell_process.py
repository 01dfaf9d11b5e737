"""A cell's process: its answer and its death."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from ci.model.errors import EnvironmentProblem, InputError, ModelUnavailable
from lab.bench.cell_process import LOG, Answer, in_process
from lab.model.strategies import Cell
from tests.lab.bench.made import cell


@dataclass(frozen=True)
class Pretended:
    """Does in the process what its `end` says."""

    folder: Path
    end: str

    def make(self) -> Cell:
        print("A golden function prints.")
        if self.end == "dies":
            os._exit(7)
        if self.end == "lacks":
            raise EnvironmentProblem("There is no compiler.")
        if self.end == "stops":
            raise ModelUnavailable("The model is gone.")
        if self.end == "sleeps":
            (self.folder / "pid").write_text(str(os.getpid()))
            time.sleep(300)
        if self.end == "breaks":
            raise RuntimeError("oh")
        if self.end != "works":
            raise InputError(self.end)
        return cell("a", "ours", 0, 2.0)


def test_the_cell_comes_back_whatever_the_run_prints(tmp_path: Path) -> None:
    assert in_process(Pretended(tmp_path, "works")) == Answer(cell=cell("a", "ours", 0, 2.0))
    assert "A golden function prints." in (tmp_path / LOG).read_text()


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("its golden is missing", "its golden is missing"),
        ("breaks", "A defect of ours: RuntimeError: oh"),
        ("dies", "ended with code 7"),
        ("stops", "The model is gone."),
    ],
)
def test_what_goes_wrong_is_a_sentence(tmp_path: Path, end: str, said: str) -> None:
    answer = in_process(Pretended(tmp_path, end))
    assert said in answer.reason and answer.cell is None
    assert answer.operators_fault == (end == said)


def test_a_machine_that_lacks_something_ends_the_bench(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="There is no compiler"):
        in_process(Pretended(tmp_path, "lacks"))
