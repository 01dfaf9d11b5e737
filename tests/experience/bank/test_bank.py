from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ci.model.errors import InputError
from experience.bank.bank import Bank
from experience.bank.retrieve import Query, helpful, hopeless
from experience.bank.tuple import EffectEvidence
from tests.experience.make import make_tuple

ADD_MANY = """
import sys
from pathlib import Path
from experience.bank.bank import Bank
from tests.experience.make import make_tuple
bank = Bank(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 15):
    bank.add(make_tuple(number))
    bank.all()
"""


def _gain(speedup: float) -> EffectEvidence:
    return EffectEvidence(
        slow_us=10 * speedup, fast_us=10.0, samples=1, noise_floor=0.01, test="exact"
    )


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank(tmp_path / "bank.duckdb")


def test_a_stored_tuple_comes_back_unchanged(bank: Bank) -> None:
    stored = make_tuple(1)
    assert bank.add(stored)
    assert bank.all() == [stored]


def test_an_equal_diff_of_the_same_family_and_soc_is_stored_once(bank: Bank) -> None:
    assert bank.add(make_tuple(1))
    assert not bank.add(make_tuple(1, id="f" * 12, title="told in other words"))
    assert bank.add(make_tuple(1, id="e" * 12, soc="910B1"))
    assert len(bank.all()) == 2


def test_of_equal_tuples_that_come_together_the_first_is_stored(bank: Bank) -> None:
    retired = make_tuple(2, status="retired", retired_because="by hand")
    many = [make_tuple(number) for number in range(3, 250)]  # more than one statement takes
    given = [
        make_tuple(1),
        make_tuple(1, id="f" * 12, title="told in other words"),
        retired,
        make_tuple(2, title="once more"),
        *many,
    ]
    assert bank.add_all(given) == 2 + len(many)
    assert {t.id: t for t in bank.all()} == {t.id: t for t in (given[0], retired, *many)}
    assert bank.add_all(given) == 0


def test_search_prefers_the_tuple_with_the_same_bottleneck(bank: Bank) -> None:
    bank.add(make_tuple(1, bottleneck="scalar loop over elements", classes=("scalar_bound",)))
    bank.add(make_tuple(2, bottleneck="copies are too small", classes=("small_copies",)))
    found = bank.search(Query(bottleneck="many small copies", classes=("small_copies",)), k=2)
    assert [r.tuple.title for r in found] == ["motif 2", "motif 1"]
    assert "same bottleneck class (small_copies)" in found[0].why


def test_a_tuples_own_words_find_it_before_one_that_gained_more(bank: Bank) -> None:
    words = "barriers stall the pipes in every turn of the loop"
    bank.add(make_tuple(1, bottleneck=words, evidence=_gain(1.02)))
    bank.add(make_tuple(2, evidence=_gain(20.0)))
    bank.credit([make_tuple(2).id], won=True)
    found = bank.search(Query(bottleneck=words, classes=("mte2_bound",), op_family="math"))
    assert [r.tuple.title for r in found] == ["motif 1", "motif 2"]
    assert found[0].similarity == pytest.approx(1.0)
    tried = bank.search(Query(bottleneck=words, classes=("mte2_bound",), by="promise"))
    assert tried[0].tuple.title == "motif 2"  # who tries motifs asks what will pay


def test_among_equally_alike_tuples_the_effect_decides(bank: Bank) -> None:
    same = {"bottleneck": "tiles are too small"}
    bank.add(make_tuple(1, evidence=_gain(1.1), **same))
    bank.add(make_tuple(2, evidence=_gain(1.9), **same))
    found = bank.search(Query(bottleneck="tiles are too small"))
    assert [r.tuple.title for r in found] == ["motif 2", "motif 1"]


def test_a_title_is_searched_as_a_bottleneck_is(bank: Bank) -> None:
    bank.add(make_tuple(1, title="Prefetch of the next tile"))
    bank.add(make_tuple(2, title="Shift a buffer to another bank group"))
    assert bank.search(Query(bottleneck="prefetch next tile"))[0].tuple.title.startswith("Prefetch")
    assert bank.search(Query(bottleneck="bank group"))[0].tuple.title.startswith("Shift")


def test_only_what_measurably_gained_says_what_to_do(bank: Bank) -> None:
    idle = make_tuple(1, evidence=_gain(1.004))
    failed = make_tuple(2, direction="negative", evidence=_gain(3.0))
    useful = make_tuple(3)
    bank.add_all([idle, failed, useful])
    found = bank.search(Query(bottleneck="the vector pipe waits for copies"))
    assert [r.tuple.title for r in helpful(found)] == ["motif 3"]
    assert {r.tuple.title for r in hopeless(found)} == {"motif 1", "motif 2"}


def test_search_returns_each_motif_once(bank: Bank) -> None:
    for number in range(4):
        bank.add(make_tuple(number, motif_id="double_buffering"))
    assert len(bank.search(Query(bottleneck="waits for copies"), k=3)) == 1


def test_retired_tuples_are_kept_with_the_reason_but_not_retrieved(bank: Bank) -> None:
    bank.add(make_tuple(1))
    bank.retire(make_tuple(1).id, "helps nobody any more")
    assert bank.search(Query(bottleneck="waits for copies")) == []
    kept = bank.get(make_tuple(1).id)
    assert (kept.status, kept.retired_because) == ("retired", "helps nobody any more")


def test_negatives_come_after_what_helps_and_speak_against_their_motif(bank: Bank) -> None:
    bank.add(make_tuple(1, motif_id="cache_hint"))
    bank.add(make_tuple(2, motif_id="double_buffering"))
    query = Query(bottleneck="the vector pipe waits for copies")
    before = {r.tuple.motif_id: r.reliability for r in bank.search(query)}
    bank.add_all(
        [make_tuple(n, motif_id="cache_hint", direction="negative") for n in range(10, 14)]
    )
    found = bank.search(query)
    assert [(r.tuple.motif_id, r.tuple.direction) for r in found] == [
        ("double_buffering", "rewind"),
        ("cache_hint", "rewind"),
        ("cache_hint", "negative"),
    ]
    assert found[1].reliability < 0.5 < before["cache_hint"]
    assert found[0].reliability == pytest.approx(before["double_buffering"])


def test_a_tuple_without_a_place_in_the_kernel_is_not_offered(bank: Bank) -> None:
    bank.add(make_tuple(1, motif_id="cache_hint"))
    bank.add(make_tuple(2, motif_id="double_buffering"))
    found = bank.search(Query(bottleneck="waits", applicable=("double_buffering",)))
    assert [r.tuple.motif_id for r in found] == ["double_buffering"]
    assert "has a place in this kernel" in found[0].why


def test_credit_counts_uses_and_wins_and_raises_the_score(bank: Bank) -> None:
    same = {"bottleneck": "the vector pipe waits", "classes": ()}
    bank.add(make_tuple(1, **same))
    bank.add(make_tuple(2, **same))
    bank.credit([make_tuple(2).id], won=True)
    bank.credit([make_tuple(1).id, make_tuple(2).id], won=False)
    assert (bank.get(make_tuple(2).id).uses, bank.get(make_tuple(2).id).wins) == (2, 1)
    assert bank.search(Query(bottleneck="the vector pipe waits"))[0].tuple.title == "motif 2"


def test_an_id_may_be_shortened_while_it_is_unique(bank: Bank) -> None:
    bank.add(make_tuple(1, id="aa1111111111"))
    bank.add(make_tuple(2, id="ab2222222222"))
    assert bank.get("aa").title == "motif 1"
    with pytest.raises(InputError, match="Several tuples"):
        bank.get("a")
    with pytest.raises(InputError, match="holds no tuple 'zz'"):
        bank.get("zz")


@pytest.mark.long
def test_two_processes_that_write_and_read_at_once_lose_nothing(bank: Bank) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", ADD_MANY, str(bank.path), str(first)])
        for first in (0, 100)
    ]
    assert [w.wait(timeout=100) for w in writers] == [0, 0]
    assert len(bank.all()) == 30


def test_stats_count_by_kind_from_the_most_frequent(bank: Bank) -> None:
    bank.add(make_tuple(1, motif_id="cast_once"))
    for number in (2, 3):
        bank.add(make_tuple(number, motif_id="double_buffering", op_family="norm"))
    stats = bank.stats()
    assert list(stats.by_motif.items()) == [("double_buffering", 2), ("cast_once", 1)]
    assert (stats.tuples, stats.by_family) == (3, {"norm": 2, "math": 1})


@pytest.mark.parametrize("content", [b"this is not a database", b"\0" * 64])
def test_a_file_that_is_no_bank_gives_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes.txt").write_bytes(content)
    with pytest.raises(InputError, match="not an experience bank"):
        Bank(tmp_path / "notes.txt").all()


def test_paths_that_cannot_be_a_bank_are_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="is a folder"):
        Bank(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        Bank(tmp_path / "nowhere" / "bank.duckdb")
    with pytest.raises(InputError, match="bank rewind"):
        Bank(tmp_path / "bank.duckdb", must_exist=True)
    assert list(tmp_path.iterdir()) == []
