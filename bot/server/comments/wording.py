"""The bot's comments under a merge request: the macros of `comments.md.j2`, posted elsewhere.

The merge request's own text is another template; sentences on a wrong command are next to the
grammar (bot/repository/command.py). A run has one status comment, which is edited in
place. Its first line holds a marker by which it is found again after a crash between posting and
remembering.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from bot.base.language import language
from bot.report.facts import headline, outcome_counts, remarks, score, steps, time_word
from bot.report.view import environment
from bot.repository.job import Job, Record
from ci.model.result import Result

_TRIALS_SHOWN: Final = 60


@cache
def _macros() -> Any:
    return environment(html=False).get_template("comments.md.j2").module


def said(name: str, *values: object) -> str:
    """Return the text of the macro `name`; a test compares all calls with the macros that exist."""
    return str(getattr(_macros(), name)(*values)).strip("\n")


def run_mark(job: Job) -> str:
    """Marks the status comment of a run."""
    return f"<!-- ascendopt-run: {job.key} -->"


def ended_mark() -> str:
    """In the status comment of a run that ended with a result."""
    return "<!-- ascendopt-ended -->"


def reply_mark(mark: str) -> str:
    """Marks an answer, so that it is given once."""
    return f"<!-- ascendopt-reply: {mark} -->"


def waiting(job: Job, note: str = "") -> str:
    """The status comment when a run is queued, or waits for another try."""
    with language(job.language):
        return said("waiting", job, run_mark(job), note) + "\n"


def running(job: Job, progress: str) -> str:
    """The status comment while a run goes on."""
    with language(job.language):
        return said("running", job, run_mark(job), progress) + "\n"


def failed(job: Job, state: str, reason: str) -> str:
    """The status comment of a run that failed or was cancelled."""
    with language(job.language):
        return said("failed", job, run_mark(job), state, reason) + "\n"


def concluded(job: Job, result: Result, outcome: str, *, show_patch: bool) -> str:
    """The status comment of a run that ended with a result.

    `outcome`: what became of it, in a sentence; `show_patch`: there is no merge request that
    holds the patch.
    """
    facts = headline(result), time_word(result), outcome_counts(result)
    mark, ended = run_mark(job), ended_mark()
    return said("concluded", job, mark, result, *facts, outcome, show_patch, ended) + "\n"


def made_comment(job: Job, headline: str, outcome: str) -> str:
    """The status comment of a run that made an operator; `outcome`: what became of it."""
    return said("made", job, run_mark(job), headline, outcome, ended_mark()) + "\n"


def history(record: Record, result: Result | None) -> str:
    """The answer to `/optimize explain RUN`: why each change was tried, kept or dropped."""
    if result is None:
        return said("no_history", record)
    scores = {trial.number: score(trial) for trial in result.trials}
    kept = {step.trial.number for step in steps(result)}
    facts = headline(result), result.trials, scores, kept, remarks(result)
    return said("history", *facts, _TRIALS_SHOWN)
