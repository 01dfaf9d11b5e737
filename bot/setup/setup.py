"""Look at a checkout and say what the bot needs in it; write that.

No forge is asked: the checkout, its remote and its commits tell everything.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import Field

from bot.base.git import Git
from bot.forge.kinds import FORGES
from bot.forge.settings import settings_of
from bot.repository.config import FILE, RepositoryConfig, parse_config
from bot.repository.mirror import Commit, workload_of
from bot.repository.simulation import Decision, default_branch, simulated
from bot.setup.agent import agent_files
from bot.setup.files import SetupFile, ci_place, named_source, setup_files
from bot.setup.remaining_steps import left_to_do
from bot.setup.source import FORM, NAME, checked_source, own_source
from bot.setup.workloads import OnRow, derived_files
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.regular_file import file_text
from ci.session.reading import Reading, no_operator, reading

COMMITS: Final = 5
"""Last commits whose changes are simulated."""


class SetupOptions(Frozen):
    """Options of `init`."""

    forge: str = Field(
        default="auto",
        description=f"One of {', '.join(FORGES)}; auto: as the remote's address tells.",
    )
    remote: str = Field(default="origin", description="Remote of the checkout that the bot is for.")
    branch: str = Field(
        default="", description="Default branch; as the remote says when not given."
    )
    source: str = Field(
        default="",
        description=f"What the CI's jobs install ({NAME}), pinned: {FORM}. What this copy was"
        " installed from when not given.",
    )
    workloads: str = Field(
        default="",
        description="Derive workloads for the operators without one whose folder or name is like"
        " this, such as 'src/math/*', abs or '*': minutes for dozens. None when not given.",
    )
    agent: str = Field(
        default="",
        description="Folder in which your coding agent reads skills, such as .agents/skills. Writes"
        " the skill of ascendopt there and its MCP server into .mcp.json, and nothing for the bot.",
    )
    force: bool = Field(default=False, description="Replace a CI file that differs from ours.")
    dry_run: bool = Field(default=False, description="Write nothing; show what would be written.")


class Setup(Frozen):
    """Findings about a checkout, and what follows from them."""

    forge: str
    repository: str = Field(description="owner/name.")
    branch: str = Field(description="Default branch.")
    source: str = Field(description="What the CI's jobs install; '' when nobody said.")
    operators: tuple[str, ...] = Field(description="What names each.")
    without_workload: tuple[str, ...] = Field(description="Those watched that have none.")
    reading: Reading = Field(description="Which of them can be read, and which for the 910B.")
    watched: tuple[str, ...] = Field(description="Those that the bot optimizes when they change.")
    per_event: int = Field(description="Searches that one event starts; the others wait.")
    files: tuple[SetupFile, ...]
    left: tuple[str, ...] = Field(description="What a person has still to do.")
    commits: int = Field(description="Last commits that were simulated.")
    decisions: tuple[Decision, ...] = Field(description="What the bot would have done for them.")


def look(
    checkout: Path, options: SetupOptions, on_row: OnRow = lambda row, done, total: None
) -> Setup:
    """Find out what the repository of `checkout` has and needs. Writes nothing. Raises InputError.

    `on_row` is called for each workload that is derived.
    """
    git = Git(checkout)
    top = git.top()
    if top is None:
        raise InputError(f"{checkout} is no git checkout; give the folder of a clone.")
    git = Git(top)
    head = git.commit("HEAD")
    if head is None:
        raise InputError(f"{top} has no commit yet.")
    commit = Commit(git, head)
    if not commit.operators:
        raise InputError(no_operator(top))
    read = reading(top)
    settings = settings_of(options.forge, top, options.remote)
    branch = options.branch or default_branch(git, options.remote)
    source = _source(options.source, top, settings.forge)
    files = setup_files(top, settings.forge, source, branch, force=options.force)
    config = _config(files)
    watched = tuple(f for f in read.ours if config.covers(f) and f in commit.operators)
    without = tuple(f for f in watched if not _workload(commit, f, config))
    if options.workloads:
        made = derived_files(top, without, options.workloads, on_row)
        files += tuple(file for some in made.values() for file in some)
        without = tuple(f for f in without if f not in made)
    repository = settings.repository if settings.forge != "local" else top.name
    operators = tuple(sorted({*read.ours, *read.others, *read.unread}))
    undeclared = commit.operators.keys() - {*operators}
    vain = dict.fromkeys(undeclared, "its sources declare no operator")
    vain |= {place: f"it is for {', '.join(socs)} only" for place, socs in read.others.items()}
    vain |= read.unread
    count = min(COMMITS, int(git.run("rev-list", "--count", "--first-parent", head)) - 1)
    return Setup(
        forge=settings.forge,
        repository=repository,
        branch=branch,
        source=source,
        operators=operators,
        without_workload=without,
        reading=read,
        watched=watched,
        per_event=config.limits.operators_per_event,
        files=files,
        left=left_to_do(settings.forge, repository, branch, source, files, without, config),
        commits=count,
        decisions=tuple(simulated(git, head, f"{head}~{count}", head, config, vain)),
    )


def _source(given: str, top: Path, forge: str) -> str:
    """Return the source that the CI installs: as given, else as in the CI file, else our own."""
    if given:
        return checked_source(given)
    place = ci_place(forge)
    file = top / place
    before = named_source(file_text(file, top.resolve())) if place and file.exists() else ""
    return before or own_source()


def _config(files: tuple[SetupFile, ...]) -> RepositoryConfig:
    """The configuration as in the checkout; raises InputError when it is broken."""
    return parse_config(next(f.text for f in files if f.path == FILE))


def _workload(commit: Commit, folder: str, config: RepositoryConfig) -> str | None:
    return workload_of(commit, folder, config.override(folder).workload, config.workloads)


def for_agents(checkout: Path, options: SetupOptions) -> tuple[SetupFile, ...]:
    """Return the files by which coding agents find the judge. Writes nothing. Raises InputError."""
    top = Git(checkout).top()
    if top is None:
        raise InputError(f"{checkout} is no git checkout; give the folder of a clone.")
    return agent_files(top, options.agent)


def write(checkout: Path, files: Sequence[SetupFile]) -> tuple[str, ...]:
    """Write what is new or changed; the paths written. Raises InputError, not half done.

    A link in the way is not followed: the repository may have come from anybody. Nor is a
    submodule written to: its files are no part of this repository.
    """
    top = Git(checkout).top()
    assert top is not None
    wanted = [f for f in files if f.state in ("new", "changed")]
    listed = Git(top).run("ls-files", "--stage", "-z").split("\0")
    submodules = {top / one.partition("\t")[2] for one in listed if one.startswith("160000 ")}
    for file in wanted:
        place = top / file.path
        if inner := submodules & {place, *place.parents}:
            name = inner.pop().relative_to(top)
            raise InputError(f"{name} is a submodule, so {file.path} has no place.")
        if place.is_symlink() or not Path(os.path.realpath(place)).is_relative_to(top.resolve()):
            raise InputError(f"{file.path} leads out of the checkout by a link.")
        there = next(one for one in (place, *place.parents) if os.path.lexists(one))
        if there != place and not there.is_dir():
            raise InputError(f"{there.relative_to(top)} is no folder, so {file.path} has no place.")
    for file in wanted:
        place = top / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(file.text, encoding="utf-8")
    return tuple(f.path for f in wanted)


def shown(checkout: Path, files: Sequence[SetupFile]) -> str:
    """Unified diff of what `write` would do."""
    top = Git(checkout).top()
    assert top is not None
    made = ""
    for file in files:
        place = top / file.path
        old = file_text(place, top.resolve()) if place.exists() else ""
        if file.state in ("new", "changed"):
            lines = old.splitlines(keepends=True), file.text.splitlines(keepends=True)
            before = f"a/{file.path}" if old else "/dev/null"
            made += "".join(difflib.unified_diff(*lines, before, f"b/{file.path}"))
    return made
