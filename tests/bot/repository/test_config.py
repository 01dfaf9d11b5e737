from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.repository.config import RepositoryConfig, config_problems, parse_config
from ci.model.errors import InputError


@pytest.mark.parametrize("text", [None, "", "# nothing\n", b"", "{}"])
def test_an_empty_file_is_the_default_configuration(text: str | bytes | None) -> None:
    assert parse_config(text) == RepositoryConfig()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("budget: 40\nbugdet: 3\n", "line 2: bugdet is not a known key"),
        ("\n\ntriggers:\n  coment: true\n", "line 4: triggers.coment is not a known key"),
        ("budget: many\n", "line 1: budget: must be a whole number, not 'many'"),
        ("target: 310P\n", "line 1: target: there is no device 310P"),
        ("workloads: ../elsewhere\n", "line 1: workloads: must be a path inside"),
        (
            "operators:\n  add:\n    budget: 10\n    stagee: x\n",
            "line 4: operators.add.stagee is not a known key; known here: enabled, workload",
        ),
        ("operators:\n  add: {workload: /etc/x}\n", "must be a path inside the repository"),
        ("budget: 4\nbudget: 5\n", "line 2: budget is given twice"),
        ("a: &x 1\nb: *x\n", "line 1: aliases (&) of a value are not read"),
        ("budget: [1\n", "this is not YAML"),
        ("- a\n", "line 1: must be a mapping"),
        ("\xff", "is not a known key"),
        (b"\xff\xfe\xfa", "not"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_key(text: str | bytes, said: str) -> None:
    problems = config_problems(text)
    assert problems
    if isinstance(text, str) and text != "\xff":
        assert said in problems[0]
    with pytest.raises(InputError):
        parse_config(text)


def test_every_mistake_is_told() -> None:
    assert len(config_problems("budget: 1\nseed: -1\nnone: 2\n")) == 3


def test_globs_and_overrides_decide_what_is_worked_on() -> None:
    config = parse_config(
        "include: ['src/math/*']\nexclude: ['*/old_*']\n"
        "operators: {add: {enabled: false}, src/math/sub: {budget: 9}}\nbudget: 20\n"
        "max_budget: 30\n"
    )
    assert config.covers("src/math/mul") and config.covers("src/math/sub")
    assert not config.covers("src/math/add")
    assert not config.covers("src/math/old_mul")
    assert not config.covers("src/nn/mul")
    assert config.granted("src/math/sub", None) == 9
    assert config.granted("src/math/mul", None) == 20
    assert config.granted("src/math/mul", 500) == 30


def test_a_disabled_repository_covers_nothing() -> None:
    assert not parse_config("enabled: false\n").covers("src/math/add")


_yaml = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*RepositoryConfig.model_fields, "comment", "add"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(_yaml)
def test_whatever_yaml_says_is_a_configuration_or_a_sentence(data: Any) -> None:
    text = yaml.safe_dump(data, allow_unicode=True)
    try:
        parse_config(text)
    except InputError as problem:
        assert str(problem).startswith(".ascendopt.yml")


@given(st.binary(max_size=200))
def test_whatever_bytes_say_is_a_configuration_or_a_sentence(data: bytes) -> None:
    try:
        parse_config(data)
    except InputError as problem:
        assert str(problem).startswith(".ascendopt.yml")
