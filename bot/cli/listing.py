"""A group of commands whose help says of each a whole sentence."""

from __future__ import annotations

from typing import Final

import click

WHOLE: Final = 200
"""Characters of the longest sentence that a list shows; click's own cuts at the line's end."""


class Listing(click.Group):
    """Shows the first sentence of each command whole, wrapped where the line ends."""

    def rows(self, ctx: click.Context, names: list[str]) -> list[tuple[str, str]]:
        """Return the name and the first sentence of each of the commands."""
        found = [(name, self.get_command(ctx, name)) for name in names]
        return [(name, one.get_short_help_str(WHOLE)) for name, one in found if one is not None]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one definition list."""
        with formatter.section("Commands"):
            formatter.write_dl(self.rows(ctx, self.list_commands(ctx)))
