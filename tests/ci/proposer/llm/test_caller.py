"""Budget, retries, ledger and recording of model calls, against a real HTTP server."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ci.model.errors import InputError, ModelUnavailable
from ci.proposer.llm.call_log import Call, read_calls
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.chat import Message
from ci.proposer.llm.recording import Recording
from tests.ci.proposer.llm.make import models_at, run_at
from tests.ci.proposer.llm.server import Answer, Asked, serving

HELLO = (Message(role="system", content="be brief"), Message(role="user", content="one two three"))
KEY = "sk-test-0123456789abcdefghij"
BUSY = Answer(status=429, message="slow down")


class InTurn:
    """Answers one after the other, the last one again and again."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def __call__(self, asked: Asked) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def calls_of(path: Path) -> list[Call]:
    return read_calls(path / "calls.sqlite")


def test_the_ledger_says_what_the_server_served(tmp_path: Path) -> None:
    with serving(InTurn(Answer("four words of answer"), Answer("two words"))) as server:
        run = run_at(tmp_path / "calls.sqlite", tokens=100_000, money=1.0)
        caller = Caller(models_at(server), run)
        caller.ask("mutation", HELLO)
        caller.ask("rewriting", HELLO)
        said = server.tokens
    calls = calls_of(tmp_path)
    assert (sum(c.tokens_in for c in calls), sum(c.tokens_out for c in calls)) == said == (10, 6)
    assert run.budget.use().tokens == 16
    assert run.budget.use().money == pytest.approx((10 * 1.0 + 6 * 4.0) / 1e6)
    assert [c.cost for c in calls] == pytest.approx([(5 + 16) / 1e6, (5 + 8) / 1e6])
    assert [(c.role, c.trial, c.outcome) for c in calls] == [
        ("mutation", 1, "answered"),
        ("rewriting", 1, "answered"),
    ]


@pytest.mark.parametrize(
    "trouble",
    [BUSY, Answer(status=500), Answer(status=402), Answer(drop_after=0)]
    + [Answer("broken off in the middle", drop_after=2)],
)
def test_passing_trouble_is_tried_again(tmp_path: Path, trouble: Answer) -> None:
    with serving(InTurn(trouble, trouble, Answer("good"))) as server:
        caller = Caller(models_at(server), run_at(tmp_path / "calls.sqlite"))
        assert caller.ask("mutation", HELLO)[1].text == "good"
    assert [c.outcome for c in calls_of(tmp_path)] == ["failed", "failed", "answered"]


def test_trouble_that_lasts_ends_with_a_sentence_and_every_request_in_the_ledger(
    tmp_path: Path,
) -> None:
    with serving(InTurn(Answer(status=503, message="overloaded"))) as server:
        run = run_at(tmp_path / "calls.sqlite")
        with pytest.raises(ModelUnavailable, match="status 503: overloaded"):
            Caller(models_at(server, attempts=3), run).ask("mutation", HELLO)
        assert len(server.asked) == 3
    assert [c.outcome for c in calls_of(tmp_path)] == ["failed"] * 3
    assert run.budget.use().tokens == 0


def test_a_wrong_key_is_not_tried_again(tmp_path: Path) -> None:
    with serving(InTurn(Answer(status=401, message="who are you"))) as server:
        with pytest.raises(ModelUnavailable, match="401"):
            Caller(models_at(server), run_at(tmp_path / "calls.sqlite")).ask("mutation", HELLO)
        assert len(server.asked) == 1


def test_what_the_server_asks_to_wait_is_waited(tmp_path: Path) -> None:
    busy = Answer(status=429, headers={"retry-after": "17"})
    waited: list[float] = []
    with serving(InTurn(busy, Answer("good"))) as server:
        run = run_at(tmp_path / "calls.sqlite")
        Caller(models_at(server), run, sleep=waited.append).ask("mutation", HELLO)
    assert waited == [17]


def test_a_wait_that_is_too_long_ends_the_run_instead(tmp_path: Path) -> None:
    busy = Answer(status=429, headers={"retry-after": "86400"})
    with serving(InTurn(busy)) as server, pytest.raises(ModelUnavailable):
        Caller(models_at(server), run_at(tmp_path / "calls.sqlite")).ask("mutation", HELLO)


def test_a_call_that_the_budget_may_not_cover_is_not_made(tmp_path: Path) -> None:
    with serving(InTurn(Answer("good"))) as server:
        tight = run_at(tmp_path / "calls.sqlite", tokens=8192)  # the answer alone may take that
        with pytest.raises(ModelUnavailable, match="budget"):
            Caller(models_at(server), tight).ask("mutation", HELLO)
        poor = run_at(tmp_path / "calls.sqlite", money=0.01)  # an answer may cost 0.033
        with pytest.raises(ModelUnavailable, match="--max-cost"):
            Caller(models_at(server), poor).ask("mutation", HELLO)
        assert server.asked == []


def test_a_call_in_flight_counts_against_the_budget(tmp_path: Path) -> None:
    seen: list[int] = []
    with serving(InTurn(Answer("good"))) as server:
        run = run_at(tmp_path / "calls.sqlite", tokens=100_000)
        plain = server.script

        def watching(asked: Asked) -> Answer:
            seen.append(run.budget.use().tokens)
            return plain(asked)

        server.script = watching
        Caller(models_at(server), run).ask("mutation", HELLO)
    assert seen[0] >= 8192
    assert run.budget.use().tokens == 6


def test_a_limit_in_money_needs_a_price(tmp_path: Path) -> None:
    with serving(InTurn(Answer("good"))) as server:
        run = run_at(tmp_path / "calls.sqlite", money=1.0)
        with pytest.raises(InputError, match="--max-cost needs the price"):
            Caller(models_at(server, price=None), run)


def test_without_a_price_the_cost_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    with serving(InTurn(Answer("good"))) as server:
        run = run_at(tmp_path / "calls.sqlite")
        Caller(models_at(server, price=None), run).ask("mutation", HELLO)
    assert [c.cost for c in calls_of(tmp_path)] == [None]


def test_a_resumed_run_asks_nothing_twice_and_pays_nothing_twice(tmp_path: Path) -> None:
    with serving(InTurn(Answer("first"), Answer("second"), Answer("third"))) as server:
        models = models_at(server)
        before = run_at(tmp_path / "calls.sqlite")
        one = Caller(models, before)
        texts = [one.ask("mutation", HELLO)[1].text for _ in range(2)]
        after = run_at(tmp_path / "calls.sqlite")
        two = Caller(models, after)
        assert [two.ask("mutation", HELLO)[1].text for _ in range(2)] == texts
        assert len(server.asked) == 2
        assert after.budget.use().tokens == before.budget.use().tokens
        assert two.ask("mutation", HELLO)[1].text == "third"


def test_a_replay_asks_nobody_and_says_where_the_record_ends(tmp_path: Path) -> None:
    with serving(InTurn(Answer("first", finish="length"))) as server:
        models = models_at(server)
        Caller(models, run_at(tmp_path / "calls.sqlite")).ask("mutation", HELLO)
    recording = Recording(calls_of(tmp_path))
    again = run_at(tmp_path / "again.sqlite")
    caller = Caller(models, again, replayed=recording)  # the server is gone
    assert caller.ask("mutation", HELLO)[1].finish == "length"
    assert again.budget.use().tokens == 0
    with pytest.raises(ModelUnavailable, match="holds no answer"):
        caller.ask("mutation", HELLO)


def test_secrets_are_masked_in_prompt_answer_and_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCENDOPT_LLM_API_KEY", KEY)
    prompt = (Message(role="user", content=f"a source with {KEY} in it"),)
    wrong = Answer(status=500, message=f"key {KEY} is odd")
    with serving(InTurn(wrong, Answer(f"you said {KEY} and Bearer abcdefghijkl"))) as server:
        caller = Caller(models_at(server), run_at(tmp_path / "calls.sqlite"))
        reply = caller.ask("mutation", prompt)[1]
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert reply.text == "you said [secret] and Bearer [secret]"
    for call in calls_of(tmp_path):
        assert KEY not in call.model_dump_json()
        assert "[secret]" in call.prompt
    files = list(tmp_path.glob("calls.sqlite*"))  # with the write-ahead log
    assert b"[secret]" in b"".join(f.read_bytes() for f in files)
    assert all(KEY.encode() not in f.read_bytes() for f in files)


def test_waiting_between_attempts_grows_with_the_setting(tmp_path: Path) -> None:
    waited: list[float] = []
    with serving(InTurn(BUSY)) as server:
        model = models_at(server, attempts=4, backoff=2.0)
        with pytest.raises(ModelUnavailable):
            Caller(model, run_at(tmp_path / "calls.sqlite"), sleep=waited.append).ask(
                "mutation", HELLO
            )
    assert len(waited) == 3
    assert all(0 <= w <= 2.0 * 2**n for n, w in enumerate(waited))


def test_calls_from_two_threads_never_overdraw_the_budget(tmp_path: Path) -> None:
    import threading

    with serving(lambda asked: Answer("ok", seconds=0.05)) as server:
        # Room for one call at a time: each may take 8192 and its prompt.
        run = run_at(tmp_path / "calls.sqlite", tokens=9_000)
        caller = Caller(models_at(server), run)
        refused: list[Exception] = []

        def work() -> None:
            try:
                caller.ask("mutation", HELLO)
            except ModelUnavailable as problem:
                refused.append(problem)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
            time.sleep(0.02)
        for thread in threads:
            thread.join()
    assert len(server.asked) + len(refused) == 2
    assert run.budget.use().tokens <= 9_000
