"""Which failures pass by themselves, and how long the forge asks to wait."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.base.git import GitError
from bot.forge.base import Forge
from bot.forge.errors import ForgeError
from bot.server.comments.posting import asked_wait, away, put_section
from tests.bot.make import job


@pytest.mark.parametrize(
    ("problem", "passes"),
    [
        (ForgeError("slow down", "rate_limited", retry_after=3600), True),
        (ForgeError("502", "unavailable"), True),
        (ForgeError("no right", "forbidden"), False),
        (ForgeError("an old token", "forbidden", token_refused=True), True),
        (ForgeError("gone", "not_found"), False),
        (GitError("git fetch: fatal: unable to access 'https://x/': Could not resolve host"), True),
        (GitError("git push: The requested URL returned error: 503"), True),
        (GitError("git push: The requested URL returned error: 403"), False),
        (GitError("git apply: error: patch does not apply"), False),
        (OSError("no space left"), False),
    ],
)
def test_a_forge_that_is_away_passes_and_what_it_refuses_does_not(
    problem: Exception, passes: bool
) -> None:
    assert away(problem) is passes


def test_only_a_forge_that_says_so_is_waited_for() -> None:
    assert asked_wait(ForgeError("slow down", "rate_limited", retry_after=3600)) == 3600
    assert asked_wait(ForgeError("502", "unavailable")) == 0
    assert asked_wait(GitError("git fetch: timed out")) == 0


class OneComment:
    """A forge with one comment of the bot."""

    made: SimpleNamespace | None = None

    def comments(self, number: int) -> list[Any]:
        return [self.made] if self.made else []

    def is_viewer(self, login: str) -> bool:
        return login == "bot"

    def comment(self, number: int, body: str) -> None:
        self.made = SimpleNamespace(id=1, body=body, author="bot")

    def edit_comment(self, number: int, comment_id: int, body: str) -> None:
        self.comment(number, body)


def test_the_parts_of_many_operators_fit_into_one_comment() -> None:
    forge, names = OneComment(), [f"src/math/operator_{place:03}" for place in range(150)]
    for name in names:
        one = job(number=3, kind="measure", operator=name)
        put_section(cast(Forge, forge), one, f"**{name}**: 1.2x\n\n<details>\n" + "row\n" * 2000)
    assert forge.made is not None
    body = forge.made.body
    assert len(body) < 65_000 and all(f"**{name}**" in body for name in names)
    assert body.count("<details>") == body.count("</details>")
