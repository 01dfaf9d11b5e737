"""`ascendopt machine`: judges the simulated machine's time, and fits its constants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.cli.options import build, json_option, options
from ci.model.calibration import Calibration
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE
from ci.session import lab


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
    own = build(ValidateOptions, given)
    found = lab.validate(own.family, own.version, own.page, lambda text: click.echo(text, err=True))
    if as_json:
        click.echo("[" + ",\n".join(one.model_dump_json(indent=2) for one in found.families) + "]")
    else:
        click.echo("\n".join(found.lines()))
    ctx.exit(0 if found.ordered else 1)


@options(CalibrateOptions)
@machine.command()
@json_option
def calibrate(as_json: bool, **given: Any) -> None:
    """Fit the free constants to the shipped measurements and print what remains.

    Each group of constants is fitted again without each of its sources, to show how much it hangs
    on one of them; rows that no fit uses are predicted from the device's constants.
    """
    own = build(CalibrateOptions, given)
    found = lab.calibrate(own.device)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        echo_calibration(found)
    if own.write:
        changed = lab.write_constants(found)
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
