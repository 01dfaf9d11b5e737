"""`ascendopt bench judge` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.main import BAD_INPUT, DONE, FAILED, run
from bot.report.page import marks
from tests.places import EXAMPLES

REVIEW = EXAMPLES / "attacks" / "review.yaml"
WORDS = ["bench", "judge", "--attacks"]


def test_refusals_are_told_as_they_come_and_the_page_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("Above.\n{}\n{}\nBelow.\n".format(*marks("judge")))
    words = [*WORDS, str(REVIEW), "--only", "t08,t12", "--markdown", str(page)]
    assert run([*words, "--json"]) == DONE
    said = capsys.readouterr()
    assert {r["gate"] for r in json.loads(said.out)["rulings"]} == {"guard"}
    assert "2 of 2: t12 (wrong): refused by guard: " in said.err
    assert page.read_text().startswith("Above.") and "| `t08` | activation/" in page.read_text()


@pytest.mark.nightly
def test_a_wrong_candidate_that_is_accepted_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = "- id: h22" + REVIEW.read_text().partition("- id: h22")[2].partition("\n- id: ")[0]
    called_wrong = honest.replace("wrong: 'no'", "wrong: 'yes'")
    assert called_wrong != honest
    corpus = tmp_path / "corpus.yaml"
    corpus.write_text(called_wrong)
    assert run([*WORDS, str(corpus)]) == FAILED
    assert "h22, wrong, accepted: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [("- id: x\n", "line 1"), ("a: [", "line 1: this is not YAML"), ("[]", "no candidate")],
)
def test_a_bad_corpus_is_one_sentence(
    tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.yaml").write_text(text)
    assert run([*WORDS, str(tmp_path / "corpus.yaml")]) == BAD_INPUT
    assert said in capsys.readouterr().err
