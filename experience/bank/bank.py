"""The bank: one DuckDB file of experience tuples, opened for one short transaction at a time.

DuckDB lets no second process open a file that a writer holds, not even to read, so a connection
lives for one call only and a locked file is tried again with backoff.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np

from ci.model.amount import amount
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.trial import Fingerprint
from experience.bank import store
from experience.bank.embed import Embedder, Vector
from experience.bank.embedders import make_embedder
from experience.bank.index import SIDECAR_ROWS, Index
from experience.bank.retrieve import Query, Retrieved, choose, order, record, told
from experience.bank.tuple import EffectEvidence, ExperienceTuple, Neighbour

BATCH = 500
"""Tuples embedded at once by `reembed`."""


class BankStats(Frozen):
    """Counts over a bank, each from the most to the least frequent."""

    tuples: int
    by_status: dict[str, int]
    by_direction: dict[str, int]
    by_motif: dict[str, int]
    by_class: dict[str, int]
    by_family: dict[str, int]
    operators: int
    trajectories: int
    uses: int
    wins: int
    embedding_model: str
    dimensions: int


class Bank:
    """A file of experience tuples; safe to use from several processes at once."""

    def __init__(
        self, path: Path, *, must_exist: bool = False, embedder: Embedder | None = None
    ) -> None:
        """Nothing is opened yet; raises `InputError` when `path` cannot be a bank.

        `embedder` must be the one that the bank's vectors come from; by default the one that the
        environment names (`ASCENDOPT_EMBEDDER`), else hashed n-grams.
        """
        if must_exist and not path.exists():
            raise InputError(
                f"There is no bank at {path}; fill one with 'ascendopt bank rewind OPERATOR'."
            )
        if path.is_dir():
            raise InputError(f"The bank {path} is a folder; give the path of a DuckDB file.")
        if not path.parent.is_dir():
            raise InputError(f"The bank's folder {path.parent} does not exist; create it first.")
        self.path = path
        self._file = store.File(path)
        self._embedder = embedder
        self._index: tuple[str, Index] | None = None

    @property
    def embedder(self) -> Embedder:
        """What makes this bank's vectors."""
        if self._embedder is None:
            self._embedder = make_embedder()
        return self._embedder

    def add(self, new: ExperienceTuple) -> bool:
        """Store a tuple; False when an equal one (diff, family, SoC) is there already."""
        return self.add_all([new]) == 1

    def add_all(self, tuples: Sequence[ExperienceTuple]) -> int:
        """Store tuples in one transaction; how many of them were new."""
        if not tuples:
            return 0
        tuples = _first_of_equals(tuples)
        vectors = self._embed(tuples)  # before the transaction: an endpoint may take its time

        def insert(db: duckdb.DuckDBPyConnection) -> int:
            self._check_model(db, vectors.shape[1])
            new = store.insert(db, tuples)
            store.keep_vectors(
                db,
                self.embedder.model,
                [(t.id, v.tolist()) for t, v in zip(tuples, vectors, strict=True) if t.id in new],
            )
            if new:
                store.touch(db)
            return len(new)

        return self._file.write(insert)

    def get(self, tuple_id: str) -> ExperienceTuple:
        """The tuple with this id (or the only one whose id starts so); raises `InputError`."""
        found = self._read("WHERE starts_with(t.id, ?) ORDER BY t.id LIMIT 2", [tuple_id])
        if not found or not tuple_id:
            raise InputError(f"The bank {self.path} holds no tuple {tuple_id!r}.")
        if len(found) > 1 and found[0].id != tuple_id:
            raise InputError(f"Several tuples start with {tuple_id!r}; give more of the id.")
        return found[0]

    def all(self) -> list[ExperienceTuple]:
        """Every tuple, the oldest first."""
        return self._read("ORDER BY t.created, t.id", [])

    def search(self, query: Query, k: int = 5) -> list[Retrieved]:
        """The k tuples that best answer the query, then up to k negatives on such bottlenecks.

        A motif comes at most once in each part; retired tuples never. Titles are searched as
        bottlenecks are, except by who tries motifs: it knows their names.
        """
        vector = self.embedder.embed([(query.bottleneck, query.classes)])[0]

        def find(db: duckdb.DuckDBPyConnection) -> list[Retrieved]:
            index = self._up_to_date(db, len(vector))
            if not len(index.ids):
                return []
            index.credited(store.credits(db))
            similarity: Vector = index.vectors @ vector
            found = record(index, similarity)
            alike = similarity
            if query.by == "likeness":
                alike = np.maximum(similarity, index.titled_like(query.bottleneck))
            score = order(index, query, alike, found)
            rows = choose(index, score, ~index.negative, k)
            rows += choose(index, score, index.negative, k)
            ids = [str(index.ids[r]) for r in rows]
            held = {t.id: t for t in store.of_ids(db, ids)}
            return [
                told(query, held[i], float(alike[r]), float(score[r]), found, index.motif[r])
                for i, r in zip(ids, rows, strict=True)
            ]

        return self._file.read(find)

    def credit(self, ids: Iterable[str], *, won: bool) -> None:
        """Note that these tuples were offered to a candidate, and whether it became the best."""
        rows = [(i, won, store.naive(datetime.now(UTC))) for i in ids]
        if rows:
            statement = "INSERT INTO credits (tuple_id, won, credited) VALUES (?, ?, ?)"
            self._file.write(lambda db: db.executemany(statement, rows))

    def retire(self, tuple_id: str, reason: str = "retired by hand") -> None:
        """Keep a tuple but never retrieve it again."""
        self.stand([(self.get(tuple_id).id, "retired", reason, None)])

    def stand(self, news: Sequence[tuple[str, str, str, datetime | None]]) -> None:
        """Append (id, status, reason, when re-verified) of several tuples; the last one counts."""

        def note(db: duckdb.DuckDBPyConnection) -> None:
            store.stand(db, news)

        if news:
            self._file.write(note)

    def remeasure(
        self,
        tuple_id: str,
        evidence: EffectEvidence,
        fingerprint: Fingerprint,
        slow: Neighbour,
        fast: Neighbour,
    ) -> None:
        """Put the evidence of a later measurement in the place of the earlier one."""
        values = [m.model_dump_json() for m in (evidence, fingerprint, slow, fast)]
        statement = (
            "UPDATE tuples SET evidence = ?, fingerprint = ?, slow = ?, fast = ? WHERE id = ?"
        )
        self._file.write(lambda db: db.execute(statement, [*values, tuple_id]))

    def fact(self, key: str) -> str:
        """What was noted under a key; '' when nothing was."""
        found = self._file.read(
            lambda db: db.execute("SELECT value FROM facts WHERE key = ?", [key]).fetchone()
        )
        return str(found[0]) if found else ""

    def note(self, key: str, value: str) -> None:
        """Note something about the bank itself, such as what was rewound last."""
        statement = "INSERT OR REPLACE INTO facts VALUES (?, ?)"
        self._file.write(lambda db: db.execute(statement, [key, value]))

    def reembed(self, embedder: Embedder) -> int:
        """Make every tuple's vector with another model, which is then in force; how many.

        The vectors are made outside any transaction and stored in one, so that readers see the
        old model's or the new one's and never a mixture. Tuples that others add meanwhile are
        made up for in that transaction.
        """
        vectors: dict[str, list[float]] = {}
        tuples = self.all()
        for start in range(0, len(tuples), BATCH):
            some = tuples[start : start + BATCH]
            made = embedder.embed([(t.bottleneck, t.classes) for t in some])
            vectors |= {t.id: v.tolist() for t, v in zip(some, made, strict=True)}

        def change(db: duckdb.DuckDBPyConnection) -> int:
            late = [t for t in store.select(db, "", []) if t.id not in vectors]
            made = embedder.embed([(t.bottleneck, t.classes) for t in late])
            rows = [
                *vectors.items(),
                *((t.id, v.tolist()) for t, v in zip(late, made, strict=True)),
            ]
            db.execute("DELETE FROM embeddings")
            store.keep_vectors(db, embedder.model, rows)
            store.note_model(db, embedder.model, len(rows[0][1]) if rows else 0)
            store.touch(db)
            return len(rows)

        count = self._file.write(change)
        self._embedder, self._index = embedder, None
        return count

    def vectors(self) -> tuple[list[ExperienceTuple], Vector]:
        """Every tuple and its vector, in one order."""

        def read(db: duckdb.DuckDBPyConnection) -> tuple[list[ExperienceTuple], Vector]:
            held = store.vectors(db)
            tuples = [t for t in store.select(db, "ORDER BY t.created, t.id", []) if t.id in held]
            rows = np.array([held[t.id] for t in tuples], dtype=np.float32)
            return tuples, rows.reshape(len(tuples), -1 if tuples else 0)

        return self._file.read(read)

    def stats(self) -> BankStats:
        """How many tuples the bank holds, by what kind."""
        tuples = self.all()
        model, dimensions = self._file.read(store.model)
        return BankStats(
            tuples=len(tuples),
            by_status=_counts(t.status for t in tuples),
            by_direction=_counts(t.direction for t in tuples),
            by_motif=_counts(t.motif_id or "no motif" for t in tuples),
            by_class=_counts(c for t in tuples for c in t.classes),
            by_family=_counts(t.op_family for t in tuples),
            operators=len({t.operator for t in tuples}),
            trajectories=len({t.trajectory for t in tuples if t.trajectory}),
            uses=sum(t.uses for t in tuples),
            wins=sum(t.wins for t in tuples),
            embedding_model=model,
            dimensions=dimensions,
        )

    def _read(self, clause: str, parameters: list[object]) -> list[ExperienceTuple]:
        return self._file.read(lambda db: store.select(db, clause, parameters))

    def _embed(self, tuples: Sequence[ExperienceTuple]) -> Vector:
        return self.embedder.embed([(t.bottleneck, t.classes) for t in tuples])

    def _check_model(self, db: duckdb.DuckDBPyConnection, dimensions: int) -> None:
        model, held = store.model(db)
        if not model:
            store.note_model(db, self.embedder.model, dimensions)
        elif model != self.embedder.model or held not in (0, dimensions):
            raise InputError(
                f"The vectors of the bank {self.path} come from {model}"
                f" ({amount(held, 'dimension')}), not "
                f"from {self.embedder.model} ({dimensions}): give that embedder, or run "
                "'ascendopt bank reembed'."
            )

    def _up_to_date(self, db: duckdb.DuckDBPyConnection, dimensions: int) -> Index:
        """The index of what the bank holds now: remembered, mapped from next to it, or built."""
        if store.model(db)[0]:
            self._check_model(db, dimensions)
        stamp = store.stamp(db)
        if self._index is not None and self._index[0] == stamp:
            return self._index[1]
        beside = self.path.with_name(self.path.name + ".index")
        index = Index.load(beside, stamp) if beside.is_dir() else None
        if index is None:
            index = Index.of(store.columns(db, dimensions))
            if len(index.ids) >= SIDECAR_ROWS:
                index.save(beside, stamp)
        self._index = (stamp, index)
        return index


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _first_of_equals(tuples: Sequence[ExperienceTuple]) -> list[ExperienceTuple]:
    """The tuples without those that equal an earlier one: of equal rows in one statement DuckDB
    keeps any."""
    found: list[ExperienceTuple] = []
    known: set[object] = set()
    for one in tuples:
        names = {one.id, (one.diff_hash, one.op_family, one.soc)}
        if not names & known:
            known |= names
            found.append(one)
    return found
