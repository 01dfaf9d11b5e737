"""`ascendopt bench`: suites that measure the tool itself, one file a suite."""

from __future__ import annotations

import importlib
from typing import Final

import click

from bot.cli.listing import Listing

SUITES: Final = (
    "strategies",
    "gains",
    "judge",
    "create",
    "generators",
    "machine",
    "ablation",
    "retrieval",
    "sanitizers",
    "statistics",
    "pool",
    "screen",
)
"""Each is the command of that name in lab/commands/bench_<name>.py."""


class Suites(Listing):
    """Imports a suite's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The suites in the order of the help."""
        return list(SUITES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The suite called `cmd_name`, or None when there is none."""
        if cmd_name not in SUITES:
            return None
        module = importlib.import_module(f".bench_{cmd_name}", __package__)
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Suites)
def bench() -> None:
    """Measure the tool itself, with figures that anyone can make again."""
