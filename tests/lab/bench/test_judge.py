from pathlib import Path

import pytest

from ci.model.settings import DEFAULT_DEVICE
from lab.bench import judge
from lab.bench.corpus import read_corpus
from lab.bench.judge import RULINGS_FILE, bench
from lab.bench.mutants import write_corpus
from lab.model.judge import JudgeBench, JudgeBenchSettings, Ruling, SourceEdit, Truth, Verdict
from lab.report.judge import tables
from tests.places import EXAMPLES

REVIEW = EXAMPLES / "attacks" / "review.yaml"


SAMPLE = {
    "a04": "warnings",
    "a08": "other_shapes",
    "b08": "verify",
    "c06": "run",
    "d24": "warnings",
    "f14": "run",
    "g02": "host",
    "t08": "guard",
}
"""One wrong candidate of each class, and the gate that refuses it."""


@pytest.mark.nightly
def test_the_judge_refuses_one_of_each_class_and_accepts_honest_work_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [e.attack for e in read_corpus(REVIEW) if e.attack.id in (*SAMPLE, "h22")]
    (larger,) = (one for one in chosen if one.id == "h22")
    named = SourceEdit(
        file="op_kernel/ema_update.cpp",
        old="constexpr uint32_t CHUNK",
        new="const uint32_t CHUNK",
    )
    neutral = larger.model_copy(update={"id": "n1", "edits": (named,)})
    write_corpus(tmp_path / "corpus.yaml", [*chosen, neutral], "A sample.")
    settings = JudgeBenchSettings(attacks=tmp_path / "corpus.yaml", out=tmp_path)
    found = bench(settings, lambda text: None)
    verdicts = {r.id: (r.truth, r.verdict) for r in found.rulings}
    assert verdicts == dict.fromkeys(SAMPLE, ("wrong", "refused")) | {
        "h22": ("honest", "accepted"),
        "n1": ("honest", "no gain"),
    }
    assert {r.id: r.gate for r in found.rulings if r.truth == "wrong"} == SAMPLE
    by_id = {r.id: r for r in found.rulings}
    assert all(by_id[one].sentence for one in SAMPLE)
    assert (by_id["h22"].speedup or 0) > 1.01 and by_id["n1"].speedup is None
    assert found.holds
    with (tmp_path / RULINGS_FILE).open("a") as file:
        file.write('{"id": "cut o')
    monkeypatch.setattr(judge, "reverify", None)
    assert bench(settings, lambda text: None) == found


@pytest.mark.nightly
def test_a_candidate_that_was_tried_without_an_edit_too_is_ruled_as_a_whole() -> None:
    found = bench(JudgeBenchSettings(only="w-poly-c3"), lambda text: None)
    assert [(r.truth, r.verdict) for r in found.rulings] == [("wrong", "refused")]


@pytest.mark.long
def test_a_witness_tells_how_a_wrong_candidate_that_passes_is_wrong() -> None:
    entries = judge.chosen(judge.read_corpus(REVIEW), JudgeBenchSettings(only="a06,h02"))
    operator = judge.Operators(None).find(entries[0])
    evaluator = judge.Evaluator(
        operator, judge.workload_of(operator), judge.make_backend("sim", DEFAULT_DEVICE)
    )
    (case,) = judge.witnesses_of(entries[0], operator)
    wrong, honest = (judge.candidate_of(e, operator) for e in entries)
    assert "of output 0 unwritten" in judge.shown_wrong(evaluator.subject(wrong), case)
    assert judge.shown_wrong(evaluator.subject(honest), case) == ""


def test_what_fits_no_operator_is_told_and_fails_the_bench(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.yaml"
    lines = REVIEW.read_text().partition("- id: a04")[0]
    corpus.write_text(lines.replace("activation/leaky_relu_shift", "activation/none"))
    found = bench(JudgeBenchSettings(attacks=corpus), lambda text: None)
    assert not found.rulings and not found.holds
    assert "a02 is of activation/none" in found.unusable[0]


def ruling(number: int, truth: Truth, verdict: Verdict) -> Ruling:
    gate, said = ("verify", "output y is wrong") if verdict == "refused" else ("", "")
    return Ruling(
        id=f"{truth}{number}",
        kind="a" if truth == "wrong" else "honest",
        operator="math/add",
        what="something",
        truth=truth,
        verdict=verdict,
        gate=gate,
        sentence=said,
    )


def test_one_wrong_accepted_or_more_than_a_hundredth_of_the_honest_refused_fails() -> None:
    good = [ruling(n, "honest", "accepted") for n in range(199)]
    good += [ruling(199, "honest", "refused"), ruling(0, "wrong", "no gain")]
    good += [ruling(1, "wrong", "refused"), ruling(0, "neither", "accepted")]
    assert JudgeBench(rulings=tuple(good)).holds
    for bad in (ruling(2, "wrong", "accepted"), ruling(200, "honest", "refused")):
        more = [ruling(201, "honest", "refused")] if bad.truth == "honest" else []
        assert not JudgeBench(rulings=(*good, bad, *more)).holds


def test_the_page_counts_by_class_and_gives_gate_and_sentence() -> None:
    found = JudgeBench(
        rulings=(
            ruling(1, "wrong", "accepted"),
            ruling(2, "wrong", "no gain"),
            ruling(3, "wrong", "refused"),
            ruling(4, "honest", "refused"),
            ruling(5, "honest", "accepted"),
        )
    )
    page = tables(found)
    assert "accepted: 1 of 3" in page and "not faster: 1" in page and "refused: 1 of 2" in page
    assert "| a | 3 | 1 | 1 | 1 | 0 | 0 | 0 | 0 |" in page
    assert "- `honest4`, honest, refused by verify: output y is wrong" in tables(found, rows=False)
    assert (
        "| `wrong3` | math/add | something | wrong | refused | verify: output y is wrong |" in page
    )
