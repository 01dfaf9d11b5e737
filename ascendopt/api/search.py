"""A search that runs while its trials are looked at."""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from ascendopt.api.errors import Cancelled
from ascendopt.api.results import Evaluation, OptimizationResult
from ci.model.errors import InputError
from ci.model.notice import Notice
from ci.model.result import Result

_END: Final = None
_RUNNING: Final[dict[Path, Optimization]] = {}
"""The searches of this process that have not ended, by their folder."""
_LOOK_SECONDS: Final = 0.5
"""Between looks at the keyboard while a trial is awaited."""


class Optimization:
    """A running search. Iterating gives each trial as it ends; `result` waits for the end.

    A `with` block cancels the search when it is left early.
    """

    def __init__(
        self, search: Callable[[Callable[[Notice], None]], Result], folder: Path, budget: int
    ) -> None:
        """Start `search` in a thread of its own; it is given a function that takes notices.

        Raises InputError when a search of this process still writes into `folder`.
        """
        self.folder = folder
        """Folder of the run: its trials, and at the end its patch and reports."""
        self.budget = budget
        """Evaluations that the search may spend."""
        self.notes: list[str] = []
        """Sentences that the search said so far."""
        self._search = search
        self._ended: queue.Queue[Evaluation | None] = queue.Queue()
        self._stop = threading.Event()
        self._found: OptimizationResult | None = None
        self._problem: BaseException | None = None
        self._place = folder.resolve()
        if _RUNNING.setdefault(self._place, self) is not self:
            raise InputError(
                f"A search runs in {folder} already: cancel it, or give another folder."
            )
        self._thread = threading.Thread(target=self._run, name="ascendopt-search", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = OptimizationResult.of(self._search(self._notice), self.folder)
        except BaseException as problem:  # given to whoever asks for the result
            self._problem = problem
        finally:
            _RUNNING.pop(self._place, None)
            self._ended.put(_END)

    def _notice(self, notice: Notice) -> None:
        if self._stop.is_set():
            raise Cancelled("The search was cancelled; its trials are kept: resume=True goes on.")
        if notice.text:
            self.notes.append(notice.text)
        if notice.kind == "trial_finished" and notice.trial is not None:
            self._ended.put(Evaluation.of(notice.trial))

    def __iter__(self) -> Iterator[Evaluation]:
        """Give each trial as it ends; raises the search's error, unless it was cancelled."""
        while True:
            trial = self._next()
            if trial is None:
                self._ended.put(_END)  # for whoever iterates once more
                break
            yield trial
        if self._problem is not None and not isinstance(self._problem, Cancelled):
            raise self._problem

    def _next(self) -> Evaluation | None:
        while True:
            try:
                return self._ended.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                self.cancel()
                raise

    @property
    def result(self) -> OptimizationResult:
        """Wait for the end and return the result; raises the search's error, or Cancelled."""
        while self._thread.is_alive():
            self._thread.join(_LOOK_SECONDS)
        if self._problem is not None:
            raise self._problem
        assert self._found is not None
        return self._found

    @property
    def done(self) -> bool:
        """Whether the search has ended."""
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """End the search after the step that runs now. Its trials are kept in `folder`."""
        self._stop.set()

    def _leave(self) -> None:
        """Cancel, and wait until nothing of it runs: neither a compiler nor a launch."""
        self.cancel()
        self._thread.join()

    def __enter__(self) -> Optimization:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()


@atexit.register
def _leave_all() -> None:
    """End the searches that a program leaves behind; their processes would outlive it."""
    for one in [*_RUNNING.values()]:
        one._leave()
