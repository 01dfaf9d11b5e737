"""Reads what a build's CMakePresets.json sets, as its build script's `--preset` does."""

from __future__ import annotations

import json
import re
from typing import Any, Final

FILE: Final = "CMakePresets.json"
_MOST_ABOVE: Final = 20
_MACRO: Final = re.compile(r"\$\w*\{[^}]*\}")


def preset_variables(text: str, source: str) -> dict[str, str]:
    """The cache variables of the preset `default`, else of the first one that may be chosen.

    `source` is what `${sourceDir}` means; other macros are empty. cmake's own variables, which say
    how to compile and where to install, are left out. A text that is no list of presets sets none.
    """
    try:
        listed = json.loads(text)["configurePresets"]
        presets = {str(one["name"]): one for one in listed}
        chosen = [name for name, one in presets.items() if not one.get("hidden")]
        start = "default" if "default" in presets else chosen[0]
        found: dict[str, Any] = {}
        for name in reversed(_inherited(presets, start)):
            found |= presets[name].get("cacheVariables") or {}
        return {
            name: _MACRO.sub("", value.replace("${sourceDir}", source))
            for name, said in found.items()
            if not name.startswith("CMAKE_") and (value := _value(said))
        }
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return {}


def _inherited(presets: dict[str, Any], start: str) -> list[str]:
    """A preset and those that it takes from, what goes before first."""
    found = [start]
    for name in found:
        above = presets[name].get("inherits") or []
        above = [above] if isinstance(above, str) else above
        if len(found) < _MOST_ABOVE:
            found += [one for one in above if one not in found]
    return found


def _value(said: object) -> str:
    if isinstance(said, dict):
        said = said.get("value")
    if isinstance(said, bool):
        return "TRUE" if said else "FALSE"
    return said if isinstance(said, str) else ""
