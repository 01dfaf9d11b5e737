"""Rules, a language model and a replay of one do what every proposer must."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.model.trial import Trial
from ci.proposer.base import Proposer, Step
from ci.proposer.llm.proposer import llm_proposer
from ci.proposer.replay import replay_proposer
from ci.proposer.rules.proposer import rules_proposer
from ci.system.trial_store import TrialStore
from ci.testing.proposer import DRAFT, SEED, ProposerContract, as_base
from ci.testing.scale_shift import OPERATOR, WORKLOAD
from tests.ci.proposer.llm.make import models_at, run_at
from tests.ci.proposer.llm.script import Script
from tests.ci.proposer.llm.server import serving


class TestRules(ProposerContract):
    @pytest.fixture
    def proposer(self) -> Proposer:
        return rules_proposer()


class TestLlm(ProposerContract):
    @pytest.fixture
    def proposer(self, tmp_path: Path) -> Iterator[Proposer]:
        with serving(Script()) as server:
            made = llm_proposer(models_at(server))
            made.models.begin(run_at(tmp_path / "trials.sqlite"))
            yield made


class TestReplay(ProposerContract):
    @pytest.fixture
    def proposer(self, tmp_path: Path, baseline: Trial, slower: Trial) -> Proposer:
        recorded = tmp_path / "trials.sqlite"
        store = TrialStore(recorded)
        with serving(Script()) as server:
            model = llm_proposer(models_at(server))
            store.identify({"operator": OPERATOR.name, "models": model.models.roles()})
            model.models.begin(run_at(recorded))
            template = model.synthesize(OPERATOR, WORKLOAD, "910B4")
            best = as_base(baseline, template.base)
            model.mutate(Step(OPERATOR, best, [best], SEED), template)
            diagnosis = model.diagnose(OPERATOR, baseline)
            model.rewrite(Step(OPERATOR, baseline, [baseline], SEED), diagnosis, ())
            model.rewind(OPERATOR, {}, ())
            model.distill(OPERATOR, slower, baseline, DRAFT)
        made = replay_proposer(tmp_path)
        made.models.begin(run_at(tmp_path / "again.sqlite"))
        return made
