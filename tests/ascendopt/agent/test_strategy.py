"""`--proposer agent`: only what was sent to the judge counts, and the run's store alone says it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import yaml

pytest.importorskip("mcp", reason="an agent's run needs: pip install 'ascendopt[mcp]'")

import ascendopt
from ascendopt.agent.strategy import LOG
from bot.cli.main import run
from ci.model.result import Result
from tests.ascendopt.api.test_operator import HOST, OPERATOR

STAND_IN = Path(__file__).parent / "stand_in.py"


def models_file(folder: Path, *command: str, minutes: float = 5.0) -> Path:
    file = folder / "models.yml"
    file.write_text(yaml.safe_dump({"agent": {"command": [*command], "minutes": minutes}}))
    return file


@pytest.fixture
def subject(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OPERATOR, tmp_path / "affine_clamp"))


@pytest.mark.long
def test_an_agent_that_cheats_is_believed_in_what_was_judged_alone(
    subject: Path, tmp_path: Path
) -> None:
    before = {file.name: file.read_bytes() for file in subject.iterdir() if file.is_file()}
    models = models_file(tmp_path, sys.executable, str(STAND_IN), str(subject))
    out, bank = tmp_path / "run", ("--bank", str(tmp_path / "bank.duckdb"))
    words = ("optimize", str(subject), *bank, "--budget", "6", "--no-learn")
    agent = ("--proposer", "agent", "--models", str(models), "--out", str(out))
    assert run([*words, *agent]) == 0
    result = Result.model_validate_json((out / "result.json").read_text())
    assert result.verdict == "improved"
    assert [sorted(t.candidate.files) for t in result.trials if t.number] == [[HOST]]
    assert result.trials[1].candidate.rationale == "Larger tiles."
    assert 1 < result.speedup < 10
    assert {f.name: f.read_bytes() for f in subject.iterdir() if f.is_file()} == before
    assert (out / LOG).stat().st_size <= 1 << 20
    again = ("--proposer", f"replay:{out}", "--out", str(tmp_path / "again"))
    assert run([*words, *again]) == 0
    replayed = Result.model_validate_json((tmp_path / "again" / "result.json").read_text())
    assert replayed.diff == result.diff
    assert replayed.speedup == result.speedup


def test_a_models_file_without_an_agent_is_refused(subject: Path, tmp_path: Path) -> None:
    (tmp_path / "models.yml").write_text("models: {}\n")
    with pytest.raises(ascendopt.InputError, match="needs the agent's command"):
        ascendopt.optimize(subject, proposer="agent", models=tmp_path / "models.yml", out=tmp_path)


def test_an_agent_that_is_not_there_ends_the_run_with_a_sentence(
    subject: Path, tmp_path: Path
) -> None:
    models = models_file(tmp_path, "no-such-agent")
    given = {"models": models, "out": tmp_path / "run", "bank": tmp_path / "bank.duckdb"}
    search = ascendopt.optimize(subject, proposer="agent", budget=3, **given)
    with pytest.raises(ascendopt.InputError, match="no program no-such-agent"):
        search.result  # noqa: B018


def test_an_agent_has_so_much_time_and_no_more(subject: Path, tmp_path: Path) -> None:
    models = models_file(tmp_path, "sleep", "600", minutes=0.001)
    given = {"models": models, "out": tmp_path / "run", "bank": tmp_path / "bank.duckdb"}
    search = ascendopt.optimize(subject, proposer="agent", budget=4, **given)
    assert search.result.verdict == "not_improved"
    assert "The agent's time is up." in search.notes


def test_a_search_that_waits_for_its_agent_can_be_cancelled(subject: Path, tmp_path: Path) -> None:
    models = models_file(tmp_path, "sleep", "600")
    given = {"models": models, "out": tmp_path / "run", "bank": tmp_path / "bank.duckdb"}
    with ascendopt.optimize(subject, proposer="agent", budget=4, **given) as search:
        assert next(iter(search)).ok
    with pytest.raises(ascendopt.Cancelled):
        search.result  # noqa: B018
