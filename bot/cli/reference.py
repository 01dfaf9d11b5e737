"""Writes the generated pages of the documentation: commands, motifs, constants.

Usage: python -m bot.cli.reference docs
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from bot.cli.main import LAB, SECTIONS, root
from bot.report.view import page
from ci.model.settings import DEFAULT_DEVICE
from ci.session import facts
from rules.devices import FOLDER, RANGE, WARM, device_names
from rules.load import load_motifs, load_taxonomy

GENERATED: Final = "<!-- Written by `make docs`; change the code or the rules, not this page. -->"


def _walk(command: click.Command, words: str) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with the words that call it."""
    if not isinstance(command, click.Group):
        yield words, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if below is not None:
            yield from _walk(below, f"{words} {name}")


def commands_page(sections: Mapping[str, Sequence[str]] = SECTIONS, title: str = "Commands") -> str:
    """Every command with its arguments and options, from the commands themselves."""
    context = click.Context(root)
    shown: list[tuple[str, list[tuple[str, str, list[click.Option]]]]] = []
    for section, names in sections.items():
        commands = []
        for name in names:
            top = root.get_command(context, name)
            assert top is not None
            for words, command in _walk(top, f"ascendopt {name}"):
                arguments = [p for p in command.params if isinstance(p, click.Argument)]
                called = " ".join([words, *(a.make_metavar(context) for a in arguments)])
                options = [p for p in command.params if isinstance(p, click.Option)]
                commands.append((called, inspect.cleandoc(command.help or ""), options))
        shown.append((section, commands))
    return page("commands.md.j2", generated=GENERATED, title=title, sections=shown)


def motifs_page() -> str:
    """The bottleneck classes and every motif of rules/motifs."""
    motifs, taxonomy = load_motifs(as_written=True), load_taxonomy().values()
    return page("motifs.md.j2", generated=GENERATED, motifs=motifs, taxonomy=taxonomy)


def _constants(path: Path) -> dict[str, tuple[str, str]]:
    """(value, source) by dotted name, as the lines of a device file say."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        setting, _, source = line.partition("#")
        name, equals, value = setting.partition("=")
        if equals:
            found[name.strip().replace('"', "")] = (value.strip(), source.strip())
    return found


def _taken(rows: dict[str, tuple[str, str]], prefix: str) -> dict[str, tuple[str, str]]:
    """The rows whose names start with the prefix, taken out of `rows` and named without it."""
    own = [name for name in rows if name.startswith(prefix)]
    return {name.removeprefix(prefix): rows.pop(name) for name in own}


def constants_page() -> str:
    """Every constant of the default device, and what differs from it on the others."""
    files = {name: _constants(FOLDER / f"{name}.toml") for name in device_names()}
    base = files.pop(DEFAULT_DEVICE)
    architecture = base.pop("architecture")[0].strip('"')
    ranges, warm = _taken(base, RANGE), _taken(base, WARM)
    return page(
        "constants.md.j2",
        generated=GENERATED,
        device=DEFAULT_DEVICE,
        architecture=architecture,
        base=base,
        ranges=ranges,
        warm=warm,
        others=files,
    )


def vector_page() -> str:
    """What each instruction of the vector unit computes."""
    title, rest = importlib.import_module("lab.reference.vector_page").page().split("\n", 1)
    return f"{title}\n\n{GENERATED}\n{rest}"


def models_page() -> str:
    """Every field of a models file, and the known prices."""
    return page("models-file.md.j2", generated=GENERATED, file=facts.models_file())


PAGES: Final[dict[str, Callable[[], str]]] = {
    "models-file.md": models_page,
    "commands.md": commands_page,
    "lab-commands.md": partial(
        commands_page, {"Measure the tool itself": LAB}, "Commands of the lab"
    ),
    "motifs.md": motifs_page,
    "constants.md": constants_page,
    "vector-instructions.md": vector_page,
}


def main(folder: Path) -> None:
    """Write every generated page into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in PAGES.items():
        (folder / name).write_text(made(), encoding="utf-8")
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
