"""Thousands of deliveries, as a busy forge sends them: repeated, forged, out of order.

Prints the figures that docs/bot.md shows:  pytest -s tests/bot/web/test_many_deliveries.py
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import hmac
import http.client
import json
import random
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from bot.repository.connection import Connections
from bot.server.queue import Queue
from bot.server.service import Service
from bot.server.worker import WorkSettings
from bot.web.app import make_app
from bot.web.dashboard import Dashboard
from tests.bot.operator_repository import KERNEL, operator_repository
from tests.bot.web.running import running

DELIVERIES = 4_000
DUPLICATES, FORGED = 0.10, 0.05
REQUESTS = 40  # merge requests; each gets one `/optimize` among all the talk
SENDERS = 4
SECRET = "s3cret"
# Memory that may come and go with caches and garbage in the second half, by when everything was
# used once; a leak of 1 kB a delivery would be 2 MB.
SLACK_BYTES = 1_500_000


def body(number: int, comment: int, text: str) -> bytes:
    return json.dumps(
        {
            "action": "created",
            "repository": {"full_name": "team/ops"},
            "issue": {"number": number, "pull_request": {"url": "x"}},
            "comment": {"id": comment, "body": text, "user": {"login": "alice"}},
            "sender": {"login": "alice"},
        }
    ).encode()


def branches(bare: Path, count: int) -> None:
    """Branches of `main` with another kernel each, by one git: pushing each costs a second."""
    made = ""
    for i in range(count):
        text = f"int kernel = {i + 100};\n"
        made += (
            f"commit refs/heads/branch-{i}\ncommitter Alice <alice@example.org> {i} +0000\n"
            f"data 6\nChange\nfrom refs/heads/main^0\nM 100644 inline {KERNEL}\n"
            f"data {len(text)}\n{text}\n"
        )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=bare, input=made.encode(), check=True)


def bytes_in_use() -> int:
    """What this process holds of its own, without garbage and without what other tests freed."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["RssAnon"].split()[0]) * 1024


@pytest.mark.long
def test_each_job_is_made_and_done_exactly_once_and_memory_stays_flat(tmp_path: Path) -> None:
    ops = operator_repository(tmp_path, "limits: {operators_per_event: 1}\n")
    alice = ops.as_user("alice")
    genuine: list[tuple[str, bytes]] = []
    branches(ops.folder / "ops.git", REQUESTS)
    for i in range(REQUESTS):
        number = alice.open(f"Change {i}", "", f"branch-{i}", "main").number
        comment = alice.comment(number, "/optimize")
        genuine.append((f"command-{i}", body(number, comment.id, "/optimize")))
    rest = round(DELIVERIES * (1 - DUPLICATES - FORGED)) - REQUESTS
    # Some of the talk names the command in passing: only the planner can tell.
    words = [f"Nice work {i}." if i % 10 else f"Ask for /optimize {i}" for i in range(rest)]
    talk = [alice.comment(1, "Ask for /optimize").id for _ in range(20)]
    genuine += [(f"talk-{i}", body(1, talk[i % 20], text)) for i, text in enumerate(words)]
    stored = REQUESTS + sum("/optimize" in text for text in words)
    dice = random.Random(5)
    sent = [(name, data, SECRET) for name, data in genuine]
    sent += [(n, d, SECRET) for n, d in dice.choices(genuine, k=round(DELIVERIES * DUPLICATES))]
    # Every command is forged too, so that one which slips through would be seen.
    forged = [(f"forged-{i}", genuine[i % REQUESTS][1]) for i in range(round(DELIVERIES * FORGED))]
    sent += [(name, data, "wrong") for name, data in forged]
    dice.shuffle(sent)
    assert len(sent) == DELIVERIES

    queue = Queue(tmp_path / "bot" / "queue.sqlite")
    connections = Connections(tmp_path / "bot", [("github", "team/ops", lambda: ops.bot)])
    service = Service(queue, connections, WorkSettings(data=tmp_path / "bot"), workers=0)
    app = make_app(
        queue,
        {("github", "team/ops"): SECRET},
        lambda: service.alive,
        Dashboard(queue, tmp_path, "", lambda query: {}),
    )
    answers: Counter[int] = Counter()
    done: Counter[str] = Counter()
    finished = threading.Event()
    sizes: list[int] = []

    def work() -> None:
        """A worker whose runs take no time: what is counted is how often each is handed out."""
        while not finished.is_set():
            record = queue.claim("w", time.time(), {"sim:910B4": 8})
            if record is None:
                time.sleep(0.05)
                continue
            done[record.job.key] += 1
            queue.ran(record.job.key, "w")
            queue.finish(record.job.key, "w", time.time(), state="done")
        queue.close()

    def send(port: int, share: list[tuple[str, bytes, str]]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for name, data, secret in share:
            signature = hmac.new(secret.encode(), data, hashlib.sha256).hexdigest()
            headers = {
                "X-GitHub-Event": "issue_comment",
                "X-GitHub-Delivery": name,
                "X-Hub-Signature-256": f"sha256={signature}",
            }
            connection.request("POST", "/webhook/github", data, headers)
            answer = connection.getresponse()
            answer.read()
            answers[answer.status] += 1
            if sum(answers.values()) in (DELIVERIES // 2, DELIVERIES - SENDERS):
                sizes.append(bytes_in_use())
        connection.close()

    with running(app) as server:
        service.start()
        workers = [threading.Thread(target=work) for _ in range(2)]
        senders = [
            threading.Thread(target=send, args=(server.port, sent[i::SENDERS]))
            for i in range(SENDERS)
        ]
        begin = time.perf_counter()
        for thread in (*workers, *senders):
            thread.start()
        for thread in senders:
            thread.join()
        received = time.perf_counter() - begin
        assert answers == {202: DELIVERIES - len(forged), 401: len(forged)}
        deadline = time.monotonic() + 240
        while queue.counts()["events"].get("new", 0) or sum(done.values()) < REQUESTS:
            assert time.monotonic() < deadline, (queue.counts(), len(done))
            time.sleep(0.2)
        handled = time.perf_counter() - begin
        finished.set()
        for thread in workers:
            thread.join()
        service.stop()

    assert queue.counts() == {"events": {"done": stored}, "jobs": {"done": REQUESTS}}
    assert len(done) == REQUESTS and set(done.values()) == {1}
    for number in range(1, REQUESTS + 1):
        marks = [c.body for c in ops.bot.comments(number) if "ascendopt-run" in c.body]
        assert len(marks) == 1, "one status comment a run"
    assert len(sizes) == 2 and sizes[1] - sizes[0] < SLACK_BYTES
    print(
        f"\n{DELIVERIES} deliveries: {DELIVERIES / received:.0f} a second received, all handled"
        f" after {handled:.0f} s; {REQUESTS} jobs, each once; memory {sizes[0] / 1e6:.1f} MB"
        f" after half of them, {sizes[1] / 1e6:.1f} MB at the end"
    )
