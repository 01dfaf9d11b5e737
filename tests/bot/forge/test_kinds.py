from __future__ import annotations

from importlib import import_module

import pytest

from bot.events import RECEIVERS, receiver
from bot.forge import FORGES
from bot.forge.base import Forge
from bot.forge.kinds import forge_of_ci


@pytest.mark.parametrize("name", FORGES)
def test_a_declared_forge_has_its_class(name: str) -> None:
    module, _, made = FORGES[name].forge.partition(":")
    found = getattr(import_module(module), made)
    assert issubclass(found, Forge) and callable(found.opened)


@pytest.mark.parametrize("name", RECEIVERS)
def test_a_declared_forge_has_its_events(name: str) -> None:
    chosen = receiver(name)
    assert all(callable(one) for one in (chosen.verify, chosen.parse, chosen.from_ci))


@pytest.mark.parametrize(
    ("environ", "forge"),
    [
        ({"GITHUB_ACTIONS": "true"}, "github"),
        ({"GITLAB_CI": "true"}, "gitlab"),
        ({"ATOMGIT_EVENT_NAME": "push"}, "gitcode"),
        ({"ATOMGIT_EVENT_NAME": "push", "GITHUB_ACTIONS": "true"}, "gitcode"),
        ({"GITHUB_ACTIONS": "false"}, None),
        ({}, None),
    ],
)
def test_the_variables_of_ci_tell_its_forge(environ: dict[str, str], forge: str | None) -> None:
    found = forge_of_ci(environ)
    assert (found.name if found else None) == forge


def test_every_forge_says_what_lets_the_bot_open_merge_requests() -> None:
    assert all(kind.right and not kind.right.endswith(".") for kind in FORGES.values())
