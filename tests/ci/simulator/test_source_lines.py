"""Source places of code addresses, from a program that is trusted with the kernel alone."""

from __future__ import annotations

import gc
import subprocess
import zlib
from pathlib import Path

from ci.simulator import source_lines
from ci.simulator.source_lines import MOST_READERS, expect_lines, operator_lines
from ci.system.waiting import beside
from tests.ci.system.levels import needs_hidden_files

TEXT = """
inline int twice(int x) {
    return 2 * x;
}
extern "C" int f(int x) {
    return twice(x) + 1;
}
"""


def built(folder: Path, *flags: str, text: str = TEXT) -> Path:
    (folder / "op_kernel").mkdir(parents=True)
    (folder / "op_kernel" / "unit.cpp").write_text(text)
    command = ["g++", "-O1", "-g", "-shared", "-fPIC", "op_kernel/unit.cpp", "-o", "kernel.so"]
    subprocess.run([*command, *flags], cwd=folder, check=True)
    return folder / "kernel.so"


def address_of(kernel: Path, name: str) -> int:
    said = subprocess.run(["nm", str(kernel)], capture_output=True, text=True, check=True).stdout
    return next(int(w[0], 16) for w in map(str.split, said.splitlines()) if w[-1] == name)


def outside(kernel: Path, address: int) -> str:
    command = ["addr2line", "-e", str(kernel), hex(address)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_many_questions_get_the_answers_of_one_each(tmp_path: Path) -> None:
    kernel = built(tmp_path)
    start = address_of(kernel, "f")
    offsets = [hex(start + step) for step in range(1, 4)]
    together = operator_lines(kernel, offsets)
    assert together == [operator_lines(kernel, [offset])[0] for offset in offsets]
    assert ("op_kernel/unit.cpp", 6) in together


def test_a_place_of_no_code_and_an_absurd_one_are_nowhere(tmp_path: Path) -> None:
    kernel = built(tmp_path)
    expect_lines(kernel)
    start = hex(address_of(kernel, "f") + 1)
    absurd = [hex(1 << 64), hex((1 << 64) - 1), hex(1 << 70), "0x0"]
    assert operator_lines(kernel, absurd) == [("", 0)] * 4
    # It still answers what it is asked, in step.
    assert operator_lines(kernel, [start])[0][0] == "op_kernel/unit.cpp"


@needs_hidden_files
def test_a_kernel_that_names_another_file_does_not_have_it_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    kernel = built(tmp_path / "own")
    start = address_of(kernel, "f")
    secret = tmp_path / "elsewhere" / "secret.debug"
    subprocess.run(["objcopy", "--only-keep-debug", kernel, secret], check=True)
    name = b"../elsewhere/secret.debug\0"
    link = name + bytes(-len(name) % 4) + zlib.crc32(secret.read_bytes()).to_bytes(4, "little")
    (tmp_path / "link").write_bytes(link)
    added = f"--add-section=.gnu_debuglink={tmp_path / 'link'}"
    subprocess.run(["objcopy", "--strip-debug", added, kernel], check=True)
    assert "op_kernel/unit.cpp:" in outside(kernel, start), "the reader follows such a name"
    assert operator_lines(kernel, [hex(start + 1)]) == [("", 0)]


def test_what_is_no_kernel_has_no_places(tmp_path: Path) -> None:
    (tmp_path / "kernel.so").write_bytes(b"\x7fELF" + bytes(range(256)) * 8)
    assert operator_lines(tmp_path / "kernel.so", ["0x10", "0x20"]) == [("", 0)] * 2


def test_few_readers_stay(tmp_path: Path) -> None:
    kernels = [
        built(tmp_path / str(n), text=TEXT.replace("1", str(n))) for n in range(MOST_READERS + 2)
    ]
    for kernel in kernels:
        assert operator_lines(kernel, [hex(address_of(kernel, "f") + 1)]) != [("", 0)]
    assert len(source_lines._readers) <= MOST_READERS
    beside(int).result()  # those dropped before have ended
    held = [r for r in gc.get_objects() if isinstance(r, source_lines._Reader)]
    assert len(held) <= MOST_READERS
