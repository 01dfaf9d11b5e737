from __future__ import annotations

import io
import re

from rich.console import Console

from bot.server.progress import LiveView, PlainLog, describe, progress_for, standing
from ci.model.notice import Notice
from ci.model.trial import Outcome
from tests.bot.base.test_text import ORDER
from tests.bot.make import WIDE_TILE, result, trial


def notices() -> list[Notice]:
    made = result()
    best = None
    found = [Notice(kind="started", granted=40, text="Optimizing scale_add.")]
    for number, done in enumerate(made.trials, 1):
        if done.measurement is not None:
            best = min(best or 1e9, done.measurement.score_us)
        stage = done.candidate.stage
        assert stage != "rewind"
        found.append(
            Notice(
                kind="trial_finished",
                number=done.number,
                stage=stage,
                trial=done,
                best_us=best,
                baseline_us=16.97,
                spent=number,
                granted=40,
            )
        )
    return [
        *found,
        Notice(
            kind="finished",
            granted=40,
            spent=6,
            best_us=best,
            baseline_us=16.97,
            text="every case is faster",
        ),
    ]


def logged(console: Console) -> str:
    with progress_for(console, "scale_add", "simulated time") as progress:
        for notice in notices():
            progress(notice)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_log_has_one_line_a_trial_and_no_control_codes() -> None:
    text = logged(Console(file=io.StringIO(), width=60))
    assert "\x1b" not in text
    lines = text.splitlines()
    assert len([line for line in lines if line.startswith("[")]) == 6
    assert "memory_error" in lines[2]
    assert "(2.00x)" in lines[6]
    assert lines[-1] == "every case is faster"


def test_a_terminal_sees_trials_stage_outcome_and_best() -> None:
    text = logged(Console(file=io.StringIO(), width=120, force_terminal=True))
    for words in (
        "6 of 40 evaluations",
        "tiling",
        "race",
        "best so far",
        "2.00x",
        "simulated time",
    ):
        assert words in text


def test_80_columns_cut_between_words() -> None:
    told = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    words = "TILE_BYTES is 32768 instead of 16384"
    failed = trial(
        1, WIDE_TILE, None, outcome=Outcome.MEMORY_ERROR, rationale=words, message="full"
    )
    with LiveView(told, "x", "time") as view:
        view(Notice(kind="started", stage="tiling", trial=failed))
    assert isinstance(told.file, io.StringIO)
    assert "builds the simulator too" in re.sub(r"[\s│]+", " ", told.file.getvalue())
    (line, *_) = [row for row in told.file.getvalue().splitlines() if "TILE_BYTES" in row]
    assert re.search(r"TILE_BYTES is 32768 instead of …\s+│$", line)


def test_the_view_fits_the_console() -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True)
    assert isinstance(progress_for(terminal, "x", "time"), LiveView)
    assert isinstance(progress_for(Console(file=io.StringIO()), "x", "time"), PlainLog)


def test_outside_text_cannot_steer_the_terminal() -> None:
    evil = trial(
        1,
        WIDE_TILE,
        None,
        outcome=Outcome.COMPILE_ERROR,
        rationale="\x1b]0;title\x07 [bold]x[/bold]",
        message="a\nb\x1b[2J",
    )
    assert "\x1b" not in describe(evil)
    assert "\n" not in describe(evil)


def test_a_line_names_the_gate_that_refused() -> None:
    failed = trial(1, {"a": "b"}, outcome=Outcome.RACE, message="VECTOR reads what MTE2 wrote")
    assert describe(failed) == "run: VECTOR reads what MTE2 wrote"


def test_nothing_is_claimed_before_the_baseline_is_measured() -> None:
    assert standing(Notice(kind="started")) == ""


def test_no_text_of_a_run_is_an_order_to_a_runner_or_to_the_view() -> None:
    words = "::add-mask::x src/##[group]x [/bold]\x1b[2J"
    log = Console(file=io.StringIO())
    PlainLog(log, "time")(Notice(kind="finished", text=words))
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80)
    with LiveView(terminal, words, "time") as view:
        view(Notice(kind="finished", text=words))
    told = [c.file.getvalue() for c in (log, terminal) if isinstance(c.file, io.StringIO)]
    assert all("add-mask" in text and "\x1b[2J" not in text for text in told)
    assert not ORDER.search(told[0])
