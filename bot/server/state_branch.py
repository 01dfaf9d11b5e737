"""The memory of the bot in CI: a branch of the repository, read into a queue and written back.

    README.md          what this branch is
    jobs/KEY.json      a job with its standing, as in the queue of `serve`
    events.json        what could not be handled yet, such as during an outage of the forge
    facts.json         what is remembered by name: how far was polled, which comments are answered
    results/KEY.json   what the last runs found, for `/optimize explain`
    bank.jsonl         experience that the nightly refresh earned

The branch has one commit without a parent, which is replaced: it stays small and has no history to
prune. It is pushed with a lease, so of two jobs of a CI that change it at once the second reads it
again. Who deletes it makes the bot forget, nothing else. Its content is data from outside: what is
of another repository is left out (a fork has the branch of where it came from; what was written
under a former name of this one counts), and a stored job is held against the default branch before
it is run again (`bot.server.ci_mode`).
"""

from __future__ import annotations

import json
import logging
import random
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from bot.base.git import GitError
from bot.events.model import Event
from bot.forge.kinds import identity
from bot.report import RESULT
from bot.repository.commit_style import CommitStyle
from bot.repository.connection import Connection
from bot.repository.job import ENDED, Record
from bot.repository.mirror import Commit
from bot.server.queue import Queue, Waiting
from bot.server.refused import PASSED, PREFIX
from ci.model.amount import amount
from ci.model.errors import InputError, plainly
from ci.model.json_lines import json_lines
from ci.model.regular_file import file_bytes
from experience.bank.tuple import ExperienceTuple

LOG: Final = logging.getLogger("ascendopt.bot")
STATE_BRANCH: Final = "ascendopt-state"
BANK: Final = "bank.jsonl"
WORKER: Final = "ci"
"""Who holds a job that a run of the CI has: any of its jobs may report it."""

# What is kept: every job that is not done, and so much of the past.
KEEP_ENDED: Final = 200
KEEP_ENDED_S: Final = 90 * 86400.0
KEEP_RESULTS: Final = 30
KEEP_FACTS: Final = 1000
# Of facts these are kept whatever their age: what was refused, allowed or passed over, where the
# dashboard is, and up to where pushes were planned.
LASTING: Final = (PREFIX, PASSED, "allowed ", "dashboard ", "closed ", "standing ", "pushed ")
# What is read of the branch, by the first part of its path, and how large a file may be, in bytes:
# a job carries a patch, a result its trials. Nothing larger is written, for it would be lost.
_LARGEST: Final = {
    "README.md": 10_000,
    ".gitlab-ci.yml": 10_000,
    "jobs": 1_000_000,
    "events.json": 1_000_000,
    "facts.json": 1_000_000,
    "results": 2_000_000,
    BANK: 20_000_000,
}
_IN_FOLDER: Final = re.compile(r"[\w-]{1,64}\.json", re.ASCII)
# Of all jobs, or all results, in bytes: they are held in memory.
_MOST_BYTES: Final = 200_000_000
# Jobs of the CI that change the branch at once wait for each other so often.
_TRIES: Final = 16
# Most seconds before the second try; before the third twice as many, and so on.
_PAUSE_S: Final = 0.3
# Names of a repository: what the forge is asked about, and of how many.
_NAME: Final = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)+", re.ASCII)
_MOST_NAMES: Final = 4
_README: Final = """\
# What ascendopt remembers

Written by the bot. Delete this branch and it forgets which runs there were; nothing else breaks.
"""
_GITLAB: Final = """\
# Pipelines of this branch hold the bot's jobs alone, as the default branch defines them.
include:
  - project: $CI_PROJECT_PATH
    ref: $CI_DEFAULT_BRANCH
    file: .gitlab/ascendopt.yml
"""
# What is written leads here until it is pushed, so that no upkeep takes it for waste.
_WRITTEN: Final = "refs/ascendopt/written-state"
_FACTS: Final = TypeAdapter(dict[str, object])
_LIST: Final = TypeAdapter(list[object])
_EVENT: Final = TypeAdapter(Waiting)
_EVENTS: Final = TypeAdapter(list[Waiting])

Made = TypeVar("Made")


class StateBranch:
    """The branch of one repository."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        """`folder` takes the queue and the results while one job of the CI works with them."""
        self._connection = connection
        self._folder = folder
        self._git = connection.mirror.git
        self._read: tuple[str, dict[str, str]] = ("", {})
        """The commit that was read last, and its files."""
        self._known: dict[str, bool] = {}
        """Whether this repository was called so once, by name."""
        self.bank = ""
        """The bank as JSON lines; what is set here is stored with the next change, next to what
        others have stored meanwhile."""

    def read(self) -> Queue:
        """A queue with everything that the branch holds."""
        return self._load()[0]

    def change(self, step: Callable[[Queue], Made]) -> Made:
        """Do `step` on what the branch holds and store what it changed.

        When another job of the CI stored something in between, the step is done again on that: it
        must be repeatable. Raises InputError when the branch cannot be pushed.
        """
        for attempt in range(1, _TRIES + 1):
            queue, head, before = self._load()
            made = step(queue)
            files = self._files(queue)
            queue.close()
            if files == before:
                return made
            try:
                commit = self._commit(files)
                self._connection.forge.push(self._git, commit, STATE_BRANCH, head)
                self._read = (commit, files)
                return made
            except GitError as problem:
                words = f"The branch {STATE_BRANCH}, in which the bot remembers its runs, cannot"
                if problem.away:
                    raise InputError(f"{words} be pushed now: {problem}.") from problem
                if (self._connection.forge.branch_head(STATE_BRANCH) or "") == head:
                    raise InputError(
                        f"{words} be pushed ({problem}): the token needs write access to the"
                        " repository's contents, and no rule may protect that branch from the bot."
                    ) from problem
                if attempt == _TRIES:
                    raise InputError(
                        f"{words} be stored: other runs of the CI changed it {_TRIES} times"
                        " meanwhile. The next run does what this one could not."
                    ) from problem
                time.sleep(random.uniform(0, _PAUSE_S * attempt))
        raise AssertionError("the last try returns or raises")

    # Reading

    def _load(self) -> tuple[Queue, str, dict[str, str]]:
        """The queue, the branch's head ('' when there is none) and its files."""
        forge, mirror = self._connection.forge, self._connection.mirror
        head = forge.branch_head(STATE_BRANCH) or ""
        if head and head != self._read[0]:
            head = mirror.fetch(forge, f"refs/heads/{STATE_BRANCH}")
            self._read = (head, self._found(head))
        texts = self._read[1] if head else {}
        queue = Queue(Path(tempfile.mkdtemp(dir=self._folder)) / "queue.sqlite", lasting=False)
        self._restore(queue, texts)
        self.bank = _together(self.bank, texts.get(BANK, ""))
        return queue, head, texts

    def _found(self, head: str) -> dict[str, str]:
        """The files that the branch has, with the texts of those that can be ours.

        Others can write it: by its name or size all else has the text '', and goes with the next
        change.
        """
        files = Commit(self._git, head).files
        sizes = self._git.sizes(list(dict.fromkeys(b for p, b in files.items() if _is_ours(p))))
        room = dict.fromkeys(_LARGEST, _MOST_BYTES)
        wanted = dict[str, str]()
        for path, blob in files.items():
            folder, size = path.partition("/")[0], sizes.get(blob)
            if size is None or not _is_ours(path):
                continue
            if size > _LARGEST[folder] or size > room[folder]:
                LOG.warning("%s of %s is left out: it is too large", path, STATE_BRANCH)
                continue
            wanted[path] = blob
            room[folder] -= size
        blobs = self._git.blobs(list(dict.fromkeys(wanted.values())))
        found = {path: blobs[blob].decode(errors="replace") for path, blob in wanted.items()}
        if BANK in found:
            found[BANK] = _readable(found[BANK])
        return {path: found.get(path, "") for path in files}

    def _restore(self, queue: Queue, texts: Mapping[str, str]) -> None:
        forge, repository = self._connection.here
        fact = re.compile(rf"((?:\w+ )+?{forge} )(\S+)(| .*)", re.DOTALL)
        records = []
        for path, text in texts.items():
            folder, _, name = path.partition("/")
            if not text:
                continue
            with _left_out(path):
                if folder == "jobs":
                    record = Record.model_validate_json(text)
                    if record.job.forge == forge and self._is_here(record.job.repository):
                        job = record.job.model_copy(update={"repository": repository})
                        records.append(record.model_copy(update={"job": job}))
                elif folder == "facts.json":
                    for key, value in _FACTS.validate_json(text).items():
                        own = f" {forge} {repository} " in f"{key} "
                        about = None if own else fact.fullmatch(key)
                        if isinstance(value, str) and (about is None or self._is_here(about[2])):
                            name = key if about is None else f"{about[1]}{repository}{about[3]}"
                            queue.set_fact(name, value)
                elif folder == "events.json":
                    for one in _LIST.validate_json(text):
                        with _left_out("an event in events.json"):
                            queue.keep_event(*_EVENT.validate_python(one))
                elif folder == "results":
                    place = queue.runs / name.removesuffix(".json")
                    place.mkdir(parents=True)
                    (place / RESULT).write_text(text, encoding="utf-8")
        for record in sorted(records, key=lambda r: r.created):
            with _left_out(f"run {record.job.run}"):
                queue.keep(record, WORKER if record.lease_until else "")

    def _is_here(self, repository: str) -> bool:
        """Whether this repository has that name, or had it once and the forge leads on from it."""
        forge, own = self._connection.here
        if identity(forge, repository) == identity(forge, own):
            return True
        if repository not in self._known:
            askable = len(self._known) < _MOST_NAMES and _NAME.fullmatch(repository) is not None
            self._known[repository] = askable and self._connection.forge.was_named(repository)
        return self._known[repository]

    # Writing

    def _files(self, queue: Queue) -> dict[str, str]:
        """Return the files that the branch is to hold."""
        now, records = time.time(), queue.jobs(limit=1_000_000)
        ended = [r for r in records if r.state in ENDED and r.finished > now - KEEP_ENDED_S]
        kept = [r for r in records if r.state not in ENDED] + ended[:KEEP_ENDED]
        files = {"README.md": _README, "facts.json": _pretty(_facts(queue.facts()))}
        # Of a comment the forge has the text: a few long ones would take the room of all others.
        events = [w._replace(event=_without_text(w.event)) for w in queue.waiting_events()]
        if events := _fitting(events, "events.json", lambda one: len(_EVENTS.dump_json([one]))):
            files["events.json"] = _EVENTS.dump_json(events).decode() + "\n"
        for record in kept:
            path, text = f"jobs/{record.job.key}.json", _pretty(record.model_dump(mode="json"))
            if _fitting([text], "jobs", len):
                files[path] = text
        with_result = [r for r in kept if (queue.runs / r.job.key / RESULT).is_file()]
        # A merge request may be merged, and teach, long after; what is not done is to be proposed.
        with_result.sort(key=lambda r: (r.state == "done", not r.merge_request))
        for record in with_result[:KEEP_RESULTS]:
            text = (queue.runs / record.job.key / RESULT).read_text(encoding="utf-8")
            if _fitting([text], "results", lambda one: len(one.encode())):
                files[f"results/{record.job.key}.json"] = text
        if self.bank:
            files[BANK] = self.bank
        if self._connection.name == "gitlab":
            files[".gitlab-ci.yml"] = _GITLAB
        return files

    def _commit(self, files: Mapping[str, str]) -> str:
        """A commit without parent that holds `files`."""
        # No forge starts a CI run of ours for it.
        message = "Remember what the bot did\n\n[skip ci]\n"
        who = CommitStyle().identity
        sender = f"{who['GIT_COMMITTER_NAME']} <{who['GIT_COMMITTER_EMAIL']}>"
        now = f"{int(time.time())} +0000"
        parts = [f"commit {_WRITTEN}", f"mark :1\ncommitter {sender} {now}", _data(message)]
        parts += [f"M 100644 inline {path}\n{_data(text)}" for path, text in files.items()]
        stream = "\n".join([*parts, "get-mark :1", "done", ""])
        return self._git.run("fast-import", "--quiet", "--force", "--done", stdin=stream).strip()


def _is_ours(path: str) -> bool:
    """Whether a file of the branch is one that the bot wrote, by its name."""
    folder, slash, name = path.partition("/")
    inside = folder in ("jobs", "results")
    return folder in _LARGEST and (_IN_FOLDER.fullmatch(name) is not None if inside else not slash)


def _facts(every: Mapping[str, str]) -> dict[str, str]:
    """The facts to keep, what was set longest ago first: the lasting and the last others."""
    lasting = [fact for fact in every.items() if fact[0].startswith(LASTING)]
    others = [fact for fact in every.items() if not fact[0].startswith(LASTING)][::-1]
    wanted = [*lasting, *others[:KEEP_FACTS]]
    kept = dict(_fitting(wanted, "facts.json", lambda fact: len(_pretty(dict([fact])))))
    return {name: value for name, value in every.items() if name in kept}


def _without_text(event: Event) -> Event:
    spoken = event.kind in ("comment", "issue")
    return event.model_copy(update={"text": ""}) if spoken else event


def _fitting(items: Sequence[Made], kind: str, size: Callable[[Made], int]) -> list[Made]:
    """The first of `items` that a file of that kind has room for: a larger one is never read."""
    sizes = accumulate(map(size, items))
    kept = [item for item, end in zip(items, sizes, strict=True) if end <= _LARGEST[kind]]
    if len(kept) < len(items):
        LOG.warning(
            "%d of %d in %s are not kept: no room", len(items) - len(kept), len(items), kind
        )
    return kept


@contextmanager
def _left_out(what: str) -> Iterator[None]:
    """Leave out what cannot be read, or kept, such as a number that no queue has room for.

    Others can write the branch, as can other versions.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, ArithmeticError, sqlite3.IntegrityError):
        LOG.warning("%s of %s is left out: it is none of ours", what, STATE_BRANCH)


def _readable(bank: str) -> str:
    """The lines of a bank that are tuples: a run takes the whole of it, or nothing."""
    kept = []
    for line in json_lines(bank):
        with suppress(ValidationError):
            ExperienceTuple.model_validate_json(line)
            kept.append(line)
    return "\n".join([*kept, ""]) if kept else ""


def _data(text: str) -> str:
    """A text as `git fast-import` takes it: its length in bytes comes first."""
    return f"data {len(text.encode())}\n{text}"


def _together(own: str, stored: str) -> str:
    """Two banks as one; of a tuple that both have our line counts."""
    if not own or not stored or own == stored:
        return own or stored
    known = {ExperienceTuple.model_validate_json(line).id for line in json_lines(own)}
    tuples = ((ExperienceTuple.model_validate_json(line).id, line) for line in json_lines(stored))
    others = [line for name, line in tuples if name not in known]
    both = "\n".join([*json_lines(own), *others]) + "\n"
    return both if len(both) <= _LARGEST[BANK] else own


def checked_bank(file: Path) -> str:
    """The tuples in a file of JSON lines, which comes from where candidates ran; raises InputError
    when it holds anything else."""
    try:
        text = file_bytes(file).decode("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{file} cannot be read: {plainly(problem)}.") from problem
    if len(text) > _LARGEST[BANK]:
        raise InputError(f"{file} is too large to be kept: {amount(len(text), 'character')}.")
    for number, line in enumerate(json_lines(text), 1):
        try:
            ExperienceTuple.model_validate_json(line)
        except ValidationError:
            raise InputError(f"{file}, line {number} is no experience tuple.") from None
    return text


def _pretty(data: object) -> str:
    return json.dumps(data, indent=1) + "\n"
