"""The direct way: the launcher's unit, the compiler's options, the request."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ci.backend.cann.direct import compile_arguments, launcher_unit, write_request
from ci.backend.cann.toolkit import Toolkit
from ci.host.host_tiling import TilingAnswer
from ci.host.kernel_unit import KernelVariant
from ci.model.errors import InputError
from ci.testing.scale_shift import KERNEL, OPERATOR
from rules.architectures import load_architecture

ANSWER = TilingAnswer(block_dim=4, tiling_key=0, data=b"12345678", workspace=(0,))


def toolkit(home: Path) -> Toolkit:
    return Toolkit(home, home / "bin/bisheng", ("msopprof",), "8.2", "24.1")


def test_the_launcher_calls_the_kernel_with_all_its_parameters() -> None:
    variant = KernelVariant(("float32", "float32"), ("ND", "ND"), 3, "struct Data {};", "Data")
    unit = launcher_unit(OPERATOR, variant, OPERATOR.read(KERNEL))
    assert "scale_shift<<<block_dim, nullptr, stream>>>(a[0], a[1], a[2], a[3]);" in unit
    assert "#define ASCENDOPT_TILING_KEY 3" in unit
    assert "#define DTYPE_X float" in unit


def test_the_compiler_is_told_of_automatic_synchronisation(tmp_path: Path) -> None:
    kit = toolkit(tmp_path)
    architecture = load_architecture("dav-c220")
    arguments = compile_arguments(kit, architecture, OPERATOR, False, Path("laid"))
    assert {"--cce-auto-sync=off", "--npu-arch=dav-2201"} <= set(arguments)


def test_a_request_lists_tensors_in_parameter_order(tmp_path: Path) -> None:
    x, y = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
    request = write_request(tmp_path, ANSWER, [x, None], [y, y], {1: 0}, device=3)
    lines = [line.split("\t") for line in request.read_text().splitlines()]
    assert lines[0] == ["device", "3"]
    assert [line[0] for line in lines[5:]] == ["input", "null", "output", "alias"]
    assert lines[-1] == ["alias", "0", str(tmp_path / "output1"), "24"]
    assert (tmp_path / "input0").read_bytes() == x.tobytes()
    with pytest.raises(InputError, match="tensor lists"):
        write_request(tmp_path, ANSWER, [[x]], [y], {}, device=0)
