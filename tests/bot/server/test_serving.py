"""What `serve` and `watch` start beside the service: the night's work, and what merges teach."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.repository.settings import BotSettings, ServedRepository, read_settings
from bot.server.run_job import CHECKOUT, JOB_FILE, result_file
from bot.server.serving import bank_page, learn_from, seconds_until
from ci.model.errors import InputError
from experience.bank.bank import Bank
from experience.bank.retrieve import Query
from tests.bot.make import KERNEL, OPERATOR_PATH, SOURCES, git, job, result
from tests.bot.operator_repository import Repository


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


@pytest.mark.long
def test_a_run_that_a_person_merged_teaches_the_bank_what_gained(
    ops: Repository, tmp_path: Path
) -> None:
    run, made = tmp_path / "runs" / "0123", job()
    run.mkdir(parents=True)
    (run / JOB_FILE).write_text(made.model_dump_json())
    assert learn_from(settings(tmp_path), run), "without a result there is nothing to wait for"
    result_file(run).write_text(result().model_dump_json())
    git(ops.checkout, "worktree", "add", "-q", str(run / CHECKOUT), "HEAD")
    assert learn_from(settings(tmp_path), run)
    bank = Bank(settings(tmp_path).bank_file)
    taught = {t.title: t for t in bank.all() if t.operator == made.operator.split("/")[-1]}
    assert taught["larger tile"].gained and taught["larger tile"].classes
    query = Query(bottleneck=taught["larger tile"].bottleneck, stage="joint")
    assert taught["larger tile"].id in {r.tuple.id for r in bank.search(query)}


@pytest.mark.long
def test_what_does_not_fit_is_not_tried_for_ever(ops: Repository, tmp_path: Path) -> None:
    """Sources that are neither those before the run nor those after it."""
    ops.commit("main", {f"{OPERATOR_PATH}/{KERNEL}": SOURCES[KERNEL].replace("x", "y")})
    run = tmp_path / "runs" / "0123"
    run.mkdir(parents=True)
    (run / JOB_FILE).write_text(job().model_dump_json())
    result_file(run).write_text(result().model_dump_json())
    git(ops.checkout, "worktree", "add", "-q", "--detach", str(run / CHECKOUT), "main")
    assert learn_from(settings(tmp_path), run)


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


def test_a_project_of_gitlab_is_named_with_its_groups(tmp_path: Path) -> None:
    file = tmp_path / "bot.yml"
    file.write_text("repositories: [{forge: gitlab, repository: cann/math/ops_1.x-y}]\n")
    assert read_settings(file).repositories[0].name == "cann/math/ops_1.x-y"


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
        *(
            (f"repositories: [{{forge: {forge}, repository: '{name}'}}]\n", said)
            for forge in ("github", "gitlab", "gitcode")
            for name, said in (
                ("ops-math", "line 1: repositories.0.*'ops-math' is no repository of Git.*: write"),
                ("", "is no repository of"),
                ("/ops-math", "is no repository of"),
                ("cann/", "is no repository of"),
                ("../ops", "is no repository of"),
                ("cann/..", "is no repository of"),
                ("https://github.com/cann/ops-math", "is no repository of"),
                ("git@github.com:cann/ops-math", "is no repository of"),
                ("cann/ops?x=1", "is no repository of"),
                ("cann/ops math", "is no repository of"),
                ("cann/öps", "is no repository of"),
                ("cann/ops.git", "write cann/ops"),
            )
        ),
        ("repositories: [{forge: github, repository: a/b/c}]\n", "of GitHub: write owner/name"),
        ("repositories: [{forge: gitcode, repository: a/b/c}]\n", "of GitCode: write owner/name"),
        (
            "repositories:\n- {forge: gitlab, repository: a/b}\n"
            "- {forge: gitlab, repository: A/b, url: 'https://gitlab.example.org'}\n",
            "'A/b' is listed for two servers of GitLab",
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
