"""The plan for a push: everything since the pushes that were planned last is looked at."""

from __future__ import annotations

import re
from typing import Final

from bot.base.git import GitError
from bot.repository.command import Command
from bot.server.comments.wording import said
from bot.server.job_maker import Work, judged_by, make_jobs, touched, why_not_judged
from bot.server.own_requests import BRANCHES
from bot.server.plan_model import Plan
from bot.server.refused import all_passed_over, passed_over
from bot.server.verify_again import left_to_people

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def push_plan(work: Work) -> Plan:
    """The searches of the operators that a push concerns, and what is said of those passed over.

    Raises ForgeError or GitError when the forge is away.
    """
    event = work.event
    branch = event.ref.removeprefix("refs/heads/")
    if branch.startswith(BRANCHES):
        return Plan(note="the bot's own branch")
    if branch != work.home.default_branch:
        return Plan(base_moved=True, note="a branch that only open merge requests care about")
    head = work.judge
    after, seen = head.name, ((pushed_fact(*work.connection.here), head.name),)
    if not work.config.triggers.push:
        return Plan(facts=seen, base_moved=True, note="pushes start nothing here")
    before = _planned_last(work)
    if before is None and not event.before.strip("0"):
        return Plan(facts=seen, base_moved=True, note="nothing to compare with")
    if before is None:
        note = said("not_compared", after)
        passed = (passed_over(*work.connection.here, "", note),)
        return Plan(facts=seen + passed, base_moved=True, refresh=True, note=note)
    folders = [
        t.folder
        for t in touched(head, work.mirror.changed(before, after))
        if work.mirror.by_hand(before, after, head.folder_of(t.folder))
    ]
    theirs = left_to_people(work.connection, work.config, folders, head)
    folders = [folder for folder in folders if folder not in theirs]
    here = work.connection.here
    waited = all_passed_over(work.records.facts(), *here)
    folders = list(dict.fromkeys([*folders, *(f for f in waited if f in head.operators)]))
    jobs, words = make_jobs(work, head, folders, Command(action="optimize"), None)
    facts = dict(passed_over(*here, folder, "") for folder in ("", *waited))
    for folder in folders:
        if work.config.covers(folder) and judged_by(head, folder, work.config) is None:
            reason = why_not_judged(head, folder, work.config, branch)
            facts |= [passed_over(*here, folder, reason)]
    changed = {n: value for n, value in facts.items() if value != work.records.fact(n)}
    return Plan(
        jobs=tuple(jobs),
        facts=(*seen, *changed.items()),
        base_moved=True,
        refresh=bool(changed),
        note="; ".join(words),
    )


def pushed_fact(forge: str, repository: str) -> str:
    """The name under which the commit is remembered up to which pushes were planned."""
    return f"pushed {forge} {repository}"


def _planned_last(work: Work) -> str | None:
    """The commit that the pushed one is to be compared with; None where it is gone.

    It is the one up to which pushes were planned: later ones may be lost, or have met a broken
    configuration. What is not there, as after a push by force, is asked of the forge: most still
    have it. Raises GitError when the forge is away.
    """
    mirror, found = work.mirror, list[str]()
    forge, repository = work.connection.here
    polled = work.records.fact(f"head {forge} {repository}")
    polled = "" if polled == work.judge.name else polled  # noted, and not planned yet
    for name in (work.records.fact(pushed_fact(forge, repository)), polled, work.event.before):
        if not _COMMIT.fullmatch(name):
            continue
        if mirror.git.commit(name) is None:
            try:
                mirror.fetch(work.forge, name)
            except GitError as problem:
                if problem.away:
                    raise
                continue
        found.append(name)
    before = found[-1] if found else None
    older = (c for c in found if mirror.git.succeeds("merge-base", "--is-ancestor", c, found[-1]))
    return next(older, before)
