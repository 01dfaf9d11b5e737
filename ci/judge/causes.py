"""Why one program is faster than another, as far as their profiles show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ci.model.amount import amount, worded_amount
from ci.model.trial import Measurement, PipeTime

LEAST: Final = 0.1
"""A pipe or a wait that falls by less than 10 % of the cycles that are gained is not named."""

FEWER: Final = 0.95
"""Copies that fall by less than 5 % are about as many as before."""

MOST_FACTS: Final = 2

SCOPE: Final = "Sums over all cases, for this change alone."

SCOPE_OF_EACH: Final = "Figures are sums over all cases, each without the other changes."
"""Said once, at the end of the last of several causes."""


class _Fact(NamedTuple):
    """A figure that fell from one program to the other."""

    cycles: float
    """The fall in cycles a core, summed over the cases."""
    words: str


def cause(before: Measurement, after: Measurement) -> str:
    """Return the figures that fell from `before` to the faster `after`, in words.

    It is '' where `after` is not faster, or the profiles show nothing. The cases of both are the
    same, and so is all that differs but one change: the words speak of that change alone.
    """
    old, new = ([case.pipes for case in m.cases] for m in (before, after))
    gained = _cycles(old) - _cycles(new)
    if gained <= 0:
        return ""
    facts = [*_cores(old, new), *_copies(old, new)]
    for falls in (_pipes(old, new), _waits(old, new)):
        fell = [fact for fact in falls if fact.cycles >= LEAST * gained]
        facts += [fact.words for fact in sorted(fell, key=lambda fact: -fact.cycles)]
    if not facts:
        return ""
    told = "; ".join(facts[:MOST_FACTS])
    return f"{told[:1].upper()}{told[1:]}. {SCOPE}"


def _cycles(cases: list[PipeTime]) -> int:
    return sum(case.total_cycles for case in cases)


def _cores(old: list[PipeTime], new: list[PipeTime]) -> Iterator[str]:
    was, now = (_between([case.block_dim for case in cases]) for cases in (old, new))
    if was != now:
        yield f"a launch starts {now} instead of {worded_amount(was, 'core', 'cores')}"


def _between(numbers: list[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"


def _copies(old: list[PipeTime], new: list[PipeTime]) -> Iterator[str]:
    """Fewer copies between global memory and a core; each then moves more, or less is moved."""
    was, now = _number_of_copies(old), _number_of_copies(new)
    if 0 < now < FEWER * was:
        yield (
            f"{amount(now, 'copy', 'copies')} of {_bytes(new) / now / 1024:.3g} KiB on average"
            f" instead of {was:,} of {_bytes(old) / was / 1024:.3g} KiB"
        )


def _number_of_copies(cases: list[PipeTime]) -> int:
    counts = [one for case in cases for one in case.instructions.items()]
    return sum(n for name, n in counts if name.startswith("copy_") and "gm" in name.split("_"))


def _bytes(cases: list[PipeTime]) -> int:
    return sum(case.gm_read_bytes + case.gm_write_bytes for case in cases)


def _pipes(old: list[PipeTime], new: list[PipeTime]) -> Iterator[_Fact]:
    was, now = (_summed([case.busy_cycles for case in cases]) for cases in (old, new))
    for pipe, cycles in was.items():
        left = now.get(pipe, 0.0)
        words = f"{pipe} works for {left:,.0f} instead of {cycles:,.0f} cycles a core"
        yield _Fact(cycles - left, words)


def _waits(old: list[PipeTime], new: list[PipeTime]) -> Iterator[_Fact]:
    was, now = (_summed([case.wait_cycles for case in cases]) for cases in (old, new))
    for pair, cycles in was.items():
        waiter, _, awaited = pair.partition("<-")
        left = now.get(pair, 0.0)
        how_long = f"{left:,.0f} instead of {cycles:,.0f} cycles a core"
        yield _Fact(cycles - left, f"{waiter} waits for {awaited} for {how_long}")


def _summed(cases: list[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for case in cases for name in case)
    return {name: sum(case.get(name, 0.0) for case in cases) for name in names}
