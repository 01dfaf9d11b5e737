"""The bank's file: banks of the first layout, and the index kept beside large ones."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from experience.bank import bank as bank_module
from experience.bank.bank import Bank
from experience.bank.embed import embed
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
