"""Inputs that stay the same are written once, and gone when nobody holds them."""

from __future__ import annotations

import gc

import numpy as np

from ci.simulator.input_files import shared_file


def test_a_read_only_tensor_has_one_file_for_as_long_as_it_lives() -> None:
    tensor = np.arange(12, dtype=np.int32).reshape(3, 4)
    tensor.setflags(write=False)
    path = shared_file(tensor)
    assert path is not None
    assert shared_file(tensor) == path
    assert (np.fromfile(path, dtype=np.int32) == np.arange(12)).all()
    del tensor
    gc.collect()
    assert not path.exists()


def test_a_tensor_that_may_change_has_none() -> None:
    assert shared_file(np.zeros(3)) is None
