"""The way from an event to jobs and answers: one check per reason to refuse, then the jobs.

An event is a hint. What it says of the merge request, the comment and the person is asked of the
forge again before anything follows from it. Nothing is written to the forge here: the plan says
what to write, and is the same when it is made twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from bot.base.git import GitError
from bot.base.language import language
from bot.events.model import Event
from bot.forge.model import LEVELS, Comment, MergeRequest
from bot.report.facts import steps
from bot.report.sentences import local
from bot.repository.command import Command, Mistake, parse
from bot.repository.config import FILE
from bot.repository.connection import Connection
from bot.repository.job import Job, Record
from bot.repository.language import commit_language
from bot.repository.mirror import Commit
from bot.repository.trigger import Touched
from bot.server.change_jobs import change_jobs
from bot.server.comments.event_text import own_comment, talk
from bot.server.comments.wording import history, said
from bot.server.create_plan import create_job
from bot.server.dashboard_issue import fact_name, no_to, ticks
from bot.server.job_maker import Records, Work, choose, make_jobs, touched
from bot.server.merge_request import read_result
from bot.server.own_requests import BRANCHES, is_about, is_bots
from bot.server.plan_model import Plan, Reply, joined, reply_to
from bot.server.push_plan import push_plan, pushed_fact
from bot.server.refused import Kind, No
from bot.server.verify_again import rebase_fact
from ci.model.amount import amount
from ci.model.errors import InputError
from rules.triggers import load_triggers

NOT_ALLOWED: Final = "a fork's head that nobody allowed"


def allowance_mark(head: str) -> str:
    """Marks the bot's answer that a head commit of a fork may be run."""
    return f"allowed-{head}"


def allowance_fact(work: Work, request: MergeRequest) -> str:
    """The name under which it is remembered that a person allowed this very head.

    No comment tells: people can edit the bot's, and other jobs of a CI may share its account.
    """
    forge, repository = work.connection.here
    return f"allowed {forge} {repository} {request.number} {request.head}"


def plan(event: Event, connection: Connection, records: Records) -> Plan:
    """Plan what `event` asks for. Raises ForgeError or GitError when the forge cannot be asked."""
    if event.kind == "other":
        return Plan(note="nothing that the bot acts on")
    if talk(event):
        return Plan(note="no command")
    ticked = _is_dashboard(event, connection, records)
    comment = None
    if (
        event.kind in ("comment", "issue") and not ticked
    ):  # before anything is fetched: most are no commands
        comment = own_comment(event, connection.forge)
        if comment is None:
            return Plan(note="an edit, a bot's comment, or one that is gone")
        if not parse(comment.body):
            return Plan(note="no command")
    tip = connection.tip()
    try:
        config = connection.config(tip)
    except InputError as problem:
        return _broken_config(event, comment, str(problem))
    if not config.enabled:
        seen = ((pushed_fact(*connection.here), tip),) if event.kind == "push" else ()
        return Plan(facts=seen, note=f"{FILE} says enabled: false")
    home, judge = connection.forge.repository(), connection.mirror.commit(tip)
    work = Work(event, connection, records, home, judge, config)
    with language(commit_language(judge, config)):
        return _ticked(work) if ticked else _planned(work, comment)


def _planned(work: Work, comment: Comment | None) -> Plan:
    event, config = work.event, work.config
    if comment is not None:
        return _issue(work, comment) if event.kind == "issue" else _comment(work, comment)
    if event.kind == "merge_request":
        return _merge_request(work)
    if event.kind == "schedule":
        nightly = config.triggers.nightly
        return Plan(base_moved=nightly, note="the nightly look at open merge requests")
    if event.kind == "dispatch":
        return _dispatch(work)
    return push_plan(work)


def _broken_config(event: Event, comment: Comment | None, problem: str) -> Plan:
    """A person who asks gets the reason, the dashboard says it to all; pushes and merge requests
    wait for a good configuration."""
    if comment is None:
        waits = event.kind in ("push", "merge_request")
        return Plan(postponed=waits, refresh=waits, note=problem)
    reply = replace(
        reply_to(comment, said("broken_config", problem)), in_issue=event.kind == "issue"
    )
    return Plan(replies=(reply,), note=problem)


def _changes(
    work: Work, request: MergeRequest, *, granted: bool = False
) -> tuple[Commit, tuple[Touched, ...]] | None:
    """The head of a merge request, fetched, with the operators that it concerns.

    The only way to sources of a merge request: None for a fork's head that nobody allowed, be it
    before or, when `granted`, just now. Git tells what changed: forges refuse large differences.
    Raises InputError when it has nothing in common with its target branch.
    """
    if request.from_fork and not granted and not work.records.fact(allowance_fact(work, request)):
        return None
    commit = work.mirror.fetch(work.forge, request.head_ref)
    if commit != request.head:
        # Pushed in between: a fork's new head is not the one that was allowed.
        work.mirror.ensure(work.forge, request.head_ref, request.head)
    head, target = work.mirror.commit(request.head), request.target_branch
    if work.forge.branch_head(target) is None:
        raise InputError(said("target_gone", target))
    tip = work.mirror.fetch(work.forge, f"refs/heads/{target}")
    try:
        base = work.mirror.git.run("merge-base", tip, head.name).strip()
    except GitError:
        raise InputError(said("no_common_commit", target)) from None
    return head, touched(head, work.mirror.changed(base, head.name))


def _is_dashboard(event: Event, connection: Connection, records: Records) -> bool:
    """Whether somebody edited the dashboard, be it to tick a box."""
    number = records.fact(fact_name(connection))
    edited = event.kind == "issue" and event.action == "edited" and not event.comment_id
    return edited and number == str(event.number) and not connection.forge.is_viewer(event.sender)


def _ticked(work: Work) -> Plan:
    """Plan what the boxes of the dashboard ask for that this edit has ticked.

    The event has them and who ticked them. The text on the forge may be another by now: the bot has
    written it again, or somebody else has ticked a box.
    """
    person, event = work.event.sender, work.event
    earlier = ticks(event.text_before)
    found = [one for one in ticks(event.text) if one not in earlier]
    if not found:
        return Plan(note="no box is ticked")
    if not event.text_before:
        return _unknown_tick(work)
    if not _may_ask(work, person):
        return Plan(refresh=True, note=f"{person} has no {work.config.permission} permission")
    here = work.connection.here
    of = {action: [t.what for t in found if t.action == action] for action, _ in found}
    facts = [no_to(folder, person).fact(*here) for folder in of.get("never", ())]
    facts += [no_to(folder, person).withdrawn(*here) for folder in of.get("again", ())]
    facts += [(rebase_fact(*here, number), "1") for number in of.get("rebase", ())]
    return Plan(
        retried=tuple(key for key in of.get("retry", ()) if _record(work, key) is not None),
        urgent=tuple(key for key in of.get("first", ()) if _record(work, key) is not None),
        facts=tuple(facts),
        base_moved="rebase" in of,
        refresh=True,
        note="; ".join(f"{t.action} {t.what}" for t in found),
    )


def _unknown_tick(work: Work) -> Plan:
    """Plan an answer where a box is ticked and the event lacks the text before: GitCode's does, and
    that of an edit of the title. Nobody knows whose tick it is, so it counts for nobody."""
    event, answers = work.event, tuple[Reply, ...]()
    if _may_ask(work, event.sender):
        mark = f"tick-{event.digest[:16] or event.delivery}"
        answers = (Reply(event.number, mark, said("unknown_tick"), in_issue=True),)
    return Plan(replies=answers, refresh=True, note="nobody knows who ticked a box")


# Comments


@dataclass(frozen=True)
class _Asked:
    """Who asks, and where."""

    comment: Comment
    request: MergeRequest
    may_ask: bool
    granted: bool
    """An earlier command of the same comment allows a fork's head."""


def _may_ask(work: Work, login: str) -> bool:
    """Whether a person's permission of now is enough to give commands."""
    return LEVELS.index(work.forge.permission(login)) >= LEVELS.index(work.config.permission)


def _issue(work: Work, comment: Comment) -> Plan:
    """Plan what the commands in an issue ask for: an operator that does not exist yet."""
    may_ask = _may_ask(work, comment.author)
    plans = [_in_issue(work, comment, one, may_ask) for one in parse(comment.body)]
    made = joined(plans, comment)
    answers = tuple(replace(reply, in_issue=True) for reply in made.replies)
    return replace(made, replies=answers, seen=())


def _in_issue(work: Work, comment: Comment, command: Command | Mistake, may_ask: bool) -> Plan:
    def answer(body: str, note: str) -> Plan:
        return Plan(replies=(reply_to(comment, body),), note=note)

    if isinstance(command, Mistake):
        return answer(said("not_understood", command.message), "a mistake in a command")
    if command.action == "help":
        return answer(said("help"), "help")
    if not may_ask:
        return answer(said("no_permission", work.config.permission), "no permission")
    if command.action in ("ignore", "unignore"):
        return _ignore(work, comment, command)
    if command.action == "optimize" and command.op:
        return _from_issue(work, comment, command)
    if command.action == "create":
        return _create(work, comment, command, issue=comment.merge_request)
    if command.action == "retry" and command.run:
        keys, words = _again(work, command.run, ())
        return replace(answer(words, "retry"), retried=keys)
    return answer(said("only_create"), "a command for merge requests")


def _create(
    work: Work, comment: Comment, command: Command, *, number: int = 0, issue: int = 0
) -> Plan:
    """The job of `/create`, or why there is none."""
    try:
        job = create_job(work, command, comment, number, issue)
    except InputError as problem:
        return Plan(replies=(reply_to(comment, said("not_made", problem)),), note="nothing to make")
    known = work.records.get(job.key)
    if known is not None:
        return Plan(replies=(reply_to(comment, said("on_record", known)),), note="on record")
    return Plan(jobs=(job,), note="an operator to make")


def _comment(work: Work, comment: Comment) -> Plan:
    """Plan what the commands of a comment ask for."""
    commands = parse(comment.body)
    request = work.forge.merge_request(comment.merge_request)
    may_ask = _may_ask(work, comment.author)
    plans: list[Plan] = []
    for command in commands:
        marks = {reply.mark for made in plans for reply in made.replies}
        granted = allowance_mark(request.head) in marks
        plans.append(_command(work, _Asked(comment, request, may_ask, granted), command))
    return joined(plans, comment)


def _command(work: Work, asked: _Asked, command: Command | Mistake) -> Plan:
    request = asked.request

    def answer(body: str, note: str) -> Plan:
        return Plan(replies=(reply_to(asked.comment, body),), note=note)

    if isinstance(command, Mistake):
        return answer(said("not_understood", command.message), "a mistake in a command")
    if command.action == "help":
        return answer(said("help"), "help")
    if not asked.may_ask and not (
        command.action in ("status", "explain") and asked.comment.author == request.author
    ):
        return answer(said("no_permission", work.config.permission), "no permission")
    records = work.known(number=request.number)
    if command.action == "status":
        return answer(said("overview", records), "status")
    if command.action == "explain":
        return answer(_explained(work, command.run), "explain")
    if command.action == "cancel":
        active = [r for r in records if r.state in ("queued", "running")]
        if not active:
            return answer(said("nothing_active"), "nothing to cancel")
        return Plan(cancelled=(request.number,), note="cancel")
    if command.action == "retry":
        keys, words = _again(work, command.run, records)
        return replace(answer(words, "retry"), retried=keys)
    if command.action in ("ignore", "unignore"):
        return _ignore(work, asked.comment, command, request)
    if request.state != "open":
        return answer(said("not_open", request.state), "not open")
    if command.action == "allow":
        if command.commit != request.head:
            # Pushed after the person looked, be it while the comment waited to be read.
            return answer(said("fork_refused", request.head), "allowed without the commit's name")
        words = said("head_allowed", request.head)
        mark = allowance_mark(request.head)
        fact = (allowance_fact(work, request), asked.comment.author)
        reply = Reply(request.number, mark, words)
        return Plan(replies=(reply,), facts=(fact,), note="head allowed")
    if command.action == "create":
        return _create(work, asked.comment, command, number=request.number)
    if not work.config.triggers.comment:
        return answer(said("comments_off", FILE), "comments are off")
    if command.action == "measure":
        return _measure(work, asked, command)
    return _optimize(work, asked, command)


def _again(work: Work, run: str, own: Sequence[Record]) -> tuple[tuple[str, ...], str]:
    """The keys that `retry` queues again, and what to say: of one run, or of all in `own`."""
    record = _record(work, run) if run else None
    if run and record is None:
        return (), said("unknown_run", run)
    asked = own if record is None else [record]
    pausing = [r for r in asked if r.state == "queued" and r.attempts]
    found = [r for r in asked if r.state == "failed" or r.stopped] + pausing
    if not found:
        return (), said("nothing_to_retry", record)
    return tuple(r.job.key for r in found), said("retried", found)


def _record(work: Work, run: str) -> Record | None:
    """The run of that name, when it is one of this repository."""
    record = work.records.get(run)
    here = work.connection.here
    if record is None or (record.job.forge, record.job.repository) != here:
        return None
    return record


def _explained(work: Work, run: str) -> str:
    record = _record(work, run)
    if record is None:
        return said("unknown_run", run)
    if record.job.kind == "create":
        return said("on_record", record)
    try:
        result = read_result(work.records.runs / record.job.key)
    except InputError:
        result = None
    return history(record, result)


def _chosen(work: Work, asked: _Asked, command: Command) -> Plan | tuple[Commit, list[str]]:
    """The head of the merge request and the operators that are asked for, or why there are none."""
    comment, request = asked.comment, asked.request
    try:
        changes = _changes(work, request, granted=asked.granted)
    except InputError as unfit:
        return Plan(replies=(reply_to(comment, local(str(unfit))),), note=str(unfit))
    if changes is None:
        refusal = said("fork_refused", request.head)
        return Plan(replies=(reply_to(comment, refusal),), note=NOT_ALLOWED)
    head, found = changes
    chosen, problem = choose(head, found, command.op)
    if problem:
        return Plan(replies=(reply_to(comment, problem),), note="no operator")
    return head, chosen


def _optimize(work: Work, asked: _Asked, command: Command) -> Plan:
    """The jobs of `/optimize`."""
    comment, request = asked.comment, asked.request
    found = _chosen(work, asked, command)
    if isinstance(found, Plan):
        return found
    head, chosen = found
    jobs, words = make_jobs(work, head, chosen, command, request, comment)
    fresh = []
    for job in jobs:
        known = work.records.get(job.key)
        if known is None:
            fresh.append(job)
        else:
            words.append(said("on_record", known))
    replies = (reply_to(comment, "\n\n".join(words)),) if words else ()
    return Plan(jobs=tuple(fresh), replies=replies, note=f"{amount(len(fresh), 'job')}")


def _from_issue(work: Work, comment: Comment, command: Command) -> Plan:
    """The job of `/optimize op=NAME` in an issue, such as the bot's own: for the default branch."""
    chosen, problem = choose(work.judge, (), command.op)
    jobs, words = make_jobs(work, work.judge, chosen, command, None, comment)
    words = [problem] if problem else words
    known = [r for job in jobs if (r := work.records.get(job.key)) is not None]
    urgent = tuple(r.job.key for r in known if r.state == "queued")
    words += [said("on_record", r) for r in known if r.job.key not in urgent]
    old = {r.job.key for r in known}
    fresh = tuple(job for job in jobs if job.key not in old)
    words += [
        said("queued_next", job) for job in (*fresh, *(r.job for r in known if r.job.key in urgent))
    ]
    replies = (reply_to(comment, "\n\n".join(words)),)
    return Plan(jobs=fresh, urgent=urgent, replies=replies, note="asked for in an issue")


def _ignore(
    work: Work, comment: Comment, command: Command, request: MergeRequest | None = None
) -> Plan:
    """Plan `/ignore` and `/unignore`; `request` is the merge request that they stand under."""
    own = request if request and is_bots(request, work.forge, (BRANCHES,)) else None
    given = command.op if command.idea is None else command.idea
    named, problem = [given] if given else [], ""
    if command.idea is None and given:
        named, problem = choose(work.judge, (), given)
    elif own is not None and not given:
        folders = [f for f in work.judge.operators if is_about(own, f)]
        named = folders if command.idea is None else _ideas(work, own.number)
    if not named:
        return Plan(
            replies=(reply_to(comment, problem or said("ignore_what")),), note="nothing to ignore"
        )
    kind: Kind = "operator" if command.idea is None else "idea"
    noes = [No(kind, what, command.until, comment.author) for what in named]
    here = work.connection.here
    if command.action == "unignore":
        facts = tuple(no.withdrawn(*here) for no in noes)
        words = [said("no_longer_ignored", no) for no in noes]
    else:
        facts = tuple(no.fact(*here) for no in noes)
        words = [said("ignored", no) for no in noes]
    closing = command.action == "ignore" and own is not None and own.state == "open"
    return Plan(
        facts=facts,
        closed=(own.number,) if closing and own is not None else (),
        replies=(reply_to(comment, "\n\n".join(words)),),
        note=command.action,
    )


def _ideas(work: Work, number: int) -> list[str]:
    """The motifs in a merge request of the bot, as its run says."""
    found: dict[str, None] = {}
    for record in work.known(limit=10_000):
        if record.merge_request == number:
            with suppress(InputError):
                result = read_result(work.records.runs / record.job.key)
                for step in steps(result):
                    found |= dict.fromkeys(step.trial.candidate.motif_ids)
    return list(found)


def _measure(work: Work, asked: _Asked, command: Command) -> Plan:
    """The jobs of `/measure`."""
    comment, request = asked.comment, asked.request
    found = _chosen(work, asked, command)
    if isinstance(found, Plan):
        return found
    head, chosen = found
    jobs, words = change_jobs(work, head, chosen, request, comment.author)
    known = [r for job in jobs if (r := work.records.get(job.key)) is not None]
    again = tuple(r.job.key for r in known if r.state == "failed" or r.stopped)
    words += [said("measured_already", r) for r in known if r.job.key not in again]
    old = {r.job.key for r in known}
    replies = (reply_to(comment, "\n\n".join(words)),) if words else ()
    return Plan(
        jobs=tuple(job for job in jobs if job.key not in old),
        replies=replies,
        retried=again,
        note="measure",
    )


# Merge requests and pushes


def _merge_request(work: Work) -> Plan:
    event = work.event
    request = work.forge.merge_request(event.number)
    if is_bots(request, work.forge, (BRANCHES,)):
        told = request.state == "merged" or event.action == "reopened"
        return Plan(base_moved=told, note="the bot's own merge request")
    if request.state != "open":
        return Plan(cancelled=(request.number,), note=f"it is {request.state}")
    stale = _stale(work, request)
    triggers = work.config.triggers
    if not (triggers.merge_request or triggers.measure or triggers.check):
        return Plan(cancelled=stale, note="merge requests start nothing by themselves here")
    if event.action not in ("opened", "updated", "reopened", "ready"):
        return Plan(note=f"action {event.action or 'unknown'}")
    if request.draft:
        return Plan(cancelled=stale, note="a draft")
    if work.forge.is_viewer(request.author) or load_triggers().ignores(request.author):
        return Plan(note="a bot's merge request")
    changes = _changes(work, request)
    if changes is None:
        return Plan(cancelled=stale, note=NOT_ALLOWED)
    head, found = changes
    folders, jobs, words = [t.folder for t in found], list[Job](), list[str]()
    if triggers.measure:
        jobs, words = change_jobs(work, head, folders, request)
    if triggers.check:
        checks, more = change_jobs(work, head, folders, request, kind="check")
        jobs, words = [*jobs, *checks], [*words, *more]
    if triggers.merge_request:
        searches, more = make_jobs(work, head, folders, Command(action="optimize"), request)
        jobs, words = [*jobs, *searches], [*words, *more]
    known = [r for job in jobs if (r := work.records.get(job.key)) is not None]
    back = tuple(r.job.key for r in known if r.stopped and event.action != "opened")
    return Plan(jobs=tuple(jobs), cancelled=stale, retried=back, note="; ".join(words))


def _stale(work: Work, request: MergeRequest) -> tuple[int, ...]:
    """The merge request's number when work for an older head of it waits or runs."""
    active = work.known(states=("queued", "running"), number=request.number)
    old = any(r.job.source_commit != request.head for r in active)
    return (request.number,) if old else ()


def _dispatch(work: Work) -> Plan:
    """A run that a person started from the forge's CI: no comment, so no answer either."""
    event = work.event
    if not _may_ask(work, event.sender):
        return Plan(note=f"{event.sender} has no {work.config.permission} permission")
    text = event.text.strip()
    commands = parse(text if text.startswith("/") else f"/optimize {text}")
    command = commands[0] if commands else Mistake(line=text, message="There is no command.")
    if isinstance(command, Mistake):
        return Plan(note=command.message)
    if command.action == "retry" and command.run:
        keys, told = _again(work, command.run, ())
        return Plan(retried=keys, note=told)
    if command.action != "optimize":
        return Plan(note="Only /optimize and /optimize retry RUN start by hand.")
    if event.number:
        request = work.forge.merge_request(event.number)
        changes = _changes(work, request)
        if changes is None:
            return Plan(note=NOT_ALLOWED)
    else:
        request, changes = None, (work.judge, ())
    head, found = changes
    chosen, problem = choose(head, found, command.op)
    if problem:
        return Plan(note=problem)
    jobs, words = make_jobs(work, head, chosen, command, request)
    return Plan(jobs=tuple(jobs), note="; ".join(words))
