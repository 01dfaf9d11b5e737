from __future__ import annotations

from pathlib import Path

import pytest

from ci.errors import InputError
from experience.bank import Bank
from experience.exchange import SHIPPED, export_lines, import_lines, open_default_bank
from tests.experience.make import make_tuple


def test_an_exported_bank_imports_into_an_equal_bank(tmp_path: Path) -> None:
    one, two = Bank(tmp_path / "one.duckdb"), Bank(tmp_path / "two.duckdb")
    one.add_all([make_tuple(n) for n in range(5)])
    one.credit([make_tuple(1).id], won=True)
    assert export_lines(one.all(), tmp_path / "tuples.jsonl") == 5
    assert import_lines(two, tmp_path / "tuples.jsonl") == (5, 0)
    assert import_lines(two, tmp_path / "tuples.jsonl") == (0, 5)
    assert {t.id: t.diff for t in two.all()} == {t.id: t.diff for t in one.all()}
    assert two.stats().uses == 0


def test_a_broken_line_is_named_and_nothing_is_stored(tmp_path: Path) -> None:
    bank = Bank(tmp_path / "bank.duckdb")
    lines = tmp_path / "tuples.jsonl"
    lines.write_text(make_tuple(1).model_dump_json() + '\n{"title": 3}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"tuples.jsonl, line 2 is no experience tuple"):
        import_lines(bank, lines)
    assert not bank.path.exists()


def test_the_shipped_tuples_are_verified_experience_of_several_motifs(tmp_path: Path) -> None:
    bank = open_default_bank(tmp_path / "made" / "bank.duckdb")
    shipped = bank.all()
    assert len(shipped) == len(SHIPPED.read_text(encoding="utf-8").splitlines()) >= 40
    assert len({t.rule_id for t in shipped}) >= 5
    for t in shipped:
        assert t.status == "verified" and t.fingerprint.simulated
        assert t.evidence.speedup > 1 + t.evidence.noise_floor


def test_a_bank_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    Bank(tmp_path / "bank.duckdb").add(make_tuple(1))
    assert len(open_default_bank(tmp_path / "bank.duckdb").all()) == 1
