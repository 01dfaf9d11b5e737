from pathlib import Path

import pytest
import yaml

from ci.model.errors import InputError
from lab.bench.corpus import Entry, Operators, candidate_of, chosen, read_corpus, witnesses_of
from lab.model.judge import JudgeBenchSettings
from tests.places import EXAMPLES

RELU = "activation/leaky_relu_shift"
ONE: dict[str, object] = {
    "id": "x1",
    "class": "a",
    "operator": RELU,
    "what": "a larger tile",
    "wrong": "no",
    "edits": [{"file": "leaky_relu_shift.cpp", "old": "TILE = 1024", "new": "TILE = 4096"}],
}


def written(folder: Path, *more: dict[str, object]) -> Path:
    path = folder / "corpus.yaml"
    path.write_text(yaml.safe_dump([ONE | one for one in more], sort_keys=False))
    return path


def only(folder: Path, **more: object) -> Entry:
    (entry,) = read_corpus(written(folder, dict(more)))
    return entry


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"colour": "red"}, r"line 10: \[0\]\.colour is not a known key"),
        ({"wrong": "maybe"}, r"line 5: \[0\]\.wrong: must be 'yes', 'no' or 'unknown'"),
        ({"edits": []}, r"line 6: \[0\]\.edits"),
        ({"edits": [{"file": "a.cpp", "new": ""}]}, r"line 7: \[0\]\.edits\[0\]\.old is missing"),
        ({"witness": "a case"}, r"line 10: \[0\]\.witness"),
    ],
)
def test_a_bad_corpus_is_one_sentence_with_its_line(
    tmp_path: Path, more: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_corpus(written(tmp_path, more))


def test_an_id_stands_for_one_candidate(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 10: \[1\]\.id: x1 is in .* too"):
        read_corpus(written(tmp_path, {}, {}))


def test_a_missing_corpus_or_an_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_corpus(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="holds no candidate"):
        read_corpus(tmp_path)


def test_edits_are_made_in_the_source_that_they_name(tmp_path: Path) -> None:
    second = {"file": "op_kernel/leaky_relu_shift.cpp", "old": "TILE = 4096", "new": "TILE = 8"}
    edits = [{"file": "op_kernel/leaky_relu_shift.cpp", "old": "TILE = 1024", "new": "TILE = 4096"}]
    entry = only(tmp_path, edits=[*edits, second])
    candidate = candidate_of(entry, Operators(None).find(entry))
    assert [*candidate.files] == ["op_kernel/leaky_relu_shift.cpp"]
    assert "TILE = 8" in candidate.files["op_kernel/leaky_relu_shift.cpp"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"file": "other.cpp", "old": "TILE", "new": ""}, "which 0 sources end in"),
        ({"file": "leaky_relu_shift.cpp", "old": "TILE", "new": ""}, "which 2 sources end in"),
        ({"file": "op_kernel/leaky_relu_shift.cpp", "old": "TILE", "new": ""}, "times"),
    ],
)
def test_an_edit_that_does_not_fit_is_told_with_its_line(
    tmp_path: Path, edit: dict[str, str], said: str
) -> None:
    entry = only(tmp_path, edits=[edit])
    with pytest.raises(InputError, match=rf"line 7: \[0\]\.edits\[0\]: x1 .*{said}"):
        candidate_of(entry, Operators(None).find(entry))


def test_an_operator_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="x1 is of math/none, an operator that is not there"):
        Operators(None).find(only(tmp_path, operator="math/none"))


@pytest.mark.nightly
def test_witnesses_are_cases_of_the_operator(tmp_path: Path) -> None:
    case = {"inputs": [{"shape": [8, 8], "dtype": "float32"}], "attrs": {"shift": 0.5}}
    entry = only(tmp_path, witness=[case, case])
    first, second = witnesses_of(entry, Operators(None).find(entry))
    assert first.attrs == {"shift": 0.5} and first.name != second.name
    for bad, said in (({"inputs": [{"dtype": "float32"}]}, "shape"), ({"attrs": {}}, "inputs")):
        entry = only(tmp_path, witness=bad)
        with pytest.raises(InputError, match=rf"line 10: \[0\]\.witness: x1 has a witness.*{said}"):
            witnesses_of(entry, Operators(None).find(entry))


def test_a_sample_holds_every_class_and_is_drawn_by_the_seed(tmp_path: Path) -> None:
    many = [
        {"id": f"{kind}{n}", "class": kind, "wrong": wrong, "honest": wrong == "no"}
        for kind, wrong in (("a", "yes"), ("b", "yes"), ("honest", "no"))
        for n in range(9)
    ]
    entries = read_corpus(written(tmp_path, *many))
    drawn = [chosen(entries, JudgeBenchSettings(sample=6, seed=seed)) for seed in (1, 1, 2)]
    ids = [[e.attack.id for e in one] for one in drawn]
    assert [sorted(i[:-1] for i in one) for one in ids] == [
        ["a", "a", "b", "b", *["honest"] * 2]
    ] * 3
    assert ids[0] == ids[1] != ids[2]
    assert [e.attack.id for e in chosen(entries, JudgeBenchSettings(only="b3, a1"))] == ["b3", "a1"]
    with pytest.raises(InputError, match="--only names z9"):
        chosen(entries, JudgeBenchSettings(only="z9"))


def test_every_candidate_of_the_shipped_corpus_fits_its_operator() -> None:
    operators = Operators(None)
    entries = read_corpus(EXAMPLES / "attacks")
    for entry in entries:
        operator = operators.find(entry)
        assert candidate_of(entry, operator).files
        witnesses_of(entry, operator)
