"""Files of rows that somebody else made, or damaged."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from ci.model.errors import InputError
from ci.proposer.llm.call_log import read_calls
from ci.system.trial_store import TrialStore


def rows(*statements: str) -> Callable[[Path], object]:
    """A file of SQLite, as a run leaves it, with something done to it."""

    def make(path: Path) -> None:
        with TrialStore(path):
            read_calls(path)
        with closing(sqlite3.connect(path)) as db:
            for statement in statements:
                db.execute(statement)
            db.commit()

    return make


def damaged(path: Path) -> None:
    rows("INSERT INTO run VALUES ('operator', '1')")(path)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))


CALL: Final = (
    "INSERT INTO calls (number, trial, role, model, endpoint, key, repair, outcome, prompt, answer,"
    " error, tokens_in, tokens_cached, tokens_out, tokens_unsaid, seconds) VALUES (1, {0}, 'x',"
    " 'm', 'e', 'k', {0}, {0}, 'p', {0}, 'e', {0}, 0, {0}, 0, 0)"
)
TRIAL: Final = (
    "INSERT INTO trials (number, hash, parent, stage, outcome, seconds, trial)"
    " VALUES (1, 'a', '', 'b', 'c', 0, {})"
)
FILES: Final[dict[str, Callable[[Path], object]]] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "no database": lambda path: path.write_bytes(b"{" * 5000),
    "a head alone": lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000),
    "damaged": damaged,
    "other columns": rows(
        *("DROP TABLE calls", "CREATE TABLE calls (a)"),
        *("DROP TABLE trials", "CREATE TABLE trials (a)"),
    ),
    "views": rows(
        *("DROP TABLE calls", "CREATE VIEW calls AS SELECT 1 AS a"),
        *("DROP TABLE trials", "CREATE VIEW trials AS SELECT 1 AS a"),
    ),
    "rows of bytes": rows(TRIAL.format("zeroblob(9)"), CALL.format("zeroblob(9)")),
    "rows of words": rows(TRIAL.format("'[]'"), CALL.format("'words'")),
    "rows without bottom": rows(
        TRIAL.format("replace(hex(zeroblob(100000)), '0', '[')"), CALL.format("'words'")
    ),
    "numbers without end": rows(TRIAL.format("9e999"), CALL.format("9e999")),
}


def trials(path: Path) -> object:
    with TrialStore(path) as store:
        return store.identity(), store.trials(), store.remembered()


@pytest.mark.parametrize("read", [trials, read_calls])
@pytest.mark.parametrize("made", FILES)
def test_no_file_in_place_of_a_runs_is_anything_but_a_sentence(
    made: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "trials.sqlite"
    FILES[made](path)
    with pytest.raises(InputError, match="trials.sqlite is not"):
        read(path)


@pytest.mark.parametrize("value", ["x'ff'", "'{'", "5"])
def test_what_a_run_is_about_is_read_or_said_to_be_none(value: str, tmp_path: Path) -> None:
    path = tmp_path / "trials.sqlite"
    rows(f"INSERT INTO run VALUES ('operator', {value})")(path)
    try:
        assert trials(path)
    except InputError as problem:
        assert "is not the record of a run" in str(problem)


FOREIGN: Final = {
    "another's": ("CREATE TABLE notes (body TEXT)", "INSERT INTO notes VALUES ('mine')"),
    "another's, in WAL": ("PRAGMA journal_mode=WAL", "CREATE TABLE notes (body TEXT)"),
    "another's with a table of that name": (
        "CREATE TABLE trials (a)",
        "CREATE TABLE calls (a)",
        "CREATE TABLE run (a)",
    ),
    "another's views alone": ("CREATE VIEW notes AS SELECT 1 AS a",),
    "an empty one of another program": ("PRAGMA application_id=7", "PRAGMA user_version=3"),
}


@pytest.mark.parametrize("read", [trials, read_calls])
@pytest.mark.parametrize("made", FOREIGN)
def test_a_file_of_another_program_stays_as_it_was_to_the_byte(
    made: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "trials.sqlite"
    with closing(sqlite3.connect(path)) as db:
        for statement in FOREIGN[made]:
            db.execute(statement)
            db.commit()
    before = path.read_bytes()
    with pytest.raises(InputError, match="trials.sqlite is not"):
        read(path)
    assert path.read_bytes() == before
    left = {one.name: one.stat().st_size for one in tmp_path.iterdir() if one != path}
    assert not any(size for name, size in left.items() if name.endswith("-wal"))


def test_a_file_of_ours_from_before_there_was_a_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trials.sqlite"
    rows("PRAGMA application_id=0", "DROP TABLE calls")(path)
    with TrialStore(path):
        assert read_calls(path) == []
