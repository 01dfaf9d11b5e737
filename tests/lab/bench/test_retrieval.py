from __future__ import annotations

from pathlib import Path

import pytest

from experience.bank.bank import Bank
from lab.bench.retrieval import measure
from lab.model.retrieval import RetrievalSettings


@pytest.mark.long
def test_the_made_up_bank_is_as_large_as_asked_and_is_searched(tmp_path: Path) -> None:
    found = measure(tmp_path, RetrievalSettings(tuples=1200, searches=2))
    assert Bank(tmp_path / "large.duckdb").stats().tuples == found.tuples == 1200
    assert min(found.build_ms, found.fresh_ms, found.warm_ms, found.database_ms) > 0
