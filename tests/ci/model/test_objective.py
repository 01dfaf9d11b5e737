"""What a program counts for a search: as the verdict has it, state by state."""

from collections.abc import Mapping

import pytest

from ci.model.ensemble import CONDITIONS
from ci.model.objective import gains, lasts, worth
from ci.model.trial import Measurement
from tests.bot.make import measurement

SAME = dict.fromkeys(CONDITIONS, 1.0)
DIRTY = CONDITIONS[-1]


def timed(speedups: Mapping[str, float]) -> Measurement:
    """Two cases that took 12 µs in every state before, and now as much less as is said."""
    made = measurement(12.0)
    members = {name: 12.0 / speedup for name, speedup in speedups.items()}
    cases = tuple(case.model_copy(update={"members_us": members}) for case in made.cases)
    return made.model_copy(update={"cases": cases})


def counted(**changed: float) -> float:
    """The worth of a program with these speedups by the number of the state, 1 in the others."""
    speedups = {name: changed.get(f"s{n}", 1.0) for n, name in enumerate(CONDITIONS)}
    return worth(timed(SAME), timed(speedups))


def test_a_state_that_leaves_nothing_takes_no_more_than_its_share() -> None:
    """In a dirty cache the memory limits the original and whatever is made of it."""
    won = SAME | dict.fromkeys(CONDITIONS[:-1], 1.24)
    more = won | dict.fromkeys(CONDITIONS[:-1], 1.26)
    first, second = worth(timed(SAME), timed(won)), worth(timed(SAME), timed(more))
    assert gains(timed(SAME), timed(won))[DIRTY] == pytest.approx(1)
    assert first == pytest.approx(1.24**0.4) and second == pytest.approx(1.26**0.4)
    assert lasts(gains(timed(SAME), timed(won)))


def test_of_two_that_gain_alike_in_the_mean_the_one_is_worth_more_that_gains_everywhere() -> None:
    even, uneven = dict.fromkeys(CONDITIONS, 1.2), dict.fromkeys(CONDITIONS, 1.25) | {DIRTY: 1.02}
    assert worth(timed(SAME), timed(even)) > worth(timed(SAME), timed(uneven)) > 1.05


@pytest.mark.parametrize("loss", [0.6, 0.9, 0.97, 0.99])
def test_no_gain_elsewhere_pays_for_a_state_that_loses(loss: float) -> None:
    """The verdict refuses such a program, so less is worth more that loses nowhere."""
    assert counted(s0=1.08, s4=loss) < counted(s0=1.08)
    assert counted(s0=1.08, s4=loss) < 1 or loss == 0.99
    assert not lasts(gains(timed(SAME), timed(SAME | {CONDITIONS[0]: 1.08, DIRTY: loss})))


def test_two_steps_that_help_in_one_state_each_are_each_worth_something() -> None:
    first = counted(s0=1.3, s1=1.3, s2=1.3, s3=1.3, s4=0.99)
    assert 1 < first < counted(s0=1.3, s1=1.3, s2=1.3, s3=1.3, s4=1.3)


def test_where_no_states_were_timed_the_gain_counts() -> None:
    assert worth(measurement(12.0), measurement(10.0)) == pytest.approx(1.2)
