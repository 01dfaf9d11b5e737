"""What `serve` and `watch` start beside the service: the night's work, and what merges teach."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.repository.settings import BotSettings, ServedRepository, read_settings
from bot.server.serving import bank_page, learn_from, seconds_until
from ci.model.errors import InputError


@given(st.integers(0, 23), st.datetimes(timezones=st.just(UTC), min_value=datetime(2020, 1, 1)))
def test_the_night_comes_within_a_day_and_at_its_hour(hour: int, now: datetime) -> None:
    left = seconds_until(hour, now)
    assert 0 < left <= 86_400
    assert datetime.fromtimestamp(now.timestamp() + left + 0.001, UTC).hour == hour


def settings(folder: Path) -> BotSettings:
    served = ServedRepository(forge="local", repository=str(folder / "ops.git"))
    return BotSettings(repositories=(served,), data=folder)


def test_a_run_that_is_gone_teaches_nothing_and_is_done_with(tmp_path: Path) -> None:
    assert learn_from(settings(tmp_path), tmp_path / "runs" / "0123")


def test_the_bank_page_shows_what_ships_and_finds_by_bottleneck(tmp_path: Path) -> None:
    shown = bank_page(tmp_path / "bank.duckdb", "")
    assert shown["figures"]["tuples"] > 100 and len(shown["rows"]) == 20
    found = bank_page(tmp_path / "bank.duckdb", "MTE2 waits for VECTOR, no double buffer")
    similarities = [row["similarity"] for row in found["rows"]]
    assert similarities and all(0 <= s <= 1 for s in similarities)


def test_settings_are_read_with_paths_beside_the_file(tmp_path: Path) -> None:
    file = tmp_path / "bot.yml"
    file.write_text("data: here\nbank: b.duckdb\nrepositories: [{forge: local, repository: x}]\n")
    read = read_settings(file)
    assert (read.data, read.bank_file) == (tmp_path / "here", tmp_path / "b.duckdb")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: repositories is missing"),
        (
            "repositories: [{forge: svn, repository: a/b}]\n",
            "line 1: repositories.0..forge: there is no forge 'svn'; known: local, github",
        ),
        ("repositories: [{forge: local, repository: x}]\nwokers: 2\n", "wokers is not a known key"),
        (
            "repositories: [{forge: local, repository: x}, {forge: local, repository: x}]\n",
            "listed twice",
        ),
    ],
)
def test_mistakes_in_settings_are_told_with_line_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "bot.yml"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        read_settings(file)
