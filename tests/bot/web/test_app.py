import asyncio
import contextlib
import select
import socket
import sqlite3
import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest

from bot.report import write_reports
from bot.server.one_item import DEFECT
from bot.server.queue import Queue
from bot.web import app, protocol
from bot.web.app import make_app
from bot.web.dashboard import Dashboard
from tests.bot.events.payloads import hub_comment, hub_headers, raw
from tests.bot.make import job, result
from tests.bot.web.running import FRAME_COLOURS, Answer, Server, browse, colours_shown, running

SECRET = "s3cret"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


class Bench:
    """The application over a queue of its own."""

    def __init__(self, folder: Path, password: str = "") -> None:
        self.queue = Queue(folder / "queue.sqlite")
        self.runs = folder / "runs"
        self.healthy = True
        self.alarms: list[str] = []
        rows = [
            {
                "id": "t1",
                "title": HOSTILE,
                "bottleneck": "MTE2 waits",
                "similarity": 0.5,
                "uses": 2,
                "wins": 1,
                "status": "verified",
            }
        ]
        self.dashboard = Dashboard(
            self.queue, self.runs, password, lambda query: {"figures": {"tuples": 1}, "rows": rows}
        )
        self.app = make_app(
            self.queue,
            {("github", "team/ops"): SECRET},
            lambda: self.healthy,
            self.dashboard,
            alarms=lambda: self.alarms,
        )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def server(bench: Bench) -> Iterator[Server]:
    with running(bench.app) as made:
        yield made


def comment(repository: str = "team/ops") -> bytes:
    return raw(hub_comment(3, 9, repository))


def deliver(server: Server, body: bytes, delivery: str = "d1", secret: str = SECRET) -> Answer:
    return server.ask("/webhook/github", "POST", body, hub_headers(body, secret, delivery))


def test_a_signed_delivery_is_stored_and_acknowledged(bench: Bench, server: Server) -> None:
    answer = deliver(server, comment())
    assert (answer.status, answer.json()) == (202, {"accepted": True})
    taken = bench.queue.next_event(2e9)
    assert taken is not None
    assert (taken[1].number, taken[1].comment_id) == (3, 9)


def test_a_redelivery_is_acknowledged_and_not_stored(bench: Bench, server: Server) -> None:
    deliver(server, comment())
    assert deliver(server, comment()).json() == {"accepted": False}
    assert bench.queue.counts()["events"] == {"new": 1}


def test_no_repositorys_secret_signs_for_another(bench: Bench) -> None:
    """Who may read the one could speak for people of the other: an edit of the dashboard says who
    ticked a box, and nothing else does."""
    app = make_app(
        bench.queue,
        {("github", "team/ops"): "one", ("github", "team/nn"): "two"},
        lambda: True,
        bench.dashboard,
    )
    with running(app) as server:
        for repository, secret in (("team/ops", "two"), ("Team/NN", "one")):
            answer = deliver(server, comment(repository), secret=secret)
            assert (answer.status, bench.queue.counts()["events"]) == (401, {})
            assert "another repository's secret" in answer.body
        for repository, secret in (("Team/Ops", "one"), ("team/nn", "two")):
            answer = deliver(server, comment(repository), repository, secret)
            assert (answer.status, answer.json()) == (202, {"accepted": True})


@pytest.mark.parametrize("secret", ["", "wrong"])
def test_a_bad_signature_is_refused_and_nothing_is_stored(
    bench: Bench, server: Server, secret: str
) -> None:
    assert deliver(server, comment(), secret=secret).status == 401
    assert bench.queue.counts()["events"] == {}


def test_a_repositorys_name_in_other_letters_is_served(bench: Bench, server: Server) -> None:
    assert deliver(server, comment("Team/OPS")).json() == {"accepted": True}


def test_a_repository_that_is_not_served_is_not_stored_and_the_log_says_so(
    bench: Bench, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    answer = deliver(server, comment("other/ops"))
    assert answer.status == 202 and answer.json()["accepted"] is False
    assert "github is about other/ops, which is not served" in caplog.text
    assert bench.queue.counts()["events"] == {}


def test_an_unknown_forge_and_a_broken_body_are_refused(server: Server) -> None:
    assert server.ask("/webhook/sourceforge", "POST", b"{}").status == 404
    assert deliver(server, b"{not json").status == 400
    assert server.ask("/webhook/github").status == 405


def test_health_is_what_the_service_says(bench: Bench, server: Server) -> None:
    assert server.ask("/healthz").status == 200
    bench.healthy = False
    assert server.ask("/healthz").status == 503


def test_an_alarm_makes_health_fail_and_is_named(bench: Bench, server: Server) -> None:
    bench.alarms = ["GitHub does not take the bot's token (HTTP 401): renew it."]
    answer = server.ask("/healthz")
    assert answer.status == 503 and "renew it" in answer.body
    bench.alarms = []
    assert server.ask("/healthz").status == 200


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (KeyError("state"), f"queue: {DEFECT}\n"),
        (OSError(28, "No space left on device", "/srv/secret"), "No space left on device.\n"),
        (sqlite3.OperationalError("database is locked"), "queue: database is locked\n"),
    ],
)
def test_health_says_a_sentence_of_what_the_queue_ran_into(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch, problem: Exception, said: str
) -> None:
    def broken() -> None:
        raise problem

    monkeypatch.setattr(bench.queue, "write_something", broken)
    answer = server.ask("/healthz")
    assert answer.status == 503 and answer.body.endswith(said)
    assert "Error" not in answer.body and "secret" not in answer.body


def test_a_renewed_secret_is_used_at_once(tmp_path: Path) -> None:
    bench, now = Bench(tmp_path), [SECRET]
    app = make_app(
        bench.queue,
        {("github", "team/ops"): lambda: now[0]},
        lambda: True,
        bench.dashboard,
    )
    with running(app) as server:
        assert deliver(server, comment()).status == 202
        now[0] = "renewed"
        assert deliver(server, comment(), secret=SECRET).status == 401
        assert deliver(server, comment(), secret="renewed").status == 202


def test_metrics_count_deliveries_and_the_queue(bench: Bench, server: Server) -> None:
    deliver(server, comment())
    deliver(server, comment())
    deliver(server, comment(), secret="wrong")
    bench.queue.add(job(), 5)
    text = server.ask("/metrics").body
    assert (
        'ascendopt_webhook_deliveries_total{forge="github",outcome="accepted"} 1.0' in text
        and 'ascendopt_webhook_deliveries_total{forge="github",outcome="duplicate"} 1.0' in text
        and 'ascendopt_webhook_deliveries_total{forge="github",outcome="refused"} 1.0' in text
        and 'ascendopt_jobs{state="queued"} 1.0' in text
        and 'ascendopt_events{state="new"} 1.0' in text
        and "ascendopt_oldest_queued_job_created_seconds 5.0" in text
    )


# The dashboard


def finished_run(bench: Bench) -> str:
    made = job()
    bench.queue.add(made, 1)
    bench.queue.claim("w", 2)
    bench.queue.finish(made.key, "w", 3, state="done", note=HOSTILE, merge_request=8, speedup=2.0)
    folder = bench.runs / made.key
    folder.mkdir(parents=True)
    write_reports(result(), folder)
    return made.key


@pytest.mark.more_programs
def test_a_browser_shows_jobs_and_nothing_of_what_strangers_wrote_is_run(
    bench: Bench, server: Server, tmp_path: Path
) -> None:
    finished_run(bench)
    page = browse(server, "/", tmp_path / "profile")
    assert "src/math/scale_add" in page and "2.00×" in page
    assert "<img" not in page and "<script" not in page
    assert "&lt;img" in page


def test_jobs_are_found_by_words_and_by_operator(bench: Bench, server: Server) -> None:
    key = finished_run(bench)
    for query, found in (
        ("q=scale+math", True),
        ("q=scale+nowhere", False),
        ("operator=src/math/scale_add", True),
        ("operator=src/math/scale", False),
    ):
        assert (f"/runs/{key}" in server.ask(f"/?{query}").body) is found
    assert "<script" not in server.ask("/?q=%3Cscript%3E&operator=%3Cscript%3E").body


def test_trends_are_drawn_from_what_ended(bench: Bench, server: Server) -> None:
    made, now = job(), time.time()
    bench.queue.add(made, now - 9)
    bench.queue.claim("w", now - 9)
    bench.queue.finish(made.key, "w", now, state="done", speedup=2.0)
    page = server.ask("/trends").body
    assert "done 1</title>" in page and "tuples" in page and "<script" not in page


def test_a_browser_shows_a_run_with_its_report_inside(
    bench: Bench, server: Server, tmp_path: Path
) -> None:
    key = finished_run(bench)
    page = server.ask(f"/runs/{key}").body
    assert "2.00× faster" in page and "<iframe" in page and "alice" in page
    for width in (1280, 420):
        colours = colours_shown(server, f"/runs/{key}", tmp_path, width)
        assert colours is None or colours > FRAME_COLOURS, "the report's frame is blank"
    report = server.ask(f"/runs/{key}/report.html")
    assert report.status == 200 and "<svg" in report.body
    assert "default-src 'none'" in report.headers["content-security-policy"]


def test_the_bank_can_be_searched(server: Server) -> None:
    page = server.ask("/bank?q=%3Cscript%3E").body
    assert "MTE2 waits" in page and "<script" not in page and HOSTILE not in page


def test_only_a_runs_known_files_are_given(bench: Bench, server: Server) -> None:
    key = finished_run(bench)
    assert server.ask(f"/runs/{key}/result.json").status == 200
    for path in (
        f"/runs/{key}/trials.sqlite",
        f"/runs/{key}/..%2f..%2fqueue.sqlite",
        "/runs/../queue.sqlite",
        "/runs/%2e%2e/result.json",
        "/runs/0000000000000000/result.json",
    ):
        assert server.ask(path).status == 404


def test_jobs_are_data_too(bench: Bench, server: Server) -> None:
    finished_run(bench)
    (row,) = server.ask("/api/jobs").json()["jobs"]
    assert row["state"] == "done" and row["job"]["operator"] == "src/math/scale_add"


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:99", "[::1]:8080"])
def test_without_a_password_this_machine_may_look(server: Server, host: str) -> None:
    assert server.ask("/", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"X-Forwarded-For": "203.0.113.9"}, "A proxy passed"),
        ({"X-Real-IP": "203.0.113.9"}, "A proxy passed"),
        ({"Forwarded": "for=203.0.113.9"}, "A proxy passed"),
        ({"Via": "1.1 front"}, "A proxy passed"),
        ({"Host": "bot.example.org"}, "another name"),
        ({"Host": "127.0.0.1.example.org"}, "another name"),
        ({"Host": "[::2]:80"}, "another name"),
        ({"Host": ""}, "another name"),
    ],
)
def test_without_a_password_nobody_from_elsewhere_may_look(
    server: Server, headers: dict[str, str], words: str
) -> None:
    answer = server.ask("/", headers=headers)
    assert answer.status == 403 and words in answer.body


def test_a_proxy_that_says_nothing_of_itself_speaks_an_old_http(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(b"GET / HTTP/1.0\r\nHost: 127.0.0.1:80\r\nConnection: close\r\n\r\n")
        assert b" 403 " in client.makefile("rb").readline()


def begun(server: Server, body: bytes, announced: int) -> socket.socket:
    """A connection that has sent a part of a delivery."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    head = f"POST /webhook/github HTTP/1.1\r\nHost: x\r\nContent-Length: {announced}\r\n\r\n"
    client.sendall(head.encode() + body)
    return client


def test_a_body_in_pieces_of_a_byte_costs_no_more_than_its_bytes(bench: Bench) -> None:
    pieces = 1_000_000  # a sum over all pieces for each of them takes hours

    async def answered() -> int:
        left = pieces
        status = 0

        async def receive() -> dict[str, object]:
            nonlocal left
            left -= 1
            return {"type": "http.request", "body": b"x", "more_body": left > 0}

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)

        scope = {"type": "http", "method": "POST", "path": "/webhook/github", "headers": []}
        scope |= {"query_string": b"", "root_path": "", "http_version": "1.1"}
        await bench.app(scope, receive, send)
        return status

    assert asyncio.run(answered()) == 401


def test_half_a_body_is_not_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "BODY_S", 0.3)
    with begun(server, b"half", 1000) as client:
        assert b" 408 " in client.makefile("rb").readline()
    assert deliver(server, comment()).status == 202


def test_half_a_head_is_not_waited_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_S", 0.3)
    with running(bench.app, http=protocol.ImpatientProtocol) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            client.sendall(b"POST /webhook/github HTTP/1.1\r\nHost: x\r\n")
            assert client.recv(1) == b""
            client.close()
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /heal")
            while client.recv(4096):
                pass
        assert deliver(server, comment()).status == 202


def test_a_body_in_tiny_pieces_keeps_nobody_else_waiting(bench: Bench) -> None:
    head = b"POST /webhook/github HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with running(bench.app, http=protocol.ImpatientProtocol) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            client.sendall(head)
            sent = 0
            with contextlib.suppress(OSError):  # the server closes it
                for _ in range(5000):
                    client.sendall(b"1\r\nx\r\n" * 1000)
                    sent += 1000
            with contextlib.suppress(OSError):
                assert b" 400 " in client.makefile("rb").readline()
        assert server.ask("/healthz").status == 200
        assert sent < 5_000_000
        assert deliver(server, comment()).status == 202


def test_a_body_that_a_proxy_has_cut_into_pieces_is_a_delivery(bench: Bench) -> None:
    body = comment()
    headers = {**hub_headers(body, SECRET, "d1"), "Transfer-Encoding": "chunked", "Host": "x"}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    cut = [body[at : at + 100] for at in range(0, len(body), 100)]
    with (
        running(bench.app, http=protocol.ImpatientProtocol) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=20) as client,
    ):
        client.sendall(f"POST /webhook/github HTTP/1.1\r\n{head}\r\n".encode())
        for piece in cut:
            client.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        client.sendall(b"0\r\n\r\n")
        assert b" 202 " in client.makefile("rb").readline()


def test_a_full_disk_is_told_and_what_came_meanwhile_is_stored_when_there_is_room(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = bench.queue._connect

    def full(pages: int) -> None:
        def limited() -> sqlite3.Connection:
            db = connect()
            db.execute(f"PRAGMA max_page_count = {pages}")
            return db

        monkeypatch.setattr(bench.queue, "_connect", limited)

    full(1)  # as many as it has
    for size in (4000, 400, 40, 4):
        with contextlib.suppress(sqlite3.OperationalError):
            for number in range(1000):
                bench.queue.set_fact(f"padding {size} {number}", "x" * size)
    answers = (deliver(server, raw(hub_comment(3, n, "team/ops")), f"d{n}") for n in range(100))
    accepted = next(n for n, answer in enumerate(answers) if answer.status == 503)
    told = server.ask("/healthz")
    assert told.status == 503 and "full" in told.body
    full(1_000_000)
    assert server.ask("/healthz").status == 200
    assert bench.queue.counts()["events"] == {"new": accepted + 1}


def test_bodies_of_strangers_share_bounded_memory(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "MAX_PENDING_BYTES", 300_000)
    clients = [begun(server, b"a" * 200_000, 1_000_000) for _ in range(2)]
    answered, _, _ = select.select(clients, [], [], 20)
    assert len(answered) == 1 and b" 503 " in answered[0].makefile("rb").readline()
    for client in clients:
        client.close()
    answers = (deliver(server, comment(), f"d{i}").status for i in range(50))
    assert 202 in answers  # once the server has seen that they are gone


def test_with_a_password_nobody_looks_without_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, password="open sesame")
    with running(bench.app) as server:
        assert server.ask("/").status == 401
        assert server.ask("/", headers={"Authorization": "Basic eDpub3Bl"}).status == 401
        assert server.ask("/", headers={"Authorization": "Basic ###"}).status == 401
        good = {"Authorization": "Basic eDpvcGVuIHNlc2FtZQ=="}
        assert server.ask("/", headers=good).status == 200
        assert server.ask("/healthz").status == 200
