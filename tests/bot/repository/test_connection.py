"""What a connection says of its repository, and when it asks the forge again."""

from __future__ import annotations

from pathlib import Path

from bot.repository.connection import Connection
from tests.bot.operator_repository import operator_repository


def test_a_steady_connection_keeps_the_tip_that_it_saw(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path)
    connection = ops.connection()
    steady = connection.steady()
    first = steady.tip()
    assert connection.tip() == first
    second = ops.commit("main", {"README.md": "more operators\n"})
    assert steady.tip() == first
    assert connection.tip() == connection.steady().tip() == second


def test_no_two_repositories_share_a_mirror(tmp_path: Path) -> None:
    """Another's default branch would configure and judge, where both are fetched at once."""
    ops = operator_repository(tmp_path)
    names = ["a/b-c", "a-b/c", "a/b/c", "a/b.c", "a b/c", "\u00e9/c", "\u00e8/c", "x" * 300]
    places = [Connection.mirrored("gitlab", n, ops.bot, tmp_path).mirror.folder for n in names]
    assert len(set(places)) == len(names)
    same = [Connection.mirrored("gitlab", n, ops.bot, tmp_path).mirror for n in ("A/b", "a/B")]
    assert len({one.folder.name[-12:] for one in same}) == 1
