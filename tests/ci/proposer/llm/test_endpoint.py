"""A real HTTP server on the loopback answers, misbehaves and breaks off."""

from __future__ import annotations

import email.utils
import gzip
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from ci.model.errors import InputError
from ci.proposer.llm.chat import ChatFailure, Message, Reply
from ci.proposer.llm.endpoint import EndpointChat, connect
from ci.proposer.llm.settings import ModelSettings
from ci.system import model_client
from tests.ci.proposer.llm.make import model_at
from tests.ci.proposer.llm.server import Answer, Asked, endless, serving, starting

HELLO = (Message(role="user", content="one two three"),)
SCHEMA = {"title": "t", "type": "object", "properties": {}, "additionalProperties": False}
KEY = "sk-test-0123456789abcdefghij"


def ask(answer: Answer | Callable[[Asked], Answer], **changes: object) -> Reply:
    script = answer if callable(answer) else lambda asked: answer
    with serving(script) as server:
        return EndpointChat(model_at(server, **changes)).complete(HELLO, None)


def failure(answer: Answer, **changes: object) -> ChatFailure:
    with pytest.raises(ChatFailure) as caught:
        ask(answer, **changes)
    return caught.value


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_comes_with_the_tokens_that_the_server_says(stream: bool) -> None:
    reply = ask(Answer("four words of answer"), stream=stream)
    assert reply.text == "four words of answer"
    assert reply.finish == "stop"
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.said) == (3, 4, True)


@pytest.mark.parametrize("stream", [True, False])
def test_without_usage_the_tokens_are_an_estimate_and_marked_so(stream: bool) -> None:
    usage = ask(Answer("some words", usage=False), stream=stream).usage
    assert not usage.said
    assert usage.prompt > 0 and usage.completion > 0


@pytest.mark.parametrize("stream", [True, False])
def test_refusals_and_truncation_are_told_apart(stream: bool) -> None:
    assert ask(Answer("cut", finish="length"), stream=stream).finish == "length"
    assert ask(Answer("", refusal="I will not."), stream=stream).finish == "refusal"
    assert ask(Answer("", finish="content_filter"), stream=stream).finish == "refusal"


@pytest.mark.parametrize(
    ("status", "again"),
    [(400, False), (401, False), (402, True), (403, False), (404, False), (429, True)]
    + [(500, True), (503, True)],
)
def test_a_status_says_whether_another_try_is_worth_it(status: int, again: bool) -> None:
    problem = failure(Answer(status=status, message="said the server"))
    assert (problem.status, problem.again) == (status, again)
    assert "said the server" in str(problem)


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    assert failure(Answer(status=429, headers={"retry-after": "7"})).wait == 7
    assert failure(Answer(status=429, headers={"retry-after-ms": "1500"})).wait == 1.5
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    wait = failure(Answer(status=503, headers={"retry-after": date})).wait
    assert wait is not None and 50 < wait <= 100


@pytest.mark.parametrize("after", [0, 2])
def test_a_dropped_connection_is_worth_another_try_and_what_came_is_counted(after: int) -> None:
    problem = failure(Answer("a long answer that breaks off somewhere", drop_after=after))
    assert problem.again
    assert (problem.usage.completion > 0) == (after > 0)
    assert not after or not problem.usage.said


def test_garbage_in_a_stream_is_a_broken_answer() -> None:
    assert failure(Answer("words and words", garbage=True)).again


def test_a_slow_stream_is_waited_for_but_not_for_ever() -> None:
    assert ask(Answer("slow but good", seconds=0.02), timeout=5).text == "slow but good"
    problem = failure(Answer("x" * 60, seconds=0.1), timeout=0.25)
    assert problem.again
    assert "0.25 s" in str(problem) or "in time" in str(problem) or "broke off" in str(problem)


PING: Final = b": ping\n\n"
PIECE: Final = b'data: {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", \
"choices": [{"index": 0, "delta": {"content": "xxxxxxxx"}}]}\n\n'


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("piece", [PING, PIECE, b"x", b" ", b"data: ", b"\0", b"\x1b[2J\n"])
@pytest.mark.parametrize("bound", ["size", "time"])
def test_an_answer_without_end_is_given_up(
    bound: str, piece: bytes, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_client, "MOST_BYTES", 200_000)
    size, pause = (10_000 // len(piece), 0.0) if bound == "size" else (1, 0.01)
    with endless(piece * size, pause) as url:
        model = ModelSettings(
            model="m", endpoint=url, stream=stream, timeout=20 if size > 1 else 0.5
        )
        with pytest.raises(ChatFailure) as caught:  # without the bound it does not end
            EndpointChat(model).complete(HELLO, None)
    assert caught.value.again


HEAD: Final = b"HTTP/1.1 200 OK\r\n"
CHUNKS: Final = b"Transfer-Encoding: chunked\r\n\r\n"
DRIPPING: Final = {
    "status": (b"HTTP/1.1 200 ", b"x"),
    "one header": (HEAD + b"X: ", b"x"),
    "informational": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "size of a chunk": (HEAD + CHUNKS + b"1;", b"x"),
    "trailer": (HEAD + CHUNKS + b"0\r\nX: ", b"x"),
}
"""Where an answer may come byte by byte: its start, and what follows for ever."""


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("place", DRIPPING)
def test_an_answer_that_comes_drop_by_drop_is_given_up(place: str, stream: bool) -> None:
    start, drop = DRIPPING[place]
    with starting(start, drop, 0.02) as url:
        model = ModelSettings(model="m", endpoint=url, stream=stream, timeout=0.5)
        with pytest.raises(ChatFailure) as caught:  # without the bound it does not end
            EndpointChat(model).complete(HELLO, None)
    assert caught.value.again


FORMS: Final = (
    *("5", "[]", '"words"', "null", "{}", "words", '{"choices": 5}', '{"choices": [5]}'),
    *('{"choices": [null]}', '{"choices": {"0": 1}}', '{"choices": [{"message": 5, "delta": 5}]}'),
    '{"choices": [{"index": 0, "finish_reason": 7, "message": {"content": 7}, "delta": {"content":'
    " [7]}}]}",
    '{"choices": [{"finish_reason": "stop", "message": {"content": "x"}, "delta": {"content": "x"}'
    '}], "usage": {"prompt_tokens": -1000000000, "completion_tokens": "many"}}',
    '{"choices": [{"finish_reason": "stop", "message": {"content": "x"}, "delta": {"content": "x"}'
    '}], "usage": 5}',
)


@pytest.mark.parametrize("kind", ["application/json", "text/html"])
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_an_answer_ends_in_anything_but_a_failure(
    form: str, stream: bool, kind: str
) -> None:
    body = f"data: {form}\n\ndata: [DONE]\n\n" if stream else form
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    with starting((head + body).encode()) as url:
        model = ModelSettings(model="m", endpoint=url, stream=stream, timeout=5)
        with pytest.raises(ChatFailure) as caught:
            EndpointChat(model).complete(HELLO, None)
    assert caught.value.usage.prompt >= 0


def test_an_answer_that_is_packed_is_given_up_unread() -> None:
    """A megabyte of gzip can hold a gigabyte."""
    packed = gzip.compress(b" " * 1_000_000)
    with endless(packed, 0, "Content-Encoding: gzip\r\n") as url, pytest.raises(ChatFailure):
        EndpointChat(ModelSettings(model="m", endpoint=url)).complete(HELLO, None)


def test_nobody_listening_is_said_with_the_host() -> None:
    with serving(lambda asked: Answer()) as server:
        model = model_at(server)
    with pytest.raises(ChatFailure, match="127.0.0.1") as caught:
        EndpointChat(model).complete(HELLO, None)
    assert caught.value.again


def test_what_an_endpoint_refuses_is_left_out_and_not_tried_again() -> None:
    def picky(asked: Asked) -> Answer:
        body: dict[str, Any] = asked.body
        if body.get("response_format", {}).get("type") == "json_schema":
            return Answer(status=400, message="This response_format type is unavailable now")
        for name in ("max_tokens", "temperature", "stream_options"):
            if name in body:
                return Answer(status=400, message=f"Unsupported parameter: '{name}'")
        return Answer("{}")

    with serving(picky) as server:
        chat = EndpointChat(model_at(server))
        assert chat.complete(HELLO, SCHEMA).text == "{}"
        first = len(server.asked)
        assert chat.complete(HELLO, SCHEMA).text == "{}"
        assert len(server.asked) == first + 1
        last = server.asked[-1].body
    assert last["response_format"] == {"type": "json_object"}
    assert last["max_completion_tokens"] == 8192


def test_a_schema_is_sent_where_the_endpoint_takes_it() -> None:
    with serving(lambda asked: Answer("{}")) as server:
        EndpointChat(model_at(server)).complete(HELLO, SCHEMA)
        form = server.asked[0].body["response_format"]
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"] == SCHEMA


def test_the_key_goes_to_the_endpoint_alone_and_never_into_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASCENDOPT_LLM_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other-0123456789abcdefgh")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    with serving(lambda asked: Answer(status=401, message=f"Incorrect API key: {KEY}")) as server:
        with pytest.raises(ChatFailure) as caught:
            EndpointChat(model_at(server)).complete(HELLO, None)
        headers = server.asked[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not any("other" in v or "org-of" in v for v in headers.values())
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_source_goes_where_a_redirection_leads(status: int) -> None:
    with serving(lambda asked: Answer()) as elsewhere:
        leading = {"location": f"{elsewhere.url}/chat/completions"}
        said = str(failure(Answer(status=status, headers=leading)))
    assert f"status {status}" in said and elsewhere.asked == []


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
def test_no_source_for_a_server_of_this_machine_goes_to_a_proxy(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(lambda asked: Answer()) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert ask(Answer("here")).text == "here"
        assert proxy.asked == []


def test_no_key_crosses_a_network_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda asked: Answer()) as server:
        model = model_at(server)
    model = model.model_copy(update={"key": "SOME_KEY"})
    monkeypatch.setenv("SOME_KEY", KEY)
    for address in ("http://models.example/v1", "http://10.0.0.5:8000/v1", "http://[::2]/v1"):
        with pytest.raises(InputError, match="in the clear") as caught:
            connect(model.model_copy(update={"endpoint": address}))
        assert KEY not in str(caught.value)
    for address in ("https://models.example/v1", "http://localhost:1/v1", "http://[::1]/v1"):
        assert connect(model.model_copy(update={"endpoint": address})).api_key == KEY
    monkeypatch.delenv("SOME_KEY")
    assert connect(model.model_copy(update={"endpoint": "http://10.0.0.5:8000/v1"}))


def test_the_same_client_asks_for_embeddings() -> None:
    with serving(lambda asked: Answer()) as server:
        found = connect(model_at(server)).embeddings.create(
            model="e", input=["a", "b"], encoding_format="float"
        )
    assert len(found.data) == 2
    assert found.data[0].embedding != found.data[1].embedding
