"""The nightly job on a bank in a file, killed for real and run again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ci.model.errors import InputError
from ci.model.experience import RefreshSettings, RewindSettings
from ci.model.operator import Operator
from ci.model.trial import Trial
from ci.proposer.rules.proposer import rules_proposer
from ci.testing.model_operator import HOST, KERNEL, KERNEL_FILE, ModelEvaluator, write
from experience.bank.bank import Bank
from experience.jobs.refresh import Refreshed, refresh
from experience.jobs.rewind import rewind
from experience.jobs.summary import markdown
from tests.experience.make import make_tuple

ROOMY = HOST.replace("ubParts = 4", "ubParts = 6")
STRONG = KERNEL.replace("BUFFER_NUM = 1", "BUFFER_NUM = 2").replace(
    "    PipeBarrier<PIPE_V>();\n", ""
)

KILLED = """
import os, signal, sys
from pathlib import Path
from ci.source.discovery import load_operator
from ci.proposer.rules.proposer import rules_proposer
from experience.bank.bank import Bank
from experience.jobs.refresh import refresh
from ci.model.experience import RefreshSettings
from ci.testing.model_operator import ModelEvaluator

class Killing(ModelEvaluator):
    calls = 0
    def evaluate(self, candidate, number, *, profile=False):
        Killing.calls += 1
        if Killing.calls == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().evaluate(candidate, number)

operator = load_operator(Path(sys.argv[1]))
refresh(Bank(Path(sys.argv[2])), [operator], Killing, rules_proposer(), RefreshSettings(budget=8))
"""

READ = """
import sys
from pathlib import Path
from experience.bank.bank import Bank
from experience.bank.retrieve import Query
bank = Bank(Path(sys.argv[1]))
for _ in range(15):
    found = bank.search(Query(bottleneck="copies wait for the vector unit"))
    assert found, "a reader saw an empty bank"
    bank.credit([found[0].tuple.id], won=False)
"""


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return write(tmp_path, host=ROOMY, kernel=STRONG)


@pytest.fixture
def bank(tmp_path: Path, operator: Operator) -> Bank:
    """A bank with what one walk down from the operator taught."""
    made = Bank(tmp_path / "bank.duckdb")
    rewind(operator, ModelEvaluator(operator), rules_proposer(), made, RewindSettings(budget=12))
    assert len(made.all()) >= 3
    return made


def run(bank: Bank, operator: Operator, **settings: object) -> Refreshed:
    given = RefreshSettings.model_validate({"budget": 8, **settings})
    return refresh(bank, [operator], ModelEvaluator, rules_proposer(), given)


def test_what_still_holds_is_measured_again_and_kept(bank: Bank, operator: Operator) -> None:
    done = run(bank, operator)
    assert {c.verdict for c in done.checked} == {"holds"}
    assert all(t.checked is not None and t.status == "verified" for t in bank.all() if t.slow)
    assert all(c.now == pytest.approx(c.before) for c in done.checked)
    assert done.backend == "replay 910B4 model"


def test_an_operator_without_a_workload_is_passed_over_and_the_others_are_gone_over(
    bank: Bank, operator: Operator, tmp_path: Path
) -> None:
    other = operator.model_copy(update={"name": "another"})

    def evaluator_of(one: Operator) -> ModelEvaluator:
        if one is other:
            raise InputError("another has no workload.")
        return ModelEvaluator(one)

    bank.add(make_tuple(7, operator="another", status="verified"))
    settings = RefreshSettings(budget=8)
    done = refresh(bank, [other, operator], evaluator_of, rules_proposer(), settings)
    assert done.passed_over == {"another": "another has no workload."}
    assert "not placed: another has no workload." in {c.verdict for c in done.checked}
    assert "holds" in {c.verdict for c in done.checked}
    assert operator.name in done.rewound and not done.failed
    assert "1 operator was passed over" in markdown(done)


@pytest.mark.parametrize("fault", [KeyError("state"), RecursionError("deep"), OSError(28, "full")])
@pytest.mark.parametrize("where", ["opened", "evaluated", "rewound"])
def test_an_operator_that_meets_a_defect_keeps_no_other_from_being_gone_over(
    bank: Bank, operator: Operator, where: str, fault: Exception
) -> None:
    other = operator.model_copy(update={"name": "another"})

    class Failing(ModelEvaluator):
        def evaluate(self, *given: Any, **named: Any) -> Trial:
            if where == "evaluated":
                raise fault
            return super().evaluate(*given, **named)

    def evaluator_of(one: Operator) -> ModelEvaluator:
        if one is other and where == "opened":
            raise fault
        return (Failing if one is other else ModelEvaluator)(one)

    def commit_of(one: Operator) -> str:
        if one is other and where == "rewound":
            raise fault
        return ""

    bank.add(make_tuple(7, operator="another", status="verified"))
    done = refresh(
        bank,
        [other, operator],
        evaluator_of,
        rules_proposer(),
        RefreshSettings(budget=8),
        commit_of=commit_of,
    )
    assert list(done.passed_over) == ["another"] and str(fault) not in str(done.passed_over)
    assert "holds" in {c.verdict for c in done.checked} and operator.name in done.rewound


def test_a_lesson_that_is_not_true_is_retired_and_never_deleted(
    bank: Bank, operator: Operator
) -> None:
    text = operator.read(KERNEL_FILE)
    line = next(n for n in text.splitlines() if "constexpr int32_t BUFFER_NUM" in n)
    false = (
        f"diff --git a/{KERNEL_FILE} b/{KERNEL_FILE}\n--- a/{KERNEL_FILE}\n+++ b/{KERNEL_FILE}\n"
        f"@@ -3,1 +3,1 @@\n-{line} // slow\n+{line}\n"
    )
    bank.add(make_tuple(1, operator=operator.name, diff=false))
    done = run(bank, operator)
    kept = bank.get(make_tuple(1).id)
    assert kept.status == "retired" and kept.retired_because.startswith("no longer holds: 1.000x")
    assert [c.id for c in done.checked if c.verdict == "retired"] == [kept.id]
    assert f"`{kept.id}`" in markdown(done)


@pytest.mark.long
def test_an_operator_that_changed_is_rewound_once(bank: Bank, operator: Operator) -> None:
    assert list(run(bank, operator).rewound) == [operator.name]
    assert run(bank, operator).rewound == {}
    (operator.root / KERNEL_FILE).write_text(STRONG + "// changed\n", encoding="utf-8")
    assert list(run(bank, operator).rewound) == [operator.name]


def test_uses_without_a_win_retire_a_tuple(bank: Bank, operator: Operator) -> None:
    useless, useful = (t.id for t in bank.all()[:2])
    for _ in range(8):
        bank.credit([useless, useful], won=False)
    bank.credit([useful], won=True)
    assert run(bank, operator).useless == (useless,)
    assert bank.get(useless).retired_because == "8 uses without a win"
    assert bank.get(useful).status == "verified"


def test_of_near_duplicates_the_one_with_the_greatest_effect_stays(
    bank: Bank, operator: Operator
) -> None:
    one = next(t for t in bank.all() if t.motif_id == "double-buffering")
    weaker = one.evidence.model_copy(update={"slow_us": one.evidence.fast_us * 1.02})
    twin = one.model_copy(update={"id": "f" * 12, "diff_hash": "other", "evidence": weaker,
                                  "operator": "elsewhere"})  # fmt: skip
    bank.add(twin)
    assert run(bank, operator).duplicates == (twin.id,)
    assert bank.get(twin.id).retired_because == f"near-duplicate of {one.id}"


@pytest.mark.long
@pytest.mark.few(1)
@pytest.mark.parametrize("at", [2, 4, 6])
def test_a_refresh_that_is_killed_loses_nothing_and_the_next_one_ends(
    bank: Bank, operator: Operator, at: int
) -> None:
    before = {t.id for t in bank.all()}
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(operator.root), str(bank.path), str(at)],
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert before <= {t.id for t in Bank(bank.path).all()}
    done = run(bank, operator)
    assert before <= {c.id for c in done.checked}
    assert {c.verdict for c in done.checked} == {"holds"}


@pytest.mark.long
def test_a_reader_and_a_refresh_at_once_lose_nothing(bank: Bank, operator: Operator) -> None:
    before = {t.id for t in bank.all()}
    reader = subprocess.Popen([sys.executable, "-c", READ, str(bank.path)])
    for _ in range(3):
        run(bank, operator)
    assert reader.wait(timeout=100) == 0
    after = bank.all()
    assert before <= {t.id for t in after}
    assert sum(t.uses for t in after) == 15
