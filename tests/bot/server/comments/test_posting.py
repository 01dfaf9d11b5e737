"""Which failures pass by themselves, and how long the forge asks to wait."""

import pytest

from bot.base.git import GitError
from bot.forge.errors import ForgeError
from bot.server.comments.posting import asked_wait, away


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
