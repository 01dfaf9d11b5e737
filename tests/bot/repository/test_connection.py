"""What a connection says of its repository, and when it asks the forge again."""

from __future__ import annotations

from pathlib import Path

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
