from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from bot.cli.main import SECTIONS, root, run
from tests.bot.make import git, repository, result
from tests.places import OPERATORS

OPERATOR = OPERATORS / "src" / "math" / "bias_add"
Prepare = Callable[[Path], list[str]]


def operator(folder: Path) -> Path:
    """A working operator in a checkout of its own."""
    place = folder / "ops" / "src" / "math" / "bias_add"
    shutil.copytree(OPERATOR, place)
    git(folder / "ops", "init", "-q", "-b", "main")
    git(folder / "ops", "add", "-A")
    git(folder / "ops", "commit", "-q", "-m", "Add bias_add")
    return place


def kernel(place: Path) -> Path:
    return place / "op_kernel" / "bias_add.cpp"


def host(place: Path) -> Path:
    return place / "op_host" / "bias_add.cpp"


def edited(change: Callable[[Path], object]) -> Prepare:
    """`evaluate` of an operator after `change` was made to it."""

    def prepare(folder: Path) -> list[str]:
        place = operator(folder)
        change(place)
        return ["evaluate", str(place)]

    return prepare


def drop_tiling(place: Path) -> None:
    """Leave the op definition, take the tiling function and its registration away."""
    text = host(place).read_text()
    text = re.sub(r"namespace optiling \{.*?\n\}  // namespace optiling", "", text, flags=re.DOTALL)
    text, count = re.subn(r"this->AICore\(\)\.SetTiling\([^;]*;", "", text)
    assert count == 1
    assert "TilingContext" not in text
    host(place).write_text(text)


def workload(text: str) -> Prepare:
    return edited(lambda place: (place / "workload.yaml").write_text(text))


def reworded(old: str, new: str) -> Prepare:
    def change(place: Path) -> None:
        file = place / "workload.yaml"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    return edited(change)


def with_options(command: str, *options: str) -> Prepare:
    return lambda folder: [command, str(operator(folder)), *options]


def with_file(text: str | bytes, name: str, *before: str) -> Prepare:
    """A command whose last option is a file with `text`."""

    def prepare(folder: Path) -> list[str]:
        file = folder / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return [before[0], str(operator(folder)), *before[1:], str(file)]

    return prepare


def written(file: Path, text: str) -> str:
    file.write_text(text)
    return str(file)


def submitting(text: str | None, *options: str, inside: bool = True) -> Prepare:
    """`submit` of a run folder; `text` None leaves a good result in it."""

    def prepare(folder: Path) -> list[str]:
        checkout = repository(folder)
        out = folder / "run"
        out.mkdir()
        made = result(git(checkout, "rev-parse", "HEAD")).model_dump_json()
        (out / "result.json").write_text(made if text is None else text)
        return ["submit", str(out), "--repository", str(checkout if inside else out), *options]

    return prepare


def bank(content: bytes | None, *arguments: str) -> Prepare:
    """A bank command on a file with `content`, or on a folder when None."""

    def prepare(folder: Path) -> list[str]:
        file = folder / "bank.duckdb"
        if content is None:
            file.mkdir()
        else:
            file.write_bytes(content)
        return ["bank", *arguments, "--bank", str(file)]

    return prepare


OUTSIDE = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-a\n+b\n"
STALE = (
    "--- a/src/math/bias_add/op_kernel/bias_add.cpp\n"
    "+++ b/src/math/bias_add/op_kernel/bias_add.cpp\n"
    "@@ -1 +1 @@\n-a line that was never there\n+another\n"
)

MALFORMED: dict[str, tuple[Prepare, str]] = {
    "operator folder missing": (lambda f: ["evaluate", str(f / "none")], "no file or folder"),
    "operator is a text file": (with_file("x", "notes.txt", "evaluate", "--workload"), "notes.txt"),
    "empty folder": (lambda f: ["evaluate", str(f)], "empty"),
    "no op_kernel": (edited(lambda p: shutil.rmtree(p / "op_kernel")), "op_kernel"),
    "no op_host": (edited(lambda p: shutil.rmtree(p / "op_host")), "op_host"),
    "binary kernel": (edited(lambda p: kernel(p).write_bytes(b"\x7fELF\0\1\2")), "bias_add"),
    "operator without tiling": (edited(drop_tiling), "tiling"),
    "no op definition": (edited(lambda p: host(p).write_text("int x;\n")), "definition"),
    "no global kernel": (
        edited(lambda p: kernel(p).write_text(kernel(p).read_text().replace("__global__", ""))),
        "kernel",
    ),
    "workload missing": (edited(lambda p: (p / "workload.yaml").unlink()), "workload"),
    "named workload missing": (with_options("evaluate", "--workload", "none.yaml"), "none.yaml"),
    "broken YAML": (workload("cases: [\n  - {name: x\n"), "workload.yaml"),
    "YAML that is a list": (workload("- 1\n- 2\n"), "workload.yaml"),
    "no cases": (workload("operator: BiasAdd\ncases: []\n"), "cases"),
    "unknown key": (reworded("cases:", "casses:"), "casses"),
    "wrong dtype": (reworded("float16", "float17"), "float17"),
    "golden missing": (reworded("golden.py", "gold.py"), "gold.py"),
    "unknown device": (with_options("evaluate", "--device", "910Z"), "910Z"),
    "device as a path": (with_options("evaluate", "--device", "../../etc/passwd"), "device"),
    "unknown backend": (with_options("evaluate", "--backend", "gpu"), "gpu"),
    "replay of nothing": (with_options("evaluate", "--backend", "replay"), "recording"),
    "recording missing": (
        with_options("evaluate", "--backend", "replay", "--recording", "none.jsonl"),
        "none.jsonl",
    ),
    "unknown proposer": (with_options("optimize", "--proposer", "oracle"), "oracle"),
    "budget 0": (with_options("optimize", "--budget", "0", "--out", "out"), "budget"),
    "budget in words": (with_options("optimize", "--budget", "many"), "many"),
    "rounds 0": (with_options("optimize", "--rounds", "0"), "--rounds"),
    "unknown stage": (with_options("optimize", "--stage", "third"), "third"),
    "out is a file": (with_file("x", "out", "optimize", "--out"), "give a folder"),
    "out of a bench is a file": (
        lambda f: ["bench", "judge", "--sample", "1", "--out", written(f / "rulings", "")],
        "give a folder",
    ),
    "no golden function": (
        lambda f: ["bench", "create", written(f / "goldens.py", "X = 1\n"), "--out", str(f / "o")],
        "no public function",
    ),
    "patch missing": (with_options("evaluate", "--patch", "none.patch"), "none.patch"),
    "patch outside the operator": (
        with_file(OUTSIDE, "a.patch", "evaluate", "--patch"),
        "README.md",
    ),
    "patch that does not apply": (with_file(STALE, "a.patch", "evaluate", "--patch"), "apply"),
    "patch that is binary": (
        with_file(b"\xff\xfe\x00", "a.patch", "evaluate", "--patch"),
        "not text",
    ),
    "patch that is prose": (with_file("faster!\n", "a.patch", "evaluate", "--patch"), "diff"),
    "result missing": (lambda f: ["submit", str(f / "none")], "no result"),
    "result broken": (submitting("{"), "result.json"),
    "result of another schema": (submitting('{"schema_version": 9}'), "result.json"),
    "unknown forge": (submitting(None, "--forge", "sourcehut"), "sourcehut"),
    "unknown remote": (submitting(None, "--remote", "upstream"), "upstream"),
    "unknown target": (submitting(None, "--target", "release"), "release"),
    "not a git repository": (submitting(None, inside=False), "no git checkout"),
    "bank is a folder": (bank(None, "stats"), "folder"),
    "bank is no DuckDB file": (bank(b"not a bank\n" * 99, "stats"), "bank.duckdb"),
    "bank is JSON": (lambda f: ["bank", "stats", "--bank", written(f / "b.json", "[")], "b.json"),
    "bank missing": (lambda f: ["bank", "stats", "--bank", str(f / "none")], "none"),
    "unknown tuple": (
        lambda f: ["bank", "show", "fffff", "--bank", str(filled_bank(f))],
        "fffff",
    ),
    "unknown command": (lambda f: ["optimise"], "optimise"),
    "unknown option": (with_options("evaluate", "--fast"), "--fast"),
    "no operator given": (lambda f: ["evaluate"], "OPERATOR'. See `ascendopt evaluate --help`."),
    "no operator to check": (lambda f: ["check"], "ascendopt check OPERATOR"),
    "no configuration": (lambda f: ["config", "validate"], "`ascendopt init` writes"),
    "no checkout to set up": (lambda f: ["init", str(f)], "give the folder of a clone"),
    "kernel is a folder": (
        lambda f: ["workload", "frame", str(f), "--out", "x"],
        "give the source that defines the kernel",
    ),
    "no folder to create in": (lambda f: ["create", "golden.py:f"], "Missing option '--out'"),
}


def filled_bank(folder: Path) -> Path:
    from experience.bank.bank import Bank

    path = folder / "bank.duckdb"
    Bank(path).stats()
    return path


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_input_gives_one_sentence_and_exit_code_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, names = MALFORMED[name]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    arguments = prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    said = capsys.readouterr()
    lines = said.err.strip().splitlines()
    assert len(lines) == 1, said.err
    assert lines[0].startswith("ascendopt: error: ")
    assert names in lines[0]
    assert "Traceback" not in said.err
    assert said.out == ""


def test_a_folder_of_several_operators_asks_for_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["evaluate", str(OPERATOR.parents[1])]) == 2
    assert "give the folder of one of them" in capsys.readouterr().err


def test_help_lists_every_command_under_its_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    for section, names in SECTIONS.items():
        assert section in text
        for name in names:
            assert f"  {name} " in text


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and group below a group, by the words that name it."""
    yield path
    context = click.Context(group)
    for name in group.list_commands(context):
        one = group.get_command(context, name)
        yield from commands(one, (*path, name)) if isinstance(one, click.Group) else [(*path, name)]


def test_each_help_is_one_screen_of_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    found = list(commands(root))
    assert len(found) > 40
    for words in found:
        assert run([*words, "--help"]) == 0
        usage, *lines = capsys.readouterr().out.splitlines()
        assert not [line for line in lines if line.endswith("...")], words
        assert len(lines) < 60 and max(map(len, lines)) <= 80, words


def test_a_group_alone_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bank"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Usage: ascendopt") and len(said.out.splitlines()) > 5
    assert said.err == ""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["optimise", "x"], "Did you mean 'optimize'?"),
        (["evaluate", "x", "--worklaod", "y"], "--workload"),
        (["evaluate", str(OPERATOR.with_name("bias_ad"))], f"Did you mean {OPERATOR}?"),
    ],
)
def test_a_slip_of_the_pen_is_answered_with_what_was_meant(
    capsys: pytest.CaptureFixture[str], words: list[str], meant: str
) -> None:
    assert run(words) == 2
    assert meant in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["optimize", "op", "more"],
            "Got unexpected extra argument (more). See `ascendopt optimize",
        ),
        (
            ["optimize", "--budget", "op"],
            "'op' is no whole number. See `ascendopt optimize --help`.",
        ),
        (["census", "op", "--seconds", "5min"], "'5min' is no number. See `ascendopt census"),
        (["optimize", "op", "--stage", "all"], "'kernel'. See `ascendopt optimize --help`."),
        (["config", "gone"], "No such command 'gone'. See `ascendopt config --help`."),
        (["optimize"], "Missing argument 'OPERATOR'. See `ascendopt optimize --help`."),
    ],
)
def test_a_wrong_word_names_the_command_that_explains_it(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run(words) == 2
    assert said in capsys.readouterr().err


def test_an_operator_is_found_by_its_name_in_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    operator(tmp_path)
    monkeypatch.chdir(tmp_path / "ops")
    assert run(["evaluate", "gone/bias_ad"]) == 2
    assert "Did you mean src/math/bias_add?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "why"),
    [("/proc/x", "no file can be written in /proc"), ("/dev/null/x", "cannot be used")],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(
    capsys: pytest.CaptureFixture[str], place: str, why: str
) -> None:
    assert run(["optimize", str(OPERATOR), "--out", place]) == 2
    said = capsys.readouterr().err
    assert place in said and why in said and "defect" not in said


@pytest.mark.parametrize("words", [["--help"], ["doctor"]])
def test_a_reader_that_goes_away_is_no_failure(words: list[str], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "ascendopt", *words]
    with os.fdopen(writing, "w") as gone:
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_is_one_sentence_from_the_first_moment(tmp_path: Path) -> None:
    # The sleep: when a signal is met between two statements is the interpreter's choice.
    # What a shell starts in the background ignores Ctrl-C, and so does all that it starts.
    stopped = (
        "import signal, time; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.raise_signal(signal.SIGINT); time.sleep(60)\n"
    )
    (tmp_path / "click.py").write_text(stopped)
    done = subprocess.run(
        [sys.executable, "-m", "ascendopt", "doctor"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (130, "ascendopt: error: interrupted\n")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("ascendopt, version ")


def test_submit_files_updates_and_declines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = submitting(None)(tmp_path)
    assert run([*arguments, "--json"]) == 0
    opened = json.loads(capsys.readouterr().out)
    assert opened["action"] == "opened"
    assert Path(opened["merge_request"]["place"]).is_file()
    assert run(arguments) == 0
    assert "was updated" in capsys.readouterr().out
    git(tmp_path / "ops", "push", "-q", "origin", "--delete", opened["branch"])
    assert run(arguments) == 1
    assert "closed without merging" in capsys.readouterr().out
    assert run([*arguments, "--again"]) == 0


def test_a_defect_is_called_a_defect_and_is_no_bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("bot.cli.commands.doctor.examine", broken)
    monkeypatch.delenv("ASCENDOPT_DEBUG", raising=False)
    assert run(["doctor"]) == 1
    assert "a defect of ascendopt itself (RuntimeError: boom)" in capsys.readouterr().err


def test_help_loads_none_of_the_numeric_libraries() -> None:
    words = "import sys; from bot.cli.main import run; run(['--help']); print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert "optimize" in said.stdout
    assert not {"numpy", "scipy", "duckdb", "tree_sitter", "matplotlib"} & set(said.stdout.split())
