import re
import signal
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot.base.language import language
from bot.report.sentences import local
from ci.judge.roofline import floor, launched_on
from ci.model.diagnosis import Diagnosis
from ci.model.errors import InputError
from ci.model.notice import Notice
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.proposer.base import Proposer, Step
from ci.proposer.rules.proposer import rules_proposer
from ci.search.base import Strategy
from ci.search.optimize import optimize
from ci.search.run import Run
from ci.search.steps import Steps
from ci.search.strategies.ascendoptimizer import AscendOptimizer
from ci.search.task import Task
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.model_operator import (
    HOST_FILE,
    KERNEL_FILE,
    WORKLOAD,
    ModelEvaluator,
    write,
)
from ci.testing.strategy import key
from ci.tiling.template import TilingTemplate
from experience.bank.retrieve import Retrieved
from tests.places import TOP


def run(
    operator: Operator,
    out: Path,
    *,
    evaluator: ModelEvaluator | None = None,
    proposer: Proposer | None = None,
    notices: list[Notice] | None = None,
    budget: int = 24,
    resume: bool = False,
    seed: int = 0,
    strategy: Strategy | None = None,
) -> Result:
    judge = evaluator or ModelEvaluator(operator)
    return optimize(
        Task(operator, WORKLOAD, judge, proposer or rules_proposer()),
        OptimizeSettings(budget=budget, resume=resume, seed=seed),
        out,
        notices.append if notices is not None else lambda notice: None,
        strategy=strategy,
    )


class Timed(ModelEvaluator):
    """Everything takes so many times its floor."""

    def __init__(self, operator: Operator, times: float) -> None:
        super().__init__(operator)
        self.times = times

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        trial = super().evaluate(candidate, number)
        if trial.measurement is None:
            return trial
        (case,) = trial.measurement.cases
        chip = launched_on(trial.measurement.fingerprint)
        assert chip is not None
        time = self.times * floor(chip, 1 << 20, 1 << 20, 0, 0).us
        told = {"median_us": time, "low_us": time, "high_us": time, "samples_us": (time,)}
        cases = (case.model_copy(update=told),)
        return trial.model_copy(
            update={"measurement": trial.measurement.model_copy(update={"cases": cases})}
        )


def test_what_is_at_its_floor_ends_after_the_baseline_and_says_so(tmp_path: Path) -> None:
    operator, notices = write(tmp_path), list[Notice]()
    judge = Timed(operator, times=1.02)
    result = run(operator, tmp_path / "out", evaluator=judge, notices=notices)
    assert (result.verdict, len(result.trials), result.budget.evaluations) == ("not_improved", 1, 1)
    assert "can be more than 1.02 times as fast" in result.verdict_reason
    assert result.verdict_reason in [notice.text for notice in notices]


@pytest.mark.parametrize("file", [HOST_FILE, KERNEL_FILE])
def test_a_source_in_another_encoding_is_named_and_left_as_it_is(tmp_path: Path, file: str) -> None:
    operator, notices = write(tmp_path), list[Notice]()
    path = operator.path(file)
    path.write_bytes("// a\n// 双缓冲\n".encode("gb18030") + path.read_bytes())
    result = run(operator, tmp_path / "out", notices=notices)
    said = f"Sources that are not UTF-8 text were left as they are: {file}:2."
    assert said in [notice.text for notice in notices]
    assert result.verdict_reason.endswith(said)
    assert file not in result.best.candidate.files
    with language("zh"):
        assert local(result.verdict_reason).endswith(f"不是 UTF-8 文本的源文件保持原样：{file}:2。")


def test_what_is_a_tenth_above_its_floor_is_searched(tmp_path: Path) -> None:
    operator = write(tmp_path)
    result = run(operator, tmp_path / "out", evaluator=Timed(operator, times=1.1))
    assert len(result.trials) > 2


def test_both_stages_improve_and_their_best_pair_is_inherited(tmp_path: Path) -> None:
    result = run(write(tmp_path), tmp_path / "out", budget=40)
    assert result.verdict == "improved"
    assert result.speedup > 2
    assert set(result.best.candidate.files) == {HOST_FILE, KERNEL_FILE}


def test_a_tiling_step_keeps_the_kernel_and_a_kernel_step_the_tiling(tmp_path: Path) -> None:
    result = run(write(tmp_path), tmp_path / "out", budget=40)
    files = {t.candidate.hash: t.candidate.files for t in result.trials}
    for trial in result.trials[1:]:
        fixed = KERNEL_FILE if trial.candidate.stage == "tiling" else HOST_FILE
        parent = files[trial.candidate.parent]
        assert trial.candidate.files.get(fixed) == parent.get(fixed)


class Ended(Strategy):
    """Takes one step, and has no more to try."""

    name = "ended"
    summary = "one step"

    def search(self, run: Run, steps: Steps) -> None:
        steps.take("tiling", steps.start())


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        (Ended(), "The search ends with 1 evaluation left: it has no more to try."),
        (AscendOptimizer(), "The budget is spent."),
    ],
)
def test_a_search_says_why_it_ends(tmp_path: Path, strategy: Strategy, said: str) -> None:
    notices = list[Notice]()
    run(write(tmp_path), tmp_path / "out", notices=notices, budget=4, strategy=strategy)
    assert [n.text for n in notices if n.text.startswith(("The search", "The budget"))] == [said]


def test_another_seed_does_not_continue_a_run(tmp_path: Path) -> None:
    operator = write(tmp_path)
    run(operator, tmp_path / "out", budget=5)
    with pytest.raises(InputError, match="its settings was"):
        run(operator, tmp_path / "out", budget=5, resume=True, seed=1)


def test_changed_sources_do_not_continue_a_run(tmp_path: Path) -> None:
    operator = write(tmp_path)
    run(operator, tmp_path / "out", budget=5)
    path = operator.root / KERNEL_FILE
    path.write_text(path.read_text() + "// edited\n")
    with pytest.raises(InputError, match="its sources was"):
        run(operator, tmp_path / "out", budget=5, resume=True)


def test_an_earlier_run_is_not_overwritten(tmp_path: Path) -> None:
    operator = write(tmp_path)
    run(operator, tmp_path / "out", budget=5)
    with pytest.raises(InputError, match="--resume"):
        run(operator, tmp_path / "out", budget=5)


def test_a_budget_that_cannot_optimize_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--budget 3"):
        run(write(tmp_path), tmp_path / "out", budget=2)


def test_a_failing_baseline_ends_the_run_with_its_evidence(tmp_path: Path) -> None:
    class Broken(ModelEvaluator):
        def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
            return self._failed(candidate, number)

    operator = write(tmp_path)
    result = run(operator, tmp_path / "out", evaluator=Broken(operator))
    assert result.verdict == "baseline_failed"
    assert "do not fit the unified buffer" in result.verdict_reason
    assert len(result.trials) == 1
    assert result.budget.evaluations == 1
    assert result.diff == ""


def test_a_best_that_fails_the_final_verification_is_passed_over(tmp_path: Path) -> None:
    operator = write(tmp_path)
    sound = run(operator, tmp_path / "a", budget=12)
    evaluator = ModelEvaluator(operator, fails_verification=99)
    result = run(operator, tmp_path / "b", evaluator=evaluator, budget=12)
    assert sound.verdict == "improved"
    assert result.verdict == "not_improved"
    assert result.diff == ""
    assert "seed 7 is wrong" in result.verdict_reason


def test_the_diff_applies_with_git_and_gives_the_best_texts(tmp_path: Path) -> None:
    operator = write(tmp_path / "repo")
    top = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    operator = operator.model_copy(update={"repository": top})
    result = run(operator, tmp_path / "out")
    (tmp_path / "best.patch").write_text(result.diff)
    subprocess.run(["git", "-C", str(top), "apply", str(tmp_path / "best.patch")], check=True)
    assert result.operator_path == "src/math/scale_rows"
    for file, text in result.best.candidate.files.items():
        assert (operator.root / file).read_text() == text


def test_the_diff_of_a_source_with_carriage_returns_applies(tmp_path: Path) -> None:
    operator = write(tmp_path / "repo")
    for file in (HOST_FILE, KERNEL_FILE):
        path = operator.root / file
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    top = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    operator = operator.model_copy(update={"repository": top})
    result = run(operator, tmp_path / "out")
    (tmp_path / "best.patch").write_bytes(result.diff.encode())
    subprocess.run(["git", "-C", str(top), "apply", str(tmp_path / "best.patch")], check=True)
    changed = next(iter(result.best.candidate.files))
    assert b"\r\n" in (operator.root / changed).read_bytes()


def test_onlookers_see_every_trial_with_the_best_so_far(tmp_path: Path) -> None:
    notices: list[Notice] = []
    result = run(write(tmp_path), tmp_path / "out", notices=notices)
    finished = [e for e in notices if e.kind == "trial_finished"]
    assert [e.number for e in finished] == [t.number for t in result.trials]
    bests = [e.best_us for e in finished if e.best_us is not None]
    assert bests == sorted(bests, reverse=True)
    assert notices[0].kind == "started"
    assert notices[-1].kind == "finished"


class Refusing(ModelEvaluator):
    """Measures every candidate and finds those unfit whose rationale has a word in it."""

    def __init__(self, operator: Operator, word: str) -> None:
        super().__init__(operator)
        self.word = word
        self.asked: list[Trial] = []

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        self.asked.append(trial)
        assert parent is baseline or parent.candidate.hash == trial.candidate.parent
        if self.word not in trial.candidate.rationale:
            return trial
        refusal = Refusal(gate="other_shapes", sentence="It fails on other shapes.")
        return trial.model_copy(update={"outcome": Outcome.UNFIT, "refusal": refusal})


def test_what_is_unfit_is_not_inherited_and_a_resumed_run_knows(tmp_path: Path) -> None:
    operator = write(tmp_path)
    evaluator = Refusing(operator, "of the unified buffer")
    out = tmp_path / "out"
    result = run(operator, out, evaluator=evaluator, budget=24)
    refused = [t for t in result.trials if t.outcome is Outcome.UNFIT]
    assert refused
    assert all(t.measurement and t.refusal and t.refusal.gate == "other_shapes" for t in refused)
    assert not {t.candidate.hash for t in refused} & {t.candidate.parent for t in result.trials}
    assert len(evaluator.asked) < len(result.trials) / 2  # only what would have been inherited
    again = Refusing(operator, "of the unified buffer")
    resumed = run(operator, out, evaluator=again, budget=24, resume=True)
    assert key(resumed.trials) == key(result.trials)
    assert result.verdict == "improved"
    fit = [t for t in again.asked if "of the unified buffer" not in t.candidate.rationale]
    assert fit[-1].number == result.best.number  # before it is reported
    assert len({t.number for t in fit}) == evaluator.confirmed  # rounds ask of what they found


def slight() -> Proposer:
    """Proposes kernels that say their own time: a step of 10 %, then one of half a percent."""

    def mutate(step: Step, template: TilingTemplate, retrieved: Sequence[Retrieved] = ()) -> None:
        return None

    def rewrite(
        step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        if len(step.history) > 2:
            return None
        micros = (9.0, 8.955)[len(step.history) - 1]
        text = step.operator.read(KERNEL_FILE) + f"// takes {micros} us\n"
        files, parent = {KERNEL_FILE: text}, step.best.candidate.hash
        return Candidate(files=files, parent=parent, stage="kernel", rationale=f"{micros} us")

    return replace(rules_proposer(), mutate=mutate, rewrite=rewrite)


class Reading(Refusing):
    """Believes what the kernel says of its time; the baseline takes 10 us."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        said = re.search(r"// takes (\S+) us", candidate.files.get(KERNEL_FILE, ""))
        micros = float(said[1]) if said else 10.0
        measurement = super().evaluate(Candidate(), number).measurement
        assert measurement is not None
        times = dict.fromkeys(("median_us", "low_us", "high_us"), micros)
        case = measurement.cases[0].model_copy(update={**times, "samples_us": (micros,)})
        return Trial(
            number=number,
            candidate=candidate,
            outcome=Outcome.OK,
            measurement=measurement.model_copy(update={"cases": (case,)}),
        )


def test_a_last_step_below_the_minimum_effect_is_not_reported(tmp_path: Path) -> None:
    operator = write(tmp_path)
    result = run(
        operator,
        tmp_path / "out",
        evaluator=Reading(operator, "never"),
        proposer=slight(),
        budget=6,
        strategy=AscendOptimizer(),
    )
    times = [t.measurement.cases[0].median_us for t in result.trials if t.measurement]
    assert times == [10.0, 9.0, 8.955]
    assert (result.verdict, result.best.number) == ("improved", 1)


_KILLED_RUN = """
import os, signal, sys
from pathlib import Path
from ci.source.discovery import load_operator
from ci.search.optimize import optimize
from ci.search.run import Run
from ci.search.steps import Steps
from ci.model.settings import OptimizeSettings
from ci.proposer.rules.proposer import rules_proposer
from ci.search.task import Task
from ci.testing.model_operator import WORKLOAD, ModelEvaluator

class Killing(ModelEvaluator):
    def evaluate(self, candidate, number, *, profile=False):
        if number == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().evaluate(candidate, number)

operator = load_operator(Path(sys.argv[1]))
settings = OptimizeSettings(budget=24)
task = Task(operator, WORKLOAD, Killing(operator), rules_proposer())
optimize(task, settings, Path(sys.argv[2]))
"""


def test_a_run_killed_by_the_system_resumes_to_the_same_trials(tmp_path: Path) -> None:
    operator = write(tmp_path)
    out = tmp_path / "out"
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED_RUN, str(operator.root), str(out)],
        cwd=TOP,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(TrialStore(out / TRIALS_FILE).trials()) == 7
    resumed = run(operator, out, resume=True)
    assert key(resumed.trials) == key(run(operator, tmp_path / "whole").trials)
