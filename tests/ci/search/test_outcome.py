"""What a run reports: the fastest whose gain outlasts what the machine's time leaves open."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.report.facts import case_rows, headline
from bot.server.merge_request import title
from ci.judge.gates.coverage import CoverageGate
from ci.model.budget import Budget
from ci.model.errors import TrialFailure
from ci.model.notice import Notice
from ci.model.paired import Paired
from ci.model.result import Result, Verification
from ci.model.trial import Candidate, Measurement, Outcome, Refusal, Trial
from ci.proposer.rules.proposer import rules_proposer
from ci.search.lessons import lessons
from ci.search.outcome import base_commit, conclude
from ci.search.run import ENSEMBLE, Run
from ci.source.discovery import load_operator
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.model_operator import KERNEL_FILE, ModelEvaluator, write
from experience.bank.distill import Provenance
from rules.constants import in_words
from rules.load import load_motifs
from tests.bot.make import git, repository
from tests.ci.small_operator import write_operator

MOVED = "mte2.latency = 240"


class Stated(ModelEvaluator):
    """Every kernel says in a comment what it takes: as it is, and with a constant moved."""

    def __init__(self, folder: Path) -> None:
        super().__init__(write(folder))
        self.widened: list[str] = []

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        trial = super().evaluate(candidate, number)
        cold, _ = self._says(candidate)
        assert trial.measurement is not None
        (case,) = trial.measurement.cases
        times = {"median_us": cold, "low_us": cold, "high_us": cold, "samples_us": (cold,)}
        measured = Measurement(
            fingerprint=trial.measurement.fingerprint, cases=(case.model_copy(update=times),)
        )
        return trial.model_copy(update={"outcome": Outcome.OK, "measurement": measured})

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        cold, moved = self._says(candidate)
        self.widened.append(candidate.hash)
        if moved == 0:
            raise TrialFailure(Outcome.TIMEOUT, Refusal(sentence="It does not end."))
        return {"one": {"cold": cold, MOVED: moved}}

    def _says(self, candidate: Candidate) -> tuple[float, float]:
        found = re.search(r"// takes (\S+) (\S+)", candidate.files.get(KERNEL_FILE, ""))
        return (float(found[1]), float(found[2])) if found else (10.0, 12.0)


def conclusion(
    judge: Stated, folder: Path, *takes: str, granted: int = 9, of_the_first: int = 0
) -> Result:
    """`of_the_first`: how many of the later ones are made from the first."""
    budget = Budget(granted)
    budget.reserve()
    with TrialStore(folder / TRIALS_FILE) as store:
        run = Run(judge, budget, store, lambda notice: None)
        start = run.measure_baseline()
        for number, words in enumerate(takes):
            above = run.history[1] if 1 <= number <= of_the_first else start
            text = judge.operator.read(KERNEL_FILE) + f"// takes {words}\n"
            made = {"files": {KERNEL_FILE: text}, "parent": above.candidate.hash}
            run.evaluate(Candidate(**made, stage="kernel"))
        return conclude(run, judge.operator, {"seed": 0}, [])


@pytest.fixture
def judge(tmp_path: Path) -> Stated:
    return Stated(tmp_path)


def test_the_gain_is_reported_with_its_interval(judge: Stated, tmp_path: Path) -> None:
    result = conclusion(judge, tmp_path, "5 8", "8 9")
    assert (result.verdict, result.best.number, result.speedup) == ("improved", 1, 2.0)
    spread = result.uncertainty
    assert spread is not None and (spread.low, spread.high) == (1.5, 2.0)
    assert "(cold): 1.50 to 2.00 over the machine's uncertainty." in result.verdict_reason
    assert result.best.measurement is not None
    assert result.best.measurement.cases[0].members_us == {"cold": 5.0, MOVED: 8.0}


def test_a_gain_that_a_constant_halves_names_it(judge: Stated, tmp_path: Path) -> None:
    result = conclusion(judge, tmp_path, "5 10")
    assert result.verdict == "improved"
    assert "of the gain remains if MTE2 latency is 240 cycles: 1.20×." in result.verdict_reason


def test_a_surer_gain_is_reported_rather_than_a_larger_one(judge: Stated, tmp_path: Path) -> None:
    result = conclusion(judge, tmp_path, "5 12", "8 9")
    assert (result.verdict, result.best.number) == ("improved", 2)


def test_a_gain_that_a_constant_takes_away_is_unknown(judge: Stated, tmp_path: Path) -> None:
    result = conclusion(judge, tmp_path, "5 12", "6 12")
    assert (result.verdict, result.best.number) == ("unknown", 1)
    assert "That may be no gain if MTE2 latency is 240 cycles: " in result.verdict_reason
    assert result.verification is not None  # the rest of it was verified all the same


class Sparse(Stated):
    """Of kernels that take 5 or less, too little can be tried."""

    def confirm(self, trial: Trial) -> Verification:
        if self._says(trial.candidate)[0] <= 5:
            said = "Only 3 varied cases were tried, of 40 at least."
            refusal = Refusal(gate=CoverageGate.name, sentence=said)
            raise TrialFailure(Outcome.REJECTED, refusal)
        return super().confirm(trial)


def test_a_gain_of_which_too_little_was_tried_is_unverified(tmp_path: Path) -> None:
    result = conclusion(Sparse(tmp_path), tmp_path, "5 8", "6 12")
    assert (result.verdict, result.best.number, result.speedup) == ("unverified", 1, 2.0)
    assert result.verdict_reason.startswith("Faster by a factor of")
    assert "Not verified: Only 3 varied cases were tried, of 40 at least." in result.verdict_reason
    assert result.diff and result.verification is None
    assert headline(result).startswith(f"{result.op_type} became faster, but is not verified: ")


def test_each_final_check_and_why_it_refused_are_shown(tmp_path: Path) -> None:
    judge, shown = Sparse(tmp_path), list[Notice]()
    with TrialStore(tmp_path / TRIALS_FILE) as store:
        run = Run(judge, Budget(9), store, shown.append)
        start = run.measure_baseline()
        text = judge.operator.read(KERNEL_FILE) + "// takes 5 8\n"
        trial = run.evaluate(Candidate(files={KERNEL_FILE: text}, parent=start.candidate.hash))
        run.confirm(trial)
    assert [notice.text for notice in shown if notice.number == trial.number][-2:] == [
        f"Verifying trial {trial.number} with more cases and seeds.",
        "It is refused: Only 3 varied cases were tried, of 40 at least.",
    ]


def test_what_could_not_be_tried_enough_is_no_lesson(tmp_path: Path) -> None:
    """Neither that it helps nor that it fails: nobody found a fault."""
    judge = Sparse(tmp_path)
    result = conclusion(judge, tmp_path, "5 8")
    (one,) = load_motifs()[:1]
    trials = [
        t.model_copy(update={"candidate": t.candidate.model_copy(update={"motif_ids": (one.id,)})})
        for t in result.trials
    ]
    assert trials[1].refusal is not None
    assert lessons(judge.operator, trials, rules_proposer(), Provenance()) == []


def test_a_smaller_gain_that_was_verified_is_reported_rather(tmp_path: Path) -> None:
    result = conclusion(Sparse(tmp_path), tmp_path, "5 8", "8 9")
    assert (result.verdict, result.best.number) == ("improved", 2)


def test_what_is_neither_sure_nor_verified_is_no_improvement(tmp_path: Path) -> None:
    result = conclusion(Sparse(tmp_path), tmp_path, "5 12")
    assert result.verdict == "not_improved"


def test_one_that_fails_where_its_time_is_measured_is_passed_over(
    judge: Stated, tmp_path: Path
) -> None:
    result = conclusion(judge, tmp_path, "5 0", "8 9")
    assert (result.verdict, result.best.number) == ("improved", 2)


def test_why_nothing_could_be_measured_is_told(judge: Stated, tmp_path: Path) -> None:
    result = conclusion(judge, tmp_path, "5 0")
    assert result.verdict == "not_improved" and "It does not end." in result.verdict_reason


def test_the_ensemble_is_measured_once_a_candidate_and_not_for_slower_ones(
    judge: Stated, tmp_path: Path
) -> None:
    first = conclusion(judge, tmp_path, "5 12", "8 9", "11 2")
    assert len(judge.widened) == len(set(judge.widened)) == 3
    judge.widened.clear()
    assert conclusion(judge, tmp_path, "5 12", "8 9", "11 2").uncertainty == first.uncertainty
    assert judge.widened == []


class Scattering(Stated):
    """A device: pairs say how much faster each kernel is, and between what."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        trial = super().evaluate(candidate, number)
        assert trial.measurement is not None
        device = trial.measurement.fingerprint.model_copy(update={"simulated": False})
        low, high = self._says(candidate)
        paired = Paired(
            verdict="unknown", pairs=50, ratio=(low * high) ** 0.5, low=low, high=high, floor=0.02,
            dropped={"throttled": 3},
        )  # fmt: skip
        case = trial.measurement.cases[0].model_copy(update={"paired": paired})
        own = {"fingerprint": device, "cases": (case,), "paired": paired}
        if not candidate.files:
            own = {"fingerprint": device}
        measured = trial.measurement.model_copy(update=own)
        return trial.model_copy(update={"measurement": measured})

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        return {}


def test_a_gain_that_pairs_leave_open_is_told_as_open(tmp_path: Path) -> None:
    result = conclusion(Scattering(tmp_path), tmp_path, "0.97 1.12", "0.99 1.10", "0.9 0.95")
    assert result.verdict == "not_improved"
    assert "Trial 2 may be, by a factor of 1.044" in result.verdict_reason
    assert "measure more; 50 pairs, noise floor 2.0%, dropped: 3 throttled" in result.verdict_reason


def test_a_gain_that_pairs_show_is_reported_by_them(tmp_path: Path) -> None:
    result = conclusion(Scattering(tmp_path), tmp_path, "1.08 1.22", "0.97 1.12")
    assert (result.verdict, result.best.number) == ("improved", 1)
    assert result.speedup == pytest.approx((1.08 * 1.22) ** 0.5)
    assert case_rows(result)[0].ratio == pytest.approx(result.speedup)


STYLE = "BasedOnStyle: Google\nIndentWidth: 4\n"


class Styled(Stated):
    """In a repository with a style, where blanks make no other program."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.operator.root / ".clang-format").write_text(STYLE)
        self.checked: list[str] = []
        self.refuses = ""

    def program(self, candidate: Candidate) -> str:
        return "".join(candidate.files.get(KERNEL_FILE, "").split())

    def confirm(self, trial: Trial) -> Verification:
        self.checked.append(trial.candidate.files[KERNEL_FILE].splitlines()[-1])
        if self.refuses and self.refuses in self.program(trial.candidate):
            raise TrialFailure(Outcome.WRONG_RESULT, Refusal(sentence="seed 7 is wrong."))
        return super().confirm(trial)


def test_what_is_verified_and_handed_in_is_in_the_repositorys_own_style(tmp_path: Path) -> None:
    judge = Styled(tmp_path)
    result = conclusion(judge, tmp_path, "5 8\nint  a=1;")
    assert "+int a = 1;\n" in result.diff and "int  a=1;" not in result.diff
    assert (result.verdict, result.speedup, judge.checked) == ("improved", 2.0, ["int a = 1;"])
    assert len(judge.evaluated) == 2  # the operator, and the change once


def test_where_layout_makes_another_program_and_nothing_is_left_for_it_it_stays(
    tmp_path: Path,
) -> None:
    judge = Styled(tmp_path)
    judge.program = lambda candidate: ""  # type: ignore[method-assign]
    result = conclusion(judge, tmp_path, "5 8\nint  a=1;", granted=3)
    assert result.verdict == "improved" and "+int  a=1;\n" in result.diff


def test_what_is_made_from_a_program_that_was_refused_in_another_layout_comes_last(
    tmp_path: Path,
) -> None:
    judge = Styled(tmp_path)
    judge.refuses = "inta=1"
    takes = "5 8\nint  a=1;", "6 8\nint  a=1;int c;", "8 9\nint  b=1;"
    result = conclusion(judge, tmp_path, *takes, of_the_first=1)
    assert result.verdict == "improved" and "+int b = 1;\n" in result.diff
    assert judge.checked == ["int a = 1;", "int b = 1;"]


@pytest.mark.parametrize(
    ("takes", "built_on"), [("5 13", False), ("5 12", True), ("5 0", False), ("8 11", True)]
)
def test_nothing_is_built_on_what_is_slower_than_the_operator_somewhere_in_the_ensemble(
    judge: Stated, tmp_path: Path, takes: str, built_on: bool
) -> None:
    with TrialStore(tmp_path / TRIALS_FILE) as store:
        run = Run(judge, Budget(9), store, lambda notice: None)
        start = run.measure_baseline()
        text = judge.operator.read(KERNEL_FILE) + f"// takes {takes}\n"
        trial = run.evaluate(Candidate(files={KERNEL_FILE: text}, parent=start.candidate.hash))
        assert run.gained(trial) is built_on
        assert trial.outcome is (Outcome.OK if built_on else Outcome.UNFIT)
        if not built_on:
            assert trial.refusal is not None and trial.refusal.gate == ENSEMBLE
            assert (
                "does not end" in trial.refusal.message or in_words(MOVED) in trial.refusal.message
            )


class InStates(Stated):
    """Every launch is timed cold, warm and as a third state that the backend knows of."""

    STATES = ("cold", "warm", "cold code, inputs in L2")

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        trial = super().evaluate(candidate, number)
        assert trial.measurement is not None
        found = trial.measurement.over({"one": self._times(candidate)})
        return trial.model_copy(update={"measurement": found})

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        return {"one": {**self._times(candidate), MOVED: self._times(candidate)["cold"]}}

    def _times(self, candidate: Candidate) -> dict[str, float]:
        found = re.search(r"// takes (.+)", candidate.files.get(KERNEL_FILE, ""))
        times = [float(word) for word in found[1].split()] if found else [10.0, 5.0, 8.0]
        return dict(zip(self.STATES, times, strict=True))


def test_the_search_ranks_by_the_gain_that_holds_in_every_state(tmp_path: Path) -> None:
    judge = InStates(tmp_path)
    result = conclusion(judge, tmp_path, "6 4.9 7.5", "8 4.2 6.6")
    first, second = result.trials[1:]
    assert (result.verdict, result.best.number) == ("improved", 2)
    assert result.gain == "at least 1.19×, 1.25× cold" and result.held == pytest.approx(5 / 4.2)
    assert "1.250 (cold), and of at least 1.190 in every start state: " in result.verdict_reason
    assert first.outcome is second.outcome is Outcome.OK


def test_what_loses_in_a_state_is_refused_by_its_name_and_teaches_nothing(tmp_path: Path) -> None:
    judge = InStates(tmp_path)
    result = conclusion(judge, tmp_path, "5 6 8", "9 4.5 7.2")
    refused = result.trials[1]
    assert refused.outcome is Outcome.UNFIT and refused.refusal is not None
    assert refused.refusal.gate == ENSEMBLE
    assert "It takes 1.200 times as long" in str(refused) and "start state 'warm'" in str(refused)
    assert (result.verdict, result.best.number) == ("improved", 2)
    taught = lessons(judge.operator, result.trials, rules_proposer(), Provenance())
    assert [t.fast.candidate for t in taught] == [result.best.candidate.hash]


def test_a_gain_in_one_state_alone_may_be_built_on_and_is_not_reported(tmp_path: Path) -> None:
    judge = InStates(tmp_path)
    result = conclusion(judge, tmp_path, "10 3 5", "8 4 6", of_the_first=0)
    assert (result.verdict, result.best.number) == ("improved", 2)
    alone = conclusion(InStates(tmp_path / "alone"), tmp_path / "alone", "10 5 4")
    assert alone.verdict == "not_improved"


def test_a_gain_of_which_one_state_leaves_nothing_is_reported_by_the_first(tmp_path: Path) -> None:
    result = conclusion(InStates(tmp_path), tmp_path, "8 4.99 6")
    assert (result.verdict, result.best.number) == ("improved", 1)
    assert "of at least 1.002 in every start state" in result.verdict_reason
    assert "1.25× faster from a cold start, slower from none" in headline(result)
    assert title(result).endswith("1.25x faster (simulated, cold)")
    assert result.typical == pytest.approx((1.25 * 5 / 4.99 * 8 / 6) ** (1 / 3))


@pytest.mark.parametrize(
    ("takes", "said"),
    [("8 5.04 6", "1.250 as measured (cold), but of 0.992 in"), ("9.8 4.99 8", "1.007 in their")],
)
def test_a_gain_too_small_in_the_mean_or_lost_somewhere_is_neither_verified_nor_unknown(
    tmp_path: Path, takes: str, said: str
) -> None:
    result = conclusion(InStates(tmp_path), tmp_path, takes)
    assert (result.verdict, result.best.number) == ("not_improved", 0)
    assert result.verification is None
    assert said in result.verdict_reason


def test_the_commit_is_that_of_the_operators_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
        repository(tmp_path / name)
    git(tmp_path / "other" / "ops", "commit", "-q", "--allow-empty", "-m", "Another")
    checkout = tmp_path / "own" / "ops"
    found = load_operator(write_operator(checkout / "src" / "math" / "op"))
    own = git(checkout, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / "ops" / ".git"))
    assert base_commit(found) == own
