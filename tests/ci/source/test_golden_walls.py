"""What a golden function may not do, at each level of the sandbox that works here."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from ci.model.dtypes import to_bfloat16
from ci.model.errors import InputError
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source import golden as golden_module
from ci.source.discovery import load_operator
from ci.source.golden import Golden, golden_function
from ci.source.inputs import draw_inputs
from ci.system.sandbox import Level, works
from tests.ci.small_operator import write_operator

LEVELS: list[Level] = [level for level in ("bubblewrap", "landlock") if works(level)]
SECRET = "s3cret-of-the-bot"


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Level:
    return request.param  # type: ignore[no-any-return]


def golden(folder: Path, source: str, level: Level | None = None, dtype: str = "float32") -> Golden:
    (folder / "golden.py").write_text(source)
    case = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype=dtype),))
    return Golden(
        Workload(operator="Op", cases=(case,), golden="golden.py:f", folder=folder), level=level
    )


def answer(made: Golden, dtype: str = "float32") -> object:
    case = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype=dtype),))
    x = np.zeros(2, np.float32)
    (out,) = made.outputs(case, [to_bfloat16(x) if dtype == "bfloat16" else x])
    assert isinstance(out, np.ndarray)
    return out.tolist()


TRIES = {
    "environment": "import os\nfound = repr(dict(os.environ))",
    "its parent's environment": f"found = open('/proc/{os.getpid()}/environ').read()",
    "its own environment": "found = open('/proc/self/environ').read()",
    "a token file": "found = open('{token}').read()",
    "a listing": "import os\nfound = repr(os.listdir('{home}'))",
    "a write": "found = open('{token}', 'w').write('s3cret-of-the-bot') and 's3cret-of-the-bot'",
    "a write beside it": "found = open(__file__, 'w').write('x') and 's3cret-of-the-bot'",
    "a program": "import subprocess\nfound = subprocess.check_output(['cat', '{token}']).decode()",
    "the network": "import socket\nsocket.socket()\nfound = 's3cret-of-the-bot'",
    "a signal": f"import os\nos.kill({os.getpid()}, 0)\nfound = 's3cret-of-the-bot'",
    "a mode": "import os\nos.chmod('{token}', 0o777)\nfound = 's3cret-of-the-bot'",
}


@pytest.mark.parametrize("what", TRIES)
def test_a_golden_reaches_nothing_of_the_bot(
    tmp_path: Path, level: Level, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCENDOPT_TOKEN", SECRET)
    home, folder = tmp_path / "home", tmp_path / "workload"
    home.mkdir()
    folder.mkdir()
    (home / SECRET).write_text(SECRET)
    attempt = TRIES[what].replace("{token}", str(home / SECRET)).replace("{home}", str(home))
    body = "\n    ".join(attempt.splitlines())
    source = (
        f"def f(x):\n    {body}\n"
        f"    assert {SECRET[::-1]!r}[::-1] not in found, 'reached'\n    return x\n"
    )
    before = (home / SECRET).stat()
    try:
        assert answer(golden(folder, source, level)) == [0, 0]
    except InputError as problem:
        assert "reached" not in str(problem)
    after = (home / SECRET).stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert (folder / "golden.py").read_text() == source


def test_hidden_files_beside_a_golden_are_not_shown(tmp_path: Path, level: Level) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(SECRET)
    (tmp_path / "table.txt").write_text("7 8")
    source = (
        "from pathlib import Path\nimport numpy as np\nhere = Path(__file__).parent\n"
        "def f(x):\n    try:\n        (here / '.git/config').read_text()\n"
        "    except OSError:\n        return np.loadtxt(here / 'table.txt')\n"
    )
    assert answer(golden(tmp_path, source, level)) == [7, 8]


def test_siblings_and_packages_beside_a_golden_can_be_imported(
    tmp_path: Path, level: Level
) -> None:
    (tmp_path / ".cache").mkdir()
    (tmp_path / "pads" / ".cache").mkdir(parents=True)
    (tmp_path / "pads" / "__init__.py").write_text("from pads.edge import pad\n")
    (tmp_path / "pads" / "edge.py").write_text("def pad(x):\n    return x + 3\n")
    source = "def f(x):\n    from pads import pad\n    return pad(x)\n"
    assert answer(golden(tmp_path, source, level)) == [3, 3]


def test_scipy_can_be_imported(tmp_path: Path, level: Level) -> None:
    source = "from scipy import special\ndef f(x):\n    return special.erf(x) + 1\n"
    assert answer(golden(tmp_path, source, level)) == [1, 1]


def test_nothing_of_this_project_can_be_imported(tmp_path: Path, level: Level) -> None:
    with pytest.raises(InputError, match="needs the Python package 'ci'"):
        golden(tmp_path, "import ci.model.errors\ndef f(x):\n    return x\n", level)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import os\n    os._exit(3)", "ended with exit code 3 while it computed case 'c'"),
        ("import sys\n    sys.exit(3)", "failed on case 'c' at line 3 of golden.py: SystemExit: 3"),
        ("import os\n    os.closerange(5, 9)\n    [os.write(fd, bytes(64)) for fd in (3, 4) if fd]",
         "is none|Bad file"),
        ("while True: pass", "was stopped after"),
        ("import numpy as np\n    return np.zeros(1 << 36, np.int8)", "MemoryError"),
        ("print('noise')\n    raise ValueError('a' * 5000)", "ValueError: a{100,1000}"),
        ("while True: print('x' * 100_000)", "was stopped after"),
        ("import os\n    while True: os.fork()", "forbidden system call"),
        ("import os, time\n    if not os.fork(): os.setsid(), time.sleep(600)\n    return x",
         "forbidden system call"),
        ("import threading as t\n    while True: t.Thread(target=t.Event().wait).start()",
         "forbidden system call|RuntimeError"),
        ("import sys\n    here = sys._getframe()\n    while 'answers' not in here.f_locals:\n"
         "        here = here.f_back\n    here.f_locals['answers'].write(bytes(99))\n    return x",
         "gave a malformed answer"),
        ("return [x] * 40_000", "gave a malformed answer|was stopped"),
        ("class E(Exception):\n        def __str__(self): raise SystemExit(5)\n    raise E",
         "ended with exit code 5"),
        ("import numpy as np\n    np.asarray = None\n    return x", "ended with exit code 1"),
        ("raise ValueError('\\x1b[2J\\n::error::x')", r"ValueError: \[2J ::error::x"),
        ("return [[x]]", "gave a malformed answer"),
        ("return None", "returned for case 'c' a NoneType, not an array of numbers"),
    ],
)  # fmt: skip
def test_a_golden_that_misbehaves_is_told_in_a_sentence(
    tmp_path: Path, body: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(golden_module, "CASE_SECONDS", 2.0)
    with pytest.raises(InputError, match=words):
        answer(golden(tmp_path, f"def f(x):\n    {body}\n"))


STATE = {
    "counts its calls": "n = []\ndef f(x):\n    n.append(1)\n    return x + len(n)",
    "changes after five calls": "n = []\ndef f(x):\n    n.append(1)\n    return x + (len(n) > 5)",
    "is another once": "n = []\ndef f(x):\n    n.append(1)\n    return x + (len(n) == 3)",
    "alternates": "n = []\ndef f(x):\n    n.append(1)\n    return x + len(n) % 2",
    "keeps its first answer": "kept = []\ndef f(x):\n    kept.append(x + 1)\n    return kept[0]",
    "keeps the last inputs": "kept = [0]\ndef f(x):\n    kept.append(x * 1)\n"
    "    return kept[-2] + x",
    "keeps a file": "import os, tempfile\nplace = tempfile.gettempdir() + '/n'\ndef f(x):\n"
    "    with open(place, 'a') as file:\n        file.write('x')\n"
    "    return x + os.path.getsize(place)",
    "draws at random": "import numpy as np\ndef f(x):\n    return x + np.random.rand(2)",
    "reads the clock": "import time\ndef f(x):\n    return x + time.time() % 1",
    "knows where memory lies": "def f(x):\n    return x + id(x) % 99_991",
}


@pytest.mark.parametrize("what", STATE)
def test_a_golden_that_answers_the_same_inputs_in_two_ways_is_told(
    tmp_path: Path, what: str
) -> None:
    """Else what it says for one candidate is not what it says for the next."""
    made = golden(tmp_path, STATE[what])
    case = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype="float32"),))
    with pytest.raises(InputError, match="golden.py:f answered the inputs of case 'c' in two ways"):
        for seed in range(12):
            (out,) = made.outputs(case, [np.full(2, seed, np.float32)])
            if what in ("changes after five calls", "is another once"):
                assert np.array_equal(out, np.full(2, seed)), "a wrong answer without a word"
    with pytest.raises(InputError, match="in two ways"):  # from then on
        made.outputs(case, [np.zeros(2, np.float32)])


def test_a_golden_that_starts_from_a_seed_of_its_own_is_good(tmp_path: Path) -> None:
    source = "import numpy as np\ndef f(x):\n    return np.random.default_rng(7).random(2) + x\n"
    made = golden(tmp_path, source)
    assert [answer(made) for _ in range(7)] == [answer(made)] * 7


def test_an_answer_that_compares_as_it_likes_is_plain_numbers_here(tmp_path: Path) -> None:
    source = (
        "import numpy as np\nclass Any(np.ndarray):\n    def __eq__(self, other): return True\n"
        "    __array_ufunc__ = __ne__ = __sub__ = __eq__\ndef f(x):\n    return x.view(Any)\n"
    )
    case = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype="float32"),))
    (out,) = golden(tmp_path, source).outputs(case, [np.zeros(2, np.float32)])
    assert type(out) is np.ndarray
    assert not (out == 1).any()


def test_a_golden_goes_on_after_a_mistake_and_after_its_thread_has_ended(tmp_path: Path) -> None:
    source = (
        "calls = []\ndef f(x):\n    calls.append(1)\n    if len(calls) == 1: x[9]\n    return x\n"
    )
    made: list[Golden] = []
    maker = threading.Thread(target=lambda: made.append(golden(tmp_path, source)))
    maker.start()
    maker.join()
    with pytest.raises(InputError, match="IndexError"):
        answer(made[0])
    assert answer(made[0]) == [0, 0]


def test_a_golden_that_nobody_knows_any_more_has_no_process(tmp_path: Path) -> None:
    made = golden(tmp_path, "def f(x):\n    return x\n")
    process = made._resident._process
    assert process.poll() is None
    del made
    assert process.poll() is not None


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_golden_is_told_the_dtypes(tmp_path: Path, dtype: str) -> None:
    inputs = (
        TensorCase(shape=(2,), dtype=dtype),
        TensorCase(shape=(0,), dtype="uint8", present=False),
        (TensorCase(shape=(2,), dtype="float32"),),
    )
    case = WorkloadCase(name="c", inputs=inputs)
    workload = Workload(operator="Op", cases=(case,), golden="golden.py:f", folder=tmp_path)
    told = f"{{'x': '{dtype}', 'weights': 'float32', 'y': '{dtype}'}}"
    (tmp_path / "golden.py").write_text(
        f"def f(x, mask, weights, dtypes):\n    assert repr(dtypes) == {told!r}, repr(dtypes)\n"
        "    return x\n"
    )
    made = Golden(workload, load_operator(write_operator(tmp_path / "operator")))
    made.outputs(case, draw_inputs(case, 1))


@pytest.mark.parametrize("hidden", [".x", "below/.x"])
@pytest.mark.parametrize("to", ["file", "folder", "all", "hidden file", "a link to a link"])
def test_a_golden_reads_nothing_that_a_link_beside_it_leads_to(
    tmp_path: Path, level: Level, hidden: str, to: str
) -> None:
    home, folder = tmp_path / "home", tmp_path / "workload"
    for made in (home, folder / "below", folder / ".git"):
        made.mkdir(parents=True)
    (home / "token").write_text(SECRET)
    (folder / ".git" / "token").write_text(SECRET)
    (folder / hidden).touch()
    (home / "link").symlink_to(home)
    target, path = {
        "file": (home / "token", ""),
        "folder": (home, "/token"),
        "all": (Path("/"), str(home / "token")),
        "hidden file": (Path(".git"), "/token"),
        "a link to a link": (home / "link", "/token"),
    }[to]
    (folder / "out").symlink_to(target)
    (folder / "below" / "out").symlink_to(folder / target)
    source = (
        "from pathlib import Path\n\ndef f(x):\n    for place in ('out', 'below/out'):\n"
        "        place = str(Path(__file__).parent / place)\n"
        f"        try:\n            said = open(place + {path!r}).read()\n"
        "        except OSError:\n            continue\n"
        "        raise ValueError('read ' + said)\n    return x\n"
    )
    assert answer(golden(folder, source, level)) == [0, 0]


def test_a_golden_reads_what_a_link_leads_to_inside_its_repository(
    tmp_path: Path, level: Level
) -> None:
    folder = tmp_path / "ops" / "scale"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "table.txt").write_text("7 8")
    (folder / "near.txt").symlink_to("../../table.txt")
    source = (
        "from pathlib import Path\nimport numpy as np\n\ndef f(x):\n"
        "    return np.loadtxt(Path(__file__).parent / 'near.txt')\n"
    )
    assert answer(golden(folder, source, level)) == [7, 8]


def test_hidden_files_below_the_folder_of_a_golden_are_not_shown(
    tmp_path: Path, level: Level
) -> None:
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    (tmp_path / "clone" / ".git" / "config").write_text(SECRET)
    (tmp_path / "clone" / "table.txt").write_text("7 8")
    source = (
        "from pathlib import Path\nimport numpy as np\nhere = Path(__file__).parent / 'clone'\n"
        "def f(x):\n    try:\n        (here / '.git/config').read_text()\n"
        "    except OSError:\n        return np.loadtxt(here / 'table.txt')\n"
    )
    assert answer(golden(tmp_path, source, level)) == [7, 8]


@pytest.mark.parametrize(
    ("golden_path", "allowed"),
    [
        ("../../golden.py", True),
        ("../../../evil.py", False),
        ("{top}/../evil.py", False),
        ("/proc/self/cwd/../../../evil.py", False),
        ("out/evil.py", False),
        ("out.py", False),
        ("../../.git/evil.py", False),
        ("in.py", True),
    ],
)
def test_a_golden_path_stays_in_the_repository(
    tmp_path: Path, golden_path: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / "repository"
    folder = top / "math" / "scale"
    (top / ".git").mkdir(parents=True)
    folder.mkdir(parents=True)
    for place in (tmp_path / "evil.py", top / ".git" / "evil.py", top / "golden.py"):
        place.write_text("def f(x):\n    return x\n")
    (folder / "out").symlink_to(tmp_path)
    (folder / "out.py").symlink_to(tmp_path / "evil.py")
    (folder / "in.py").symlink_to(top / "golden.py")
    monkeypatch.chdir(folder)
    named = f"{golden_path.replace('{top}', str(top))}:f"
    one = WorkloadCase(name="c", inputs=())
    workload = Workload(operator="Op", cases=(one,), golden=named, folder=folder)
    if allowed:
        assert golden_function(workload)[0] == top / "golden.py"
    else:
        with pytest.raises(InputError, match="lies outside"):
            golden_function(workload)
