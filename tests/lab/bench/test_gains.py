"""`bench gains` runs `optimize` itself, once an operator, at the size that is asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.session.operators import operators_at
from ci.source.workload_file import load_workload
from experience.bank.exchange import open_default_bank
from lab.bench.gains import measure
from lab.model.gains import GainRow, Gains, GainsSettings
from lab.report.gains import table
from tests.places import OPERATORS

PLACE = OPERATORS / "src" / "index" / "take_positive"


def row(operator: str, verdict: str, speedup: float, **said: object) -> GainRow:
    return GainRow.model_validate(
        {"operator": operator, "verdict": verdict, "speedup": speedup, "evaluations": 40} | said
    )


def test_only_what_is_improved_counts_as_proposed() -> None:
    rows = (
        row("a", "improved", 4.0, varied=60),
        row("b", "unknown", 2.0),
        row("c", "not_improved", 1.0, evaluations=2),
        row("d", "improved", 1.5, varied=12),
        row("e", "", 1.0, said="It has no kernel."),
    )
    text = table(Gains(settings=GainsSettings(), version="x", enough=40, rows=rows))
    assert "- Improved: 2 (50%); 1 of them were tried on at least 40 varied cases." in text
    assert "- Geometric mean as proposed: 1.565x." in text  # (4 * 1.5) ** (1 / 4)
    assert "- Geometric mean as proposed, without the 2 largest: 1.000x." in text
    assert "10 largest" not in text
    assert "- Ended within two evaluations, nothing left to win: 1." in text
    assert "- e: It has no kernel." in text


def test_a_run_is_made_once_at_its_size_and_belongs_to_its_settings(tmp_path: Path) -> None:
    settings = GainsSettings(out=tmp_path, budget=3, elements=5000, workers=1)
    seen: list[GainRow] = []
    bank = open_default_bank(tmp_path / "bank.duckdb")
    found = measure(operators_at([PLACE]), bank, settings, seen.append)
    [made] = found.rows
    assert (made.said, made.evaluations <= 3, made.before_us > 0) == ("", True, True)
    own = operators_at([PLACE])[0]
    written = load_workload(own, tmp_path / "take_positive" / "workload.yaml")
    assert all(
        max(max(t.shape) for t in case.inputs) >= 5000  # type: ignore[union-attr]
        for case in written.cases
    )
    assert (tmp_path / "take_positive" / "report.md").is_file()

    again = measure(operators_at([PLACE]), bank, settings, seen.append)
    assert (again, len(seen)) == (found, 1)
    other = settings.model_copy(update={"budget": 4})
    with pytest.raises(InputError, match="budget 3, now it is 4"):
        measure(operators_at([PLACE]), bank, other, seen.append)
    place = tmp_path / "other" / "take_positive"
    place.mkdir(parents=True)
    for file in ("workload.yaml", "golden.py"):
        text = (PLACE / file).read_text().replace("seeds: [1, 2]", "seeds: [3]")
        (place / file).write_text(text)
    elsewhere = settings.model_copy(update={"workloads": place.parent})
    with pytest.raises(InputError, match="was made with workload"):
        measure(operators_at([PLACE]), bank, elsewhere, seen.append)


def test_a_search_that_is_killed_has_no_row_and_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = GainsSettings(out=tmp_path, budget=3, workers=1)
    bank = open_default_bank(tmp_path / "bank.duckdb")
    killed = subprocess.CompletedProcess[bytes]([], -9)
    seen: list[GainRow] = []
    with monkeypatch.context() as patched:
        patched.setattr("lab.bench.gains.subprocess.run", lambda *_, **__: killed)
        with pytest.raises(InputError, match="take_positive was ended by signal 9"):
            measure(operators_at([PLACE]), bank, settings, seen.append)
    assert seen == []
    [made] = measure(operators_at([PLACE]), bank, settings, seen.append).rows
    assert (made.said, len(seen)) == ("", 1)
