"""Experience of the bot in CI: earned by a refresh or a merge, and had by the next run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.main import run
from bot.repository.commit_pack import PACK, read_pack
from bot.server.ci_mode import report, state_of
from bot.server.nightly import refresh_bank
from bot.server.plan_folder import Tip, bank_of, tip_of
from bot.server.state_branch import BANK, STATE_BRANCH
from experience.bank.bank import Bank
from experience.bank.exchange import SHIPPED
from experience.bank.retrieve import Query
from tests.bot.make import git, result
from tests.bot.server.ci_runs import (
    Ci,
    asked,
    files_of,
    the_merge_request,
)


def test_the_bank_that_refresh_earned_is_in_the_next_plan(ci: Ci, tmp_path: Path) -> None:
    lines = SHIPPED.read_text().splitlines()[:3]
    earned = tmp_path / "earned.jsonl"
    family = "of_this_repository"
    changed = [
        json.loads(line) | {"op_family": family, "id": f"{number:012x}"}
        for number, line in enumerate(lines)
    ]
    earned.write_text("".join(json.dumps(one) + "\n" for one in changed))
    assert "is kept" in report(ci.connection(), [], tmp_path, earned)[0]
    asked(ci)
    assert (ci.out / BANK).read_text() == earned.read_text()
    with bank_of(ci.out) as bank:
        assert bank is not None
        families = [t.op_family for t in Bank(bank).all()]
    assert families.count(family) == 3
    assert len(families) > 3, "the shipped ones are in it too"


@pytest.mark.long
def test_what_a_person_merged_is_found_in_the_next_plan_and_nothing_before(ci: Ci) -> None:
    ci.plan(ci.ops.event(kind="other"))
    number, job = asked(ci)
    ci.report(job, result())
    ours = the_merge_request(ci)
    ci.follow_up()
    assert not (ci.out / BANK).exists(), "nobody has merged it yet"

    git(ci.ops.checkout, "fetch", "-q", "origin", ours.source_branch)
    git(ci.ops.checkout, "push", "-q", "origin", "FETCH_HEAD:feature")
    ci.follow_up()
    with bank_of(ci.out) as file:
        assert file is not None
        bank = Bank(file)
        taught = [t for t in bank.all() if t.operator == "scale_add"]
        (won,) = [t for t in taught if t.gained]
        assert (won.title, won.origin) == ("larger tile", f"local {ci.ops.name}")
        found = bank.search(Query(bottleneck=won.bottleneck, classes=won.classes))
        assert won.id in {r.tuple.id for r in found}
    kept = (ci.out / BANK).read_text()
    ci.write(number, "/optimize op=scale_add stage=tiling")
    assert (ci.out / BANK).read_text() == kept, "learnt once, and had by the next run"


def test_experience_that_two_runs_of_the_ci_leave_at_once_is_kept_of_both(
    ci: Ci, tmp_path: Path
) -> None:
    first, second, again = (
        json.dumps(json.loads(line) | {"id": name, "diff_hash": name, "operator": name}) + "\n"
        for line, name in zip(SHIPPED.read_text().splitlines(), ("aa", "bb", "aa"), strict=False)
    )
    with state_of(ci.connection()) as slow:
        slow.read().close()
        for lines in (first, second):
            earned = tmp_path / "earned.jsonl"
            earned.write_text(lines)
            report(ci.connection(), [], tmp_path, earned)
        slow.bank = again
        slow.change(lambda queue: None)
    with state_of(ci.connection()) as state:
        state.read().close()
        assert state.bank == again + second


def test_what_is_no_experience_is_not_kept(ci: Ci, tmp_path: Path) -> None:
    bad = tmp_path / "bank.jsonl"
    bad.write_text('{"title": "x"}\n')
    (said,) = report(ci.connection(), [], tmp_path, bad)
    assert "line 1 is no experience tuple" in said
    assert BANK not in files_of(ci.ops)


def test_the_bank_is_refreshed_once_a_night_with_the_default_branch(ci: Ci) -> None:
    ci.follow_up()
    tip = tip_of(ci.out)
    assert tip == Tip(git(ci.ops.checkout, "rev-parse", "main"))
    assert read_pack(ci.out / "refresh" / PACK, tip, ci.out / "unpacked").is_dir()
    ci.follow_up()
    assert tip_of(ci.out) is None
    ci.ops.commit("main", {".ascendopt.yml": "triggers: {nightly: false}\n"})
    ci.ops.bot.delete_branch(STATE_BRANCH)
    ci.follow_up()
    assert tip_of(ci.out) is None


def test_a_refresh_that_fails_says_so_and_leaves_the_bank_as_it_was(ci: Ci, tmp_path: Path) -> None:
    git(ci.ops.checkout, "rm", "-q", "-r", "src")
    ci.ops.commit("main", {"README.md": "no operator is left\n"})
    ci.follow_up()
    tip = tip_of(ci.out)
    assert tip is not None
    with bank_of(ci.out) as bank:
        assert bank is not None
        said = refresh_bank(ci.out, tip, bank, tmp_path, None)
        assert "operator" in said
    left = (tmp_path / BANK).read_text()
    assert len(left.splitlines()) == len(SHIPPED.read_text().splitlines())
    assert report(ci.connection(), [], tmp_path) == [
        "The experience that the refresh left is kept."
    ]


def test_verdicts_are_said_where_the_refresh_cannot_begin(
    ci: Ci, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ci.follow_up()
    pack = ci.out / "refresh" / PACK
    cut = pack.read_bytes()[:-100]
    pack.unlink()  # git's packs are not writable
    pack.write_bytes(cut)
    assert run(["ci", "run", str(ci.out), "--out", str(tmp_path / "out"), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["verdicts"] == {} and "The refresh of the bank failed" in said["problems"][0]
