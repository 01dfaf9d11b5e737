"""Makes cases that take a comparison the way that it has not gone yet.

A number of the case is turned, the comparison's operands are seen to move, and where they would
meet is found by the secant; then below, at and above that place are tried. The host side is asked
without a launch; for a kernel's comparisons the watched candidate is launched.

What is left over of a tile moves up and down with a length, and no secant finds where it is 0: a
kernel's lengths are turned to whole tiles first. How long a tile is, its quotients and remainders
tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ci.judge.comparisons import Key, Watched
from ci.judge.varied.base import Known, elements
from ci.judge.varied.knobs import Knob, knobs
from ci.judge.varied_sweep import Taker
from ci.model.decision import Decision, Operands
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Outcome
from ci.model.workload import WorkloadCase

Tried: TypeAlias = dict[str, float | None]
"""How far the operands were apart, by the name of the case."""

MOST_STEPS = 8
"""Most steps of the secant, for one number of a case and one side."""

MOST_DOUBLED = 11
"""Steps, each twice as long as the one before, to leave a place where rounding keeps the operands:
the longest is of 1024."""

MOST_BASES = 2
"""Cases that are turned for one comparison: those in which its operands are nearest."""

MOST_LAUNCHES = 60
"""Watched launches for one comparison."""

MOST_TILED = 40
"""Watched launches to make a dividend one or two times its divisor, for one comparison."""

MOST_QUOTIENTS = 2
"""Quotients and remainders whose divisors are taken for a tile, the nearest to the comparison."""

MOST_NEAR = 6
"""Steps, each twice as long as the one before, from where a dividend is nearly whole."""

GROWTH = 64
"""Times that a number is made as large at once, to get to a whole tile."""

MOST_ELEMENTS = 1 << 24
"""Most elements of the inputs of a case that is made to reach a comparison."""


@dataclass
class Driver:
    """Turns cases for the comparisons of one candidate."""

    watched: Watched
    known: Known
    taker: Taker
    found: list[WorkloadCase] = field(default_factory=list)
    """Cases that took a comparison another way, and that the unmodified operator passes."""
    refused: set[Key] = field(default_factory=set)
    """What would only go another way in requests that the unmodified host side refuses."""
    turned_down: set[str] = field(default_factory=set)
    """Names of cases that the unmodified host side refuses."""
    costly: set[Key] = field(default_factory=set)
    """What would need a case that is too large to be tried."""
    launches: int = 0
    failing: bool = False
    """A case failed that the unmodified operator passes: there is nothing left to be decided."""

    def drive(self, key: Key) -> bool:
        """Whether the comparison goes both ways, after what could be tried."""
        self.launches = 0
        if key[2] != "host" and self._tiled(key):
            return True
        self.launches = 0
        tried: Tried = {}
        cases = sorted(
            self.watched.by_case.get(key, ()), key=lambda e: (_distance(e[1]), elements(e[0]))
        )
        for base, _ in cases[:MOST_BASES]:
            for knob in knobs(self.known, base):
                if self._turn(key, base, knob, tried):
                    return True
                if self.launches > MOST_LAUNCHES:
                    return False
        return False

    def _tiled(self, key: Key) -> bool:
        """Whether it is done by lengths of whole tiles of what its source divides near by."""
        seen = self.watched.seen
        near = (k for k, one in seen.items() if one.is_step and (k[0], k[2]) == (key[0], key[2]))
        for step in sorted(near, key=lambda k: abs(k[1] - key[1]))[:MOST_QUOTIENTS]:
            divided = [at for at, one in self.watched.by_case[step] if _pair(one)[0] > 0]
            for base in sorted(divided, key=elements)[:MOST_BASES]:
                for knob in knobs(self.known, base):
                    for times in (1, 2) if knob.whole else ():
                        if self._to_whole(key, step, base, knob, times):
                            return True
                        if self.launches > MOST_TILED:
                            return False
        return False

    def _to_whole(self, key: Key, step: Key, base: WorkloadCase, knob: Knob, times: int) -> bool:
        """Whether it is done where a dividend is so many times its divisor, or next to that."""
        value, pair = knob.value, self._divided(step, base)
        for _ in range(MOST_STEPS):
            longer = value * min(times * pair[1] / pair[0], GROWTH) if pair[0] > 0 else value
            made = knob.set(round(longer))
            if made is None or made[0] == value:
                break
            value, pair = made[0], self._tile(key, step, made[1])
            if self._done(key):
                return True
        near = 0 if pair[0] == times * pair[1] else MOST_NEAR
        for away in (way * 2**doubled for doubled in range(near) for way in (1, -1)):
            made = knob.set(value + away * knob.step)
            if made is not None:
                self._tile(key, step, made[1])
            if self._done(key) or self.launches > MOST_TILED:
                break
        return self._done(key)

    def _tile(self, key: Key, step: Key, case: WorkloadCase) -> Operands:
        """Dividend and divisor in a case; (0, 0) where it is not launched."""
        if case.name not in self.watched.in_full:
            self._tried(key, case)
        return self._divided(step, case)

    def _divided(self, step: Key, case: WorkloadCase) -> Operands:
        found = (one for at, one in self.watched.by_case[step] if at.name == case.name)
        return next(map(_pair, found), (0.0, 0.0))

    def _turn(self, key: Key, base: WorkloadCase, knob: Knob, tried: Tried) -> bool:
        start = _in(self.watched, key, base)
        if start is None:
            return False
        points = [(knob.value, start)]
        for value in _probes(knob):
            found = self._see(key, knob, value, tried)
            if self._done(key):
                return True
            if found is not None and found[1] != start:
                points.append(found)
                break
        if len(points) < 2:
            return False
        known = [*points]
        for goal in self._goals(key):
            near = [*points]
            for _ in range(MOST_STEPS):
                (x0, g0), (x1, g1) = near[-2:]
                if g0 == g1:
                    break
                step = (goal - g1) * (x1 - x0) / (g1 - g0)
                if knob.whole:  # beyond, never short of it
                    step = (1 if step > 0 else -1) * max(abs(step), knob.step)
                found = self._see(key, knob, x1 + step, tried)
                if self._done(key):
                    return True
                self._note_refusal(key, knob, x1 + step)
                if found is None or found in near:
                    break
                near.append(found)
                known.append(found)
            if knob.whole:
                last = min(known, key=lambda p: abs(p[1] - goal))
                if self._leaves(key, knob, last, tried):
                    return True
        return False

    def _leaves(self, key: Key, knob: Knob, at: tuple[float, float], tried: Tried) -> bool:
        """Whether it is done on the way to where the operands move: they may be rounded."""
        for way in (1, -1):
            for doubled in range(MOST_DOUBLED):
                found = self._see(key, knob, at[0] + way * 2**doubled * knob.step, tried)
                if self._done(key):
                    return True
                if found is None or (found[1] != at[1] and doubled > 0):
                    break
        return False

    def _note_refusal(self, key: Key, knob: Knob, value: float) -> None:
        """Whether the place where the operands would meet is one that no request can have."""
        made = knob.set(value)
        if made is not None and made[1].name in self.turned_down:
            self.refused.add(key)

    def _done(self, key: Key) -> bool:
        return self.failing or self.watched.both_ways(key)

    def _goals(self, key: Key) -> list[float]:
        """Where the first operand less the second is to be."""
        one = self.watched.seen[key]
        size = max((abs(x) for pair in (one.below, one.above) if pair for x in pair), default=1.0)
        whole = all(x == int(x) for pair in (one.below, one.above) if pair for x in pair)
        apart = 1.0 if whole else max(size, 1e-3)
        steps = [apart] if whole else [apart / 64, apart]
        if one.same is not None:
            return [way * step for step in steps for way in (1, -1)]
        if one.below is not None and one.above is not None:
            return [0.0]
        way = 1 if one.below is not None else -1
        return [0.0, *(way * step for step in steps)]

    def _see(self, key: Key, knob: Knob, value: float, tried: Tried) -> tuple[float, float] | None:
        """The value that was tried, and how far the operands are apart there."""
        made = knob.set(value)
        if made is None:
            return None
        value, case = made
        if case.name not in tried:
            tried[case.name] = self._tried(key, case)
        gap = tried[case.name]
        return None if gap is None else (value, gap)

    def _tried(self, key: Key, case: WorkloadCase) -> float | None:
        """How far the operands are apart in a case; None where that is not known."""
        if elements(case) > min(MOST_ELEMENTS, self.taker.most_driven):
            self.costly.add(key)
            return None
        if key[2] == "host":
            # What the host says costs little; only what goes another way is launched.
            before = self.watched.seen[key]
            mine = self._asked(key, case)
            if mine is None:
                return None
            if before.also(mine).both_ways and not before.both_ways and not self._taken(key, case):
                return None
            if before.also(mine).both_ways:
                self.watched.seen[key] = before.also(mine)
                self.watched.launch(case)
            return _gap(mine)
        passes = self._passes(case)
        if passes is None:
            self.turned_down.add(case.name)
        if not passes:
            return None
        self.launches += 1
        before = self.watched.seen[key]
        mine = self.watched.launch(case).get(key)
        if case.name in self.watched.failed:
            self.found.append(case)
            self.failing = True
        if mine is None:
            return None
        if before.also(mine).both_ways and not before.both_ways:
            self.found.append(case)
        return _gap(mine)

    def _asked(self, key: Key, case: WorkloadCase) -> Decision | None:
        """What the host says of the comparison, without counting it as seen."""
        kept = dict(self.watched.seen)
        mine = self.watched.ask(case).get(key)
        self.watched.seen.clear()
        self.watched.seen.update(kept)
        return mine

    def _taken(self, key: Key, case: WorkloadCase) -> bool:
        """Whether the unmodified operator passes a case that goes another way."""
        passes = self._passes(case)
        if passes is None:
            self.refused.add(key)
        if passes:
            self.found.append(case)
        return bool(passes)

    def _passes(self, case: WorkloadCase) -> bool | None:
        """Whether the unmodified operator passes a case; None where its host side refuses it."""
        if self.taker.takes(case, self.taker.most_driven):
            return True
        standard = self.watched.standard
        try:
            standard.baseline.at(case, standard.workload.seeds[0])
        except TrialFailure as failure:
            return None if failure.outcome is Outcome.LAUNCH_ERROR else False
        except InputError:
            return False
        return False


def _probes(knob: Knob) -> Iterator[float]:
    """Values on the way: the comparison must be seen to move."""
    now = knob.value
    if knob.whole:
        yield from (now * 2 if now > 1 else now + 2, now + knob.step, max(1, now // 2), now * 8)
    else:
        yield from (now * 2 + 1, now - 1)


def _in(watched: Watched, key: Key, case: WorkloadCase) -> float | None:
    return next((_gap(one) for at, one in watched.by_case[key] if at.name == case.name), None)


def _gap(one: Decision) -> float:
    found = one.gap()
    return 0.0 if found is None else found


def _pair(one: Decision) -> Operands:
    """Operands of one launch: equal ones, else the nearest of which the first is more, or less."""
    if one.same is not None:
        return one.same, one.same
    return one.above or one.below or (0.0, 0.0)


def _distance(one: Decision) -> float:
    return abs(_gap(one))
