"""What a command prints: words for a person or JSON for a program, never orders to a terminal."""

from __future__ import annotations

import click

from bot.base.text import harmless


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print `text` to stdout, or to stderr, with a line end where `nl` asks for one."""
    click.echo(harmless(text), err=err, nl=nl)
