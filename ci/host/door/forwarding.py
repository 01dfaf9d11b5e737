"""Headers that only include others, under the paths that operators' sources know.

`forwarding.yml` lists them; their texts are laid next to the precompiled headers of a door.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

LIST = Path(__file__).with_name("forwarding.yml")

LEVELS = ("base", "toolchain")
"""Folders of the toolkit's host headers that its build includes from, as from the one around them:
what lies there is known without its folder, too."""


@cache
def forwarding(door: str) -> Mapping[str, str]:
    """Header texts by path, of 'kernel', 'kernel_real' or 'host'."""
    listed: Mapping[str, list[str]] = yaml.safe_load(LIST.read_text())[door]
    return {path: _text(included) for included, paths in listed.items() for path in paths}


def _text(included: str) -> str:
    return "".join(["#pragma once\n", *(f"#include <{name}>\n" for name in included.split())])
