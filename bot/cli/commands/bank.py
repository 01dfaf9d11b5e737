"""`ascendopt bank`: fill, search and look at the experience bank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel, Field

from bot.base.text import printable, visible
from bot.cli.commands.bank_keep import COMMANDS, BankOptions
from bot.cli.listing import Listing
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from ci.model.amount import amount
from ci.model.experience import RewindSettings, RewindStep
from ci.model.frozen import Frozen
from ci.model.settings import EvaluationSetup, ProposerOptions
from ci.model.trial import Outcome
from ci.session.open_bank import default_bank, open_bank
from ci.session.session import open_session


class SearchOptions(Frozen):
    """Filters of a search, next to its words."""

    bottleneck_class: str = Field(
        default="", description="Bottleneck class from rules/taxonomy.yml that should match."
    )
    op_family: str = Field(default="", description="Op family that should match.")
    dtype: str = Field(default="", description="Dtype that should match.")
    soc: str = Field(default="", description="Device that should match.")
    count: int = Field(default=5, ge=1, description="Tuples to show.")


@click.group(cls=Listing)
def bank() -> None:
    """The experience bank: what made operators faster before."""


@options(EvaluationSetup, RewindSettings, ProposerOptions, BankOptions)
@bank.command()
@click.argument("operator", type=OrdinaryPath())
@json_option
@click.pass_context
def rewind(ctx: click.Context, /, operator: Path, as_json: bool, **given: Any) -> None:
    """Remove the optimizations of OPERATOR one by one and keep what they were worth.

    Ends with 1 when the operator itself does not pass its workload.
    """
    settings = build(RewindSettings, given)
    chosen = build(BankOptions, given).bank
    session = open_session(operator, build(EvaluationSetup, given))
    found = session.rewind(settings, build(ProposerOptions, given), chosen, _echo_step)
    if as_json:
        say(found.model_dump_json(indent=2))
    elif found.start.outcome is not Outcome.OK:
        why = found.start.refusal.message if found.start.refusal else found.start.outcome.value
        say(f"{found.operator} itself does not pass: {visible(why)}")
    else:
        new = sum(1 for step in found.steps if step.tuple_id and not step.known)
        say(
            f"{amount(len(found.steps), 'removal')} tried,"
            f" {amount(len(found.tuples), 'lesson')}, {new} of them new,"
            f" in {chosen or default_bank()}"
        )
        if found.stopped:
            say(f"It ended early: {visible(found.stopped)}")
    ctx.exit(0 if found.start.outcome is Outcome.OK else 1)


def _echo_step(step: RewindStep) -> None:
    slowdown = step.slowdown
    effect = step.trial.outcome.value if slowdown is None else f"{slowdown:.2f}x as slow"
    kept = (
        f"tuple {step.tuple_id}{' (known)' if step.known else ''}" if step.tuple_id else "nothing"
    )
    say(
        f"[step {step.step}] {step.motif_id:<28} {effect:<16} {kept}: {visible(step.title, 80)}",
        err=True,
    )


@options(SearchOptions, BankOptions)
@bank.command()
@click.argument("words", nargs=-1, required=True)
@json_option
def search(words: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Find the tuples that answer a bottleneck given in WORDS."""
    from experience.bank.retrieve import Query

    own = build(SearchOptions, given)
    query = Query(
        bottleneck=" ".join(words),
        classes=(own.bottleneck_class,) if own.bottleneck_class else (),
        op_family=own.op_family,
        dtype=own.dtype,
        soc=own.soc,
    )
    found = open_bank(build(BankOptions, given).bank, must_exist=True).search(query, k=own.count)
    if as_json:
        say(_json_list(found))
        return
    for entry in found:
        say(
            f"{entry.tuple.id}  {entry.score:.2f}  {visible(entry.tuple.title, 90)}\n"
            f"    {visible(entry.why, 160)}"
        )
    if not found:
        say("The bank has no tuple that answers this.")


@options(BankOptions)
@bank.command()
@click.argument("tuple_id")
@json_option
def show(tuple_id: str, as_json: bool, **given: Any) -> None:
    """Show one tuple: what it teaches, what proves it, and its diff."""
    found = open_bank(build(BankOptions, given).bank, must_exist=True).get(tuple_id)
    if as_json:
        say(found.model_dump_json(indent=2))
        return
    evidence = found.evidence
    kind = "simulated time" if found.fingerprint.simulated else "time"
    for name, value in (
        ("tuple", f"{found.id} ({found.status}, {found.direction})"),
        ("title", found.title),
        ("why", found.description),
        ("bottleneck", found.bottleneck),
        ("classes", ", ".join(found.classes)),
        (
            "effect",
            f"{evidence.slow_us:.3f} µs -> {evidence.fast_us:.3f} µs {kind},"
            f" {evidence.speedup:.2f}x, {evidence.test}",
        ),
        (
            "from",
            f"{found.operator} ({found.op_family}), {found.dtype or 'any dtype'}, {found.soc}",
        ),
        ("used", f"{amount(found.uses, 'time')}, {amount(found.wins, 'win')}"),
    ):
        say(f"{name:<11} {visible(value, 1000)}")
    say()
    for line in found.diff.removesuffix("\n").split("\n"):
        say(printable(line))


@options(BankOptions)
@bank.command()
@json_option
def stats(as_json: bool, **given: Any) -> None:
    """Count what the bank holds."""
    found = open_bank(build(BankOptions, given).bank, must_exist=True).stats()
    if as_json:
        say(found.model_dump_json(indent=2))
        return
    for name, value in found.model_dump().items():
        label = name.replace("_", " ")
        if isinstance(value, dict):
            say(f"{label}: " + (", ".join(f"{k} {n}" for k, n in value.items()) or "none"))
        else:
            say(f"{label}: {value}")


def _json_list(found: list[Any]) -> str:
    """A JSON array of models."""
    models: list[BaseModel] = list(found)
    return "[" + ",\n".join(m.model_dump_json(indent=2) for m in models) + "]"


for _command in COMMANDS:
    bank.add_command(_command)
