"""What the bot promises to do for a change is what its queue then does."""

from __future__ import annotations

from pathlib import Path

from bot.base.git import Git
from bot.repository.config import RepositoryConfig
from bot.repository.simulation import simulated
from tests.bot.make import git
from tests.bot.operator_repository import operator_repository


def test_only_so_many_operators_are_promised_at_once_and_the_larger_share_first(
    tmp_path: Path,
) -> None:
    ops = operator_repository(tmp_path)
    before = git(ops.checkout, "rev-parse", "main")
    after = ops.commit("main", {"src/common/cut.h": "int cut = 3;\n"})
    config = RepositoryConfig.model_validate(
        {"limits": {"operators_per_event": 1}, "operators": {"shift": {"share": 0.3}}}
    )
    first, second = simulated(Git(ops.checkout), after, before, after, config)
    assert first.operator == "src/math/shift" and first.decision.startswith("optimized with 40")
    assert second.decision.startswith("queued, as a run starts 1 searches; then optimized")


def test_an_operator_of_which_nothing_can_come_is_no_search(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path)
    before = git(ops.checkout, "rev-parse", "main")
    after = ops.commit("main", {"src/common/cut.h": "int cut = 3;\n"})
    config = RepositoryConfig.model_validate({"limits": {"operators_per_event": 1}})
    place = "src/math/shift"
    rows = simulated(Git(ops.checkout), after, before, after, config, {place: "it is empty"})
    said = {row.operator: row.decision for row in rows}
    assert said.pop(place) == "tried in vain: it is empty"
    assert [words.startswith("optimized with 40") for words in said.values()] == [True]
