"""Which requests the host side is asked about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ci.host.tiling_request import host_request, platform_facts
from ci.judge.check.host_crashes import askable
from ci.model.workload import TensorCase, WorkloadCase
from ci.source.discovery import load_operator
from rules.devices import load_device
from tests.ci.small_operator import write_operator


def test_lists_and_tensors_that_the_host_side_reads_keep_their_lengths(tmp_path: Path) -> None:
    operator = load_operator(write_operator(tmp_path))
    tensor, mask = (TensorCase(shape=(64,), dtype=dtype) for dtype in ("float32", "uint8"))
    case = WorkloadCase(name="own", inputs=(tensor, mask, (tensor,)), outputs=(tensor,))
    request = host_request(operator, case, platform_facts(load_device("910B4")))
    x, *rest = request.inputs
    read = replace(request, inputs=((replace(x[0], data="00" * 256),), *rest))
    asked = {one.label for one in askable(operator, [("own", read)], ())}
    assert "own with axes = '-1,0'" in asked
    assert not asked & {"own with axes = ''", "own with axes = '0'", "own with axes = '0,-1,1'"}
    assert "own with length 128 in dimension 0 of input mask" in asked
    assert "own with length 128 in dimension 0 of input x" not in asked


def test_only_an_input_that_is_optional_may_be_absent(tmp_path: Path) -> None:
    operator = load_operator(write_operator(tmp_path))
    tensor, mask = (TensorCase(shape=(64,), dtype=dtype) for dtype in ("float32", "uint8"))
    case = WorkloadCase(name="own", inputs=(tensor, mask, (tensor,)), outputs=(tensor,))
    request = host_request(operator, case, platform_facts(load_device("910B4")))
    asked = {one.label for one in askable(operator, [("own", request)], ())}
    assert "own without input mask" in asked
    assert not asked & {"own without input x", "own without input weights"}
