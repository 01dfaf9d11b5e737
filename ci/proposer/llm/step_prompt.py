"""The facts of a step's prompt: what stays for every step of a run first, what changes last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ci.model.diagnosis import Diagnosis
from ci.model.workload import Workload
from ci.proposer.base import Step
from ci.proposer.llm.machine_card import card, chip_of, costs
from ci.proposer.llm.measurements import figures
from ci.proposer.llm.prompts import attributes
from ci.proposer.llm.trial_history import earlier, near_misses
from ci.proposer.llm.view import View, shared_texts
from ci.proposer.rules.diagnosing import diagnose_by_rules
from ci.source.source_diff import git_diff
from ci.tiling.template import TilingTemplate
from experience.bank.retrieve import Retrieved, helpful, hopeless

SHOWN_TUPLES: Final = 3
SHOWN_DIFF: Final = 1500
"""Characters of a tuple's diff that a prompt shows: the idea, not a whole kernel."""

LEAST_LIKE: Final = 0.4
"""Likeness below which a tuple answers another bottleneck."""

TASKS: Final = {
    "tiling": "Propose one change of the host tiling that makes the operator faster. The kernel "
    "stays as it is in this step.",
    "kernel": "Make this kernel faster. The host tiling stays as it is in this step.",
    "joint": "Make this kernel faster together with its host tiling: change both halves, or "
    "either, whatever the worst case asks for.",
}
MAY_CHANGE: Final = (
    "Of the host tiling only the text between the EVOLVE-BLOCK markers may change (marker lines "
    "are no part of the file); of the kernel everything."
)
NO_HOST: Final = "The host tiling is shared with other operators and stays as it is."


@dataclass(frozen=True)
class Shown:
    """What a step's prompt shows next to the step itself."""

    view: View
    template: TilingTemplate
    """The host tiling that the search starts from, and what of it may change."""
    workload: Workload | None
    diagnosis: Diagnosis | None
    retrieved: Sequence[Retrieved]
    knobs: list[str]


def step_facts(stage: str, step: Step, shown: Shown) -> dict[str, Any]:
    """The values of step.md.j2. Those of its first part stay the same for a whole run."""
    operator, best = step.operator, step.best
    texts = operator.texts(best.candidate.files)
    by_rules = diagnose_by_rules(operator, best)  # says no more than the figures below
    told = shown.diagnosis if shown.diagnosis not in (None, by_rules) else None
    useful = [r for r in helpful(shown.retrieved) if r.similarity >= LEAST_LIKE]
    chip = chip_of(step.device)
    first = operator.texts(shown.template.plain())
    kernel = {p: first[p] for p in operator.kernel_sources}
    host = {p: shown.template.marked(p, t) for p, t in shown.template.plain().items()}
    return {
        "attributes": attributes(operator, shown.workload),
        "card": card(step.device, chip, step.history[0].measurement),
        "costs": costs(chip),
        "auto_sync": AUTO_SYNC[operator.auto_sync],
        "may_change": MAY_CHANGE if host else NO_HOST,
        "sources": {p: shown.view.shown(p, t) for p, t in (host | kernel).items()},
        "shared": {
            p: shown.view.shown(p, t) for p, t in shared_texts(operator, step.history[0]).items()
        },
        "changes": git_diff(first, texts),
        "tuples": [_told(r) for r in useful[:SHOWN_TUPLES]],
        "vain": [r.tuple.title.removeprefix("No gain: ") for r in hopeless(shown.retrieved)],
        "best": best,
        "bottleneck": told.bottleneck if told is not None else "",
        "figures": figures(best.measurement, texts),
        "earlier": earlier(step.history, best),
        "near": near_misses(operator, step.history, best),
        "knobs": shown.knobs if stage != "kernel" else [],
        "task": TASKS[stage],
    }


AUTO_SYNC: Final = {
    True: "It is built with automatic synchronisation on.",
    False: "It is built without automatic synchronisation.",
}


def _told(one: Retrieved) -> dict[str, str]:
    earned = one.tuple
    diff = earned.diff if len(earned.diff) <= SHOWN_DIFF else f"{earned.diff[:SHOWN_DIFF]}\n…"
    failed = earned.evidence.failure
    return {
        "id": earned.id,
        "effect": failed or f"{earned.evidence.speedup:.2f} times faster",
        "text": f"{earned.title}\n{earned.description}\nBottleneck: {earned.bottleneck}",
        "diff": diff,
    }
