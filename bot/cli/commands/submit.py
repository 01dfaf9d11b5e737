"""`ascendopt submit`: the merge request of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from bot.server.merge_request import SubmitSettings, read_result
from bot.server.merge_request import submit as submit_result
from ci.model.errors import InputError


@options(SubmitSettings)
@click.command()
@click.argument("result", type=OrdinaryPath())
@json_option
@click.pass_context
def submit(ctx: click.Context, /, result: Path, as_json: bool, **given: Any) -> None:
    """Open or update the merge request of a finished run.

    RESULT is the folder that `optimize` wrote, or its result.json. Everything in it is checked
    again: its sources are unchanged, and the patch applies and changes nothing else.
    Ends with 1 when a person has closed the same proposal before.
    """
    from bot.base.git import Git
    from bot.base.language import language
    from bot.forge import forge_of_checkout
    from bot.forge.base import ForgeError
    from bot.forge.read_only import ReadOnlyForge
    from bot.repository.language import checkout_language

    settings = build(SubmitSettings, given)
    read = read_result(result)
    if not settings.repository.is_dir():
        raise InputError(f"There is no folder {settings.repository}.")
    top = Git(settings.repository).top()
    if top is None:
        raise InputError(
            f"{settings.repository.resolve()} is no git checkout; give one with --repository."
        )
    forge = forge_of_checkout(settings.forge, top, settings.remote)
    if settings.dry_run:
        forge = ReadOnlyForge(forge, tell=lambda line: say(line, err=True))
    try:
        with language(checkout_language(top)):
            done = submit_result(read, forge, top, settings)
    except ForgeError as problem:
        raise InputError(str(problem)) from problem
    if as_json:
        say(done.model_dump_json(indent=2))
    else:
        say(done.reason)
        if done.merge_request is not None:
            say(f"  {done.merge_request.title}")
            say(f"  branch         {done.branch}")
            say(f"  merge request  {done.merge_request.place}")
            if settings.dry_run and done.action != "declined":
                say(f"\n{done.merge_request.body}")
    ctx.exit(1 if done.action == "declined" else 0)
