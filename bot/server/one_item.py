"""One item's failure is one item's: what a person reads of it, while the others go on."""

from __future__ import annotations

import logging
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from bot.base.git import GitError
from bot.forge.base import ForgeError
from ci.model.errors import EnvironmentProblem, InputError

LOG: Final = logging.getLogger("ascendopt.bot")
DEFECT: Final = "This is a defect of ascendopt itself; the bot's log says where. Please report it."
_SENTENCES: Final = (InputError, EnvironmentProblem, ForgeError, GitError)


@contextmanager
def beside(what: str) -> Iterator[None]:
    """A refusal of the forge of what only goes with a merge request is logged: it is open."""
    try:
        yield
    except ForgeError as problem:
        LOG.warning("the merge request goes without %s: %s", what, problem)


@contextmanager
def apart(what: str, failed: list[Exception] | None = None) -> Iterator[None]:
    """What goes wrong inside concerns this item alone: it is logged, and added to `failed`."""
    try:
        yield
    except Exception as problem:
        LOG.warning("%s: %s", what, told(problem))
        if failed is not None:
            failed.append(problem)


def is_defect(problem: Exception) -> bool:
    """Whether a failure is ascendopt's own, so that another try meets it again. What the machine,
    its memory or its disk lacks may pass."""
    return not isinstance(problem, (*_SENTENCES, OSError, MemoryError, sqlite3.OperationalError))


def told(problem: Exception) -> str:
    """What a person reads of a failure. A defect's own words go to the log, with their place."""
    if isinstance(problem, _SENTENCES):
        return str(problem)
    if isinstance(problem, OSError) and problem.strerror:
        LOG.error("%s", problem)  # names folders of this machine
        return f"The bot's machine says: {problem.strerror}."
    LOG.error("%s", "".join(traceback.format_exception(problem, limit=-8)))
    return DEFECT
