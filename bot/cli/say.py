"""What a command prints: words for a person or JSON for a program, never orders to a terminal."""

from __future__ import annotations

import os

import click

from bot.base.text import harmless


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print `text` to stdout, or to stderr, with a line end where `nl` asks for one."""
    click.echo(harmless(text), err=err, nl=nl)


def defect(bug: Exception) -> str:
    """What a person reads of an error that nobody meant; raises it again for who looks for it."""
    if os.environ.get("ASCENDOPT_DEBUG"):
        raise bug
    return (
        f"a defect of ascendopt itself ({type(bug).__name__}: {bug}); "
        "set ASCENDOPT_DEBUG=1 to see where, and report it"
    )
