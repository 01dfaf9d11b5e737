"""What a list of presets gives cmake."""

from __future__ import annotations

import json

import pytest

from ci.source.build.presets import preset_variables


def presets(*each: dict[str, object]) -> str:
    return json.dumps({"version": 3, "configurePresets": each})


def test_the_default_counts_with_what_it_inherits_and_its_own_goes_before() -> None:
    text = presets(
        {"name": "first", "cacheVariables": {"TILE": "9"}},
        {"name": "base", "hidden": True, "cacheVariables": {"TILE": "1", "OFF": True}},
        {
            "name": "default",
            "inherits": ["base"],
            "cacheVariables": {
                "TILE": {"type": "STRING", "value": "512"},
                "WHERE": "${sourceDir}/include$env{HOME}",
                "CMAKE_BUILD_TYPE": "Release",
            },
        },
    )
    found = preset_variables(text, "/top")
    assert found == {"TILE": "512", "OFF": "TRUE", "WHERE": "/top/include"}


def test_without_a_default_the_first_that_may_be_chosen_counts() -> None:
    hidden = {"name": "base", "hidden": True, "cacheVariables": {"TILE": "1"}}
    assert preset_variables(
        presets(hidden, {"name": "one", "inherits": "base"}, {"name": "two"}), ""
    ) == {"TILE": "1"}


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "null", '{"configurePresets": 3}', '{"configurePresets": [3]}', "[" * 100_000),
        presets({"name": "a", "inherits": "a"}),
        presets({"name": "a", "inherits": ["gone"]}),
        presets({"name": "a", "hidden": True}),
        presets({"name": "a", "cacheVariables": [1]}),
    ],
)
def test_what_is_no_list_of_presets_sets_nothing(text: str) -> None:
    assert preset_variables(text, "/top") == {}
