"""The experience bank from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import ascendopt


def test_a_new_bank_holds_the_shipped_tuples_and_answers_words(tmp_path: Path) -> None:
    bank = ascendopt.Bank(tmp_path / "bank.duckdb")
    found = bank.search("vector pipe waits for loads", count=3)
    assert len(found) >= 3
    assert bank.get(found[0].tuple.id).title == found[0].tuple.title
    assert len(bank) == len(bank.tuples()) > 100
    assert f"{len(bank)} tuples" in bank._repr_html_()


def test_an_unknown_tuple_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ascendopt.InputError):
        ascendopt.Bank(tmp_path / "bank.duckdb").get("nope")
