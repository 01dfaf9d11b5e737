"""From an event to jobs and answers: one check per reason to refuse, then the jobs.

An event is a hint. What it says of the merge request, the comment and the person is asked of the
forge again before anything follows from it. Nothing is written to the forge here: the plan says
what to write, and is the same when it is made twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.base.text import code, plain
from bot.events.model import Event
from bot.forge.base import Forge, ForgeError
from bot.forge.model import LEVELS, Comment, MergeRequest
from bot.repository.command import ALLOW, HELP, VERB, Command, Mistake, parse
from bot.repository.config import FILE, parse_config
from bot.repository.job import Job, Record
from bot.repository.mirror import Mirror
from bot.repository.trigger import changed_paths
from bot.server.delivery import is_own
from bot.server.job_maker import Work, choose, head_of, make_jobs, touched
from bot.server.merge_request import BRANCHES
from bot.server.queue import Queue
from bot.server.status import history, overview, reply_mark
from ci.model.errors import InputError
from rules.triggers import load_triggers


@dataclass(frozen=True)
class Reply:
    """An answer to write under a merge request, once."""

    number: int
    mark: str
    """What makes it the same answer when the event is handled again."""
    body: str


@dataclass(frozen=True)
class Plan:
    """What follows from an event."""

    jobs: tuple[Job, ...] = ()
    replies: tuple[Reply, ...] = ()
    seen: tuple[tuple[int, int], ...] = ()
    """(merge request, comment) to react to: the command was taken."""
    cancelled: tuple[int, ...] = ()
    """Merge requests whose jobs are to stop."""
    retried: tuple[str, ...] = ()
    """Keys to queue again."""
    base_moved: bool = False
    """Whether the bot's open merge requests are to be looked at again."""
    note: str = ""
    """Why nothing follows, for the log."""


def allowance_mark(head: str) -> str:
    """Marks the bot's answer that a head commit of a fork may be run."""
    return f"allowed-{head}"


def allowed(forge: Forge, request: MergeRequest) -> bool:
    """Whether a person allowed this very head: the bot has answered so, under its own name."""
    line = reply_mark(allowance_mark(request.head))
    return any(is_own(c, line, forge) for c in forge.comments(request.number))


def talk(event: Event) -> bool:
    """Whether a comment is people talking among themselves, as most are.

    Not one question to the forge is spent on it: a signed text that names no command starts
    nothing, whatever the forge would say.
    """
    named = VERB in event.text or ALLOW in event.text
    return event.kind == "comment" and bool(event.text) and not named


def plan(event: Event, name: str, forge: Forge, mirror: Mirror, queue: Queue) -> Plan:
    """What follows from `event`. Raises ForgeError or GitError when the forge cannot be asked.

    `name` is what the bot's configuration calls the forge.
    """
    if event.kind == "other":
        return Plan(note="nothing that the bot acts on")
    if talk(event):
        return Plan(note="no command")
    work = Work(event, name, forge, mirror, queue)
    home = forge.repository()
    work.judge = mirror.fetch(forge, f"refs/heads/{home.default_branch}")
    try:
        work.config = parse_config(mirror.git.show(work.judge, FILE))
    except InputError as problem:
        return _broken_config(work, str(problem))
    if not work.config.enabled:
        return Plan(note=f"{FILE} says enabled: false")
    if event.kind == "comment":
        return _comment(work)
    if event.kind == "merge_request":
        return _merge_request(work)
    if event.kind == "schedule":
        nightly = work.config.triggers.nightly
        return Plan(base_moved=nightly, note="the nightly look at open merge requests")
    if event.kind == "dispatch":
        return _dispatch(work)
    return _push(work, home.default_branch)


def _broken_config(work: Work, said: str) -> Plan:
    """A person who asks is told; other events wait for a good configuration."""
    comment = _own_comment(work) if work.event.kind == "comment" else None
    if comment is None or not parse(comment.body):
        return Plan(note=said)
    body = f"The configuration of this repository is broken, so nothing was done: {plain(said)}"
    return Plan(replies=(_reply(comment, body),), note=said)


def reply_key(comment: Comment) -> str:
    """Marks the answer to a comment."""
    return f"comment-{comment.id}"


def _reply(comment: Comment, body: str) -> Reply:
    return Reply(comment.merge_request, reply_key(comment), body)


# Comments


def _own_comment(work: Work) -> Comment | None:
    """The comment that the event is about, as the forge has it; None when it is nothing to read."""
    event = work.event
    if event.action != "created" or not event.number:
        return None
    try:
        found = work.forge.comments(event.number)
    except ForgeError as problem:
        if problem.kind == "not_found":
            return None
        raise
    comment = next((c for c in found if c.id == event.comment_id), None)
    if comment is None or comment.author_is_bot or comment.author == work.forge.viewer():
        return None
    return None if load_triggers().ignores(comment.author) else comment


def _comment(work: Work) -> Plan:
    comment = _own_comment(work)
    if comment is None:
        return Plan(note="an edit, a bot's comment, or one that is gone")
    commands = parse(comment.body)
    if not commands:
        return Plan(note="no command")
    request = work.forge.merge_request(comment.merge_request)
    access = work.forge.permission(comment.author)
    may_ask = LEVELS.index(access) >= LEVELS.index(work.config.permission)
    plans = [_command(work, comment, request, c, may_ask) for c in commands]
    return _joined(plans, comment)


def _joined(plans: Sequence[Plan], comment: Comment) -> Plan:
    """The plans of a comment's commands as one, with one answer."""
    own = reply_key(comment)
    words = [r.body for made in plans for r in made.replies if r.mark == own]
    others = tuple(r for made in plans for r in made.replies if r.mark != own)
    acted = bool(others) or any(p.jobs or p.cancelled or p.retried for p in plans)
    return Plan(
        jobs=tuple(j for p in plans for j in p.jobs),
        replies=(*others, *((_reply(comment, "\n\n".join(words)),) if words else ())),
        seen=((comment.merge_request, comment.id),) if acted else (),
        cancelled=tuple(n for p in plans for n in p.cancelled),
        retried=tuple(k for p in plans for k in p.retried),
        note="; ".join(p.note for p in plans if p.note),
    )


def _command(
    work: Work, comment: Comment, request: MergeRequest, command: Command | Mistake, may_ask: bool
) -> Plan:
    def answer(body: str, note: str) -> Plan:
        return Plan(replies=(_reply(comment, body),), note=note)

    if isinstance(command, Mistake):
        return answer(
            f"I did not understand this: {command.message} `/optimize help` lists the commands.",
            "a mistake in a command",
        )
    if command.action == "help":
        return answer(HELP, "help")
    if not may_ask and not (
        command.action in ("status", "explain") and comment.author == request.author
    ):
        return answer(
            f"Only people with {work.config.permission} permission for this repository can ask"
            " for that.",
            "no permission",
        )
    records = work.queue.jobs(
        forge=work.name, repository=work.forge.repository().name, number=request.number
    )
    if command.action == "status":
        return answer(overview(records), "status")
    if command.action == "explain":
        return answer(_explained(work, command.run), "explain")
    if command.action == "cancel":
        active = [r for r in records if r.state in ("queued", "running")]
        if not active:
            return answer("Nothing runs or waits for this merge request.", "nothing to cancel")
        return Plan(cancelled=(request.number,), note="cancel")
    if command.action == "retry":
        keys = tuple(r.job.key for r in records if r.state in ("failed", "cancelled"))
        if not keys:
            return answer("Nothing failed or was cancelled here.", "nothing to retry")
        return Plan(retried=keys, note="retry")
    if request.state != "open":
        return answer(f"This merge request is {request.state}.", "not open")
    if command.action == "allow":
        said = f"Commit {code(request.head[:12])} may be optimized; a newer one may not."
        mark = allowance_mark(request.head)
        work.allowed = request.head
        return Plan(replies=(Reply(request.number, mark, said),), note="head allowed")
    if not work.config.triggers.comment:
        return answer(f"{code(FILE)} switches comments off.", "comments are off")
    return _optimize(work, comment, request, command)


def _explained(work: Work, run: str) -> str:
    record = work.queue.get(run)
    same = record is not None and (record.job.forge, record.job.repository) == (
        work.name,
        work.forge.repository().name,
    )
    if record is None or not same:
        return f"I know no run {code(run)} of this repository."
    return history(record, work.queue.file.parent / "runs" / record.job.key)


def _optimize(work: Work, comment: Comment, request: MergeRequest, command: Command) -> Plan:
    """The jobs of `/optimize`."""
    if request.from_fork and not allowed(work.forge, request) and work.allowed != request.head:
        return Plan(
            replies=(
                _reply(
                    comment,
                    "This merge request comes from a fork. Read what it changes, then write"
                    f" `/ok-to-optimize`; that allows commit {code(request.head[:12])} only.",
                ),
            ),
            note="a fork's head that nobody allowed",
        )
    head = head_of(work, request)
    found = touched(head, changed_paths(work.forge.diff(request.number)))
    chosen, problem = choose(head, found, command.op)
    if problem:
        return Plan(replies=(_reply(comment, problem),), note="no operator")
    jobs, words = make_jobs(work, head, chosen, command, request, comment)
    fresh = []
    for job in jobs:
        known = work.queue.get(job.key)
        if known is None:
            fresh.append(job)
        else:
            words.append(_known(known))
    replies = (_reply(comment, "\n\n".join(words)),) if words else ()
    return Plan(jobs=tuple(fresh), replies=replies, note=f"{len(fresh)} jobs")


def _known(record: Record) -> str:
    """The answer to a request for work that is on record."""
    name, run = code(record.job.operator), code(record.job.run)
    if record.state in ("failed", "cancelled"):
        return f"{name}: run {run} {record.state} before; `/optimize retry` starts it again."
    if record.state == "done":
        came = f" Merge request: {record.merge_request}." if record.merge_request else ""
        return (
            f"{name}: these sources were optimized already, run {run}. {plain(record.note)}{came}"
        )
    return f"{name}: run {run} for these sources is {record.state}."


# Merge requests and pushes


def _merge_request(work: Work) -> Plan:
    event = work.event
    request = work.forge.merge_request(event.number)
    if request.source_branch.startswith(BRANCHES) and not request.from_fork:
        return Plan(base_moved=request.state == "merged", note="the bot's own merge request")
    if request.state != "open":
        return Plan(cancelled=(request.number,), note=f"it is {request.state}")
    stale = _stale(work, request)
    if not work.config.triggers.merge_request:
        return Plan(cancelled=stale, note="merge requests start nothing by themselves here")
    if event.action not in ("opened", "updated", "reopened", "ready"):
        return Plan(note=f"action {event.action or 'unknown'}")
    if request.draft:
        return Plan(cancelled=stale, note="a draft")
    if request.author == work.forge.viewer() or load_triggers().ignores(request.author):
        return Plan(note="a bot's merge request")
    if request.from_fork and not allowed(work.forge, request) and work.allowed != request.head:
        return Plan(cancelled=stale, note="a fork's head that nobody allowed")
    head = head_of(work, request)
    found = touched(head, changed_paths(work.forge.diff(request.number)))
    jobs, words = make_jobs(
        work, head, [t.folder for t in found], Command(action="optimize"), request
    )
    return Plan(jobs=tuple(jobs), cancelled=stale, note="; ".join(words))


def _stale(work: Work, request: MergeRequest) -> tuple[int, ...]:
    """The merge request's number when work for an older head of it waits or runs."""
    active = work.queue.jobs(
        states=("queued", "running"),
        forge=work.name,
        repository=work.forge.repository().name,
        number=request.number,
    )
    old = any(r.job.source_commit != request.head for r in active)
    return (request.number,) if old else ()


def _dispatch(work: Work) -> Plan:
    """A run that a person started by hand in the forge's CI: no comment, so no answer either."""
    event = work.event
    access = work.forge.permission(event.sender)
    if LEVELS.index(access) < LEVELS.index(work.config.permission):
        return Plan(note=f"{event.sender} has no {work.config.permission} permission")
    words = event.text.strip()
    commands = parse(words if words.startswith("/") else f"/optimize {words}")
    command = commands[0] if commands else Mistake(line=words, message="There is no command.")
    if isinstance(command, Mistake) or command.action != "optimize":
        said = command.message if isinstance(command, Mistake) else "Only /optimize starts by hand."
        return Plan(note=said)
    if event.number:
        request = work.forge.merge_request(event.number)
        if request.from_fork and not allowed(work.forge, request):
            return Plan(note="a fork's head that nobody allowed")
        head = head_of(work, request)
        found = touched(head, changed_paths(work.forge.diff(request.number)))
    else:
        request, found = None, ()
        head = work.mirror.commit(work.judge)
    chosen, problem = choose(head, found, command.op)
    if problem:
        return Plan(note=problem)
    jobs, said_of = make_jobs(work, head, chosen, command, request)
    return Plan(jobs=tuple(jobs), note="; ".join(said_of))


def _push(work: Work, default_branch: str) -> Plan:
    event = work.event
    branch = event.ref.removeprefix("refs/heads/")
    if branch.startswith(BRANCHES):
        return Plan(note="the bot's own branch")
    if branch != default_branch:
        return Plan(base_moved=True, note="a branch that only open merge requests care about")
    if not work.config.triggers.push:
        return Plan(base_moved=True, note="pushes start nothing here")
    # The hint's commits are used only as far as this repository has them.
    git = work.mirror.git
    before, after = git.commit(event.before or "-"), work.judge
    if before is None or not git.succeeds("merge-base", "--is-ancestor", before, after):
        return Plan(base_moved=True, note="no known commit to compare with")
    head = work.mirror.commit(after)
    folders = [
        t.folder
        for t in touched(head, work.mirror.changed(before, after))
        if work.mirror.by_hand(before, after, t.folder)
    ]
    jobs, words = make_jobs(work, head, folders, Command(action="optimize"), None)
    return Plan(jobs=tuple(jobs), base_moved=True, note="; ".join(words))
