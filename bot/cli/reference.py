"""Writes the generated pages of the documentation: commands, motifs, constants.

Usage: python -m bot.cli.reference docs
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from bot.cli.main import SECTIONS, root
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE
from ci.session import facts
from rules.devices import FOLDER, device_names
from rules.load import Form, load_motifs, load_taxonomy

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


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _default(option: click.Option) -> str:
    if option.is_flag or option.default in (None, "") or not option.show_default:
        return ""
    return f"`{option.default}`"


def commands_page() -> str:
    """Every command with its arguments and options, from the commands themselves."""
    lines = [
        "# Commands",
        "",
        GENERATED,
        "",
        "Every command takes `--json` and then prints one JSON object on stdout; progress goes to"
        " stderr, as a live view on a terminal and as plain lines otherwise. Exit codes: 0 done,"
        " 1 the thing asked for failed, 2 bad input (one sentence on stderr says what).",
    ]
    context = click.Context(root)
    for section, names in SECTIONS.items():
        lines += ["", f"## {section}"]
        for name in names:
            top = root.get_command(context, name)
            assert top is not None
            for words, command in _walk(top, f"ascendopt {name}"):
                arguments = [p for p in command.params if isinstance(p, click.Argument)]
                called = " ".join([words, *(a.make_metavar(context) for a in arguments)])
                help_text = (command.help or "").strip()
                lines += ["", f"### `{called}`", "", help_text]
                lines += ["", "| option | default | meaning |", "|---|---|---|"]
                for option in command.params:
                    if isinstance(option, click.Option):
                        meaning = _cell(option.help or "")
                        lines.append(f"| `{option.opts[0]}` | {_default(option)} | {meaning} |")
    return "\n".join(lines) + "\n"


def _pattern(form: Form) -> str:
    """What a form looks for and what becomes of it, on one line."""
    if form.transform:
        given = ", ".join(f"{k} = {v}" for k, v in form.parameters.items())
        said = f"transform `{form.transform}`" + (f" ({given})" if given else "")
    else:
        old = form.pattern or "; ".join(form.sequence)
        new = form.fix or "; ".join(text for text in form.replace if text) or "nothing"
        said = f"`{_cell(old)}` → `{_cell(new)}`"
    each = "; ".join(
        f"{names}: " + ", ".join(v if isinstance(v, str) else " ".join(v) for v in values)
        for names, values in form.each.items()
    )
    return said + (f" for {_cell(each)}" if each else "")


def motifs_page() -> str:
    """The bottleneck classes and every motif of rules/motifs."""
    motifs = load_motifs(as_written=True)
    lines = [
        "# Motifs",
        "",
        GENERATED,
        "",
        f"The rules proposer knows {len(motifs)} optimizations. Each is one file in"
        " `rules/motifs/`: what the slow form suffers from, how to make it fast (forward), how to"
        " make it slow again (rewind, which fills the experience bank), and a public reference."
        " [Adding a motif](adding-a-motif.md) says how to write one.",
        "",
        "## Bottleneck classes",
        "",
        "A diagnosis, a motif and an experience tuple name the same classes"
        " (`rules/taxonomy.yml`): that is how they meet.",
        "",
        "| class | in words | best-practice category |",
        "|---|---|---|",
    ]
    for one in load_taxonomy().values():
        lines.append(f"| `{one.id}` | {_cell(one.words)} | {one.practice} |")
    for stage in ("tiling", "kernel"):
        lines += ["", f"## {stage.capitalize()} stage", ""]
        lines += ["| motif | what is slow | forward | class |", "|---|---|---|---|"]
        for motif in motifs:
            if motif.stage == stage:
                forms = "<br>".join(_pattern(form) for form in motif.forward)
                lines.append(
                    f"| [{motif.title}](../rules/motifs/{motif.id}.yml) |"
                    f" {_cell(motif.bottleneck)} | {forms} | `{motif.classes[0]}` |"
                )
    return "\n".join(lines) + "\n"


def _constants(path: Path) -> dict[str, tuple[str, str]]:
    """(value, source) by dotted name, as the lines of a device file say."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        setting, _, source = line.partition("#")
        name, equals, value = setting.partition("=")
        if equals:
            found[name.strip()] = (value.strip(), source.strip())
    return found


def constants_page() -> str:
    """Every constant of the default device, and what differs from it on the others."""
    files = {name: _constants(FOLDER / f"{name}.toml") for name in device_names()}
    base = files.pop(DEFAULT_DEVICE)
    architecture = base.pop("architecture")[0].strip('"')
    lines = [
        "# Constants of the machine model",
        "",
        GENERATED,
        "",
        f"The values are those of {DEFAULT_DEVICE}, from `rules/devices/{DEFAULT_DEVICE}.toml`; the"
        " last section says in what the other devices differ. What all of them share stands in"
        f" `rules/architectures/{architecture}.toml`. [The machine model](machine-model.md) says"
        ' what the constants do; "assumption" means that nothing published was found.',
        "",
        "| constant | value | source |",
        "|---|---:|---|",
    ]
    lines += [f"| `{name}` | {value} | {_cell(said)} |" for name, (value, said) in base.items()]
    lines += [
        "",
        "## What differs by device",
        "",
        "| constant | device | value | source |",
        "|---|---|---:|---|",
    ]
    for name in base:
        for device, constants in files.items():
            if name in constants:
                value, said = constants[name]
                lines.append(f"| `{name}` | {device} | {value} | {_cell(said)} |")
    return "\n".join(lines) + "\n"


def vector_page() -> str:
    """What each instruction of the vector unit computes."""
    title, rest = facts.vector_instructions().split("\n", 1)
    return f"{title}\n\n{GENERATED}\n{rest}"


def _fields(model: type[Frozen], prefix: str = "") -> list[str]:
    """A row for each field of a model."""
    rows = []
    for name, field in model.model_fields.items():
        default = "" if field.is_required() or field.default is None else f"`{field.default}`"
        rows.append(f"| `{prefix}{name}` | {default} | {_cell(field.description or '')} |")
    return rows


def models_page() -> str:
    """Every field of a models file, and the known prices."""
    file = facts.models_file()
    lines = [
        "# The models file",
        "",
        GENERATED,
        "",
        "`--models FILE` names a YAML file with two mappings: `models`, by a name of your own, and"
        " `roles`, which names the model of each role. [Language models](language-models.md) says"
        " what the roles do; [examples/models.yml](../examples/models.yml) is one to begin with.",
        "",
        "Roles: " + ", ".join(f"`{role}`" for role in file.roles) + ". A role that is"
        " left out is filled from the environment, else by rules.",
        "",
        "## Fields of a model",
        "",
        "| field | default | meaning |",
        "|---|---|---|",
    ]
    lines += [*_fields(file.model), *_fields(file.price, "price.")]
    table = file.known
    lines += [
        "",
        "## Known prices",
        "",
        f"From `rules/prices.yml`, in {table.currency} for each million tokens.",
        "",
        "| model | endpoint | input | cached input | output | source | date |",
        "|---|---|---:|---:|---:|---|---|",
    ]
    for row in table.prices:
        cached = "" if row.cached_input is None else f"{row.cached_input:g}"
        lines.append(
            f"| `{row.model}` | {row.endpoint} | {row.input:g} | {cached} | {row.output:g} "
            f"| {_cell(row.source)} | {row.date} |"
        )
    return "\n".join(lines) + "\n"


PAGES: Final = {
    "models-file.md": models_page,
    "commands.md": commands_page,
    "motifs.md": motifs_page,
    "constants.md": constants_page,
    "vector-instructions.md": vector_page,
}


def main(folder: Path) -> None:
    """Write every generated page into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
