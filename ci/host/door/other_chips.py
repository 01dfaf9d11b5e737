"""Calls of the AscendC API that the 910B lacks, and which chips have them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from ci.host.door.unlisted import missing_names

LIST = Path(__file__).with_name("other_chips.yml")


@cache
def other_chips() -> Mapping[str, str]:
    """The chips that have a call, in words, by its name."""
    listed: Mapping[str | int, list[str]] = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return {name: str(chips) for chips, names in listed.items() for name in names}


def of_other_chips(said: str) -> str:
    """A sentence, after a blank, on calls that a compiler's text misses and this chip lacks; ''
    where it misses none of these."""
    known = [name for name in missing_names(said) if name in other_chips()]
    return "".join(
        f" The 910B has no {name}; these chips have it: {other_chips()[name]}." for name in known
    )
