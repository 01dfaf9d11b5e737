"""The proposer that asks language models; rules fill the roles that no model is configured for."""

from __future__ import annotations

from collections.abc import Sequence

from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.trial import Candidate
from ci.model.workload import Workload
from ci.proposer.base import Proposer, Step, not_known
from ci.proposer.llm.diagnosing import ModelDiagnoser
from ci.proposer.llm.distilling import ModelDistiller
from ci.proposer.llm.rewinding import ModelRewinder
from ci.proposer.llm.run import ModelRun
from ci.proposer.llm.settings import Models, Role
from ci.proposer.llm.stepping import ModelSteps
from ci.proposer.llm.synthesis import ModelSynthesizer
from ci.proposer.rules.proposer import rules_proposer
from ci.tiling.regions import tiling_regions
from ci.tiling.synthesize import cut_of
from ci.tiling.template import TilingTemplate
from experience.bank.retrieve import Retrieved


def llm_proposer(models: Models) -> Proposer:
    """Asks the models that `models` names for their roles."""
    return compose("llm", ModelRun(models))


def compose(name: str, run: ModelRun) -> Proposer:
    """Each role filled by the model that `run` has for it, else by rules."""
    rules = rules_proposer()
    steps = ModelSteps(run)

    def asked(role: Role) -> bool:
        return run.models.of(role) is not None

    def synthesize(operator: Operator, workload: Workload, device: str) -> TilingTemplate:
        """Make the template with a model, or wide enough for one: whole functions; remembered
        for joint steps."""
        by_rules = rules.synthesize
        cut = cut_of(operator, workload)
        made = tiling_regions(operator, device, cut)[0] if asked("mutation") else None
        if asked("synthesis"):
            made = ModelSynthesizer(run, by_rules)(operator, workload, device)
        if made is None or not made.sources:
            made = by_rules(operator, workload, device)
        if run.is_begun:
            run.begun.template = made
        return made

    def mutate(
        step: Step, template: TilingTemplate, retrieved: Sequence[Retrieved] = ()
    ) -> Candidate | None:
        def by_rules() -> Candidate | None:
            return rules.mutate(step, template, retrieved)

        return steps.mutate(step, template, retrieved, by_rules)

    def rewrite(
        step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        def by_rules() -> Candidate | None:
            return rules.rewrite(step, diagnosis, retrieved)

        return steps.rewrite("kernel", step, diagnosis, retrieved, by_rules)

    def rewrite_both(
        step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        def by_rules() -> Candidate | None:
            return rules.rewrite_both(step, diagnosis, retrieved)

        return steps.rewrite("joint", step, diagnosis, retrieved, by_rules)

    rewriting = asked("rewriting")
    return Proposer(
        name=name,
        synthesize=synthesize,
        mutate=mutate if asked("mutation") else rules.mutate,
        diagnose=ModelDiagnoser(run) if asked("diagnosis") else rules.diagnose,
        rewrite=rewrite if rewriting else rules.rewrite,
        rewind=ModelRewinder(run) if asked("rewind") else rules.rewind,
        distill=ModelDistiller(run) if asked("distillation") else rules.distill,
        rewrite_both=rewrite_both if rewriting else rules.rewrite_both,
        applicable=not_known if rewriting else rules.applicable,
        models=run,
    )
