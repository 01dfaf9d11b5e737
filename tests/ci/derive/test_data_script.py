"""Scripts that make the data of a program are run as their author runs them, and harm nothing."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from ci.derive import data_script
from ci.derive.data_script import made_data
from tests.ci.system.levels import needs_hidden_files

pytestmark = pytest.mark.every_level

SCRIPT = """
import os, subprocess
import numpy as np
import a_library_that_is_not_here.nn as nn
from another_one import first, second as renamed

class Layer(nn.Module):
    pass

os.system("mkdir -p ../input")
subprocess.run(["mkdir", "../input"], check=True)
x = np.random.uniform(-5, 5, [8, 8]).astype(np.float32)
with nn.no_grad():
    golden = Layer()(nn.tensor(x), tuple(np.array([1, 2]).flatten())).numpy() * 2 + x
(golden + x).astype(np.float32).tofile("../output/golden.bin")
x.astype(renamed.bfloat16).tofile("../input/narrow.bin")
x.tofile("../input/x.bin")
np.array([3, 1], np.int32).tofile("../input/index.bin")
np.save("./table.npy", np.arange(4))
"""


def _made(
    top: Path, script: str, *names: str, definitions: tuple[str, ...] = (), **more: str
) -> dict[str, bytes]:
    """What scripts of a repository make, by name."""
    folder = top / "repository" / "call"
    for name, text in {"scripts/make.py": script, **more}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "src").mkdir(exist_ok=True)
    place = top / "made"
    program = folder / "src" / "main.cpp"
    made = made_data(program, top / "repository", names or ("x.bin",), definitions, place)
    return {name: file.read_bytes() for name, file in made.items()}


def test_files_are_made_but_for_what_hangs_on_a_library_that_is_not_here(tmp_path: Path) -> None:
    found = _made(tmp_path / "one", SCRIPT)
    assert {*found} == {"x.bin", "index.bin", "table.npy"}
    assert np.frombuffer(found["index.bin"], np.int32).tolist() == [3, 1]
    assert found == _made(tmp_path / "two", SCRIPT), "draws begin with the same seed"


@pytest.mark.parametrize(
    ("file", "line", "arguments"),
    [
        ("run.sh", "cd build; python3 ../scripts/make.py -case=$CASE --size 4; ./main", "-case=7"),
        ("README.md", "`python3 make.py -case=${OTHER}` or `python scripts/make.py 5`", "5"),
        ("README.md", "python3 make.py", ""),
    ],
)
def test_arguments_are_those_that_a_file_around_the_script_gives(
    file: str, line: str, arguments: str, tmp_path: Path
) -> None:
    script = "import sys\nopen('x.bin', 'w').write(' '.join(sys.argv[1:2]))\n"
    found = _made(tmp_path, script, definitions=("CASE=7", "LONE"), **{file: line})
    assert found["x.bin"].decode() == arguments


def test_arguments_that_a_script_does_not_take_are_followed_by_others(tmp_path: Path) -> None:
    script = (
        "import sys\nassert sys.argv[1:] != ['-a']\nopen('x.bin', 'w').write(str(sys.argv[1:]))"
    )
    pages = {"A.md": "python3 make.py -a", "B.md": "python3 make.py -b"}
    assert _made(tmp_path / "one", script, **pages)["x.bin"] == b"['-b']"
    assert _made(tmp_path / "two", script, **{"A.md": "python3 make.py -a"})["x.bin"] == b"[]"


def test_only_scripts_that_name_a_missing_file_are_run_the_nearest_first(tmp_path: Path) -> None:
    nearest = {"src/near.py": "open('a/x.bin', 'w').write('near')"}
    found = _made(tmp_path, "open('x.bin', 'w').write('far')", "x.bin", "y.bin", **nearest)
    assert found == {"x.bin": b"near"}
    assert _made(tmp_path / "none", "open('x.bin', 'w')", "z.bin") == {}


@needs_hidden_files
def test_a_script_sees_no_file_elsewhere_and_what_ends_it_leaves_what_it_made(
    tmp_path: Path,
) -> None:
    (tmp_path / "secret").write_text("secret")
    script = f"""
import os
open("first.bin", "w").write("1")
os.symlink({str(tmp_path / "secret")!r}, "x.bin")
open("y.bin", "w").write(open({str(tmp_path / "secret")!r}).read())
"""
    assert _made(tmp_path, script) == {"first.bin": b"1", "y.bin": b""}


@pytest.mark.parametrize("again", ["", "os.unlink(str(number))"])
def test_a_script_that_fills_the_disk_by_many_files_is_ended(
    tmp_path: Path, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by files that are open and have no name."""
    few = dataclasses.replace(data_script._LIMITS, written_bytes=20 << 20)
    monkeypatch.setattr(data_script, "_LIMITS", few)
    script = f"""
import os, time
open("x.bin", "w").write("1")
kept = []
for number in range(40):
    kept.append(open(str(number), "wb"))
    kept[-1].write(bytes(1 << 20))
    kept[-1].flush()
    {again}
    time.sleep(0.02)
time.sleep(0.5)
open("last.bin", "w").write("1")
"""
    found = _made(tmp_path, script)
    assert found["x.bin"] == b"1" and "last.bin" not in found
    assert sum(map(len, found.values())) < 40 << 20
