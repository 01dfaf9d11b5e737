"""The promises about verdicts on devices, with fewer experiments than `bench statistics` makes."""

from __future__ import annotations

import pytest

from lab.bench.noise import measure
from lab.model.noise import NoiseRow, NoiseSettings

TRIALS = 600


@pytest.fixture(scope="module")
def rows() -> list[NoiseRow]:
    return measure(NoiseSettings(trials=TRIALS, seed=3))


def test_promises_hold_under_every_noise(rows: list[NoiseRow]) -> None:
    assert {row.gain for row in rows} == {-0.05, -0.02, 0.0, 0.05, 0.1}
    assert [f"{row.noise} {row.gain}" for row in rows if not row.holds] == []


def test_without_the_learnt_floor_builds_that_differ_would_be_called_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lab.bench.noise.floor_of", lambda means, errors: means[:, 0] * 0)
    rows = measure(NoiseSettings(trials=TRIALS, seed=3))
    assert not all(row.holds for row in rows if row.noise.startswith("builds differ"))


def test_equal_seeds_give_equal_tables(rows: list[NoiseRow]) -> None:
    assert measure(NoiseSettings(trials=TRIALS, seed=3)) == rows
