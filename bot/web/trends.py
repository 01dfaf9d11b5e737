"""What became of the bot's runs, day by day: pure functions of the queue's records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from statistics import median
from typing import Final, NamedTuple

from bot.repository.job import Record, standing_fact

DAYS: Final = 30


class Day(NamedTuple):
    """One day, UTC; a run counts on the day on which it ended."""

    day: date
    done: int
    failed: int
    minutes: float | None
    """Median of what the runs that are done took; None without any."""
    merged: int
    """Runs whose merge request a person merged since."""
    refused: int
    """Runs whose merge request was closed without merging."""
    pending: int
    """Runs whose merge request is open."""
    tuples: int
    """Experience in the bank at the end of the day."""


def days(
    records: Iterable[Record],
    standings: Mapping[str, str],
    learnt: Iterable[date],
    today: date,
) -> list[Day]:
    """The last `DAYS` days, the oldest first.

    `standings`: the queue's facts; `learnt`: the day on which each tuple of the bank was made.
    """
    ended: dict[date, list[Record]] = {}
    for record in records:
        if record.finished:
            ended.setdefault(datetime.fromtimestamp(record.finished, UTC).date(), []).append(record)
    made = sorted(learnt)
    return [
        _day(day, ended.get(day, []), standings, sum(one <= day for one in made))
        for day in (today - timedelta(days=back) for back in reversed(range(DAYS)))
    ]


def _day(day: date, ended: list[Record], standings: Mapping[str, str], tuples: int) -> Day:
    done = [r for r in ended if r.state == "done"]
    stands = [
        standings.get(standing_fact(r.job.forge, r.job.repository, r.merge_request), "open")
        for r in done
        if r.merge_request and r.job.kind == "optimize"
    ]
    took = [(r.finished - r.started) / 60 for r in done if r.started]
    return Day(
        day=day,
        done=len(done),
        failed=sum(r.state == "failed" for r in ended),
        minutes=median(took) if took else None,
        merged=stands.count("merged"),
        refused=stands.count("closed"),
        pending=stands.count("open"),
        tuples=tuples,
    )
