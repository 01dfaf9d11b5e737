"""What cannot be traced is written by a model as a tile program, and judged as a traced one."""

from pathlib import Path

import pytest

from ci.create.create import create
from ci.model.created import CreateSettings, NotTraced
from ci.model.errors import InputError
from ci.proposer.llm.call_log import read_calls
from tests.ci.create import goldens
from tests.ci.proposer.llm.server import Answer, Asked, ModelServer

FILE = Path(goldens.__file__)
WORKLOAD = """
cases:
  - {name: rows, inputs: {x: {shape: [9, 70], dtype: float32}}, attrs: {bound: 0.5}}
"""
PROGRAM = """program branches(x: T[A]) -> y: T[A]
  A = x.0 * x.1
  y has shape [x.0, x.1]

  cores share A; tiles along A:
    tile:
      x = load x
      above = gt(x, bound)
      half = mul(x, 0.5)
      chosen = where(above, bound, half)
      store y, chosen
"""
ANSWERS = (
    "I would rather run os.system('id').",
    f"```\n{PROGRAM.replace('mul(x, 0.5)', 'mul(x, 0.25)')}```",
    f"The branch is a mask.\n```\n{PROGRAM}```",
)


def settings(tmp_path: Path, **changes: object) -> CreateSettings:
    workload = tmp_path / "workload.yaml"
    workload.write_text(WORKLOAD)
    given = {"workload": workload, "out": tmp_path / "made" / "operator", **changes}
    return CreateSettings.model_validate(given)


def models(tmp_path: Path, url: str) -> Path:
    file = tmp_path / "models.yml"
    one = f"{{model: strong, endpoint: '{url}', backoff: 0}}"
    file.write_text(f"models: {{one: {one}}}\nroles: {{creation: one}}\n")
    return file


@pytest.mark.nightly
def test_a_model_is_shown_its_mistakes_until_its_program_is_right(tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        return Answer(ANSWERS[len(asked.body["messages"]) // 2 - 1])

    with ModelServer(script) as server:
        asked = settings(tmp_path, proposer="llm", models=models(tmp_path, server.url))
        made = create(f"{FILE}:branches", asked)
        prompts = [one.last for one in server.asked]
    assert "element by element" in prompts[0] and "def branches" in prompts[0]
    assert "a program begins with" in prompts[1]
    assert "is wrong on case 'rows'" in prompts[2]
    assert made.written_by == "strong" and made.tokens > 0 and made.varied > 20
    calls = read_calls(tmp_path / "made" / "operator.calls.sqlite")
    assert [c.verdict == "accepted" for c in calls] == [False, False, True]

    again = tmp_path / "again"
    recorded = f"replay:{tmp_path / 'made' / 'operator.calls.sqlite'}"
    played = create(f"{FILE}:branches", settings(tmp_path, proposer=recorded, out=again))
    assert played.program == made.program
    assert (again / "README.md").read_text().count("strong wrote") == 1


def test_a_model_that_gets_nowhere_ends_after_some_rounds(tmp_path: Path) -> None:
    with ModelServer(lambda asked: Answer("I do not know.")) as server:
        asked = settings(tmp_path, proposer="llm", models=models(tmp_path, server.url))
        with pytest.raises(InputError, match="None of the 6 programs .* begins with"):
            create(f"{FILE}:branches", asked)
        assert len(server.asked) == 6
    assert not asked.out.exists()


def test_a_budget_ends_the_asking_before_it_is_overdrawn(tmp_path: Path) -> None:
    with ModelServer(lambda asked: Answer("I do not know.")) as server:
        chosen = models(tmp_path, server.url)
        asked = settings(tmp_path, proposer="llm", models=chosen, max_tokens=100)
        with pytest.raises(InputError, match="budget does not cover"):
            create(f"{FILE}:branches", asked)
        assert not server.asked


def test_without_a_model_the_refusal_is_one_that_a_model_may_help_with(tmp_path: Path) -> None:
    with pytest.raises(NotTraced, match="element by element"):
        create(f"{FILE}:branches", settings(tmp_path))
