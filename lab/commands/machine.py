"""`ascendopt machine`: judges the simulated machine's time, and fits its constants."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import click
from pydantic import Field

from bot.cli.listing import Listing
from bot.cli.options import build, json_option, options
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE
from lab import session as lab
from lab.model.calibration import Calibration, ConstantResult, typical_error
from lab.model.validation import ValidateSettings


class CalibrateOptions(Frozen):
    """The device whose constants are fitted."""

    device: str = Field(
        default=DEFAULT_DEVICE, description="Device model (rules/devices) that is compared."
    )
    from_trials: str = Field(
        default="",
        description="Learn from what a device measured instead: folders that `optimize` on a device"
        " left, separated by commas.",
    )
    write: bool = Field(
        default=False, description="Write the fitted values into the device's file."
    )


@click.group(cls=Listing)
def machine() -> None:
    """Judge the simulated machine's time against published measurements."""


@options(ValidateSettings)
@machine.command()
@json_option
@click.pass_context
def validate(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Run the published cases and compare their times with those of hardware.

    Each version runs on the device of its publication and its results are verified. With real
    headers it runs through both front doors, and the door with more pairs in order is
    recommended. Ends with 1 when a published pair that differs by more than 5 % comes out in the
    wrong order through that.
    """
    found = lab.validate(build(ValidateSettings, given), lambda text: click.echo(text, err=True))
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
    on one of them; rows that no fit uses are predicted from the device's constants. With
    --from-trials the loosely known constants are fitted to what a device measured of trials that
    the simulator had predicted, and it is said by how much the model was off.
    """
    own = build(CalibrateOptions, given)
    runs = [Path(word.strip()) for word in own.from_trials.split(",") if word.strip()]
    found = lab.calibrate_from_trials(runs, own.device) if runs else lab.calibrate(own.device)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    elif runs:
        echo_learnt(found)
    else:
        echo_calibration(found)
    if own.write:
        changed = lab.write_constants(found)
        click.echo(f"wrote {changed} constants of {own.device}", err=True)


def echo_learnt(found: Calibration) -> None:
    """What trials on a device teach, for a person."""
    (group,) = found.groups
    rows = found.as_it_was
    long = median(row.error for row in rows)
    runs = len({row.source for row in rows})
    click.echo(
        f"{len(rows)} time{'s'[: len(rows) > 1]} of {runs} run{'s'[: runs > 1]} on"
        f" {found.device}: the model is off by {typical_error(rows):.1%} at the median, its times"
        f" {abs(long):.1%} too {'long' if long > 0 else 'short'}"
    )
    click.echo(f"  with what was learnt            {typical_error(group.rows):.1%}")
    if runs > 1:
        click.echo(f"  learnt without the run itself   {typical_error(found.held_out):.1%}")
    click.echo("constants that move")
    families: dict[tuple[str, str, str], list[ConstantResult]] = {}
    for one in group.constants:
        words = one.name.split(".")
        change = f"{one.fitted / one.current - 1:+.0%}"
        families.setdefault((words[0], words[-1], change), []).append(one)
    for (first, last, change), family in families.items():
        if len(family) > 1:
            click.echo(f"  {f'{first}.*.{last}':<34} {change}, {len(family)} constants")
        for one in family if len(family) == 1 else ():
            click.echo(f"  {one.name:<34} {change}, {one.current:,.4g} -> {one.fitted:,.4g}")


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
