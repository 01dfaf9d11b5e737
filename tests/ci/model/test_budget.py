import threading

import pytest

from ci.model.budget import Budget


def test_what_is_reserved_is_gone_and_the_rest_is_left() -> None:
    budget = Budget(3)
    assert budget.reserve(2)
    assert budget.left == 1


def test_the_budget_is_never_overdrawn() -> None:
    budget = Budget(3)
    assert budget.reserve(2)
    assert not budget.reserve(2)
    assert budget.left == 1


def test_what_is_released_can_be_reserved_again() -> None:
    budget = Budget(1)
    assert budget.reserve()
    budget.release()
    assert budget.reserve()


def test_nothing_can_be_reserved_when_the_time_is_over() -> None:
    now = [0.0]
    budget = Budget(10, wall_seconds=60, clock=lambda: now[0])
    assert budget.reserve()
    now[0] = 61.0
    assert not budget.reserve()
    assert budget.left == 0
    assert budget.use().wall_seconds == 61.0


def test_tokens_and_money_are_limits_of_their_own() -> None:
    budget = Budget(10, tokens=100, money=1.0)
    assert budget.reserve_model(80, 0.5)
    assert not budget.reserve_model(30, 0.1)
    assert not budget.reserve_model(10, 0.6)
    budget.settle_model((80, 0.5), (20, 0.1))
    assert budget.reserve_model(80, 0.9)
    assert budget.use().tokens == 100


def test_threads_together_get_no_more_than_was_granted() -> None:
    budget = Budget(50)
    got: list[bool] = []

    def take() -> None:
        got.extend(budget.reserve() for _ in range(20))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(got) == 50


def test_a_budget_without_an_evaluation_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Budget(0)
