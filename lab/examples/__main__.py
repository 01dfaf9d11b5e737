"""Runs examples of asc-devkit and says how far each gets.

python -m lab.examples FOLDER… [--asc-headers DIR] [-D NAME=VALUE] [--data WORD]
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ci.host.door import open_door
from ci.model.errors import InputError
from ci.simulator.toolchain import Toolchain
from lab.examples.run import run_example
from lab.examples.source import load_example
from rules.devices import load_device


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--asc-headers", default="", help="Real AscendC headers, as for evaluate.")
@click.option("-D", "options", multiple=True, help="NAME=VALUE for the examples' CMakeLists.txt.")
@click.option("--data", multiple=True, help="A word for the examples' gen_data.py.")
@click.option("--device", default="910B1", show_default=True, help="Device model.")
def main(
    folders: tuple[Path, ...],
    asc_headers: str,
    options: tuple[str, ...],
    data: tuple[str, ...],
    device: str,
) -> None:
    """Build, run and judge the examples in FOLDERS, each without changes."""
    given = {name: value for name, _, value in (one.partition("=") for one in options)}
    chip = load_device(device)
    toolchain = Toolchain(chip.architecture, door=open_door(asc_headers))
    verified = 0
    for folder in folders:
        try:
            found = run_example(load_example(folder, given), toolchain, chip, data)
        except InputError as problem:
            click.echo(f"{folder.name}: {problem}")
            continue
        verified += found.reached == "verified"
        times = ", ".join(f"{us:,.1f} µs" for us in found.launches_us)
        click.echo(f"{folder.name}: {found.reached} {times} {found.said}".rstrip())
    sys.exit(0 if verified == len(folders) else 1)


if __name__ == "__main__":
    main()
