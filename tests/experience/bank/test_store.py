"""The bank's file: banks of the first layout, and the index kept beside large ones."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pytest

from ci.model.errors import EnvironmentProblem, InputError
from experience.bank import bank as bank_module
from experience.bank import store
from experience.bank.bank import Bank
from experience.bank.embed import embed
from experience.bank.exchange import open_default_bank
from experience.bank.retrieve import Query
from tests.experience.make import make_tuple

FIRST_LAYOUT = """
CREATE TABLE tuples (
  id VARCHAR PRIMARY KEY, title VARCHAR NOT NULL, description VARCHAR NOT NULL,
  bottleneck VARCHAR NOT NULL, classes VARCHAR[] NOT NULL, diff VARCHAR NOT NULL,
  diff_hash VARCHAR NOT NULL, rule_id VARCHAR NOT NULL, op_family VARCHAR NOT NULL,
  dtype VARCHAR NOT NULL, soc VARCHAR NOT NULL, direction VARCHAR NOT NULL,
  evidence JSON NOT NULL, operator VARCHAR NOT NULL, source_commit VARCHAR NOT NULL,
  fingerprint JSON NOT NULL, status VARCHAR NOT NULL, created TIMESTAMP NOT NULL,
  embedding FLOAT[320] NOT NULL, embedding_model VARCHAR NOT NULL,
  UNIQUE (diff_hash, op_family, soc));
CREATE TABLE credits (tuple_id VARCHAR NOT NULL, won BOOLEAN NOT NULL,
  credited TIMESTAMP NOT NULL);
"""


def test_a_bank_of_the_first_layout_is_carried_over_with_all_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "bank.duckdb"
    old = [make_tuple(1), make_tuple(2, status="retired")]
    with duckdb.connect(str(path)) as db:
        db.execute(FIRST_LAYOUT)
        for t in old:
            row = [t.id, t.title, t.description, t.bottleneck, list(t.classes), t.diff, t.diff_hash,
                   t.motif_id, t.op_family, t.dtype, t.soc, t.direction,
                   t.evidence.model_dump_json(), t.operator, t.source_commit,
                   t.fingerprint.model_dump_json(), t.status, t.created.replace(tzinfo=None),
                   embed(t.bottleneck, t.classes).tolist(), "hashed-ngrams-v1"]  # fmt: skip
            db.execute(f"INSERT INTO tuples VALUES ({', '.join('?' * 20)})", row)
        db.execute("INSERT INTO credits VALUES (?, true, now()::TIMESTAMP)", [old[0].id])
    bank = Bank(path)
    assert [(t.id, t.status, t.uses, t.wins) for t in bank.all()] == [
        (old[0].id, "verified", 1, 1),
        (old[1].id, "retired", 0, 0),
    ]
    assert bank.get(old[0].id).model_copy(update={"uses": 0, "wins": 0}) == old[0]
    assert bank.add(make_tuple(3)) and not bank.add(make_tuple(1))
    found = bank.search(Query(bottleneck=old[0].bottleneck, classes=old[0].classes))
    assert {r.tuple.id for r in found} == {old[0].id, make_tuple(3).id}


def test_a_bank_that_calls_a_motif_a_rule_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "bank.duckdb"
    one = make_tuple(1, motif_id="cache_hint")
    Bank(path).add(one)
    with duckdb.connect(str(path)) as db:
        db.execute("ALTER TABLE tuples RENAME COLUMN motif_id TO rule_id")
    bank = Bank(path)
    assert bank.all() == [one]
    assert bank.add(make_tuple(2)) and not bank.add(one)


def test_an_index_beside_the_bank_answers_like_the_bank_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bank.duckdb"
    Bank(path).add_all([make_tuple(n, motif_id=f"rule{n % 4}") for n in range(12)])
    query = Query(bottleneck="the vector pipe waits for copies, variant 7")
    plain = Bank(path).search(query)
    monkeypatch.setattr(bank_module, "SIDECAR_ROWS", 5)
    assert Bank(path).search(query) == plain
    beside = tmp_path / "bank.duckdb.index"
    assert len(list(beside.iterdir())) == 2
    assert Bank(path).search(query) == plain  # mapped this time
    Bank(path).retire(plain[0].tuple.id)
    after = Bank(path).search(query)
    assert plain[0].tuple.id not in {r.tuple.id for r in after}
    assert len(list(beside.iterdir())) == 2, "the index of the earlier content was left behind"
    with np.load(file := next(beside.glob("*.npz"))) as held:
        arrays = {name.replace("motif", "rule"): held[name] for name in held.files}
    np.savez(file, **arrays)  # as another version names them
    assert Bank(path).search(query) == after
    next(beside.glob("*.npy")).write_bytes(b"torn")
    assert Bank(path).search(query) == after


def of_a_view(path: Path) -> None:
    """A bank in which another file stands for one of the tables."""
    Bank(path).add(make_tuple(1))
    (path.parent / "secret.csv").write_text("s3cret,true\n")
    with duckdb.connect(str(path)) as db:
        db.execute("DROP TABLE credits")
        db.execute(
            "CREATE VIEW credits AS SELECT column0 AS tuple_id, column1 AS won FROM"
            f" read_csv('{path.parent}/secret.csv', header = false)"
        )


def of_odd_rows(path: Path) -> None:
    Bank(path).add(make_tuple(1))
    with duckdb.connect(str(path)) as db:
        db.execute("UPDATE tuples SET evidence = '{}'")


def of_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE tuples (id)")


def of_other_columns(path: Path) -> None:
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE tuples (a INTEGER)")


def of_another_program(path: Path) -> None:
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE people (a INTEGER)")


@pytest.mark.parametrize("name", ["bank.duckdb", "bank.duckdb.wal"])
def test_a_pipe_in_the_place_of_a_bank_keeps_nobody_waiting(tmp_path: Path, name: str) -> None:
    if name.endswith(".wal"):
        Bank(tmp_path / "bank.duckdb").add(make_tuple(1))
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name} is no file"):
        Bank(tmp_path / "bank.duckdb").all()


@pytest.mark.parametrize(
    "make", [of_a_view, of_odd_rows, of_sqlite, of_other_columns, of_another_program]
)
def test_a_file_that_is_no_bank_is_a_sentence_and_leads_to_no_other_file(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "bank.duckdb")
    bank = Bank(tmp_path / "bank.duckdb")
    with pytest.raises(InputError, match="is not an experience bank that can be read") as refused:
        bank.all()
    assert "s3cret" not in str(refused.value) and "download" not in str(refused.value)


def test_a_database_of_another_program_is_neither_changed_nor_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    of_another_program(path)
    for begin in (open_default_bank, lambda place: Bank(place).add(make_tuple(1))):
        with pytest.raises(InputError, match="with tables of its own"):
            begin(path)
    with duckdb.connect(str(path)) as db:
        assert db.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("people",)]


def test_a_bank_that_another_process_holds_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = Bank(tmp_path / "bank.duckdb")
    bank.add(make_tuple(1))
    monkeypatch.setattr(store, "LOCK_PATIENCE_SECONDS", 0.1)
    holder = (
        "import duckdb, sys; db = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", holder, str(bank.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline()
        with pytest.raises(EnvironmentProblem, match="Another process has held"):
            bank.all()
        process.communicate(b"\n")


def test_the_vectors_of_an_empty_bank_are_none(tmp_path: Path) -> None:
    tuples, vectors = Bank(tmp_path / "bank.duckdb").vectors()
    assert not tuples and not len(vectors)
