"""Algorithm 1 with language models, through the command line: a real HTTP server, real builds.

The server's answers are scripted, with everything that goes wrong in practice among them; what
they propose is compiled, verified and measured by the simulator.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bot.cli.main import run
from ci.model.result import Result
from ci.model.trial import Outcome, Trial
from ci.proposer.llm.call_log import Call, read_calls
from ci.proposer.llm.settings import ROLES
from ci.testing.scale_shift import FOLDER
from experience.bank.bank import Bank
from tests.ci.proposer.llm.script import (
    DIAGNOSIS,
    KNOB,
    LOGIC,
    NOTHING,
    REWIND,
    REWRITE,
    SYNTHESIS,
    Script,
)
from tests.ci.proposer.llm.server import Answer, ModelServer, serving
from tests.places import OPERATORS

pytestmark = pytest.mark.nightly

KEY = "sk-test-0123456789abcdefghij"
OUTSIDE = """RATIONALE: @maintainer <b>faster</b> [here](http://evil.example)
<<<<<<< SEARCH op_host/scale_shift.cpp
OP_ADD(ScaleShift);
=======
OP_ADD(Other);
>>>>>>> REPLACE
"""
TROUBLED: dict[str, list[str | Answer]] = {
    "synthesis": [Answer(status=429, headers={"retry-after": "0"}), SYNTHESIS],
    "mutation": [
        "More cores would help.",  # malformed, put right in the repair round
        KNOB,
        OUTSIDE,  # a wrong edit, twice
        OUTSIDE,
        Answer(LOGIC, drop_after=3),
        LOGIC,
        NOTHING,
    ],
    "diagnosis": ["no pipe stands out", f"```json\n{DIAGNOSIS[:-1]},}}\n```"],
    "rewriting": [
        Answer(status=500),
        Answer(REWRITE[:200], finish="length"),
        Answer(REWRITE.replace("the vector unit", "@all <i>units</i>"), seconds=0.01),
        Answer("", refusal="I would rather not."),
        NOTHING,
    ],
}


def models_file(folder: Path, server: ModelServer, **changes: object) -> Path:
    """Two models of one server: a strong one offline, a cheap one online."""
    price = {"input": 2.0, "output": 8.0}
    one = {"endpoint": server.url, "backoff": 0, "price": price, **changes}
    models = {"strong": {"model": "big", **one}, "cheap": {"model": "tiny", **one}}
    offline = ("synthesis", "rewind", "distillation")
    roles = {role: "strong" if role in offline else "cheap" for role in ROLES}
    file = folder / "models.yml"
    file.write_text(yaml.safe_dump({"models": models, "roles": roles}))
    return file


def optimize(out: Path, *arguments: str, budget: int = 8) -> int:
    """Without other shapes: the operator is made for one, and the test for few evaluations.

    One round, of as many steps as the model is to be asked for: behind them rules would go on.
    """
    options = ("--budget", str(budget), "--no-other-shapes", "--out", str(out))
    options += ("--strategy", "ascendoptimizer", "--rounds", "1")
    options += ("--tiling-steps", "3", "--kernel-steps", "2")
    return run(["optimize", str(FOLDER), *options, *arguments])


def result_of(out: Path) -> Result:
    return Result.model_validate_json((out / "result.json").read_text())


def calls_of(out: Path) -> list[Call]:
    return read_calls(out / "trials.sqlite")


def seen(trial: Trial) -> tuple[object, ...]:
    """What must be equal in a replayed trial: all but who proposed it and how long it took."""
    figures = [c.samples_us for c in trial.measurement.cases] if trial.measurement else []
    return (trial.number, trial.candidate.files, trial.candidate.rationale, trial.outcome, figures)


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, ModelServer]]:
    """A finished run over a server that misbehaves in every way: (its folder, the server)."""
    folder = tmp_path_factory.mktemp("llm")
    with pytest.MonkeyPatch.context() as patch, serving(Script(**TROUBLED)) as server:
        patch.setenv("ASCENDOPT_LLM_API_KEY", KEY)
        models = models_file(folder, server)
        bank = ("--bank", str(folder / "bank.duckdb"))
        assert optimize(folder / "run", "--proposer", "llm", "--models", str(models), *bank) == 0
        rewind = ["bank", "rewind", str(FOLDER), "--proposer", "llm", "--models", str(models)]
        assert run([*rewind, "--budget", "3", "--steps", "1", *bank]) == 0
        yield folder, server


def test_every_role_is_asked_of_its_own_model(troubled: tuple[Path, ModelServer]) -> None:
    folder, _ = troubled
    in_run = calls_of(folder / "run")
    assert {call.role for call in in_run} == set(ROLES) - {"rewind"}
    calls = in_run + read_calls(folder / "bank.calls.sqlite")
    assert {call.role for call in calls} == set(ROLES)
    assert {c.role for c in calls if c.model == "big"} == {"synthesis", "rewind", "distillation"}


def test_good_edits_come_through_all_the_trouble(troubled: tuple[Path, ModelServer]) -> None:
    made = result_of(troubled[0] / "run")
    assert made.verdict == "improved"
    assert made.stopped == ""
    stages = [(t.candidate.role, t.outcome) for t in made.trials[1:]]
    assert stages == [
        ("synthesis", Outcome.OK),
        ("mutation", Outcome.OK),
        ("mutation", Outcome.REJECTED),
        ("mutation", Outcome.OK),
        ("rewriting", Outcome.OK),
        ("rewriting", Outcome.REJECTED),
    ]
    assert made.best.candidate.role == "rewriting"
    assert "BlockDim" in made.diff


def test_what_cannot_be_built_costs_no_evaluation(troubled: tuple[Path, ModelServer]) -> None:
    made = result_of(troubled[0] / "run")
    measured = [t for t in made.trials if t.measurement is not None and not t.cached]
    assert made.budget.evaluations == len(measured) + 1  # and the final verification
    (wrong, refused) = [t for t in made.trials if t.outcome is Outcome.REJECTED]
    assert wrong.refusal is not None and "EVOLVE-BLOCK" in wrong.refusal.message
    assert refused.refusal is not None and "refused" in refused.refusal.message


def test_the_ledger_has_the_tokens_that_the_server_served(
    troubled: tuple[Path, ModelServer],
) -> None:
    folder, server = troubled
    in_run = calls_of(folder / "run")
    calls = in_run + read_calls(folder / "bank.calls.sqlite")
    told = (sum(c.tokens_in for c in calls), sum(c.tokens_out for c in calls))
    assert told == server.tokens
    assert len(calls) == len(server.asked)
    made = result_of(folder / "run")
    assert sum(u.tokens_in + u.tokens_out for u in made.models) == sum(
        c.tokens_in + c.tokens_out for c in in_run
    )
    assert made.budget.tokens == sum(c.tokens for c in in_run)
    assert made.budget.money == pytest.approx(sum(c.cost or 0 for c in in_run))
    dropped = [c for c in in_run if c.outcome == "failed" and c.tokens_unsaid]
    assert len(dropped) == 1  # what the server served before it hung up is estimated


def test_every_kind_of_trouble_is_in_the_ledger(troubled: tuple[Path, ModelServer]) -> None:
    calls = calls_of(troubled[0] / "run")
    errors = " ".join(c.error for c in calls)
    assert "status 429" in errors and "status 500" in errors and "broke off" in errors
    assert {c.outcome for c in calls} == {"answered", "truncated", "refused", "failed"}
    verdicts = " ".join(c.verdict for c in calls)
    for said in ("neither an edit", "EVOLVE-BLOCK", "cut off", "refused", "no JSON", "accepted"):
        assert said in verdicts
    assert sum(c.repair for c in calls) == 6  # the last two: lessons that are about another diff


def test_the_report_names_model_tokens_cost_and_role_of_each_accepted_edit(
    troubled: tuple[Path, ModelServer],
) -> None:
    for name in ("report.md", "report.html"):
        text = (troubled[0] / "run" / name).read_text()
        assert "Language models" in text
        for words in ("big", "tiny", "USD", "(mutation)", "(rewriting)", "unanswered"):
            assert words in text, (name, words)


def test_words_of_a_model_are_harmless_in_the_reports(troubled: tuple[Path, ModelServer]) -> None:
    text = (troubled[0] / "run" / "report.md").read_text()
    assert "@all" not in text and "<i>" not in text and "<b>" not in text
    assert "http://evil" not in text
    assert "<i>" not in (troubled[0] / "run" / "report.html").read_text()


def test_the_key_is_sent_to_the_endpoint_and_kept_nowhere(
    troubled: tuple[Path, ModelServer],
) -> None:
    folder, server = troubled
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    for file in folder.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file


def test_the_inverse_agents_removal_is_banked_in_the_words_of_the_distillation(
    troubled: tuple[Path, ModelServer],
) -> None:
    earned = [t for t in Bank(troubled[0] / "bank.duckdb").all() if t.operator == "scale_shift"]
    rewound = [t for t in earned if t.direction == "rewind"]
    assert [t.title for t in rewound] == ["One large copy instead of several"]
    assert rewound[0].evidence.speedup > 1.01
    assert REWIND.splitlines()[1].startswith("DESCRIPTION")


def test_the_run_is_replayed_without_a_model(
    troubled: tuple[Path, ModelServer], tmp_path: Path
) -> None:
    folder, server = troubled
    before = len(server.asked)
    assert optimize(tmp_path / "again", "--proposer", f"replay:{folder / 'run'}") == 0
    assert len(server.asked) == before
    one, two = result_of(folder / "run"), result_of(tmp_path / "again")
    assert [seen(t) for t in two.trials] == [seen(t) for t in one.trials]
    assert two.diff == one.diff
    assert two.budget.tokens == 0
    assert {u.by for u in two.models if u.calls} == {
        f"recorded answers of {name}" for name in ("big", "tiny")
    }


def test_a_replay_of_another_operator_is_refused(
    troubled: tuple[Path, ModelServer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = OPERATORS / "src" / "conversion" / "cast_half"
    recorded = f"replay:{troubled[0] / 'run'}"
    assert run(["optimize", str(other), "--proposer", recorded, "--out", str(tmp_path / "o")]) == 2
    assert "cannot be replayed here" in capsys.readouterr().err


def test_a_run_whose_money_runs_out_ends_cleanly_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASCENDOPT_LLM_API_KEY", KEY)
    bank = ("--bank", str(tmp_path / "bank.duckdb"))
    out = tmp_path / "run"
    empty = Answer(status=402, message="Insufficient Balance")
    with serving(Script(mutation=[LOGIC, empty])) as server:
        models = models_file(tmp_path, server, attempts=2)
        llm = ("--proposer", "llm", "--models", str(models), *bank)
        assert optimize(out, *llm) == 0  # something better was found before
        said = capsys.readouterr()
        assert "Insufficient Balance" in said.out
        assert "--resume" in said.out
        first = result_of(out)
        assert "Insufficient Balance" in first.stopped
        assert first.verdict == "improved"
        answered = [c.key for c in calls_of(out) if c.outcome == "answered"]
        server.script = Script(mutation=[OUTSIDE], synthesis=["never asked again"])
        asked = len(server.asked)
        assert optimize(out, *llm, "--resume") == 0
        assert not any("Turn the host tiling" in a.prompt for a in server.asked[asked:])
    second = result_of(out)
    assert second.stopped == ""
    assert second.speedup > first.speedup
    count = len(first.trials)
    assert [seen(t) for t in second.trials[:count]] == [seen(t) for t in first.trials]
    assert len(second.trials) > count
    again = [c.key for c in calls_of(out) if c.outcome == "answered"]
    assert again[: len(answered)] == answered
    assert second.budget.tokens == sum(c.tokens for c in calls_of(out))


def test_a_token_limit_ends_the_run_before_the_call_that_could_break_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCENDOPT_LLM_API_KEY", KEY)
    with serving(Script()) as server:
        models = models_file(tmp_path, server, max_tokens=2000)
        bank = ("--bank", str(tmp_path / "bank.duckdb"))
        limits = ("--max-tokens", "12000", "--stage", "kernel")
        llm = ("--proposer", "llm", "--models", str(models), *bank, *limits)
        optimize(tmp_path / "run", *llm)
        assert sum(server.tokens) <= 12_000
    made = result_of(tmp_path / "run")
    assert "--max-tokens" in made.stopped
    assert made.budget.tokens <= 12_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--proposer", "llm"], "needs a model"),
        (["--proposer", "magic"], "no proposer 'magic'"),
        (["--proposer", "replay:/nowhere"], "no recorded run"),
        (["--models", "m.yml"], "--proposer llm only"),
        (["--proposer", "llm", "--models", "missing.yml"], "missing.yml cannot be read"),
    ],
)
def test_misuse_is_answered_in_a_sentence(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("ASCENDOPT_LLM_MODEL", "ASCENDOPT_LLM_OFFLINE_MODEL", "ASCENDOPT_LLM_MODELS"):
        monkeypatch.delenv(name, raising=False)
    assert optimize(tmp_path / "run", *arguments) == 2
    assert said in capsys.readouterr().err


def test_doctor_says_which_role_has_a_model_and_asks_only_when_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ASCENDOPT_LLM_API_KEY", raising=False)

    def check() -> str:
        found = json.loads(capsys.readouterr().out)["checks"]
        return str(next(c["finding"] for c in found if c["name"] == "models"))

    with serving(lambda asked: Answer("OK")) as server:
        models = models_file(tmp_path, server)
        run(["doctor", "--json", "--models", str(models)])
        finding = check()
        assert "mutation, diagnosis, rewriting: tiny at 127.0.0.1" in finding
        assert "$ASCENDOPT_LLM_API_KEY not set" in finding
        assert server.asked == []
        run(["doctor", "--json", "--models", str(models), "--check-models"])
        assert "every model answers" in check()
        assert len(server.asked) == 2
        server.script = lambda asked: Answer(status=401, message="who are you")
        run(["doctor", "--json", "--models", str(models), "--check-models"])
        assert "status 401: who are you" in check()
