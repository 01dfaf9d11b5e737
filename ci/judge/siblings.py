"""Judges a change of shared sources on the other operators that take them.

They are the operator's siblings: a family has its tiling in one unit, and whoever changes it for
one changes all. Each is held to a workload of its own, on the same backend, before and after.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ci.model.comparison import MINIMUM_EFFECT, SLOWER, compare
from ci.model.errors import InputError, TrialFailure
from ci.model.operator import Operator
from ci.model.result import Sibling
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.model.workload import Workload
from ci.source.discovery import find_operators
from ci.source.workload_file import load_workload

Evaluate = Callable[[Candidate], Trial]


@dataclass
class Siblings:
    """The operators that share sources with one, and what was measured of them before the
    change."""

    operator: Operator
    workload: Workload
    judged_by: Callable[[Operator, Workload], Evaluate]
    """Makes what evaluates candidates of another operator on the same backend."""
    most: int
    """Operators that are judged; the others are named."""
    jobs: int = 1
    _judges: dict[str, Evaluate] = field(default_factory=dict)
    _baselines: dict[str, Trial] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)

    def judged(self, files: Mapping[str, str], most: int | None = None) -> tuple[Sibling, ...]:
        """How every sibling fares with the changed shared sources among `files`.

        `most`: of so many, those that take longest before the change: what they can bear, quicker
        ones
        mostly can. Raises TrialFailure(REJECTED) when one that
        passes its workload before the change no longer does, or becomes slower: by 1 % over its
        cases,
        or by 10 % in one.
        """
        places = {one.name: one.path for one in self.operator.shared_sources if not one.own}
        changed = {places[name]: text for name, text in files.items() if name in places}
        if not changed:
            return ()
        others = [one for one in self._family if changed.keys() & one.shared_paths.values()]
        near, left = others[: self.most], others[self.most :]
        with ThreadPoolExecutor(self.jobs, "sibling") as threads:
            if most is not None and most < len(near):
                times = list(threads.map(self._time, near))
                order = sorted(range(len(near)), key=lambda at: -times[at])
                left += [near[at] for at in order[most:]]
                near = [near[at] for at in order[:most]]
            found = list(threads.map(lambda one: self._one(one, changed), near))
        return (
            *found,
            *(Sibling(operator=o.name, note="too many operators share the files") for o in left),
        )

    def _time(self, sibling: Operator) -> float:
        """µs of its workload before the change; 0 when that is not known."""
        try:
            before = self._before(sibling)
        except InputError:
            return 0.0
        return before.measurement.score_us if before.measurement is not None else 0.0

    def _before(self, sibling: Operator) -> Trial:
        """Its trial before the change, made once. Raises InputError without a workload that
        fits."""
        with self._locks.setdefault(sibling.name, threading.Lock()):
            if sibling.name not in self._baselines:
                judge = self._judges[sibling.name] = self._judge(sibling)
                self._baselines[sibling.name] = judge(Candidate(files={}))
        return self._baselines[sibling.name]

    @cached_property
    def _family(self) -> list[Operator]:
        """The other operators of the repository, those of the same folder first."""
        own = self.operator
        assert self.operator.repository is not None, "only a repository has shared sources"
        others = [o for o in find_operators(self.operator.repository) if o.place != own.place]
        return sorted(others, key=lambda o: (o.root.parent != own.root.parent, o.place))

    def _one(self, sibling: Operator, changed: Mapping[str, str]) -> Sibling:
        name = sibling.name
        try:
            before = self._before(sibling)
        except InputError:
            return Sibling(operator=name, note="it has no suitable workload")
        if before.outcome is not Outcome.OK or before.measurement is None:
            return Sibling(operator=name, note="the original operator fails its workload")
        files = {n: changed[p] for n, p in sibling.shared_paths.items() if p in changed}
        after = self._judges[name](Candidate(files=files))
        if after.refusal is not None or after.measurement is None:
            said = after.refusal.message if after.refusal else after.outcome.value
            raise _refusal(f"{name}, which shares the changed source, no longer passes: {said}")
        compared = compare(before.measurement, after.measurement)
        pairs = zip(before.measurement.cases, after.measurement.cases, strict=True)
        worst = max(a.low_us / b.high_us for b, a in pairs)
        if compared.high < 1 / (1 + MINIMUM_EFFECT) or worst > 1 + SLOWER:
            raise _refusal(
                f"{name}, which shares the changed source, becomes slower: {compared.speedup:.2f}×"
                f" over its cases, {1 / worst:.2f}× in the worst one."
            )
        return Sibling(operator=name, speedup=compared.speedup)

    def _judge(self, sibling: Operator) -> Evaluate:
        return self.judged_by(sibling, load_workload(sibling, _workload(sibling, self.workload)))


def _workload(sibling: Operator, workload: Workload) -> Path | None:
    """Where the workload at hand is, in a folder of the sibling's name; else next to the sibling.

    In this order, because a job of the bot lays out what judges from the default branch.
    """
    near = workload.folder.parent / sibling.name / "workload.yaml"
    return near if near.is_file() else None


def _refusal(sentence: str) -> TrialFailure:
    return TrialFailure(Outcome.REJECTED, Refusal(sentence=sentence))
