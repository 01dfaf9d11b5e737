"""OpenEvolve over a run: what it is asked and told; the package itself where it is installed."""

from __future__ import annotations

import importlib.util
import json
import threading
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.proposer.rules.proposer import rules_proposer
from ci.search.optimize import optimize
from ci.search.task import Task
from ci.testing.model_operator import WORKLOAD, ModelEvaluator, write
from ci.testing.strategy import StrategyContract
from lab.openevolve.endpoint import Endpoint, current, marked
from lab.strategies.openevolve import OpenEvolve

BUDGET = 12
NAMES = ("0123456789abcdef", "fedcba9876543210")

INSTALLED = importlib.util.find_spec("openevolve") is not None
needs_package = pytest.mark.skipif(
    not INSTALLED, reason="openevolve is not installed: pip install 'ascendopt[openevolve]'"
)


def search(judge: ModelEvaluator, out: Path) -> Result:
    task = Task(judge.operator, WORKLOAD, judge, rules_proposer())
    return optimize(task, OptimizeSettings(budget=BUDGET), out, strategy=OpenEvolve())


def processes() -> set[str]:
    """Of OpenEvolve, by what they were started with."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if b"lab.openevolve.process" in words:
                found.add(folder.name)
    return found


def test_the_program_to_rewrite_is_told_from_others_in_the_prompt() -> None:
    other, wanted = (marked(name, "int x;\n") for name in NAMES)
    prompt = (
        f"# Current Program Information\n```cpp\n{other}```\n# Program Evolution History\n"
        f"```cpp\n{other}```\n# Current Program\n```cpp\n{wanted}```\n# Task\n"
    )
    assert current(prompt) == NAMES[1]
    assert current("Rewrite it.") is None


def test_the_endpoint_rewrites_the_named_program_and_tells_its_score() -> None:
    with Endpoint(lambda name: marked(NAMES[0], f"after {name}"), {NAMES[0]: 1.5}.get) as served:
        prompt = f"# Current Program\n```cpp\n{marked(NAMES[1], '')}```"
        asked = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
        answer = served.answer("/v1/chat/completions", json.dumps(asked).encode())
        said = answer["choices"][0]["message"]["content"]
        assert said == f"```cpp\n// program {NAMES[0]}\nafter {NAMES[1]}\n```"
        assert served.answer("/score", marked(NAMES[0], "x").encode()) == {"score": 1.5}
        assert served.answer("/score", b"int unnamed;") == {"score": 0.0}
        assert served.server_address[0] == "127.0.0.1"


@pytest.mark.skipif(INSTALLED, reason="openevolve is installed")
def test_without_the_package_the_extra_is_named() -> None:
    with pytest.raises(InputError, match=r"pip install 'ascendopt\[openevolve\]'"):
        OpenEvolve()


@needs_package
def test_it_spends_the_budget_builds_on_what_ran_and_leaves_nothing(tmp_path: Path) -> None:
    before, threads = processes(), threading.active_count()
    judge = ModelEvaluator(write(tmp_path))
    result = search(judge, tmp_path / "out")
    assert result.verdict == "improved" and result.budget.evaluations == BUDGET
    assert len(set(judge.evaluated)) == len(judge.evaluated) == BUDGET - 1
    parents = {t.candidate.parent for t in result.trials[1:]}
    assert len(parents) > 2
    assert not parents & {t.candidate.hash for t in result.trials if t.measurement is None}
    assert processes() == before and threading.active_count() == threads


@needs_package
class TestOpenEvolve(StrategyContract):
    strategy = OpenEvolve
