"""An environment in which generators of kernels are trained and compared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import log
from typing import Any, TypeAlias

from ascendopt.api.functions import load
from ascendopt.api.operator import Operator, Patch
from ascendopt.api.results import Evaluation, pipe_shares
from ci.model.comparison import compare
from ci.model.errors import InputError, TrialFailure
from ci.model.objective import gains
from ci.model.settings import PoolOptions, ProposerOptions, UncertaintyOptions
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.session.proposers import find_proposer
from ci.session.session import open_session

Observation: TypeAlias = dict[str, Any]
"""`sources`: texts by path. `profile`: `score_us`, `busy` (share of each pipe), `bottleneck`,
`evidence`; empty where nothing was measured."""
Step: TypeAlias = tuple[Observation, float, bool, bool, dict[str, Any]]
"""Observation, reward, terminated, truncated, info."""


class Environment:
    """An operator as an environment with Gymnasium's methods. `ascendopt.env` makes one.

    An action is a change of the original operator: a unified diff, or whole new texts by path. Its
    reward is the natural logarithm of the gain in the start state of a launch in which it gains
    least: 0.69 is twice as fast in every state, and a slower program has a negative one. It is 0
    for a program that is refused; `info["refused"]` and `info["reason"]` say so and why. One that
    is faster must pass all checks of a search's step, with other values and shapes, too.
    """

    def __init__(self, operator: Operator, *, steps: int = 1, pool: str = "") -> None:
        """Prepare the judge; nothing is measured before `reset`.

        Raises InputError for a number of steps below 1 or an unknown pool.
        """
        if not isinstance(steps, int) or steps < 1:
            raise InputError(f"An episode has at least one step, not {steps}.")
        self._operator = operator
        self._steps = steps
        self._session = open_session(
            operator.path, operator.setup, conditions=UncertaintyOptions(), pool=_pool(pool)
        )
        self._proposer = find_proposer(ProposerOptions())
        self._known: dict[str, Evaluation] = {}
        self._baseline: Evaluation | None = None
        self._taken = 0

    @property
    def baseline(self) -> Evaluation:
        """The unmodified operator, timed in all start states.

        Raises InputError when it is not right itself.
        """
        if self._baseline is None:
            found = self._timed(Candidate())
            if not found.ok:
                raise InputError(f"{self._operator.name} is refused unmodified: {found.reason}")
            self._baseline = found
        return self._baseline

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; return the original operator as observation, and info about it.

        `seed` and `options` are Gymnasium's; equal actions have equal rewards, whatever they are.
        """
        self._taken = 0
        found = self.baseline
        return self._observation(Candidate(), found), _info(found)

    def step(self, action: Patch) -> Step:
        """Judge an action; return observation, reward, terminated, truncated and info.

        The observation shows the changed program. An action that does not apply is refused as a
        program is. `truncated` is true once the episode has had its steps.
        """
        self._taken += 1
        return self._judged(action, self._taken >= self._steps)

    def evaluate_batch(self, actions: Sequence[Patch]) -> list[Step]:
        """Judge many actions, side by side where there is a pool, as episodes of one step each."""
        self.baseline  # noqa: B018 - one measurement before the threads, for all of them
        size = self._session.evaluator.size
        if size == 1:
            return [self._judged(action, True) for action in actions]
        with ThreadPoolExecutor(size) as threads:
            return list(threads.map(lambda action: self._judged(action, True), actions))

    def close(self) -> None:
        """Forget what was judged."""
        self._known.clear()
        self._baseline = None

    def _judged(self, action: Patch, last: bool) -> Step:
        before = self.baseline
        try:
            candidate = self._operator.candidate(action)
        except InputError as problem:
            info = {
                "outcome": "does not apply",
                "refused": True,
                "gate": "",
                "reason": str(problem),
            }
            seen: Observation = {"sources": self._operator.sources, "profile": {}}
            return seen, 0.0, False, last, info | {"gain": None, "states": {}}
        found = self._known.get(candidate.hash)
        if found is None:
            found = self._admitted(self._timed(candidate), before)
            self._known[candidate.hash] = found
        states = _states(before, found) if found.ok else {}
        reward = log(min(states.values())) if states else 0.0
        return self._observation(candidate, found), reward, False, last, _info(found, states)

    def _timed(self, candidate: Candidate) -> Evaluation:
        """The candidate right or refused, and timed in each start state."""
        try:
            return Evaluation.of(self._session.evaluate(candidate, widened=True))
        except TrialFailure as failure:
            return Evaluation(
                number=0, candidate=candidate, outcome=failure.outcome, refusal=failure.refusal
            )

    def _admitted(self, found: Evaluation, before: Evaluation) -> Evaluation:
        """The evaluation, refused where a faster program fails a check of a search's step."""
        if not found.ok or min(_states(before, found).values(), default=1.0) <= 1:
            return found
        return Evaluation.of(self._session.evaluator.admit(found, before, before))

    def _observation(self, candidate: Candidate, found: Evaluation) -> Observation:
        profile: dict[str, Any] = {}
        if found.measurement is not None:
            diagnosis = self._proposer.diagnose(self._session.operator, found)
            profile = {
                "score_us": found.score_us,
                "busy": pipe_shares(found.measurement),
                "bottleneck": diagnosis.bottleneck,
                "evidence": list(diagnosis.evidence),
            }
        return {"sources": self._operator.sources | dict(candidate.files), "profile": profile}


def env(
    operator: Operator | str | os.PathLike[str],
    workload: str | os.PathLike[str] | None = None,
    *,
    steps: int = 1,
    pool: str = "",
) -> Environment:
    """Return an environment with `reset` and `step` in which a generator works on an operator.

    Args:
        operator: A loaded operator or its folder.
        workload: Workload file, for a folder only.
        steps: Actions of an episode.
        pool: Where `evaluate_batch` judges: `local:2`, `ray:ADDRESS`; '' is this process.

    Raises:
        InputError: There is no operator or workload, or no such pool.

    Example:
        ```python
        environment = ascendopt.env(operator)
        observation, info = environment.reset()
        path, text = next(iter(observation["sources"].items()))
        action = {path: text.replace("TILE_BYTES = 4096", "TILE_BYTES = 8192")}
        observation, reward, terminated, truncated, info = environment.step(action)
        print(reward, info["outcome"], info["reason"])
        ```
    """
    if not isinstance(operator, Operator):
        operator = load(operator, workload)
    elif workload is not None:
        raise InputError("The operator is loaded already, with its workload; leave workload out.")
    return Environment(operator, steps=steps, pool=pool)


def _pool(spec: str) -> str:
    from pydantic import ValidationError

    try:
        return PoolOptions(pool=spec).pool
    except ValidationError as problem:
        raise InputError(
            f"There is no pool {spec!r}: a pool is local:N or ray:ADDRESS."
        ) from problem


def _states(before: Trial, after: Trial) -> dict[str, float]:
    """The gain in each start state, as measured on a device, {} where one was not measured."""
    old, new = before.measurement, after.measurement
    if old is None or new is None:
        return {}
    return gains(old, new) or {"measured": compare(old, new).speedup}


def _info(found: Evaluation, states: Mapping[str, float] | None = None) -> dict[str, Any]:
    refusal = found.refusal or Refusal(sentence="")
    return {
        "outcome": found.outcome.value,
        "refused": found.outcome is not Outcome.OK,
        "gate": refusal.gate,
        "reason": refusal.message if found.refusal else "",
        "gain": min(states.values()) if states else None,
        "states": dict(states or {}),
    }
