"""The commands of `ascendopt bank` that keep a bank in order, share it and look at the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import click
from pydantic import Field

from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from bot.repository.covered_operators import covered
from ci.model.amount import amount
from ci.model.errors import InputError, plainly
from ci.model.experience import RefreshSettings
from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.settings import EvaluationSetup, PoolOptions, ProposerOptions
from ci.session.bank import landscape as chart
from ci.session.bank import learn
from ci.session.bank import refresh as go_over
from ci.session.open_bank import open_bank
from ci.session.operators import operators_at


class BankOptions(Frozen):
    """Which bank."""

    bank: Path | None = Field(
        default=None, description="Bank file; $XDG_DATA_HOME/ascendopt/bank.duckdb when not given."
    )


class ExportOptions(Frozen):
    """Which tuples are exported, and how much of each."""

    strip: bool = Field(
        default=False,
        description="Leave out diffs, operators and commits: motif, bottleneck and effect remain.",
    )


class ImportOptions(Frozen):
    """The format of a file that is no bank."""

    from_result: bool = Field(
        default=False,
        description="FILE is the result.json of a run: learn from its steps.",
    )
    operator: Path | None = Field(
        default=None, description="Folder of the operator of --from-result, before or after it."
    )
    origin: str = Field(
        default="", description="What the tuples come from, such as a merge request's address."
    )


class ReembedOptions(Frozen):
    """Which embedder takes over."""

    embedder: str = Field(
        default="hashed",
        description="hashed, endpoint:MODEL (OPENAI_API_KEY, OPENAI_BASE_URL) or local:FOLDER.",
    )


class LandscapeOptions(Frozen):
    """Where the map goes, and how many groups it has."""

    html: Path = Field(default=Path("landscape.html"), description="Page to write.")
    png: Path | None = Field(default=None, description="Picture to write as well.")
    groups: int = Field(default=0, ge=0, description="Groups; 0: as many as are best apart.")


class SummaryOptions(Frozen):
    """Where the summary of a refresh goes."""

    out: Folder | None = Field(
        default=None, description="Folder that takes refresh.md and refresh.json."
    )


@options(BankOptions, ExportOptions)
@click.command("export")
@click.argument("file", type=OrdinaryPath())
@json_option
def export_tuples(file: Path, as_json: bool, **given: Any) -> None:
    """Write every tuple of the bank to FILE: Parquet when it ends in .parquet, else JSON lines."""
    from experience.bank.exchange import export_tuples as write
    from experience.bank.exchange import strip

    tuples = open_bank(build(BankOptions, given).bank, must_exist=True).all()
    if build(ExportOptions, given).strip:
        tuples = [strip(t) for t in tuples]
    count = write(tuples, file)
    say(
        json.dumps({"tuples": count}) if as_json else f"{amount(count, 'tuple')} written to {file}."
    )


@options(BankOptions, ImportOptions)
@click.command("import")
@click.argument("file", type=OrdinaryPath())
@json_option
def import_tuples(file: Path, as_json: bool, **given: Any) -> None:
    """Add the tuples of FILE (Parquet or JSON lines) to the bank, all of them or none."""
    from experience.bank.exchange import import_tuples as read

    own = build(ImportOptions, given)
    bank = build(BankOptions, given).bank
    if not own.from_result:
        new, known = read(open_bank(bank), file)
    elif own.operator is None:
        raise InputError("--from-result needs --operator, the folder of the run's operator.")
    else:
        new, known = learn(bank, file, own.operator, own.origin)
    if as_json:
        say(json.dumps({"new": new, "known": known}))
    else:
        say(f"{amount(new, 'tuple')} added; {known} were known already.")


@options(BankOptions, ReembedOptions)
@click.command()
@json_option
def reembed(as_json: bool, **given: Any) -> None:
    """Make every tuple's vector again, with another embedding model or the same."""
    from experience.bank.embedders import make_embedder

    embedder = make_embedder(build(ReembedOptions, given).embedder)
    bank = open_bank(build(BankOptions, given).bank, must_exist=True)
    count = bank.reembed(embedder)
    if as_json:
        say(json.dumps({"tuples": count, "model": embedder.model}))
    else:
        say(f"{amount(count, 'tuple')} embedded by {embedder.model}.")


@options(BankOptions, LandscapeOptions)
@click.command()
@json_option
@click.pass_context
def landscape(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Draw the bank's tuples as a map of groups, documented practices apart from others.

    Ends with 1 when the bank holds too few tuples for a map.
    """
    from bot.report.landscape import html, picture

    own = build(LandscapeOptions, given)
    found = chart(build(BankOptions, given).bank, own.groups)
    if found is None:
        say("The bank holds fewer than three tuples; there is no map of those.", err=True)
        ctx.exit(1)
        return
    try:
        own.html.write_text(html(found), encoding="utf-8")
        if own.png is not None:
            picture(found, own.png)
    except OSError as problem:
        raise InputError(f"The map cannot be written: {plainly(problem)}.") from problem
    if as_json:
        say(found.model_dump_json(indent=2))
        return
    for group in found.groups:
        say(
            f"{group.size:>4}  {group.name}  ({group.share:.0%} {group.category}, "
            f"{group.mean_speedup:.2f}x)"
        )
    say(f"silhouette {found.silhouette:.2f}; written to {own.html}")


@options(
    EvaluationSetup, PoolOptions, RefreshSettings, ProposerOptions, BankOptions, SummaryOptions
)
@click.command()
@click.argument("operators", type=OrdinaryPath(), nargs=-1, required=True)
@json_option
@click.pass_context
def refresh(
    ctx: click.Context, /, operators: tuple[Path, ...], as_json: bool, **given: Any
) -> None:
    """Re-verify a sample of the bank, retire what no longer holds, rewind what changed.

    OPERATORS are folders of operators or repositories, whose .ascendopt.yml is honoured. Made to
    run every night: it may be killed at any moment and run again. What cannot be judged is passed
    over. Ends with 1 when one of the operators does not pass its workload.
    """
    out = build(SummaryOptions, given).out
    chosen = covered(operators_at(operators), build(EvaluationSetup, given))
    setups = {operator.place: setup for operator, setup in chosen}
    done, page = go_over(
        build(BankOptions, given).bank,
        [operator for operator, _ in chosen],
        lambda operator: setups[operator.place],
        build(RefreshSettings, given),
        build(ProposerOptions, given),
        lambda text: say(text, err=True),
        build(PoolOptions, given).pool,
    )
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
            (out / "refresh.md").write_text(page, encoding="utf-8")
            (out / "refresh.json").write_text(done.model_dump_json(indent=2), encoding="utf-8")
        except OSError as problem:
            raise InputError(
                f"The summary cannot be written to {out}: {plainly(problem)}."
            ) from problem
    say(done.model_dump_json(indent=2) if as_json else page)
    ctx.exit(1 if done.failed else 0)


COMMANDS: Final = (export_tuples, import_tuples, reembed, landscape, refresh)
