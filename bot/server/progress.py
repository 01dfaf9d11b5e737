"""The progress of a run: a live view on a terminal, plain lines in a log."""

from __future__ import annotations

import re
import textwrap
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Final, Self

from rich.console import Console, ConsoleOptions, Group
from rich.live import Live
from rich.measure import Measurement
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bot.base.text import harmless, microseconds, visible
from ci.model.amount import amount
from ci.model.notice import Notice
from ci.model.trial import Outcome, Trial

# What takes long before the first trial ends; on a machine that never did it, minutes.
FIRST: Final = (
    "Building and measuring the original operator"
    " (the first run on a machine builds the simulator too)."
)
# Trials that the live view shows; older ones are in trials.sqlite and in the report.
SHOWN: Final = 12
LONGEST: Final = 96
"""Most characters that describe a trial in one line."""


class Progress(AbstractContextManager["Progress"]):
    """Listens to a run; used as a context manager around it."""

    def __exit__(self, *how: object) -> None:
        """Stop showing, whatever happened."""

    @abstractmethod
    def __call__(self, notice: Notice) -> None:
        """Show one notice."""


def progress_for(console: Console, name: str, unit: str) -> Progress:
    """The view that fits `console`; `unit` is 'simulated time' or 'time'."""
    return LiveView(console, name, unit) if console.is_terminal else PlainLog(console, unit)


def describe(trial: Trial) -> str:
    """Describe a trial, and why it failed, in one line that is harmless on a terminal."""
    candidate = trial.candidate
    words = "; ".join(dict.fromkeys(part.what for part in candidate.parts if not part.undone))
    words = words or candidate.rationale or ("the original operator" if not trial.number else "")
    if trial.refusal is None:
        return _short(words, LONGEST)
    by = f"{trial.refusal.gate}: " if trial.refusal.gate else ""
    said = f"{by}{trial.refusal.message}"
    first = _short(words, LONGEST // 3).rstrip(".")
    return _short(f"{first}; {said}" if first else said, LONGEST)


def _short(text: str, most: int) -> str:
    """The words of `text` that fit into `most` characters, with one ellipsis for the others."""
    words = textwrap.shorten(visible(text, 1000), most, placeholder=" …")
    return re.sub(r"…\W+…$", "…", words)


class _Line:
    """A line of a table that is shortened at a word, for 1… is no number."""

    def __init__(self, words: str, style: str) -> None:
        self._words = words
        self._style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield Text(_short(self._words, options.max_width), style=self._style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, len(self._words)))


def print_line(console: Console, words: str) -> None:
    """Print `words` as they are, but for what would steer a terminal or a CI's runner."""
    console.print(harmless(words.rstrip()), markup=False, highlight=False, soft_wrap=True)


def standing(notice: Notice) -> str:
    """Best so far with its ratio to the baseline; '' before the baseline was measured."""
    if notice.best_us is None:
        return ""
    ratio = f" ({notice.baseline_us / notice.best_us:.2f}x)" if notice.baseline_us else ""
    return f"{microseconds(notice.best_us)}{ratio}"


class PlainLog(Progress):
    """One line a finished trial, for logs and pipes."""

    def __init__(self, console: Console, unit: str) -> None:
        self._console = console
        self._unit = unit

    def __call__(self, notice: Notice) -> None:
        """Print trials and notes; only the first trial's beginning is a line of its own."""
        if notice.kind == "trial_finished" and notice.trial is not None:
            trial = notice.trial
            now = trial.measurement
            score = microseconds(now.score_us) if now is not None else "-"
            line = (
                f"[{notice.spent:>3}/{notice.granted}] {notice.stage:<8} {trial.outcome.value:<13} "
                f"{score:>11}  best {standing(notice) or '-'}  {describe(trial)}"
            )
        elif notice.kind == "trial_started":
            line = FIRST if notice.number == 0 else ""
        else:
            line = visible(notice.text, 300)
        if line:
            print_line(self._console, line)


class LiveView(Progress):
    """A panel that redraws itself: how far, which stage, the last trials, the best so far."""

    def __init__(self, console: Console, name: str, unit: str) -> None:
        self._name = name
        self._unit = unit
        self._last = Notice(kind="started")
        self._rows: deque[tuple[Notice, Trial]] = deque(maxlen=SHOWN)
        self._doing = FIRST
        self._live = Live(self._panel(), console=console, refresh_per_second=8)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *how: object) -> None:
        self._live.stop()

    def __call__(self, notice: Notice) -> None:
        """Take the notice in and redraw."""
        self._last = notice
        if notice.trial is not None:
            self._rows.append((notice, notice.trial))
        if notice.kind not in ("started", "trial_started"):
            self._doing = visible(notice.text, 110) or self._doing
        if notice.kind == "trial_started" and notice.number > 0:
            self._doing = f"Trial {notice.number}, {notice.stage}: {visible(notice.text, 90)}"
        self._live.update(self._panel())

    def _panel(self) -> Panel:
        notice = self._last
        head = Table.grid(expand=True, padding=(0, 2))
        head.add_column(ratio=1)
        head.add_column(justify="right")
        bar = ProgressBar(
            total=max(1, notice.granted), completed=notice.spent, complete_style="green"
        )
        granted = amount(notice.granted, "evaluation") if notice.granted else "? evaluations"
        head.add_row(bar, Text(f"{notice.spent} of {granted}"))
        best = Text(f"best so far  {standing(notice) or 'not yet measured'}", style="bold green")
        head.add_row(best, Text(self._unit, style="dim"))
        table = Table(expand=True, box=None, padding=(0, 1), header_style="dim")
        for title, justify in (("trial", "right"), ("stage", "left"), ("outcome", "left")):
            table.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        table.add_column("score", justify="right", no_wrap=True)
        table.add_column("what", ratio=1, overflow="ellipsis", no_wrap=True)
        best_us = notice.best_us
        for shown, trial in self._rows:
            score = trial.measurement.score_us if trial.measurement is not None else None
            good = trial.outcome is Outcome.OK
            leads = good and score is not None and best_us is not None and score <= best_us
            style = "green" if leads else "" if good else "dark_orange3"
            table.add_row(
                str(trial.number),
                shown.stage,
                Text(trial.outcome.value, style=style),
                Text(microseconds(score) if score is not None else "", style=style),
                _Line(describe(trial), "" if good else "dim"),
            )
        body = Group(head, Text(), table, Text(), Text(self._doing, style="dim"))
        name = Text(f"ascendopt · {visible(self._name, LONGEST)}")
        return Panel(body, title=name, border_style="cyan")
