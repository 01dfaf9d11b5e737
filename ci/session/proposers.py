"""The proposer and the search strategy that options name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.settings import ProposerOptions

if TYPE_CHECKING:
    from ci.proposer.base import Proposer

PROPOSERS: Final = ("rules", "llm", "agent", "replay:RUN")
REPLAY: Final = "replay:"
AGENT: Final = "agent"


def strategy_options() -> type[Frozen]:
    """The options by which a search strategy is chosen and set."""
    from ci.search.strategies import strategy_options

    return strategy_options()


def find_proposer(proposing: ProposerOptions) -> Proposer:
    """The proposer of that name (rules, llm, agent or replay:RUN); raises `InputError`.

    Of an agent it says who diagnoses and distils; the agent itself drives the run.
    """
    name, models = proposing.proposer, proposing.models
    if models is not None and name not in ("llm", AGENT):
        raise InputError("--models is for --proposer llm and --proposer agent only.")
    if name in ("rules", AGENT):
        from ci.proposer.rules.proposer import rules_proposer

        return replace(rules_proposer(), name=name)
    if name == "llm":
        from ci.proposer.llm.proposer import llm_proposer
        from ci.proposer.llm.settings import ROLES, load_models

        chosen = load_models(models)
        if not any(chosen.of(role) for role in ROLES):
            raise InputError(
                "--proposer llm needs a model: give --models FILE, or set ASCENDOPT_LLM_MODEL"
                " and ASCENDOPT_LLM_ENDPOINT (docs/language-models.md)."
            )
        return llm_proposer(chosen)
    if name.startswith(REPLAY):
        from ci.proposer.replay import replay_proposer

        return replay_proposer(Path(name.removeprefix(REPLAY)))
    raise InputError(f"There is no proposer '{name}'; known: {', '.join(PROPOSERS)}.")
