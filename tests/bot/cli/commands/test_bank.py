from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.main import run
from experience.bank.bank import Bank
from experience.jobs.rewind import RewindResult
from tests.experience.make import make_tuple
from tests.places import SAMPLE

OPERATORS = SAMPLE / "src"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    path = tmp_path / "bank.duckdb"
    diff = "--- a/k\n+++ b/k\n@@ -1 +1 @@\n-    Slow(x);\x1b[2J\n+    Fast(x);\n"
    Bank(path).add_all(
        [
            make_tuple(1, bottleneck="MTE2 waits for the vector unit", motif_id="one"),
            make_tuple(2, bottleneck="scalar loops over single elements", diff=diff),
        ]
    )
    return path


def test_search_puts_the_tuple_that_answers_first(
    bank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["scalar", "loops", "over", "elements"]
    assert run(["bank", "search", *words, "--bank", str(bank), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found[0]["tuple"]["id"] == f"{2:012x}"
    assert run(["bank", "search", *words, "--bank", str(bank), "--count", "1"]) == 0
    assert capsys.readouterr().out.count("motif") == 1


def test_show_keeps_the_diffs_indentation_and_drops_control_codes(
    bank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bank", "show", f"{2:012x}", "--bank", str(bank)]) == 0
    said = capsys.readouterr().out
    assert "\n+    Fast(x);\n" in said
    assert "\x1b" not in said
    assert "20.000 µs -> 10.000 µs simulated time, 2.00x" in said


def test_stats_counts_tuples(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bank", "stats", "--bank", str(bank), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tuples"] == 2


@pytest.mark.long
def test_rewind_fills_a_bank_that_search_then_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fresh.duckdb"
    operator = OPERATORS / "norm" / "rms_norm_rows"
    Bank(path).stats()  # an empty bank, without the shipped tuples
    assert (
        run(["bank", "rewind", str(operator), "--budget", "3", "--bank", str(path), "--json"]) == 0
    )
    said = capsys.readouterr()
    made = RewindResult.model_validate_json(said.out)
    assert made.steps
    assert "[step 0]" in said.err
    assert Bank(path).stats().tuples == len(made.tuples) > 0


def test_an_exported_bank_can_be_imported_into_another(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, other = tmp_path / "tuples.jsonl", tmp_path / "other.duckdb"
    Bank(other).stats()  # an empty bank, without the shipped tuples
    assert run(["bank", "export", str(lines), "--bank", str(bank)]) == 0
    assert run(["bank", "import", str(lines), "--bank", str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"new": 2, "known": 0}
    assert {t.id for t in Bank(other).all()} == {t.id for t in Bank(bank).all()}


def test_a_file_that_holds_no_tuples_is_refused_with_its_line(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "tuples.jsonl"
    lines.write_text("not json\n", encoding="utf-8")
    assert run(["bank", "import", str(lines), "--bank", str(bank)]) == 2
    assert "tuples.jsonl, line 1 is no experience tuple" in capsys.readouterr().err
