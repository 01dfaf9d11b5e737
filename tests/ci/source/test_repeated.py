"""A tensor of more elements than are drawn repeats a pattern, here and in the golden's process."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ci.model.workload import TensorCase, WorkloadCase
from ci.source import golden_child
from ci.source.inputs import MOST_DRAWN, draw_inputs
from ci.source.repeated import PATTERN_BYTES, pattern_of, repeated


def test_elements_are_those_of_the_pattern_again_and_again() -> None:
    pattern = np.arange(PATTERN_BYTES // 4, dtype=np.float32)
    array = repeated(pattern, (3, PATTERN_BYTES // 4 - 1))
    assert array[2, 5] == pattern[3]
    assert not array.flags.writeable
    assert pattern_of(array) is not None
    assert pattern_of(array[1:]) is None
    assert pattern_of(array + 1) is None


def test_the_golden_gets_the_pattern_and_sees_the_whole() -> None:
    pattern = np.arange(PATTERN_BYTES, dtype=np.uint8)
    array = repeated(pattern, (2, PATTERN_BYTES + 7))
    sent: list[np.ndarray[Any, Any]] = []
    head = golden_child.told(array, sent)
    assert sent[0].nbytes == PATTERN_BYTES
    got = golden_child.read(io.BytesIO(sent[0].tobytes()), head)
    assert (got[:, -9:] == array[:, -9:]).all()


def test_more_than_can_be_drawn_is_drawn_once_and_repeats() -> None:
    spec = TensorCase(shape=(MOST_DRAWN + 8,), dtype="int8", range=(-100, 100))
    (tensor,) = draw_inputs(WorkloadCase(name="wide", inputs=(spec,)), 1)
    assert isinstance(tensor, np.ndarray)
    assert tensor.shape == spec.shape
    assert tensor[PATTERN_BYTES + 3] == tensor[3]
    assert len(np.unique(tensor[:4096])) > 100
