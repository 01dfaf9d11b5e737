"""The command line `ascendopt`: groups the commands and turns errors into sentences and codes.

Exit codes: 0 done, 1 the thing asked for failed, 2 bad input (design §4).
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import click

from bot.base.git import GitError
from ci.model.errors import EnvironmentProblem, InputError

DONE: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130

# Section of the help -> commands; a command is the attribute of that name in
# bot/cli/commands/<name>.
SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "Make an operator": ("create",),
    "Make an operator faster": ("evaluate", "profile", "optimize", "prompt", "record"),
    "Hand it in": ("submit",),
    "Experience": ("bank",),
    "Workloads": ("workload",),
    "Measure": ("bench", "census"),
    "The repository bot": ("init", "serve", "watch", "ci", "config"),
    "This machine": ("doctor", "machine"),
}


def installed_version() -> str:
    """Version of the installed distribution, or 'unknown' in a bare source tree."""
    try:
        return version("ascendopt")
    except PackageNotFoundError:
        return "unknown"


class Sections(click.Group):
    """Lists commands under headings and imports a command's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All command names in the order of the help."""
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called `cmd_name`, or None when there is none."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = getattr(importlib.import_module(f".commands.{cmd_name}", __package__), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one definition list a section."""
        for title, names in SECTIONS.items():
            rows = []
            for name in names:
                command = self.get_command(ctx, name)
                if command is not None:
                    rows.append((name, command.get_short_help_str(70)))
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(cls=Sections, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(installed_version(), prog_name="ascendopt")
def root() -> None:
    """Make AscendC operators faster, verify every change and hand in a merge request.

    Without an NPU everything runs on the simulator; its times are called simulated wherever
    they appear.
    """


def complain(sentence: str) -> None:
    """Say what was wrong on stderr, on one line."""
    click.echo(f"ascendopt: error: {' '.join(sentence.split())}", err=True)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never lets an expected error become a traceback."""
    try:
        code = root.main(
            args=None if arguments is None else list(arguments),
            prog_name="ascendopt",
            standalone_mode=False,
        )
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted; a run of `optimize` goes on with --resume")
        return INTERRUPTED
    except click.ClickException as problem:
        complain(problem.format_message())
        return BAD_INPUT
    except InputError as problem:
        complain(str(problem))
        return BAD_INPUT
    except (EnvironmentProblem, GitError) as problem:
        complain(str(problem))
        return FAILED
    except BrokenPipeError:
        # The reader (`head`, `less`) went away: nothing left to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as bug:  # the last line of defence
        if os.environ.get("ASCENDOPT_DEBUG"):
            raise
        complain(
            f"a defect of ascendopt itself ({type(bug).__name__}: {bug}); "
            "set ASCENDOPT_DEBUG=1 to see where, and report it"
        )
        return FAILED
    return code if isinstance(code, int) else DONE


def main() -> None:
    """Entry point of the `ascendopt` command."""
    sys.exit(run())


if __name__ == "__main__":
    main()
