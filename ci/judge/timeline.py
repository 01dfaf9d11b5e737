"""The timeline that the simulator leaves of a launch: totals of each core, instructions, waits.

JSON lines written by `ci/simulator/machine/timeline.cpp`; all times in cycles.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import Field

from ci.model.frozen import Frozen


class CoreTotals(Frozen):
    """What one core did in a launch."""

    core: int
    kind: str = Field(description="vector or cube.")
    block: int
    sub_block: int = Field(description="Number of the core within its block.")
    begin: float
    end: float
    conflict: float = Field(description="Cycles that bank conflicts cost the vector unit.")
    bank: float = Field(description="Of them, reads with writes in a bank; the rest: bank groups.")
    read_bytes: int
    write_bytes: int
    busy: dict[str, float] = Field(description="Busy cycles by pipe.")
    copies: dict[str, int] = Field(default_factory=dict, description="Copies of GM by pipe.")
    waits: dict[str, float] = Field(
        default_factory=dict, description="Cycles waited by 'VECTOR<-MTE2' (who for whom)."
    )

    @property
    def cycles(self) -> float:
        """Return the cycles from the core's begin to its end."""
        return self.end - self.begin


class Span(Frozen):
    """An instruction on a pipe."""

    core: int
    pipe: str
    name: str
    start: float
    end: float
    site: str = ""
    bytes: int = 0


class Link(Frozen):
    """A pipe that waited for another one."""

    core: int
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    event: int = Field(description="Event id of the flag; -1: a wait that automatic sync inserted.")
    set: float = Field(description="When what was waited for was there.")
    until: float = Field(description="When the waiting pipe went on.")


class Timeline(Frozen):
    """Everything of one launch."""

    cores: tuple[CoreTotals, ...] = ()
    spans: tuple[Span, ...] = ()
    links: tuple[Link, ...] = ()


def read_timeline(lines: Iterable[str]) -> Timeline:
    """The timeline in a file's lines."""
    cores: list[CoreTotals] = []
    spans: list[Span] = []
    links: list[Link] = []
    for line in lines:
        row = json.loads(line)
        if "kind" in row:
            cores.append(CoreTotals.model_validate(row))
        elif "pipe" in row:
            spans.append(Span.model_construct(**row))
        else:
            links.append(Link.model_validate(row))
    return Timeline(cores=tuple(cores), spans=tuple(spans), links=tuple(links))
