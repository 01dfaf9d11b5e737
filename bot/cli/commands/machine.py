"""`ascendopt machine`: judges the simulated machine's time, and fits its constants."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import Field

from bot.cli.commands.options import build, json_option, options
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE

if TYPE_CHECKING:
    from ci.lab.calibrate import Calibration
    from ci.lab.published.statistics import FamilyResult


class ValidateOptions(Frozen):
    """What is compared, and where the page goes."""

    family: str = Field(default="", description="Only this family of published cases.")
    version: str = Field(
        default="", description="Only these versions, separated by commas, of the family."
    )
    page: Path | None = Field(
        default=None, description="Folder to write validation.md and its plots to."
    )


class CalibrateOptions(Frozen):
    """Whose constants are fitted."""

    device: str = Field(
        default=DEFAULT_DEVICE, description="Device model (rules/devices) that is compared."
    )
    write: bool = Field(
        default=False, description="Write the fitted values into the device's file."
    )


@click.group()
def machine() -> None:
    """Judge the simulated machine's time against published measurements."""


@options(ValidateOptions)
@machine.command()
@json_option
@click.pass_context
def validate(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Run the published cases and compare their times with those of hardware.

    Each version runs on the device of its publication and its results are verified. Ends with 1
    when a published pair that differs by more than 5 % comes out in the wrong order.
    """
    from ci.lab.published.figures import load_versions, rebuilt_families
    from ci.lab.published.page import misses, summary, write_page

    own = build(ValidateOptions, given)
    families = judged_families(own)
    if own.page is not None:
        rebuilt = rebuilt_families()
        missing = [version for version in load_versions() if version.family not in rebuilt]
        names = sorted({run.version.device for one in families for run in one.versions})
        path = write_page(own.page, families, missing, ", ".join(names))
        click.echo(f"wrote {path}", err=True)
    if as_json:
        click.echo("[" + ",\n".join(one.model_dump_json(indent=2) for one in families) + "]")
    else:
        for line in summary(families):
            click.echo(line)
        for sentence in misses(families):
            click.echo(f"missed: {sentence}")
    wrong = any(pair.judged and not pair.ordered for one in families for pair in one.pairs)
    ctx.exit(1 if wrong else 0)


def judged_families(own: ValidateOptions) -> list[FamilyResult]:
    """Run and judge what the options name; says on stderr what each version came to."""
    from ci.lab.published.figures import load_pairs, load_versions, rebuilt_families
    from ci.lab.published.runs import simulate
    from ci.lab.published.statistics import judge

    known = rebuilt_families()
    if own.family and own.family not in known:
        raise InputError(f"There is no family '{own.family}'; known are {', '.join(known)}.")
    wanted = {name.strip() for name in own.version.split(",") if name.strip()}
    results = []
    for family in [own.family] if own.family else known:
        versions = [one for one in load_versions() if one.family == family]
        unknown = wanted - {one.version for one in versions}
        if unknown:
            raise InputError(f"{family} has no version {', '.join(sorted(unknown))}.")
        chosen = [one for one in versions if not wanted or one.version in wanted]
        runs = []
        for run in simulate(chosen):
            runs.append(run)
            click.echo(
                f"{family} {run.version.version}: {run.time:,.1f} simulated,"
                f" {run.version.time:,.1f} published",
                err=True,
            )
        results.append(judge(family, runs, load_pairs()))
    return results


@options(CalibrateOptions)
@machine.command()
@json_option
def calibrate(as_json: bool, **given: Any) -> None:
    """Fit the free constants to the shipped measurements and print what remains.

    Each group of constants is fitted again without each of its sources, to show how much it hangs
    on one of them; rows that no fit uses are predicted from the device's constants.
    """
    from ci.lab.calibrate import calibrate as fit
    from ci.lab.calibrate import write_constants

    own = build(CalibrateOptions, given)
    found = fit(own.device)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        echo_calibration(found)
    if own.write:
        changed = write_constants(own.device, found)
        click.echo(f"wrote {changed} constants of {own.device}", err=True)


def echo_calibration(found: Calibration) -> None:
    """The fitted constants, the residuals and the held-out rows for a person."""
    for group in found.groups:
        click.echo(group.title)
        for constant in group.constants:
            spread = ", ".join(f"{value:,.4g}" for value in constant.without.values())
            click.echo(
                f"  {constant.name:<26} {constant.fitted:>12,.4g}  in the file"
                f" {constant.current:,.4g}" + (f"  without one source {spread}" if spread else "")
            )
        for row in group.rows:
            click.echo(f"    {row.name:<44} {row.measured:>12,.1f} {row.error:+7.1%}")
    click.echo("not used by a fit, from the constants in the file")
    for row in found.held_out:
        click.echo(f"    {row.name:<44} {row.measured:>12,.1f} {row.error:+7.1%}")
    click.echo(f"  median error {found.held_out_error:.1%}")
