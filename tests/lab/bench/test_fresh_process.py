"""A process that answers once: it ends with whoever asked."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from lab.bench.fresh_process import ask
from tests.places import TOP


def test_a_process_that_dies_before_it_has_read_all_has_said_nothing(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        assert ask("no.such.module", b"x" * 10_000_000, log) == (b"", 1)
    assert "No module named" in (tmp_path / "log").read_text()


def test_a_run_ends_with_who_asked_for_it(tmp_path: Path) -> None:
    asked = (
        "from pathlib import Path\n"
        "from lab.bench.cell_process import in_process\n"
        "from tests.lab.bench.test_cell_process import Pretended\n"
        f"in_process(Pretended(Path({str(tmp_path)!r}), 'sleeps'))\n"
    )
    asker = subprocess.Popen([sys.executable, "-c", asked], cwd=TOP)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text()):
        assert asker.poll() is None
        time.sleep(0.05)
    asker.send_signal(signal.SIGKILL)
    asker.wait()
    while Path(f"/proc/{pid.read_text()}").exists():  # the suite's time limit ends it
        time.sleep(0.05)
