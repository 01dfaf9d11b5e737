"""`ascendopt check`: what is wrong with operators as they are, without any search."""

from __future__ import annotations

import os
import shlex
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import click
from pydantic import Field

from bot.base.git import Git, GitError
from bot.base.text import visible
from bot.cli.commands.evaluate import SarifOptions
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import defect, say
from bot.report.findings import report_lines
from bot.report.sarif import write_check_sarif
from bot.repository.trigger import touched_operators
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.finding import CheckReport, CheckSettings
from ci.model.folder_walk import legible
from ci.model.frozen import Frozen
from ci.model.settings import EvaluationSetup
from ci.session.derive import derived_cases, workload_of_case
from ci.session.operator_check import open_check, reading_once
from ci.session.operators import operators_at, places_below, workload_below
from ci.session.placing import folder_of, operators_in, places_in, source_texts
from rules.triggers import load_triggers


class CheckOptions(Frozen):
    """Which operators are checked."""

    changed_since: str = Field(
        default="",
        description="Also the operators whose files changed since this revision of git, such as"
        " origin/main.",
    )


@options(EvaluationSetup, CheckSettings, CheckOptions, SarifOptions)
@click.command()
@click.argument("paths", nargs=-1, type=OrdinaryPath())
@json_option
@click.pass_context
def check(ctx: click.Context, /, paths: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Say what is wrong with the operators at PATHS as they are.

    It looks for races, faults of memory, wrong results and broken limits of the API. A path is an
    operator, a repository, or a file of an operator, as a pre-commit hook gives it. Each operator
    is built and run on its workload (a derived one where it has none) and on varied cases. Ends
    with 0 where nothing was found but notes, 1 where something was, 2 for bad input.
    """
    own, setup = build(CheckOptions, given), build(EvaluationSetup, given)
    settings = build(CheckSettings, given)
    changed = [*_changed_since(own.changed_since)] if own.changed_since else []
    if not paths and not own.changed_since:
        raise InputError(
            "Name an operator, as in `ascendopt check OPERATOR`, or give --changed-since REVISION."
        )
    folders = operators_of(paths, changed)
    if settings.case and len(folders) != 1:
        raise InputError(f"--case is for one operator; there are {len(folders)} at these paths.")
    reports = []
    for number, folder in enumerate(folders, 1):
        say(f"[{number}/{len(folders)}] {legible(folder)}", err=True)
        report = _checked(folder, setup, settings)
        reports.append(report)
        if not as_json:
            again = _again(folder, setup, settings)
            say("\n".join(report_lines(report, again, one_case=bool(settings.case))))
    if as_json:
        say("[" + ",".join(report.model_dump_json() for report in reports) + "]")
    elif not reports:
        say("No operator to check.")
    if (file := build(SarifOptions, given).sarif) is not None:
        write_check_sarif(reports, Git(Path.cwd()).top() or Path.cwd(), file)
    refused = any(report.refused for report in reports)
    ctx.exit(1 if any(report.fails for report in reports) else 2 if refused else 0)


def operators_of(paths: Sequence[Path], changed: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return what names the operators at paths and of files, each once, in their order.

    A file concerns the operators that are built from it, wherever it lies, and the one whose folder
    it lies in. Raises InputError for a path that is not there, and for a folder without operators.
    A changed file that belongs to no operator, or is gone, is passed over.
    """
    of_file = _concerned([*(path for path in paths if path.is_file()), *changed])
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_file():
            found |= dict.fromkeys(of_file[path])
        elif (owner := _owner(path)) is not None:
            found |= dict.fromkeys(places_in(owner))
        elif path.is_dir():
            found |= dict.fromkeys(places_below(path))
        else:
            found |= dict.fromkeys(operator.place for operator in operators_at([path]))
    for file in changed:
        found |= dict.fromkeys(of_file[file])
    return tuple(found)


def _owner(path: Path) -> Path | None:
    """The operator folder that a path is or lies in."""
    around = (path, *path.parents)
    return next(
        (f for f in around if all((f / d).is_dir() for d in ("op_kernel", "op_host"))), None
    )


def _concerned(files: Sequence[Path]) -> dict[Path, list[Path]]:
    """Return the operators that each of the files concerns."""
    checkouts: dict[Path | None, list[Path]] = {}
    for file in files:
        there = next(above for above in file.absolute().parents if above.is_dir())
        checkouts.setdefault(Git(there).top(), []).append(file)
    found: dict[Path, list[Path]] = {}
    for top, some in checkouts.items():
        found |= _by_folder(some) if top is None else _by_sources(top, some)
    return found


def _by_folder(files: Sequence[Path]) -> dict[Path, list[Path]]:
    """The same outside of git, where nothing says what else may be looked through."""
    owners = {file: _owner(file.absolute()) for file in files}
    return {file: places_in(owner) if owner else [] for file, owner in owners.items()}


def _by_sources(top: Path, files: Sequence[Path]) -> dict[Path, list[Path]]:
    """The same in the checkout at `top`."""
    texts = source_texts(top)
    operators = operators_in(texts, lambda wanted: {path: texts[path] for path in wanted})
    inside = {os.path.relpath(file.absolute(), top): file for file in files}
    homes = {place: folder_of(place, sources) for place, sources in operators.items()}
    found: dict[str, dict[str, None]] = {path: {} for path in inside}
    for one in touched_operators([*inside], operators, texts, load_triggers()):
        for path in one.because:
            found[path][one.folder] = None
    for path, places in found.items():
        around = map(str, PurePosixPath(path).parents)
        nearest = next((above for above in around if above in homes.values()), None)
        if all(homes[place] != nearest for place in places):
            places |= dict.fromkeys(place for place, home in homes.items() if home == nearest)
    return {file: [top / place for place in found[path]] for path, file in inside.items()}


def _changed_since(revision: str) -> Iterator[Path]:
    here = Git(Path.cwd())
    top = here.top()
    if top is None:
        raise InputError("--changed-since needs a checkout of git; call it in one.")
    try:
        names = here.diff("--name-only", "-z", "--end-of-options", revision, "--")
    except GitError as problem:
        raise InputError(
            f"--changed-since cannot be {revision}: git knows no such commit, branch or tag here;"
            f" `git fetch` gets those of the remote ({problem})."
        ) from None
    for name in filter(None, names.split("\0")):
        yield top / name


def _checked(folder: Path, setup: EvaluationSetup, settings: CheckSettings) -> CheckReport:
    """The operator's report; what cannot be checked says why."""

    started = time.monotonic()

    def tell(what: str) -> None:
        said = textwrap.shorten(visible(what, 1000), 100, placeholder=" …")
        say(f"  {time.monotonic() - started:>4.0f} s  {said}", err=True)

    own = True
    try:
        tell("reads the operator and what its build says")
        with reading_once():
            own = setup.workload is not None or _has_workload(folder)
            if not own:
                return _without_workload(folder, setup, settings, tell)
            return open_check(folder, setup, None).report(settings, tell)
    except InputError as problem:
        words = str(problem)
    except (EnvironmentProblem, GitError):  # of the machine, so of every operator
        raise
    except Exception as bug:  # of one operator: the others are checked all the same
        words, own = defect(bug), True
    shown = legible(folder)
    return CheckReport(operator=shown.name, folder=shown, unchecked=words, refused=own)


def _without_workload(
    folder: Path, setup: EvaluationSetup, settings: CheckSettings, tell: Callable[[str], None]
) -> CheckReport:
    """The report of the one case that is asked for, else of what is derived.

    Raises InputError when nothing can be.
    """
    with TemporaryDirectory() as name:
        place = Path(name)
        if settings.case:
            one = setup.model_copy(update={"workload": workload_of_case(settings.case, place)})
            return open_check(folder, one, None).report(settings, tell)
        tell("deriving a workload")
        cases = derived_cases(folder, setup, place, settings.deriving_seconds, tell)
        return open_check(folder, setup, cases).report(cases.left_of(settings), tell)


def _has_workload(folder: Path) -> bool:
    operator = operators_at([folder])[0]
    return workload_below(operator, operator.repository or operator.root) is not None


def _again(folder: Path, setup: EvaluationSetup, settings: CheckSettings) -> str:
    """The command that shows the same."""
    words = ["ascendopt", "check", str(folder)]
    for model in (setup, settings):
        for name in type(model).model_fields:
            value = getattr(model, name)
            if value is not None and value != type(model).model_fields[name].default:
                words += ["--" + name.replace("_", "-"), str(value)]
    return shlex.join(words)
