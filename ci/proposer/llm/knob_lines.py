"""Knobs of the host tiling in prompts and answers: a line each."""

from __future__ import annotations

import re
from typing import Final

from ci.proposer.llm.answer import LONGEST, BadAnswer
from ci.tiling.template import KnobValue, TilingTemplate

MOST: Final = 12
"""Knobs that a prompt lists: of an operator that has more, the first ones as written."""

_KNOB = re.compile(r"[ \t>*`-]*KNOB[ \t*]+`?([\w.\-:]+)`?[ \t]*=[ \t]*`?(-?\d+(?:\.\d+)?)")


def knob_lines(now: TilingTemplate) -> list[str]:
    """Each knob with its value, what it may be, and what it decides."""
    return [
        f"{k.name} = {now.values[k.name]}; "
        f"{', '.join(str(v) for v in now.choices(k))}; {k.decides}{k.why and f': {k.why}'}"
        for k in now.knobs[:MOST]
    ]


def read_knobs(text: str, now: TilingTemplate) -> dict[str, KnobValue]:
    """The knobs that an answer sets. Raises BadAnswer naming all that are not there."""
    known = {k.name: k for k in now.knobs}
    values: dict[str, KnobValue] = {}
    wrong: list[str] = []
    lines = (_KNOB.match(line) for line in text[:LONGEST].splitlines())
    for name, said in (line.groups() for line in lines if line):
        knob = known.get(name)
        if knob is None:
            wrong.append(f"There is no knob {name[:60]}; there are: {', '.join(known) or 'none'}.")
            continue
        choices = now.choices(knob)
        value = next((v for v in choices if v == float(said)), None)
        if value is None:
            allowed = ", ".join(str(v) for v in choices)
            wrong.append(f"The knob {name} cannot be {said[:20]}; allowed are {allowed}.")
        else:
            values[name] = value
    if wrong:
        raise BadAnswer(" ".join(wrong))
    return values
