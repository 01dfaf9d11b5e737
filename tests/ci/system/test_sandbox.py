"""The sandbox holds back what a hostile program tries, at each level that works here."""

import os
import platform
import resource
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from ci.model.environment import SANDBOX_VARIABLE
from ci.model.errors import EnvironmentProblem, TrialFailure
from ci.system import sandbox
from ci.system.candidate_compiler import compile_candidate
from ci.system.sandbox import (
    OUTPUT_BYTES,
    Completed,
    Level,
    Limits,
    run,
    sandbox_level,
)
from ci.system.sandbox_filter import syscall_filter
from ci.system.view import Part
from tests.ci.system.levels import CLOSED, LEVELS, NAMESPACES, PYTHON, attempt


def test_output_exit_code_and_written_files_come_back(tmp_path: Path, level: Level) -> None:
    done = attempt(
        "import sys; f = open('a', 'w'); f.write('kept'); print('said'); sys.exit(3)",
        tmp_path,
        level,
    )
    assert (done.returncode, done.signal, done.stdout) == (3, 0, b"said\n")
    assert (tmp_path / "a").read_text() == "kept"


def test_a_program_that_says_no_more_but_stays_is_stopped(tmp_path: Path, level: Level) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(250)"
    assert attempt(code, tmp_path, level, seconds=0.3).timed_out


def test_standard_input_reaches_the_program(tmp_path: Path, level: Level) -> None:
    text = b"x" * 300_000
    done = run(["/usr/bin/wc", "-c"], cwd=tmp_path, writable=[tmp_path], stdin=text,
               limits=Limits(seconds=20), level=level)  # fmt: skip
    assert done.stdout.strip() == b"300000"


def test_input_that_nobody_reads_does_no_harm(tmp_path: Path, level: Level) -> None:
    done = run(["/usr/bin/env", "true"], cwd=tmp_path, writable=[tmp_path], stdin=b"x" * 300_000,
               limits=Limits(seconds=20), level=level)  # fmt: skip
    assert done.ok


def test_an_endless_loop_is_ended(tmp_path: Path, level: Level) -> None:
    started = time.monotonic()
    done = attempt("while True: pass", tmp_path, level, seconds=1)
    assert done.timed_out
    assert time.monotonic() - started < 15


def test_a_sleeper_is_ended(tmp_path: Path, level: Level) -> None:
    assert attempt("import time; time.sleep(60)", tmp_path, level, seconds=1).timed_out


def test_forking_kills_the_program(tmp_path: Path, level: Level) -> None:
    done = attempt("import os; os.fork(); print('forked')", tmp_path, level)
    assert done.signal == signal.SIGSYS
    assert b"forked" not in done.stdout
    assert "forbidden system call" in done.ending()


def test_opening_a_socket_kills_the_program(tmp_path: Path, level: Level) -> None:
    done = attempt("import socket; socket.socket(); print('open')", tmp_path, level)
    assert done.signal == signal.SIGSYS or b"Error" in done.stderr
    assert b"open\n" not in done.stdout


CALLS = "import ctypes, os, resource\nlibc = ctypes.CDLL(None)\n"
OTHERS = {
    "limits": "resource.prlimit({pid}, resource.RLIMIT_CPU, (7, 7))",
    "priority": "os.setpriority(os.PRIO_PROCESS, {pid}, 19)",
    "processors": "os.sched_setaffinity({pid}, {{min(os.sched_getaffinity(0))}})",
    "scheduler": "os.sched_setscheduler({pid}, os.SCHED_BATCH, os.sched_param(0))",
    "disk": "libc.syscall({ioprio}, 1, {pid}, 3 << 13)",
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_others_get_of_the_machine_is_left_as_it_is(
    tmp_path: Path, level: Level, what: str
) -> None:
    """A limit on the processor's time ends the bot, and its priority its measurements."""
    victim = subprocess.Popen(["sleep", "60"])
    number = 251 if platform.machine() == "x86_64" else 30
    code = OTHERS[what].format(pid=victim.pid, ioprio=number)
    try:
        before = of_process(victim.pid)
        done = attempt(f"{CALLS}print({code} == 0)", tmp_path, level)
        assert of_process(victim.pid) == before
        assert not done.signal and (b"Error" in done.stderr or done.stdout == b"False\n")
    finally:
        victim.kill()
        victim.wait()


def of_process(pid: int) -> tuple[object, ...]:
    return (
        resource.prlimit(pid, resource.RLIMIT_CPU),
        os.getpriority(os.PRIO_PROCESS, pid),
        os.sched_getaffinity(pid),
        os.sched_getscheduler(pid),
    )


LASTING = {
    "memory": "libc.shmget({key}, 1 << 20, 0o1600)",
    "semaphores": "libc.semget({key}, 1, 0o1600)",
    "messages": "libc.msgget({key}, 0o1600)",
    "a queue": "libc.mq_open(b'/ascendopt-{key}', os.O_CREAT | os.O_RDWR, 0o600, None)",
    "a key": "libc.syscall({request_key}, b'user', b'ascendopt', None, 0)",
}


@pytest.mark.parametrize("what", LASTING)
def test_nothing_that_outlives_a_program_is_made(tmp_path: Path, level: Level, what: str) -> None:
    number = 249 if platform.machine() == "x86_64" else 218
    code = LASTING[what].format(key=0x5EC2E7, request_key=number)
    done = attempt(f"{CALLS}print({code})", tmp_path, level)
    assert done.signal == signal.SIGSYS and not done.stdout


def test_a_program_may_limit_itself(tmp_path: Path, level: Level) -> None:
    code = (
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "print(len(os.sched_getaffinity(0)))"
    )
    assert attempt(f"{CALLS}{code}", tmp_path, level).stdout == b"1\n"


def test_starting_a_program_is_possible_only_when_granted(tmp_path: Path, level: Level) -> None:
    code = "import os; print(os.waitpid(os.posix_spawn('/usr/bin/true', ['true'], {}), 0)[1])"
    assert attempt(code, tmp_path, level, processes=1).signal == signal.SIGSYS
    assert attempt(code, tmp_path, level, processes=8).stdout == b"0\n"


def test_memory_is_limited(tmp_path: Path, level: Level) -> None:
    done = attempt("b = bytearray(2 << 30); print('got it')", tmp_path, level,
                   memory_bytes=512 << 20)  # fmt: skip
    assert not done.ok
    assert b"got it" not in done.stdout


def test_file_size_is_limited(tmp_path: Path, level: Level) -> None:
    code = "f = open('big', 'wb', 0)\nfor _ in range(64): f.write(bytes(1 << 20))"
    done = attempt(code, tmp_path, level, file_bytes=4 << 20)
    assert not done.ok
    assert (tmp_path / "big").stat().st_size <= 4 << 20


def test_a_flood_of_output_is_cut(tmp_path: Path, level: Level) -> None:
    done = attempt("import sys\nfor _ in range(64): sys.stdout.write('x' * (1 << 20))",
                   tmp_path, level)  # fmt: skip
    assert done.ok
    assert len(done.stdout) == OUTPUT_BYTES


def test_the_environment_is_not_passed_on(
    tmp_path: Path, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_TOKEN", "ASCENDOPT_LLM_API_KEY", "DEEPSEEK_API_KEY"):
        monkeypatch.setenv(name, "secret-token")
    done = run(["/usr/bin/env"], cwd=tmp_path, writable=[tmp_path], limits=Limits(seconds=20),
               level=level)  # fmt: skip
    assert done.ok
    assert b"secret-token" not in done.stdout


def test_it_hides_and_protects_what_is_not_granted(tmp_path: Path, level: Level) -> None:
    granted, hidden = tmp_path / "granted", tmp_path / "hidden"
    granted.mkdir()
    hidden.mkdir()
    (hidden / "secret").write_text("secret")
    # The lower level cannot hide files, which is why it is called "limits".
    visible = level == "limits"
    for path in (hidden / "secret", Path("/etc/passwd"), Path("/proc/self/maps")):
        done = attempt(f"print(len(open({str(path)!r}).read()))", granted, level)
        assert done.ok == visible, path
    secret = str(hidden / "secret")
    for code in (
        f"open({str(hidden / 'planted')!r}, 'w')",
        f"import os; os.truncate({secret!r}, 1)",
        f"import os; os.rename({secret!r}, 'taken')",
        f"import os; os.link({secret!r}, 'taken'); open('taken').read()",
        f"import os; os.symlink({secret!r}, 'taken'); open('taken').read()",
    ):
        (hidden / "secret").write_text("secret")
        for path in (hidden / "planted", granted / "taken"):
            path.unlink(missing_ok=True)
        assert attempt(code, granted, level).ok == visible, code
        assert (hidden / "planted").exists() == (visible and "planted" in code)
        assert visible or (hidden / "secret").read_text() == "secret"


@pytest.mark.parametrize("sandbox", CLOSED)
def test_nothing_is_written_around_what_is_granted(tmp_path: Path, sandbox: Level) -> None:
    """With namespaces these folders live in memory, whose use nothing else would limit."""
    granted = tmp_path / "granted"
    granted.mkdir()
    for place in (Path("/"), Path("/dev"), Path("/dev/shm"), Path("/usr"), Path("/etc")):
        code = f"open({str(place / 'planted-by-a-test')!r}, 'w')"
        assert not attempt(code, granted, sandbox).ok, place
    assert attempt("open('/dev/null', 'w').write('x'); open('here', 'w')", granted, sandbox).ok


@pytest.mark.parametrize("sandbox", CLOSED)
@pytest.mark.parametrize("entry", ["environ", "mem", "maps", "cwd"])
def test_other_processes_cannot_be_looked_into(tmp_path: Path, sandbox: Level, entry: str) -> None:
    code = f"import os; os.listdir('/proc/{os.getpid()}/cwd'); print('seen')"
    if entry != "cwd":
        code = f"print('seen', open('/proc/{os.getpid()}/{entry}', 'rb').read(1))"
    for processes in (1, 8):
        done = attempt(code, tmp_path, sandbox, processes=processes)
        assert not done.ok and b"seen" not in done.stdout


@pytest.mark.parametrize("sandbox_of_compiler", CLOSED)
def test_a_source_that_includes_secrets_does_not_compile(
    tmp_path: Path, sandbox_of_compiler: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "sandbox_level", lambda: sandbox_of_compiler)
    monkeypatch.setenv("ASCENDOPT_TOKEN", "s3cret")
    token, cwd = tmp_path / "token", tmp_path / "cwd"
    token.write_text("s3cret")
    cwd.mkdir()
    for place in ("/proc/self/environ", f"/proc/{os.getpid()}/environ", str(token)):
        (cwd / "a.cpp").write_text(f'#include "{place}"\nint a;\n')
        with pytest.raises(TrialFailure) as caught:
            compile_candidate(["-c", "a.cpp", "-o", "a.o"], cwd, [], "kernel")
        assert "s3cret" not in repr(caught.value.refusal)
    (cwd / "a.cpp").write_text("int a;\n")
    compile_candidate(["-c", "a.cpp", "-o", "a.o"], cwd, [], "kernel")
    assert (cwd / "a.o").is_file()


X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003
NAMES = {X86_64: "x86_64", AARCH64: "aarch64"}


def verdict(
    architecture: int, number: int, *, may_spawn: bool, of: int = X86_64, first: int = 0
) -> bool:
    """Whether the filter lets a system call pass, by the rules of classic BPF; `first` is its first
    argument."""
    filtered = syscall_filter(may_spawn=may_spawn, processor=NAMES[of])
    program = list(struct.iter_unpack("=HBBI", filtered))
    at = loaded = 0
    while True:
        code, true, false, operand = program[at]
        if code == 0x06:
            return bool(operand == 0x7FFF0000)
        if code == 0x20:
            loaded = {0: number, 4: architecture, 16: first}[operand]
            at += 1
        else:
            holds = loaded >= operand if code == 0x35 else loaded == operand
            at += 1 + (true if holds else false)


def test_the_filter_forbids_every_call_of_another_architecture() -> None:
    assert verdict(X86_64, 0, may_spawn=False)  # read
    assert not verdict(X86_64, 41, may_spawn=True)  # socket
    assert verdict(X86_64, 57, may_spawn=True)  # fork
    assert not verdict(X86_64, 57, may_spawn=False)
    assert not verdict(X86_64, 0x40000000 | 41, may_spawn=True)  # socket of the x32 ABI
    assert not verdict(I386, 359, may_spawn=True)  # socket by int 0x80


def test_the_filter_lets_a_program_limit_itself_and_no_other() -> None:
    for of, limit in ((X86_64, 302), (AARCH64, 261)):  # prlimit64
        assert verdict(of, limit, may_spawn=False, of=of)
        assert not verdict(of, limit, may_spawn=True, of=of, first=7)
    assert verdict(X86_64, 0, may_spawn=False, first=7)  # read


def test_the_filter_for_aarch64_knows_that_processors_calls() -> None:
    assert verdict(AARCH64, 63, may_spawn=False, of=AARCH64)  # read
    assert not verdict(AARCH64, 198, may_spawn=True, of=AARCH64)  # socket
    assert verdict(AARCH64, 220, may_spawn=True, of=AARCH64)  # clone
    assert not verdict(AARCH64, 220, may_spawn=False, of=AARCH64)
    assert not verdict(X86_64, 0, may_spawn=True, of=AARCH64)


@pytest.mark.parametrize("sandbox", NAMESPACES)
def test_what_a_compiler_leaves_behind_ends_with_it(tmp_path: Path, sandbox: Level) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    for fd in (0, 1, 2): os.close(fd)\n"
        "    open('stayed', 'w').close()\n"
        "    time.sleep(1)\n"
        "    open('later', 'w').close()\n"
        "    os._exit(0)\n"
        "while not os.path.exists('stayed'): time.sleep(0.01)"
    )
    assert attempt(code, tmp_path, sandbox, processes=8).ok
    time.sleep(1.2)
    assert (tmp_path / "stayed").exists()
    assert not (tmp_path / "later").exists()


def test_the_strongest_level_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SANDBOX_VARIABLE, raising=False)
    assert sandbox_level() == LEVELS[0]


def test_a_variable_names_the_level(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SANDBOX_VARIABLE, level)
    assert sandbox_level() == level


@pytest.mark.parametrize("named", ["jail", "Landlock", "limits only"])
def test_a_level_that_does_not_exist_is_refused(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SANDBOX_VARIABLE, named)
    with pytest.raises(EnvironmentProblem, match=f"is '{named}'; it can be bubblewrap, landlock"):
        sandbox_level()


def test_a_level_that_does_not_work_here_is_never_replaced_by_a_weaker_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SANDBOX_VARIABLE, "bubblewrap")
    monkeypatch.setattr(sandbox, "_works_here", lambda level: level != "bubblewrap")
    with pytest.raises(EnvironmentProblem, match="'bubblewrap', which does not work on this"):
        sandbox_level()


def test_of_a_part_of_a_folder_only_its_entries_can_be_read(tmp_path: Path, level: Level) -> None:
    package = tmp_path / "top" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("answer = 42\n")
    (package / "other.py").write_text("secret = 43\n")
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    seen = [Path(PYTHON).parent.parent, Part(tmp_path / "top", (package / "__init__.py",))]

    def said(code: str) -> Completed:
        lines = f"import sys; sys.path.insert(0, {str(tmp_path / 'top')!r}); {code}"
        return run([PYTHON, "-I", "-S", "-c", lines], cwd=cwd, readable=seen, writable=[cwd],
                   limits=Limits(seconds=20), level=level)  # fmt: skip

    assert said("import package; print(package.answer)").stdout == b"42\n"
    opens = said(f"open({str(package / 'other.py')!r})")
    assert opens.ok == (level == "limits")


@pytest.mark.long
def test_a_program_may_see_more_paths_than_one_word_holds(tmp_path: Path, level: Level) -> None:
    """The kernel takes 128 KiB a word: a launch may have thousands of inputs."""
    files = [tmp_path / f"{number:04}{'x' * 240}" for number in range(600)]
    for file in files:
        file.touch()
    work = tmp_path / "work"
    work.mkdir()
    seen = [Path(PYTHON).parent.parent, *files]
    code = f"open({str(files[-1])!r}); print('read')"
    done = run([PYTHON, "-I", "-S", "-c", code], cwd=work, readable=seen, writable=[work],
               limits=Limits(seconds=60, files=4096), level=level)  # fmt: skip
    assert done.stdout == b"read\n", done
