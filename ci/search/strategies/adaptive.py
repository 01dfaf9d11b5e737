"""Adaptive search: several parents, joint steps, and each evaluation where gains were found."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ci.model.comparison import MINIMUM_EFFECT, compare
from ci.model.objective import gains, lasts
from ci.model.result import Verification
from ci.model.trial import Outcome, Trial
from ci.search.base import Strategy
from ci.search.combine import halves, joined, without

if TYPE_CHECKING:
    from ci.search.run import Run
    from ci.search.steps import Steps

Move: TypeAlias = Literal["tiling", "kernel", "joint", "join"]

NEAR: Final = (0.97, 0.9, 0.8, 0.65, 0.5)
"""How near the best a parent is: a trial within 3 % may be worth something together with another.
Where nothing is left to try near by, the next one counts."""

MOST_PARENTS: Final = 4
"""Programs that steps are taken from at first: the best, the fastest in a case, and its near-ties.
As many more each time that the search widens."""

PRIOR: Final[dict[Move, tuple[float, float]]] = {
    "tiling": (2.0, 4.0),
    "kernel": (1.0, 4.0),
    "joint": (3.0, 1.0),
    "join": (2.0, 3.0),
}
"""(wins, losses) that a kind of move is credited with before it was tried."""


@dataclass
class _State:
    """The state of the search between two moves."""

    run: Run
    steps: Steps
    start: Trial
    best: Trial
    tried: set[tuple[str, str]] = field(default_factory=set)
    """(onto, child) of the joins that were made or cannot be."""
    closed: set[tuple[str, Move]] = field(default_factory=set)
    """Parents that have no move of a kind left."""
    wide: int = 0
    """How often nothing was left to try near by."""
    won: dict[Move, list[bool]] = field(
        default_factory=lambda: {"tiling": [], "kernel": [], "joint": [], "join": []}
    )

    def least(self, parent: Trial) -> float:
        """Return the least gain over its parent that makes a trial the new best."""
        return (1 + self.run.resolution) * self.run.score(parent) / self.run.score(self.best)

    def observe(self, move: Move, trial: Trial, least: float) -> None:
        """Count the move, and keep its trial when it is the new best."""
        won = self.run.gained(trial, least)
        self.won[move].append(won)
        if won:
            self.best = trial

    def parents(self) -> list[Trial]:
        """The best program, then what is faster in a case, then near-ties from the fastest on.

        Of programs with equal times the first.
        """
        trials = (self.start, *self.run.history[1:])
        ran = [t for t in trials if _runs(t) and not self.run.doubted(t)]
        ran.sort(key=self.run.score)
        own = _figures(self.best)
        first = [min(ran, key=lambda t: _figures(t)[case]) for case in range(len(own))]
        least = 1 + self.run.resolution
        winners = [t for case, t in enumerate(first) if _figures(t)[case] * least < own[case]]
        near = [t for t in ran if self.ratio(t) >= self.near and not self.idles(t)]
        different: dict[tuple[float, ...], Trial] = {}
        for trial in (self.best, *winners, *near):
            different.setdefault(_figures(trial), trial)
        return list(different.values())[: MOST_PARENTS * (1 + self.wide)]

    @property
    def near(self) -> float:
        """The least ratio of times of the best and of a parent."""
        return NEAR[self.wide]

    def widen(self) -> bool:
        """Look for parents farther away; False when they were looked for everywhere."""
        self.wide += self.wide < len(NEAR)
        return self.wide < len(NEAR)

    def holds(self) -> bool:
        """Whether the best passes the final check; takes the next best where it does not.

        One that would not be reported is not asked: it gains too little over the start states.
        Nothing that was made from a refused one is that, for it mostly fails of the same. But it
        may be refused for one of its halves: the other one is tried alone.

        Asked while there is budget for something else.
        """
        run, base = self.run, self.run.baseline.measurement
        measured = self.best.measurement
        if self.best.candidate.hash == self.start.candidate.hash or not (base and measured):
            return True
        if compare(base, measured).verdict != "improved":
            return True
        found = gains(base, measured)
        if found and not lasts(found):
            return True
        self.best = run.admit(self.best)
        if self.best.refusal is None and isinstance(run.confirm(self.best), Verification):
            return True
        for half in halves(self.steps.operator, run.baseline, run.line(self.best)):
            if run.known(half) is None and run.budget.left:
                run.evaluate(half)
        ran = [t for t in run.history[1:] if _runs(t) and run.faster(t, self.start)]
        sound = [t for t in ran if not run.doubted(t) and run.sure(t)]
        self.best = min(sound, key=run.score, default=self.start)
        return False

    def ratio(self, trial: Trial) -> float:
        """The best one's time over the trial's."""
        return self.run.score(self.best) / self.run.score(trial)

    def idles(self, trial: Trial) -> bool:
        """Whether two steps on end that gained nothing led to it: a third one will not either."""
        least = 1 + self.run.resolution
        last = _line(self.run, trial)[:2]
        return len(last) == 2 and not any(self.run.gained(t, least) for t in last)


CHECKS = 4
"""Parts of the budget after each of which the best is asked whether it passes the final check: what
is built on one that does not is lost with it."""


ASKED = 2
"""Final checks that a round of Algorithm 1 ends with, at most."""


class Adaptive(Strategy):
    """Draws the kind of the next move by what each has won so far, the best program first."""

    name = "adaptive"
    summary = "tiling, kernel and joint steps from several parents, where gains were found"

    def search(self, run: Run, steps: Steps) -> None:
        """Until no parent has a move left or the budget is spent."""
        start = steps.start()
        explore(run, steps, start, start)


def held_up(run: Run, steps: Steps, start: Trial, best: Trial) -> Trial:
    """The best where it passes the final check, else the next best: one that passes is not lost
    when the budget ends with faster ones that do not."""
    state = _State(run, steps, start, best)
    for _ in range(ASKED):
        if state.holds() or not run.budget.left:
            break
    return state.best


def explore(run: Run, steps: Steps, start: Trial, best: Trial) -> None:
    """Moves from the best and what is near it, until no parent has one left.

    What it begins with is checked first, if it is faster than the original operator. Enough of
    the budget is kept to drop the best one's steps that earn nothing; what that leaves is searched
    with.
    """
    state = _State(run, steps, start, best)
    draw = random.Random(steps.seed)
    dropped: set[str] = set()
    checks = [run.budget.left * part // CHECKS for part in range(1, CHECKS)]
    state.holds()
    while run.budget.left:
        if checks and run.budget.left <= checks[-1]:
            state.holds()
            checks.pop()
            continue
        best = state.best
        fresh = best.candidate.hash not in dropped
        if fresh and run.budget.left <= len(_to_drop(run, best)):
            _drop(run, steps, best)
            dropped.add(best.candidate.hash)
            continue
        open_ = _open(state)
        if not open_:
            if state.holds() and not state.widen():
                break
            continue
        move = max(open_, key=lambda m: draw.betavariate(*_odds(state, m)))
        parent = open_[move]
        least = state.least(parent)
        if move == "join":
            trial = _joint(state, parent, least)
        else:
            trial = steps.take(move, parent, least=least)
        if trial is None:
            state.closed.add((parent.candidate.hash, move))
        else:
            state.observe(move, trial, least)
    _drop(run, steps, state.best)


def _open(state: _State) -> dict[Move, Trial]:
    """The moves that are left, each with the first parent that has one."""
    joint: tuple[Move, ...] = ("joint",) if state.steps.joint else ()
    moves: tuple[Move, ...] = (*state.steps.stages, *joint, "join")
    found: dict[Move, Trial] = {}
    for parent in state.parents():
        for move in moves:
            if move == "join" and next(_joins(state, parent), None) is None:
                continue
            if (parent.candidate.hash, move) not in state.closed:
                found.setdefault(move, parent)
    return found


def _odds(state: _State, move: Move) -> tuple[float, float]:
    wins, losses = PRIOR[move]
    gained = sum(state.won[move])
    return wins + gained, losses + len(state.won[move]) - gained


def _joins(state: _State, onto: Trial) -> Iterator[Trial]:
    """Trials whose change was not tried on top of `onto` yet, the most promising first."""
    above = {t.candidate.hash for t in (onto, *_line(state.run, onto))}
    found = []
    for child in state.run.history[1:]:
        parent = state.run.parent(child)
        if not _runs(child) or child.candidate.hash in above or not _runs(parent):
            continue
        gain = state.run.score(parent) / state.run.score(child)
        changed = _differ(parent, child, state.run.resolution)
        fresh = (onto.candidate.hash, child.candidate.hash) not in state.tried
        if (
            gain >= state.near
            and changed
            and fresh
            and parent.candidate.hash != onto.candidate.hash
        ):
            found.append((gain, child))
    yield from (child for _, child in sorted(found, key=lambda f: (-f[0], f[1].number)))


def _joint(state: _State, onto: Trial, least: float) -> Trial | None:
    """The trial of the most promising join that can be made; None when there is none."""
    for child in list(_joins(state, onto)):
        state.tried.add((onto.candidate.hash, child.candidate.hash))
        candidate = joined(state.steps.operator, onto, state.run.parent(child), child)
        if candidate is not None and state.run.known(candidate) is None:
            return state.run.evaluate(candidate, least=least)
    return None


def _drop(run: Run, steps: Steps, best: Trial) -> None:
    """Take out each step that earns less than a reviewer should read; what is left is reported."""
    kept, least = best, 1 / (1 + MINIMUM_EFFECT)
    for child in _to_drop(run, best):
        candidate = without(steps.operator, kept, run.parent(child), child)
        if candidate is None or not candidate.files:
            continue
        known = run.known(candidate)
        if known is None and not run.budget.left:
            break
        trial = known or run.evaluate(candidate, least=least, dropping=True)
        if run.faster(trial, kept, least):
            kept = trial
    run.prefer(kept)


def _to_drop(run: Run, best: Trial) -> list[Trial]:
    """The steps of which each may be taken out: none of a single one, which is all the gain."""
    line = _line(run, best)
    return line if len(line) > 1 else []


def _line(run: Run, trial: Trial) -> list[Trial]:
    """The steps that led from the baseline to a trial, the latest first."""
    found = []
    while trial.candidate.parent and trial is not run.baseline:
        found.append(trial)
        trial = run.parent(trial)
    return found


def _runs(trial: Trial) -> bool:
    return trial.outcome is Outcome.OK and trial.measurement is not None and not trial.cached


def _differ(one: Trial, two: Trial, by: float) -> bool:
    """Whether the times of some case are apart by more than a share."""
    return any(abs(a / b - 1) > by for a, b in zip(_figures(one), _figures(two), strict=True))


def _figures(trial: Trial) -> tuple[float, ...]:
    """The times of all cases: equal ones tell that a change changed nothing."""
    assert trial.measurement is not None
    return tuple(c.median_us for c in trial.measurement.cases)
