"""What the unmodified operator does on a case: whether it handles it, how fast, what it moves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeAlias

from ci.host.survey import HostAnswer
from ci.judge.accuracy import Accuracy
from ci.judge.launch_record import Launched, accuracy_once, launch_once
from ci.judge.reference import References
from ci.judge.varied.huge import Huge
from ci.judge.varied.regimes import Regimes
from ci.model.ensemble import Ensemble
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Outcome
from ci.model.workload import WorkloadCase
from ci.simulator.launch import Cover

States: TypeAlias = Callable[[WorkloadCase, int], Ensemble | None]
"""Start states in which a launch of a case and seed is timed; None for one that only verifies."""

WRONG_VALUES: Final = "wrong result"
"""Begins what is said of a launch that ends as it should and whose outputs differ."""


class Baseline:
    """Launches the unmodified operator, once a case and seed; safe to share between threads."""

    def __init__(self, references: References, states: States) -> None:
        self._references = references
        self._states = states
        self._known: dict[tuple[str, int], Launched | TrialFailure | InputError] = {}
        self._accuracy: dict[tuple[str, int], tuple[Accuracy, ...]] = {}
        self._locks: dict[tuple[str, int], threading.Lock] = {}
        self._lock = threading.Lock()
        self._surveyed: list[HostAnswer] | None = None
        self._survey_lock = threading.Lock()
        self._regimes: Regimes | None = None
        self._regime_lock = threading.Lock()
        self._huge: list[Huge] | None = None
        self._covers: dict[str, tuple[Cover, ...] | None] = {}
        self._cover_lock = threading.Lock()

    def surveyed(self, survey: Callable[[], list[HostAnswer]]) -> list[HostAnswer]:
        """What its host program answers to the survey, which all candidates share."""
        with self._survey_lock:
            if self._surveyed is None:
                self._surveyed = survey()
            return self._surveyed

    def regimes(self, make: Callable[[], Regimes]) -> Regimes:
        """The regimes of its host side, with cases of each, which all candidates share."""
        with self._regime_lock:
            if self._regimes is None:
                self._regimes = make()
            return self._regimes

    def huge(self, make: Callable[[], list[Huge]]) -> list[Huge]:
        """The cases of gibibytes, which all candidates share."""
        with self._cover_lock:
            if self._huge is None:
                self._huge = make()
            return self._huge

    def cover(
        self, case: WorkloadCase, ask: Callable[[], tuple[Cover, ...] | None]
    ) -> tuple[Cover, ...] | None:
        """Which bytes it asks for in such a case; asked once."""
        with self._cover_lock:
            if case.name not in self._covers:
                self._covers[case.name] = ask()
            return self._covers[case.name]

    def at(self, case: WorkloadCase, seed: int) -> Launched:
        """The launch. Raises TrialFailure when it failed, InputError when the golden function
        does not take the case."""
        key = (case.name, seed)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._known:
                try:
                    build = self._references.unmodified
                    states = self._states(case, seed)
                    self._known[key] = launch_once(
                        build, self._references, case, seed, states=states
                    )
                except (TrialFailure, InputError) as problem:
                    self._known[key] = problem
        found = self._known[key]
        if isinstance(found, Launched):
            return found
        raise found

    def accuracy(self, case: WorkloadCase, seed: int) -> tuple[Accuracy, ...]:
        """How accurate each of its floating-point outputs is. Raises what `at` does.

        Launched once more: most candidates give the bytes that it gives, and nobody asks.
        """
        self.at(case, seed)
        key = (case.name, seed)
        with self._locks[key]:
            if key not in self._accuracy:
                build = self._references.unmodified
                self._accuracy[key] = accuracy_once(build, self._references, case, seed)
        return self._accuracy[key]

    def defect(self, case: WorkloadCase, seed: int) -> str | None:
        """'' when it passes the case, None when it does not take it, else what it does wrong,
        without the case's name."""
        try:
            found = self.at(case, seed)
        except InputError:  # the golden function does not take it
            return None
        except TrialFailure as failure:
            if failure.outcome in (Outcome.LAUNCH_ERROR, Outcome.COMPILE_ERROR, Outcome.TIMEOUT):
                return None
            return f"{failure.outcome.value.replace('_', ' ')}: {failure.refusal.sentence}"
        if found.compared.agrees:
            return ""
        return f"{WRONG_VALUES}: {found.compared.message}"

    def moved(self, case: WorkloadCase, seed: int) -> tuple[int, int]:
        """Bytes that it reads from GM and writes to it; (0, 0) when it fails. Some operators leave
        part of an input or output alone."""
        try:
            pipes = self.at(case, seed).run.pipes
        except TrialFailure:
            return 0, 0
        return pipes.gm_read_bytes, pipes.gm_write_bytes

    def unused_workspace(self, case: WorkloadCase, seed: int) -> int:
        """Bytes of workspace that it asks for and leaves alone at the end; 0 when it fails."""
        try:
            return self.at(case, seed).run.pipes.workspace_unused_bytes
        except TrialFailure:
            return 0
