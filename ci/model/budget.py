"""One budget for everything a run spends: reserved before it is spent, so never overdrawn."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Final

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.result import BudgetUse

VERIFICATION: Final = 3
"""Evaluations to verify an earlier change: the baseline, the change, the final verification."""


class ModelLimits(Frozen):
    """Limits on the use of language models, whoever asks them."""

    max_tokens: int = Field(
        default=2_000_000,
        ge=0,
        description="Tokens that models may use in all, reserved before each call; 0: no limit.",
    )
    max_cost: float = Field(
        default=0.0,
        ge=0.0,
        description="Money that models may cost in all, in the prices' currency; 0: no limit.",
    )

    def grant(self, evaluations: int = 1, wall_seconds: float = math.inf) -> Budget:
        """A budget with these limits."""
        return Budget(
            evaluations,
            wall_seconds=wall_seconds,
            tokens=self.max_tokens or None,
            money=self.max_cost or None,
        )


class Budget:
    """Evaluations, wall time, tokens and money of one optimization run.

    `reserve` is asked before anything is spent and answers no instead of overdrawing. Thread-safe,
    so that evaluations may run side by side.
    """

    def __init__(
        self,
        evaluations: int,
        *,
        wall_seconds: float = math.inf,
        tokens: int | None = None,
        money: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if evaluations < 1:
            raise ValueError("A budget needs at least one evaluation: the baseline costs one.")
        self.granted = evaluations
        self._wall = wall_seconds
        self._tokens_granted = tokens
        self._money_granted = money
        self._clock = clock
        self._start = clock()
        self._lock = threading.Lock()
        self._evaluations = 0
        self._tokens = 0
        self._money = 0.0

    @property
    def left(self) -> int:
        """Evaluations that can still be reserved; 0 when the wall time is over."""
        with self._lock:
            return 0 if self._late() else self.granted - self._evaluations

    def reserve(self, evaluations: int = 1) -> bool:
        """Take evaluations out of the budget; False (and nothing taken) when it lacks them."""
        with self._lock:
            if self._late() or self._evaluations + evaluations > self.granted:
                return False
            self._evaluations += evaluations
            return True

    def release(self, evaluations: int = 1) -> None:
        """Give back evaluations that were reserved and not used."""
        with self._lock:
            self._evaluations -= evaluations

    def reserve_model(self, tokens: int, money: float = 0.0) -> bool:
        """Take the most that a model call can cost; False when the budget lacks it."""
        with self._lock:
            over = (
                self._tokens_granted is not None and self._tokens + tokens > self._tokens_granted
            ) or (self._money_granted is not None and self._money + money > self._money_granted)
            if over or self._late():
                return False
            self._tokens += tokens
            self._money += money
            return True

    def settle_model(self, reserved: tuple[int, float], used: tuple[int, float]) -> None:
        """Replace what a model call had reserved by what it used."""
        with self._lock:
            self._tokens += used[0] - reserved[0]
            self._money += used[1] - reserved[1]

    def charge_model(self, tokens: int, money: float) -> None:
        """Count what the interrupted part of a resumed run had used."""
        self.settle_model((0, 0.0), (tokens, money))

    @property
    def limits_money(self) -> bool:
        """Whether a limit was set in money."""
        return self._money_granted is not None

    def use(self) -> BudgetUse:
        """Return the part of the budget that was spent."""
        with self._lock:
            return BudgetUse(
                evaluations=self._evaluations,
                granted=self.granted,
                wall_seconds=self._clock() - self._start,
                tokens=self._tokens,
                money=self._money,
            )

    def _late(self) -> bool:
        return self._clock() - self._start > self._wall
