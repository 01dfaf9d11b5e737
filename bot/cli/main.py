"""The command line `ascendopt`: groups the commands and turns errors into sentences and codes.

Exit codes: 0 done, 1 the thing asked for failed, 2 bad input (design §4).
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import click

from bot.base.git import GitError
from bot.cli.listing import Listing
from bot.cli.logs import guard
from bot.cli.say import defect, say
from ci.model.errors import EnvironmentProblem, InputError

DONE: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130

# Section of the help -> commands; a command is the attribute of that name in
# bot/cli/commands/<name>.
SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "Make an operator": ("create",),
    "Make an operator faster": ("evaluate", "check", "profile", "optimize", "prompt", "record"),
    "Submit it": ("submit",),
    "Experience": ("bank",),
    "Workloads": ("workload",),
    "Measure": ("census",),
    "Serve agents": ("mcp",),
    "The repository bot": ("init", "serve", "watch", "ci", "backup", "config"),
    "This machine": ("doctor",),
}

ELSEWHERE: Final = {"mcp": "ascendopt.mcp_server.command"}
"""Modules of commands that are built upon the command line's own layers."""

LAB: Final = ("bench", "machine")
"""Commands that measure the tool itself, in lab/commands/<name>; only a checkout has them."""

_PLAIN: Final = {
    "is not a valid integer": "is no whole number",
    "is not a valid float": "is no number",
}

_TOP: Final = Path(__file__).parents[2]


def in_checkout() -> bool:
    """Whether this is a checkout, with the folder `lab`; an installed wheel has none."""
    return (_TOP / "lab" / "commands").is_dir()


def installed_version() -> str:
    """Version of the installed distribution, or 'unknown' in a bare source tree."""
    try:
        return version("ascendopt")
    except PackageNotFoundError:
        return "unknown"


class Sections(Listing):
    """Lists commands under headings and imports a command's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All command names in the order of the help."""
        return [name for names in self.sections().values() for name in names]

    def sections(self) -> dict[str, tuple[str, ...]]:
        """The commands under the headings of the help, with those of the lab in a checkout."""
        return SECTIONS | ({"Measure the tool itself": LAB} if in_checkout() else {})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called `cmd_name`, or None when there is none."""
        if cmd_name not in self.list_commands(ctx):
            if cmd_name in LAB:
                raise InputError(
                    f"`ascendopt {cmd_name}` measures the tool itself. It is in the repository of"
                    " ascendopt, not in the package: clone it and run `pip install -e .` in it."
                )
            return None
        folder = "lab.commands" if cmd_name in LAB else f"{__package__}.commands"
        module = ELSEWHERE.get(cmd_name, f"{folder}.{cmd_name}")
        command = getattr(importlib.import_module(module), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words name; click's refusal, with the nearest name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as problem:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not near:
                raise
            sentence = f"No such command '{args[0]}'. Did you mean '{near[0]}'?"
            raise click.UsageError(sentence, problem.ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one definition list a section."""
        for title, names in self.sections().items():
            with formatter.section(title):
                formatter.write_dl(self.rows(ctx, list(names)))


FIRST_HOUR: Final = ("doctor", "workload", "evaluate", "optimize", "submit", "init")
"""Commands that `ascendopt` alone names, in the order in which a newcomer needs them."""


@click.group(
    cls=Sections,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(installed_version(), prog_name="ascendopt")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Make AscendC operators faster, verify every change and open a merge request.

    Without an NPU everything runs on the simulator; its times are called simulated wherever
    they appear.
    """
    if ctx.invoked_subcommand is None:
        click.echo(_first_hour(ctx))


def _first_hour(ctx: click.Context) -> str:
    """What a newcomer needs: a few commands with their meaning, and where the others are."""
    text = click.HelpFormatter()
    text.write_text("ascendopt makes AscendC operators faster and verifies every change.")
    with text.section("The first hour"):
        text.write_dl(root.rows(ctx, list(FIRST_HOUR)))
    text.write_paragraph()
    text.write_text("All commands: ascendopt --help. Options of one: ascendopt COMMAND --help.")
    return text.getvalue().rstrip()


def complain(sentence: str) -> None:
    """Say what was wrong on stderr, on one line."""
    say(f"ascendopt: error: {' '.join(sentence.split())}", err=True)


def _usage(problem: click.ClickException) -> str:
    """Click's sentence in plain words, with the command that explains what is to be given, unless
    it names what was meant."""
    said = problem.format_message().rstrip(".")
    for words, plain in _PLAIN.items():
        said = said.replace(words, plain)
    if not isinstance(problem, click.UsageError) or problem.ctx is None or "Did you mean" in said:
        return said if said.endswith(("?", ")")) else f"{said}."
    return f"{said}. See `{problem.ctx.command_path} --help`."


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never lets an expected error become a traceback."""
    guard()
    try:
        code = root.main(
            args=None if arguments is None else list(arguments),
            prog_name="ascendopt",
            standalone_mode=False,
        )
    except SystemExit:  # click's answer where the reader (`head`, `less`) went away
        return DONE
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as asked:  # a group such as `bank` alone
        click.echo(asked.format_message())
        return DONE
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return INTERRUPTED
    except click.ClickException as problem:
        complain(_usage(problem))
        return BAD_INPUT
    except InputError as problem:
        complain(str(problem))
        return BAD_INPUT
    except (EnvironmentProblem, GitError) as problem:
        complain(str(problem))
        return FAILED
    except OSError as problem:
        if os.environ.get("ASCENDOPT_DEBUG"):
            raise
        place = problem.filename or "a file or the output"
        complain(f"{place} cannot be used: {problem.strerror or problem}")
        return BAD_INPUT
    except Exception as bug:  # the last line of defence
        complain(defect(bug))
        return FAILED
    return code if isinstance(code, int) else DONE


def main() -> None:
    """Entry point of the `ascendopt` command."""
    sys.exit(run())


if __name__ == "__main__":
    main()
