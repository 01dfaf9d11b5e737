from datetime import date
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.proposer.llm.prices import load_prices, price_of
from ci.proposer.llm.settings import NAMED_ONLY, ROLES, ModelSettings, load_models
from tests.places import TOP


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in os.environ:
        if name.startswith("ASCENDOPT_LLM_"):
            monkeypatch.delenv(name)


def write(folder: Path, text: str) -> Path:
    file = folder / "models.yml"
    file.write_text(text)
    return file


def test_without_anything_rules_fill_every_role() -> None:
    assert all(load_models().of(role) is None for role in ROLES)


def test_a_file_says_which_model_fills_which_role(tmp_path: Path) -> None:
    models = load_models(
        write(
            tmp_path, "models: {a: {model: big}, b: {model: tiny}}\nroles: {rewind: a, mutation: b}"
        )
    )
    rewind, mutation = models.of("rewind"), models.of("mutation")
    assert rewind is not None and rewind.model == "big"
    assert mutation is not None and mutation.model == "tiny"
    assert models.of("diagnosis") is None


def test_the_environment_fills_what_the_file_leaves_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, "models: {a: {model: big}}\nroles: {mutation: a}")
    monkeypatch.setenv("ASCENDOPT_LLM_MODEL", "cheap")
    monkeypatch.setenv("ASCENDOPT_LLM_ENDPOINT", "http://127.0.0.1:11434/v1/")
    monkeypatch.setenv("ASCENDOPT_LLM_OFFLINE_MODEL", "strong")
    monkeypatch.setenv("ASCENDOPT_LLM_MODELS", str(file))
    models = load_models()
    named = {role: one.model for role in ROLES if (one := models.of(role)) is not None}
    assert named == {
        "synthesis": "strong",
        "rewind": "strong",
        "distillation": "strong",
        "mutation": "big",
        "rewriting": "cheap",
    }  # diagnosis is part of a step's prompt: it has a model only when a file names one
    rewriting = models.of("rewriting")
    assert rewriting is not None and rewriting.endpoint == "http://127.0.0.1:11434/v1"


def test_a_key_in_the_file_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "models: {a: {model: m, api_key: sk-abcdef0123456789}}\nroles: {}")
    with pytest.raises(InputError, match="keys come only from the environment") as caught:
        load_models(file)
    assert "sk-abc" not in str(caught.value)


def test_the_key_comes_from_the_variable_that_the_model_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTHER_KEY", "not-for-you")
    assert ModelSettings(model="m", key="MINE").secret() is None
    monkeypatch.setenv("MINE", "sk-mine")
    secret = ModelSettings(model="m", key="MINE").secret()
    assert secret is not None and secret.get_secret_value() == "sk-mine"
    assert "sk-mine" not in repr(secret)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: {a: {model: m}}\nroles: {mutation: b}", "'b', which is not defined"),
        ("models: {a: {model: m}}\nroles: {dancing: a}", "roles"),
        ("models: {a: {model: m, endpoint: ftp://x}}", "must be a URL"),
        ("models: {a: {model: m, endpoint: 'https://me:pw@host/v1'}}", "no user, password"),
        ("models: {a: {model: m, temperature: 9}}", "temperature"),
        ("models: {a: {model: m, colour: red}}", "colour"),
        ("[]", "must be a mapping"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_sentence(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load_models(write(tmp_path, text))
    assert "pw" not in str(caught.value)


def test_a_bad_value_in_the_environment_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPT_LLM_MODEL", "m")
    monkeypatch.setenv("ASCENDOPT_LLM_TIMEOUT", "soon")
    with pytest.raises(InputError, match=r"\$ASCENDOPT_LLM_TIMEOUT"):
        load_models()


def test_the_example_file_can_be_used_and_splits_strong_from_cheap() -> None:
    models = load_models(TOP / "examples" / "models.yml")
    named = {role: one.model for role in ROLES if (one := models.of(role)) is not None}
    assert set(named) == set(ROLES) - set(NAMED_ONLY)
    assert named["rewind"] != named["rewriting"]
    assert all(price_of(one) is not None for one in models.in_use())


def test_every_price_has_a_source_and_a_date() -> None:
    for row in load_prices().prices:
        assert row.source
        assert row.date > date(2026, 1, 1)


def test_a_price_holds_for_its_endpoint_and_for_dated_names() -> None:
    known = load_prices().prices[0]
    here = f"https://{known.endpoint}/v1"
    price = price_of(ModelSettings(model=f"{known.model}-2026-10-17", endpoint=here))
    assert price is not None and price.input == known.input
    assert (
        price_of(ModelSettings(model=known.model, endpoint="https://elsewhere.example/v1")) is None
    )


def test_cached_tokens_cost_less() -> None:
    row = load_prices().prices[0]
    price = price_of(ModelSettings(model=row.model, endpoint=f"https://{row.endpoint}"))
    assert price is not None
    assert price.of(0, 1_000_000, 0) < price.of(1_000_000, 0, 0)
    assert price.of(0, 0, 1_000_000) == pytest.approx(row.output)
