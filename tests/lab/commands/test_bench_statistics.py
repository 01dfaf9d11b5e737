"""`bench statistics` tells a table, and fails when a promise is broken."""

from __future__ import annotations

import json

from click.testing import CliRunner

from bot.cli.main import root


def bench(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(root, ["bench", "statistics", "--trials", "200", *words])
    return done.exit_code, done.output


def test_the_table_has_a_row_for_each_noise_and_gain() -> None:
    code, said = bench("--seed", "1")
    assert code == 0, said
    assert said.splitlines()[0] == "200 experiments a row, at most 50 pairs each"
    assert {"normal", "heavy-tailed", "drifting"} <= {
        line.split()[-1] for line in said.splitlines()
    }


def test_more_noise_than_the_pairs_can_carry_ends_with_1() -> None:
    code, said = bench("--scatter", "0.2", "--json")
    assert code == 1
    rows = json.loads(said)
    assert any(row["gain"] == 0.05 and row["faster"] < 0.95 for row in rows)
    assert all(row["faster"] < 0.01 for row in rows if row["gain"] <= 0)
