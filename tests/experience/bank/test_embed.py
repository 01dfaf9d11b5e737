from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from experience.bank.embed import DIMENSIONS, embed


@given(st.text(), st.lists(st.text(), max_size=4))
def test_every_text_gives_the_same_unit_vector_each_time(text: str, classes: list[str]) -> None:
    vector = embed(text, classes)
    assert vector.shape == (DIMENSIONS,)
    assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-5
    assert np.array_equal(vector, embed(text, classes))


def test_a_reworded_bottleneck_is_nearer_than_another_bottleneck() -> None:
    query = embed("vector pipe waits for MTE2 copies, no overlap")
    near = embed("the vector pipe is waiting for MTE2; copies do not overlap")
    far = embed("scalar loop handles one element at a time")
    assert query @ near > query @ far


def test_a_shared_class_outweighs_shared_filler_words() -> None:
    query = embed("it is slow because of the loop", ["scalar_bound"])
    same_class = embed("elementwise work outside the vector unit", ["scalar_bound"])
    same_words = embed("it is slow because of the copies", ["small_copies"])
    assert query @ same_class > query @ same_words
