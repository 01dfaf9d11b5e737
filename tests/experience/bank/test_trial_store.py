from pathlib import Path

import duckdb
import pytest

from ci.model.errors import InputError
from ci.model.trial import Candidate, Evidence, Outcome, Trial
from experience.bank.trial_store import TrialStore


def trial(number: int) -> Trial:
    return Trial(
        number=number,
        candidate=Candidate(files={"op_kernel/a.cpp": f"// {number}"}, stage="kernel"),
        outcome=Outcome.RACE,
        evidence=Evidence(message="A race.", file="op_kernel/a.cpp", line=3),
        seconds=0.5,
    )


def test_a_trial_comes_back_as_it_was(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.duckdb")
    store.append(trial(1), 2)
    assert store.trials() == (trial(1),)


def test_trials_come_back_by_number_from_a_store_opened_anew(tmp_path: Path) -> None:
    for number in (2, 0, 1):
        TrialStore(tmp_path / "t.duckdb").append(trial(number), 1)
    assert [t.number for t in TrialStore(tmp_path / "t.duckdb").trials()] == [0, 1, 2]


def test_two_runs_in_one_folder_are_told_so(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.duckdb")
    store.append(trial(1), 1)
    with pytest.raises(InputError, match="Another run writes"):
        store.append(trial(1), 1)


def test_others_can_read_between_two_trials(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.duckdb")
    store.append(trial(1), 1)
    with duckdb.connect(str(tmp_path / "t.duckdb"), read_only=True) as reader:
        row = reader.execute("SELECT number, outcome, stage, round FROM trials").fetchone()
    assert row == (1, "race", "kernel", 1)
    store.append(trial(2), 1)


def test_a_run_is_recognised_by_its_identity(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.duckdb")
    store.identify({"operator": "add", "seed": 1})
    store.identify({"operator": "add", "seed": 1})
    with pytest.raises(InputError, match="its seed was 1, now it is 2"):
        store.identify({"operator": "add", "seed": 2})


def test_what_a_step_retrieved_is_kept_even_when_it_was_nothing(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.duckdb")
    assert store.retrieval(1, 0) is None
    store.keep_retrieval(1, 0, ())
    assert store.retrieval(1, 0) == ()
