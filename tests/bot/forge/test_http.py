from __future__ import annotations

import time
from email.utils import formatdate

import pytest
import requests

from bot.forge.errors import ForgeError
from bot.forge.http import (
    MOST_PATIENCE_S,
    UNSAID_S,
    Answer,
    rate_limit_of,
    refusal,
    unreachable,
)

# Far enough for the slowest machine.
LATER = str(int(time.time()) + 7200)


def test_the_kind_follows_from_status_and_words() -> None:
    def kind(status: int, message: str = "", **headers: str) -> str:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return refusal("GitHub", "it", status, message, named).kind

    assert kind(404) == "not_found"
    assert kind(403, "Must have admin rights") == "forbidden"
    assert kind(403, "You have exceeded a secondary rate limit") == "rate_limited"
    assert kind(403, "", X_RateLimit_Remaining="0") == "rate_limited"
    assert kind(429) == "rate_limited"
    assert kind(422, "A pull request already exists for a:b.") == "conflict"
    assert kind(422, "Validation Failed: head invalid") == "not_found"
    assert kind(422, "Validation Failed: title missing") == "refused"
    assert kind(503) == "unavailable"


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry-After": "30"}, 30, 30),
        ({"Retry-After": formatdate(time.time() + 7200, usegmt=True)}, 3600, 7201),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": LATER}, 3600, 7202),
    ],
)
def test_the_wait_is_what_the_forge_asks(headers: dict[str, str], low: int, high: int) -> None:
    found = refusal("GitHub", "it", 429, "", headers).retry_after
    assert found is not None
    assert low <= found <= high


def test_a_limit_without_a_time_lasts_a_minute() -> None:
    assert refusal("GitHub", "it", 429, "", {"Retry-After": "soon"}).retry_after == UNSAID_S


@pytest.mark.parametrize(
    "given", ["1e999", "nan", "-1", "²", "9" * 12, "9" * 5000, "inf", "\ud800"]
)
def test_a_time_that_nobody_can_mean_is_no_time(given: str) -> None:
    known = {"Retry-After": given, "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": given}
    assert refusal("GitHub", "it", 429, "", known).retry_after == UNSAID_S
    named = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
    assert rate_limit_of(dict.fromkeys(named, given)) is None


def test_no_forge_is_left_alone_for_longer_than_a_day() -> None:
    for known in ({"Retry-After": "9" * 11}, {"X-RateLimit-Reset": "9" * 11}):
        assert refusal("GitHub", "it", 429, "", known).retry_after == MOST_PATIENCE_S


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "1" * 5000, ""])
def test_what_no_reader_of_json_takes_is_a_sentence(text: str) -> None:
    with pytest.raises(ForgeError, match="something that is no JSON"):
        _ = Answer(200, {}, text).json


def test_the_texts_of_an_answer_are_unicode_that_a_file_and_a_program_take() -> None:
    found = Answer(200, {}, r'{"a\ud800": ["b\u0000c", {"d": "\ud83d\ude00\udc00"}, 7]}').json
    assert found == {"a\ufffd": ["b\ufffdc", {"d": "\U0001f600\ufffd"}, 7]}


def test_a_hostile_message_is_one_line_without_the_token() -> None:
    answer = Answer(400, {}, "bad\n\x1b[31mghp_secret" + "x" * 999).without("ghp_secret")
    text = str(refusal("GitHub", "it", 400, answer.text, {}))
    assert "ghp_secret" not in text
    assert "\n" not in text
    assert "\x1b" not in text
    assert len(text) < 300


def test_no_answer_tells_no_address() -> None:
    problem = requests.ConnectionError("https://user:token@example.org failed")
    text = str(unreachable("GitLab", "reading", problem))
    assert text == "GitLab could not be reached for reading (ConnectionError)."


def test_what_is_no_json_is_a_sentence() -> None:
    with pytest.raises(Exception, match="is no JSON: <html>"):
        _ = Answer(200, {}, "<html>").json


def test_limits_are_read_in_both_spellings() -> None:
    for prefix in ("x-ratelimit", "ratelimit"):
        headers = {f"{prefix}-limit": "60", f"{prefix}-remaining": "7", f"{prefix}-reset": "1000"}
        found = rate_limit_of(headers)
        assert found is not None
        assert (found.limit, found.remaining, found.reset_at.year) == (60, 7, 1970)
    assert rate_limit_of({"x-ratelimit-limit": "60"}) is None
