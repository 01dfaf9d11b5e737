"""The proposer that asks language models; rules fill the roles that no model is configured for."""

from __future__ import annotations

from ci.proposer.base import Proposer, not_known
from ci.proposer.llm.diagnosing import ModelDiagnoser
from ci.proposer.llm.distilling import ModelDistiller
from ci.proposer.llm.mutation import ModelMutator
from ci.proposer.llm.rewinding import ModelRewinder
from ci.proposer.llm.rewriting import ModelRewriter
from ci.proposer.llm.run import ModelRun
from ci.proposer.llm.settings import Models, Role
from ci.proposer.llm.synthesis import ModelSynthesizer
from ci.proposer.rules.proposer import rules_proposer


def llm_proposer(models: Models) -> Proposer:
    """Asks the models that `models` names for their roles."""
    return compose("llm", ModelRun(models))


def compose(name: str, run: ModelRun) -> Proposer:
    """Each role filled by the model that `run` has for it, else by rules."""
    rules = rules_proposer()

    def asked(role: Role) -> bool:
        return run.models.of(role) is not None

    rewriting = asked("rewriting")
    return Proposer(
        name=name,
        synthesize=ModelSynthesizer(run, rules.synthesize)
        if asked("synthesis")
        else rules.synthesize,
        mutate=ModelMutator(run) if asked("mutation") else rules.mutate,
        diagnose=ModelDiagnoser(run) if asked("diagnosis") else rules.diagnose,
        rewrite=ModelRewriter(run) if rewriting else rules.rewrite,
        rewind=ModelRewinder(run) if asked("rewind") else rules.rewind,
        distill=ModelDistiller(run) if asked("distillation") else rules.distill,
        rewrite_both=rules.rewrite_both,
        applicable=not_known if rewriting else rules.applicable,
        models=run,
    )
