"""Which day a run counts on, and what became of its merge request."""

from datetime import UTC, date, datetime

from bot.repository.job import Record, State, standing_fact
from bot.web.trends import DAYS, days
from tests.bot.make import job

TODAY = date(2026, 3, 31)
NOON = datetime(2026, 3, 30, 12, tzinfo=UTC).timestamp()


def run(key: str, state: State = "done", number: int = 0, minutes: float = 6.0) -> Record:
    return Record(
        job=job(key),
        state=state,
        created=NOON - 9000,
        started=NOON - 60 * minutes,
        finished=NOON,
        merge_request=number,
    )


def test_a_run_counts_on_the_day_it_ended_and_as_its_merge_request_stands_now() -> None:
    made = job()
    facts = {
        standing_fact(made.forge, made.repository, 1): "merged",
        standing_fact(made.forge, made.repository, 2): "closed",
        standing_fact("another", made.repository, 3): "merged",
    }
    records = [
        run("a", number=1, minutes=2),
        run("b", number=2, minutes=4),
        run("c", number=3, minutes=9),
        run("d"),
        run("e", "failed", minutes=90),
        run("f", "running").model_copy(update={"finished": 0.0}),
    ]
    learnt = [date(2020, 1, 1), date(2026, 3, 30), date(2026, 3, 31)]
    rows = days(records, facts, learnt, TODAY)
    assert len(rows) == DAYS and rows[-1].day == TODAY
    (day,) = [r for r in rows if r.done or r.failed]
    assert day.day == date(2026, 3, 30)
    assert (day.done, day.failed, day.minutes) == (4, 1, 5.0)
    assert (day.merged, day.refused, day.pending) == (1, 1, 1)
    assert [r.tuples for r in rows[-3:]] == [1, 2, 3]
