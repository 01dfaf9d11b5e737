from __future__ import annotations

import numpy as np

from bot.report.landscape import html
from experience.bank.embed import HashedEmbedder
from experience.bank.tuple import ExperienceTuple
from experience.jobs.landscape import landscape, silhouette
from tests.experience.make import make_tuple


def two_kinds() -> list[ExperienceTuple]:
    waits = [
        make_tuple(n, bottleneck="copies wait for the vector unit", classes=("no_overlap",))
        for n in range(8)
    ]
    loops = [
        make_tuple(n, bottleneck="a scalar loop over elements", classes=("scalar_bound",))
        for n in range(8, 14)
    ]
    return [
        t.model_copy(update={"bottleneck": f"{t.bottleneck} variant {t.id[-1]}"})
        for t in (*waits, *loops)
    ]


def drawn(tuples: list[ExperienceTuple]) -> np.ndarray:
    return HashedEmbedder().embed([(t.bottleneck, t.classes) for t in tuples])


def test_kinds_that_are_apart_become_groups_named_by_their_practice() -> None:
    tuples = two_kinds()
    found = landscape(tuples, drawn(tuples), "hashed", groups=2)
    assert found is not None and found.silhouette > 0.3
    assert [g.size for g in found.groups] == [8, 6]
    assert [g.name for g in found.groups] == [
        "pipeline: pipes take turns",
        "computation: bound by the scalar unit",
    ]
    assert all(g.documented for g in found.groups)


def test_a_group_that_no_category_dominates_is_told_apart() -> None:
    mixed = [
        make_tuple(n, bottleneck="one wording", classes=(c,))
        for n, c in enumerate(["no_overlap", "scalar_bound", "gm_bandwidth", "tail_imbalance"])
    ]
    vectors = np.eye(4, 6, dtype=np.float32) * 0.01 + 1.0
    far = np.vstack([vectors, -vectors])
    found = landscape([*mixed, *two_kinds()[:4]], far, "made", groups=2)
    assert found is not None
    assert sorted(g.documented for g in found.groups) == [False, True]
    assert any(g.name.startswith("emergent: ") for g in found.groups)


def test_the_same_bank_gives_the_same_map() -> None:
    tuples = two_kinds()
    assert landscape(tuples, drawn(tuples), "m") == landscape(tuples, drawn(tuples), "m")


def test_fewer_than_three_tuples_have_no_map() -> None:
    tuples = two_kinds()[:2]
    assert landscape(tuples, drawn(tuples), "m") is None


def test_equal_vectors_are_one_group() -> None:
    tuples = [make_tuple(n) for n in range(4)]
    found = landscape(tuples, np.ones((4, 5), np.float32), "m")
    assert found is not None and len(found.groups) == 1


def test_silhouette_of_far_pairs_is_near_one() -> None:
    rows = np.array([[0.0], [0.1], [9.0], [9.1]])
    assert silhouette(rows, np.array([0, 0, 1, 1]), 0) > 0.95
    assert silhouette(rows, np.array([0, 1, 0, 1]), 0) < 0


def test_the_page_holds_every_tuple_and_no_markup_of_theirs() -> None:
    tuples = [*two_kinds(), make_tuple(99, title="<script>alert(1)</script>")]
    found = landscape(tuples, drawn(tuples), "m")
    assert found is not None
    page = html(found)
    assert page.count("<circle") == len(tuples)
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "http" not in page


def test_what_lies_on_a_line_is_explained_by_one_axis() -> None:
    tuples = two_kinds()
    line = np.outer(np.arange(len(tuples)), np.ones(6)).astype(np.float32)
    found = landscape(tuples, line, "made", groups=2)
    assert found is not None
    assert np.allclose(found.explained, (1.0, 0.0))
