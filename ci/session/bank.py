"""The experience bank as commands use it: learnt from runs, refreshed, drawn as a map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ci.model.errors import InputError
from ci.model.experience import Landscape, RefreshSettings
from ci.model.operator import Operator
from ci.model.regular_file import file_bytes
from ci.model.settings import EvaluationSetup, ProposerOptions
from ci.session.open_bank import begin_beside, open_bank
from ci.session.proposers import find_proposer
from ci.session.session import open_session

if TYPE_CHECKING:
    from experience.jobs.refresh import Refreshed


def learn(bank: Path | None, result: Path, operator: Path, origin: str) -> tuple[int, int]:
    """Add what the kernel steps of a run taught; how many tuples are new, and were known.

    `result` is the run's result.json, `operator` the folder of its operator, before or after it.
    Raises `InputError` when they do not fit together.
    """
    from pydantic import ValidationError

    from ci.model.result import Result
    from ci.search.lessons import from_result
    from ci.source.discovery import load_operator
    from experience.bank.patching import Misfit

    store = open_bank(bank)
    try:
        read = Result.model_validate_json(file_bytes(result))
    except (OSError, InputError, ValidationError) as problem:
        first = str(problem).splitlines()[0]
        raise InputError(f"{result} is not the result.json of a run: {first}") from problem
    try:
        found = from_result(
            read, load_operator(operator), find_proposer(ProposerOptions()), origin=origin
        )
    except Misfit as problem:
        raise InputError(f"{result} and {operator} do not fit together: {problem}.") from problem
    new = store.add_all(found)
    return new, len(found) - new


def refresh(
    bank: Path | None,
    operators: Sequence[Operator],
    setup_of: Callable[[Operator], EvaluationSetup],
    settings: RefreshSettings,
    proposing: ProposerOptions,
    tell: Callable[[str], None],
    pool: str = "",
) -> tuple[Refreshed, str]:
    """Go over the bank with these operators; what was done, and its summary.

    `setup_of`: what each is evaluated with; `pool`: where, '' in this process.
    """
    from ci.search.outcome import base_commit
    from experience.jobs.refresh import refresh as go_over
    from experience.jobs.summary import markdown

    store, proposer = open_bank(bank, must_exist=True), find_proposer(proposing)
    begin_beside(proposer, store, settings, workload=None, device="")
    done = go_over(
        store,
        operators,
        lambda operator: open_session(operator.place, setup_of(operator), pool=pool).evaluator,
        proposer,
        settings,
        commit_of=base_commit,
        on_step=tell,
    )
    return done, markdown(done)


def landscape(bank: Path | None, groups: int) -> Landscape | None:
    """The map of a bank; None for fewer than three tuples. `groups` 0: as many as are best."""
    from experience.jobs.landscape import landscape as chart

    store = open_bank(bank, must_exist=True)
    tuples, vectors = store.vectors()
    return chart(tuples, vectors, store.stats().embedding_model, groups=groups)
