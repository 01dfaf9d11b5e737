import os
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.model.regular_file import file_bytes, file_text


def test_an_ordinary_file_is_read_also_by_a_link_that_stays_inside(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one\r\ntwo \xff\n")
    (tmp_path / "link").symlink_to("file")
    assert file_bytes(tmp_path / "link", tmp_path) == b"one\r\ntwo \xff\n"
    assert file_text(tmp_path / "link") == "one\ntwo \ufffd\n"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("pipe", "is a pipe"),
        ("device", "is a device"),
        ("folder", "is a folder"),
        ("loop", "cannot be read: Too many levels"),
        ("large", "is larger than 1 MiB"),
    ],
)
def test_what_is_no_ordinary_file_is_a_sentence(tmp_path: Path, kind: str, words: str) -> None:
    file = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir()
    elif kind == "loop":
        file.symlink_to("file")
    else:
        file.write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(InputError, match=words):
        file_bytes(file, most_bytes=1 << 20)


def test_a_file_of_proc_says_size_0_and_is_cut_off_all_the_same(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is larger than"):
        file_bytes(Path("/proc/self/maps"), most_bytes=10)


@pytest.mark.parametrize("link", ["of the file", "of its folder", "in proc"])
def test_a_file_that_a_link_leads_out_to_is_refused(tmp_path: Path, link: str) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret").touch()
    if link == "of the file":
        (inside / "below").mkdir()
        (inside / "below" / "secret").symlink_to(outside / "secret")
    elif link == "of its folder":
        (inside / "below").symlink_to(outside)
    else:
        (inside / "below").symlink_to(Path("/proc/self/root") / outside.relative_to("/"))
    with pytest.raises(InputError, match="leads out of"):
        file_bytes(inside / "below" / "secret", inside)


def test_a_file_that_the_kernel_will_not_read_out_is_a_sentence() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        file_bytes(Path("/proc/self/mem"))
