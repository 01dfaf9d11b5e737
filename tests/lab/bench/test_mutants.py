from itertools import islice
from math import prod
from pathlib import Path
from random import Random

import pytest

from ci.model.errors import InputError
from ci.model.workload import TensorCase
from ci.source.discovery import load_operator
from lab.bench.corpus import Operators, candidate_of, read_corpus, witnesses_of, workload_of
from lab.bench.mutants import MOST_ELEMENTS, drawn_cases, smallest_edit, write_mutants
from lab.model.judge import JudgeBenchSettings
from tests.places import OPERATORS

BEFORE = "a\nb\nc\nb\nc\nd\n"


@pytest.mark.parametrize(
    "after",
    [
        "a\nB\nc\nb\nc\nd\n",
        "a\nb\nc\nb\nC\nd\n",
        "a\nc\nb\nc\nd\n",
        "a\nb\nc\nb\nc\nd\ne",
        "x\na\nb\nc\nb\nc\nd\n",
    ],
)
def test_the_smallest_edit_has_one_place_and_gives_the_text(after: str) -> None:
    edit = smallest_edit("f.cpp", BEFORE, after)
    assert edit.old is not None and BEFORE.count(edit.old) == 1
    assert BEFORE.replace(edit.old, edit.new) == after
    assert len(edit.old) < len(BEFORE)


def test_cases_are_drawn_by_the_seed_and_vary_in_lengths_values_and_attributes() -> None:
    operator = load_operator(OPERATORS / "src" / "math" / "axpby")
    workload = workload_of(operator)
    drawn, again, other = (
        list(islice(drawn_cases(operator, workload, Random(seed)), 30)) for seed in (1, 1, 2)
    )
    assert drawn == again != other
    first = [case.inputs[0] for case in drawn]
    tensors = [one for one in first if isinstance(one, TensorCase)]
    assert len({t.shape for t in tensors}) > 8 and len({t.range for t in tensors}) > 2
    assert len({case.attrs["alpha"] for case in drawn}) > 2
    assert max(prod(t.shape) for t in tensors) <= MOST_ELEMENTS
    assert all(case.inputs[0] == case.inputs[1] for case in drawn)  # what belongs together stays so


@pytest.mark.nightly
def test_mutants_are_wrong_where_the_operator_is_right(tmp_path: Path) -> None:
    path = tmp_path / "mutants.yaml"
    settings = JudgeBenchSettings(
        mutate=2, seed=3, write=path, operators=OPERATORS / "src" / "loss" / "hinge_loss"
    )
    told: list[str] = []
    write_mutants(settings, told.append)
    assert told == ["hinge_loss: 2 mutants, 2 in all"]
    assert path.read_text().startswith("# Made by `ascendopt bench judge --mutate 2 --seed 3`.\n")
    entries = read_corpus(path)
    operator = Operators(None).find(entries[0])
    for entry in entries:
        assert entry.attack.truth == "wrong" and candidate_of(entry, operator).files
        shown = "shown by witness" in entry.attack.note
        assert shown == bool(witnesses_of(entry, operator))
    assert any("its own workload" in e.attack.note or e.attack.witness for e in entries)


def test_mutants_need_a_file() -> None:
    with pytest.raises(InputError, match="--write FILE"):
        write_mutants(JudgeBenchSettings(mutate=1), lambda text: None)
