"""The prompt of a first step without a run: to be read, and to be held to its length."""

from __future__ import annotations

from typing import Final

from ci.judge.diagnose import diagnose
from ci.model.operator import Operator
from ci.model.prompt import StepPrompt
from ci.model.trial import Trial
from ci.model.workload import Workload
from ci.proposer.base import Step
from ci.proposer.llm.chat import estimate_tokens
from ci.proposer.llm.knob_lines import knob_lines
from ci.proposer.llm.prompts import messages
from ci.proposer.llm.step_prompt import Shown, step_facts
from ci.proposer.llm.view import shared_texts, view_of
from ci.tiling.regions import tiling_regions
from ci.tiling.synthesize import cut_of
from experience.bank.bank import Bank
from experience.bank.retrieve import Query, Retrieved

SEAM: Final = "\n-----\n"
"""Separates the part that stays from step to step from the part that changes."""

RETRIEVED: Final = 5


def first_prompt(
    operator: Operator, workload: Workload, baseline: Trial, bank: Bank | None
) -> StepPrompt:
    """What a model is sent for a joint step from the original operator."""
    measured = baseline.measurement
    device = measured.fingerprint.device if measured is not None else ""
    retrieved: list[Retrieved] = []
    if bank is not None and measured is not None:
        found = diagnose(measured)
        query = Query(
            bottleneck=found.bottleneck,
            classes=found.classes,
            op_family=operator.category or "other",
            soc=device,
        )
        retrieved = bank.search(query, k=RETRIEVED)
    template, _ = tiling_regions(operator, device, cut_of(operator, workload))
    view = view_of(operator, baseline, template, shared_texts(operator, baseline))
    shown = Shown(view, template, workload, None, retrieved, knob_lines(template))
    step = Step(operator, baseline, [baseline])
    system, user = messages("rewriting", device, **step_facts("joint", step, shown))
    whole = len(system.content) + len(user.content)
    stable = len(system.content) + user.content.index(SEAM)
    return StepPrompt(
        operator=operator.name,
        trial=baseline,
        system=system.content,
        user=user.content,
        tokens=estimate_tokens(system.content) + estimate_tokens(user.content),
        stable=stable / whole,
    )
