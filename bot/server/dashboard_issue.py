"""The dashboard: one issue in the repository that says what the bot has open, waiting and refused.

It is rewritten when something changed. Its boxes are commands: a person who ticks one asks for what
is behind it, and needs the right to. Where a forge has no event for that, or no issues,
the same is asked for by the commands that it lists.
"""

from __future__ import annotations

import logging
import re
from typing import Final, NamedTuple

from bot.base.language import language
from bot.base.text import decoded
from bot.forge.base import ForgeError
from bot.forge.model import MergeRequest
from bot.report.view import page
from bot.repository.config import RepositoryConfig
from bot.repository.connection import Connection
from bot.repository.job import Record
from bot.repository.language import commit_language
from bot.server.job_maker import Records
from bot.server.one_item import told
from bot.server.own_requests import operator_of, own_requests
from bot.server.refused import No, all_passed_over, refusals
from bot.server.verify_again import BY_BOT, closed_fact
from ci.model.errors import InputError

LOG: Final = logging.getLogger("ascendopt.bot")
TITLE: Final = "Dashboard of ascendopt"
SHOWN: Final = 30
"""Rows of a part: an issue holds 65,536 characters."""
_TICKED: Final = re.compile(
    r"^[ \t]*[-*] \[[xX]\] <!-- ascendopt-do:"
    r" (first|retry|rebase|never|again) ([\w./=-]{1,600}) -->",
    re.MULTILINE | re.ASCII,
)


class Tick(NamedTuple):
    """A box that somebody ticked."""

    action: str
    """first, retry, rebase, never or again."""
    what: str
    """Key of a job, number of a merge request, or an operator's folder."""


def ticks(body: str) -> list[Tick]:
    """The ticked boxes of a dashboard, each once."""
    return list(dict.fromkeys(Tick(m[1], decoded(m[2])) for m in _TICKED.finditer(body)))


def fact_name(connection: Connection) -> str:
    """The name under which the dashboard's number is remembered."""
    return f"dashboard {connection.name} {connection.repository}"


def remembered(records: Records, name: str) -> int:
    """A number that is remembered by name, 0 where there is none: others can write such facts."""
    value = records.fact(name)
    return int(value) if re.fullmatch(r"[0-9]{1,18}", value) else 0


def update_dashboard(connection: Connection, records: Records, now: float) -> None:
    """Bring the issue up to date; whatever keeps it from that is logged and passed over.

    `now`: Unix time, s. Nothing is written when the text is as it was and no box is ticked.
    """
    name = fact_name(connection)
    try:
        config = connection.limits()
        if not (config.enabled and config.dashboard):
            return
        spoken = commit_language(connection.mirror.commit(connection.tip()), config)
        with language(spoken):
            body = render(connection, records, config, now)
        number = remembered(records, name)
        if number and connection.forge.issue(number).body.strip() == body.strip():
            return
        number = connection.forge.write_issue(TITLE, body, number)
        if number:
            records.set_fact(name, str(number))
    except ForgeError as problem:
        if problem.kind == "not_found":
            records.set_fact(name, "")  # deleted, or a forge without issues
        LOG.warning("the dashboard of %s is not up to date: %s", connection.repository, problem)
    except Exception as problem:  # a page goes beside the work, which is to be remembered
        words = told(problem)
        LOG.warning("the dashboard of %s is not up to date: %s", connection.repository, words)


def render(connection: Connection, records: Records, config: RepositoryConfig, now: float) -> str:
    """The text of the issue. Raises ForgeError when the forge cannot be asked."""
    here = (connection.name, connection.repository)
    every = records.jobs(forge=here[0], repository=here[1], limit=10_000)
    every = [r for r in every if r.job.kind in ("optimize", "create", "verify")]
    proposals = own_requests(connection.forge)
    queued = sorted(
        (r for r in every if r.state == "queued"), key=lambda r: (-r.job.priority, r.created)
    )
    waiting = sorted((r for r in every if r.state == "waiting"), key=lambda r: -r.speedup)
    operators = list(dict.fromkeys(r.job.operator for r in every))
    refused = [m for m in proposals if records.fact(closed_fact(*here, m.number)) != BY_BOT]
    return page(
        "dashboard.md.j2",
        shown=SHOWN,
        broken=_broken(connection),
        passed=list(all_passed_over(records.facts(), *here).values()),
        open=[m for m in proposals if m.state == "open"],
        limit=config.limits.open_merge_requests,
        waiting=waiting,
        running=[r for r in every if r.state in ("running", "delivering")],
        queued=queued,
        failed=_last_failures(every),
        noes=refusals(records.facts(), *here, now),
        closed=_refused(refused, operators),
    )


def _broken(connection: Connection) -> str:
    """What is wrong with the configuration, '' for nothing."""
    try:
        connection.config(connection.tip())
    except InputError as problem:
        return str(problem)
    return ""


def _last_failures(every: list[Record]) -> list[Record]:
    """The operators whose last run failed, the latest first."""
    last: dict[tuple[str, int], Record] = {}
    for record in every:  # newest first
        last.setdefault((record.job.operator, record.job.number), record)
    return [r for r in last.values() if r.state == "failed"]


def _refused(proposals: list[MergeRequest], operators: list[str]) -> list[tuple[MergeRequest, str]]:
    """The merge requests that were closed without merging, the latest first, with the operator."""
    closed = [m for m in proposals if m.state == "closed"]
    return [(m, operator_of(m, operators)) for m in reversed(closed)]


def no_to(folder: str, person: str) -> No:
    """Return the refusal that the box `never` states."""
    return No("operator", folder, by=person)
