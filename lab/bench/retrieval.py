"""How long retrieval takes over a large bank, in a fresh process and in a running one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import duckdb

from experience.bank.bank import Bank
from experience.bank.embed import DIMENSIONS
from experience.bank.exchange import SHIPPED, import_lines
from experience.bank.retrieve import Query
from experience.bank.store import touch
from lab.model.retrieval import RetrievalSettings, RetrievalTimes


def measure(folder: Path, settings: RetrievalSettings) -> RetrievalTimes:
    """Make a bank of so many tuples from the shipped ones, and search it.

    The made-up tuples are shipped ones under other ids, each with a vector moved at random, so
    that nothing is equal and everything is read, scored and ranked as in earnest.
    """
    bank = Bank(folder / "large.duckdb")
    import_lines(bank, SHIPPED)
    _multiply(bank.path, settings.tuples)
    examples = [t for t in bank.all()[:200] if t.direction != "negative"]
    queries = [
        Query(bottleneck=t.bottleneck, classes=t.classes, op_family=t.op_family, soc=t.soc)
        for t in examples[: settings.searches]
    ]
    build = _timed(partial(bank.search, queries[0]))
    fresh = [_timed(partial(_fresh, bank.path, q)) for q in queries]
    warm = [_timed(partial(bank.search, q)) for q in queries]
    database = [_timed(partial(_by_database, bank.path)) for _ in queries]
    return RetrievalTimes(
        tuples=settings.tuples,
        build_ms=build,
        fresh_ms=median(fresh),
        warm_ms=median(warm),
        database_ms=median(database),
    )


def _fresh(path: Path, query: Query) -> None:
    Bank(path).search(query)


def _multiply(path: Path, count: int) -> None:
    with duckdb.connect(str(path)) as db:
        held = db.execute("SELECT count(*) FROM tuples").fetchone()
        times = -(-(count - held[0]) // held[0]) if held else 0
        left = count - (held[0] if held else 0)
        db.execute("SELECT setseed(0.5)")
        db.execute(
            "CREATE TEMP TABLE many AS SELECT t.*, n, row_number() OVER () AS r FROM tuples t, "
            f"range({times}) AS copies(n) LIMIT {left}"
        )
        db.execute(
            "INSERT INTO embeddings SELECT m.id || '-' || m.n, e.model, list_transform(e.vector, "
            "lambda x: (x + (random() - 0.5) * 0.05)::FLOAT) FROM many m "
            "JOIN embeddings e ON e.tuple_id = m.id"
        )
        db.execute(
            "INSERT INTO tuples SELECT * EXCLUDE (n, r) REPLACE (id || '-' || n AS id, "
            "diff_hash || '-' || n AS diff_hash) FROM many"
        )
        touch(db)


def _by_database(path: Path) -> None:
    vector = [1.0 / DIMENSIONS**0.5] * DIMENSIONS
    with duckdb.connect(str(path), read_only=True) as db:
        db.execute(
            f"SELECT tuple_id, array_cosine_similarity(vector::FLOAT[{DIMENSIONS}], "
            f"?::FLOAT[{DIMENSIONS}]) AS s FROM embeddings ORDER BY s DESC LIMIT 100",
            [vector],
        ).fetchall()


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000
