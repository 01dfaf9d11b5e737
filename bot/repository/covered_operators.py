"""Which operators of a checkout its `.ascendopt.yml` covers, and what each is evaluated with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.repository.config import FILE, RepositoryConfig, parse_config
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.regular_file import file_bytes
from ci.model.settings import EvaluationSetup
from ci.session.operators import workload_below


def covered(
    operators: Sequence[Operator], setup: EvaluationSetup
) -> list[tuple[Operator, EvaluationSetup]]:
    """Return those that the bot may work on, each with `setup` as its repository would have it.

    What `setup` names itself stands. An operator outside any repository, or in one without the
    file, is covered. Raises `InputError` for a file with a mistake.
    """
    configs: dict[Path, RepositoryConfig] = {}
    found = []
    for operator in operators:
        top = operator.repository
        if top is None:
            found.append((operator, setup))
            continue
        config = configs.get(top) or configs.setdefault(top, _config(top))
        folder = operator.root.relative_to(top).as_posix()
        if config.covers(folder):
            found.append((operator, _setup(operator, top, folder, config, setup)))
    return found


def _setup(
    operator: Operator, top: Path, folder: str, config: RepositoryConfig, setup: EvaluationSetup
) -> EvaluationSetup:
    usual = EvaluationSetup()
    chosen = {
        name: value
        for name, value in (("device", config.target), ("backend", config.backend))
        if getattr(setup, name) == getattr(usual, name)
    }
    workload = setup.workload
    if workload is None and (named := config.override(folder).workload):
        workload = top / named
    elif workload is None and config.workloads:
        workload = workload_below(operator, top / config.workloads)
    return setup.model_copy(update={**chosen, "workload": workload})


def _config(top: Path) -> RepositoryConfig:
    file = top / FILE
    if file.is_symlink():
        raise InputError(f"{file} is a link; the configuration must be a file of the repository.")
    return parse_config(file_bytes(file, top.resolve()) if file.exists() else None, str(file))
