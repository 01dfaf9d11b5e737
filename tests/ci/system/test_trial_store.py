import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome, Place, Refusal, Trial
from ci.system.trial_store import TrialStore, set_aside
from tests.places import TOP


def trial(number: int) -> Trial:
    return Trial(
        number=number,
        candidate=Candidate(files={"op_kernel/a.cpp": f"// {number}"}, stage="kernel"),
        outcome=Outcome.RACE,
        refusal=Refusal(sentence="A race.", place=Place(file="op_kernel/a.cpp", line=3)),
        seconds=0.5,
    )


def test_a_trial_comes_back_as_it_was(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.sqlite")
    store.append(trial(1))
    assert store.trials() == (trial(1),)


def test_trials_come_back_by_number_from_a_store_opened_anew(tmp_path: Path) -> None:
    for number in (2, 0, 1):
        TrialStore(tmp_path / "t.sqlite").append(trial(number))
    assert [t.number for t in TrialStore(tmp_path / "t.sqlite").trials()] == [0, 1, 2]


def test_two_runs_in_one_folder_are_told_so(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.sqlite")
    store.append(trial(1))
    with pytest.raises(InputError, match="Another run writes"):
        store.append(trial(1))


def test_two_writers_number_their_trials_without_meeting(tmp_path: Path) -> None:
    def write() -> None:
        for _ in range(10):
            with TrialStore(tmp_path / "trials.sqlite") as store:
                store.append_next(trial(7))

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(write) for _ in range(2)]:
            done.result()
    with TrialStore(tmp_path / "trials.sqlite") as store:
        assert [one.number for one in store.trials()] == [*range(20)]


def test_others_can_read_while_a_run_goes_on(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.sqlite")
    store.append(trial(1))
    reader = sqlite3.connect(tmp_path / "t.sqlite")
    row = reader.execute("SELECT number, outcome, stage FROM trials").fetchone()
    assert row == (1, "race", "kernel")
    store.append(trial(2))
    assert reader.execute("SELECT count(*) FROM trials").fetchone() == (2,)
    reader.close()


def test_a_run_is_recognised_by_its_identity(tmp_path: Path) -> None:
    store = TrialStore(tmp_path / "t.sqlite")
    store.identify({"operator": "add", "seed": 1})
    store.identify({"operator": "add", "seed": 1})
    with pytest.raises(InputError, match="its seed was 1, now it is 2"):
        store.identify({"operator": "add", "seed": 2})


def test_what_is_remembered_first_stays_even_when_it_is_nothing(tmp_path: Path) -> None:
    with TrialStore(tmp_path / "t.sqlite") as store:
        assert store.recall("retrieval 1.0") is None
        store.remember("retrieval 1.0", "")
        store.remember("retrieval 1.0", "something else")
        assert store.recall("retrieval 1.0") == ""
        assert store.remembered() == {"retrieval 1.0": ""}


def test_a_file_of_another_kind_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "t.sqlite").write_text("these are no trials, but long enough to be read as some")
    with pytest.raises(InputError, match="is not the record of a run: file is not a database"):
        TrialStore(tmp_path / "t.sqlite")


def test_a_closed_store_is_one_file_that_holds_everything(tmp_path: Path) -> None:
    with TrialStore(tmp_path / "t.sqlite") as store, TrialStore(tmp_path / "t.sqlite"):
        store.append(trial(0))
    (tmp_path / "copy").mkdir()
    (tmp_path / "t.sqlite").rename(tmp_path / "copy" / "t.sqlite")
    with TrialStore(tmp_path / "copy" / "t.sqlite") as copy:
        assert copy.trials() == (trial(0),)


_KILLED = """
import os, signal, sys
from pathlib import Path
from ci.system.trial_store import TRIALS_FILE, TrialStore
from tests.ci.system.test_trial_store import trial

store = TrialStore(Path(sys.argv[1]) / TRIALS_FILE)
for number in range(3):
    store.append(trial(number))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_is_lost_by_a_kill_and_what_is_set_aside_holds_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KILLED, str(tmp_path)]
    assert subprocess.run(command, cwd=TOP, check=False).returncode == -signal.SIGKILL
    assert set_aside(tmp_path)
    assert not set_aside(tmp_path)
    with TrialStore(tmp_path / "trials.0.sqlite") as kept:
        assert kept.trials() == tuple(trial(n) for n in range(3))
