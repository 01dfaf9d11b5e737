from pathlib import Path

import pytest

from ci.model.errors import InputError
from lab.examples.kernel import Asked, read_asked


def test_a_launch_is_read_as_the_host_program_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "0.asked0"
    path.write_text("{anonymous}::scale<float>\n4\nbuffer 0 16\nvalue 0a00\nnull\n")
    arguments = (("buffer", "0", "16"), ("value", "0a00"), ("null",))
    assert read_asked(path) == Asked(kernel="scale<float>", blocks=4, arguments=arguments)


@pytest.mark.parametrize(
    "written", [None, b"", b"scale\n", b"scale\nfour\n", b"scale\n0\n", b"scale\xff\n4\n"]
)
def test_what_is_no_launch_is_refused(tmp_path: Path, written: bytes | None) -> None:
    path = tmp_path / "0.asked0"
    if written is not None:
        path.write_bytes(written)
    with pytest.raises(InputError, match="nothing that can be read"):
        read_asked(path)
