"""`ascendopt create`: an operator that does not exist yet, from a golden function."""

from __future__ import annotations

from typing import Any

import click
from pydantic import Field

from bot.base.text import microseconds, visible
from bot.cli.options import build, json_option, options
from bot.cli.say import say
from ci.model.amount import amount
from ci.model.created import Created, CreateSettings, NotTraced
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.session.create import create_operator


def echo_created(created: Created) -> None:
    """Print for a person what was made and how it was verified."""
    say(f"{created.operator} is in {created.folder}, and is right:")
    width = max(len(c.name) for c in created.cases)
    for case in created.cases:
        say(
            f"  {case.name:<{width}}  {microseconds(case.microseconds):>12}  {case.cores:>2}"
            f" {'core ' if case.cores == 1 else 'cores'}"
            f"  floor {microseconds(case.floor_us)}"
        )
    say(
        f"Simulated time on {created.device}. It also passed"
        f" {amount(created.varied, 'case')} of other shapes, dtypes and values."
    )
    if created.written_by:
        say(
            f"{visible(created.written_by, 80)} wrote its tile program, for"
            f" {amount(created.tokens, 'token')}."
        )
    for note in created.notes:
        say(f"note: {visible(note, 300)}")
    say(f"Make it faster with: ascendopt optimize {created.folder}")


class GoOnOptions(Frozen):
    """Options of the search that follows."""

    optimize: int = Field(
        default=0,
        ge=0,
        description="Evaluations for a search that goes on from the made operator; what it leaves"
        " is in FOLDER-optimized. 0: no search.",
    )


def _models_left(settings: CreateSettings, created: Created) -> dict[str, Any]:
    """The models of the search that follows, with what the making left of their budget."""
    if settings.proposer != "llm":
        return {}
    return {
        "proposer": "llm",
        "models": settings.models,
        "max_tokens": settings.max_tokens and max(1, settings.max_tokens - created.tokens),
        "max_cost": settings.max_cost and max(1e-9, settings.max_cost - created.cost),
    }


@options(CreateSettings, GoOnOptions)
@click.command()
@click.argument("golden")
@json_option
@click.pass_context
def create(ctx: click.Context, /, golden: str, as_json: bool, **given: Any) -> None:
    """Make an operator of the function GOLDEN (file.py:function).

    The function is traced. Elementwise numpy code, broadcasts and reductions become a tile
    program, and the tile program becomes an operator folder with tiling, kernel, build file and
    workload. The folder appears only after it was built, run and verified. With --proposer llm a
    model writes the tile program of a function that cannot be traced.
    """
    settings = build(CreateSettings, given)
    further = build(GoOnOptions, given).optimize
    if further and as_json:
        raise InputError("--json prints one object: run `ascendopt optimize --json` afterwards.")
    try:
        created = create_operator(golden, settings, lambda said: say(said, err=True))
    except NotTraced as problem:
        raise InputError(f"{problem} (A model may write it: --proposer llm.)") from None
    if as_json:
        say(created.model_dump_json(indent=2))
    else:
        echo_created(created)
    if further:
        from bot.cli.commands.optimize import optimize

        ctx.invoke(
            optimize,
            operator=settings.out,
            as_json=False,
            budget=further,
            device=settings.device,
            asc_headers=settings.asc_headers,
            **_models_left(settings, created),
            out=settings.out.with_name(f"{settings.out.name}-optimized"),
        )
