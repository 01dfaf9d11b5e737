"""How the bot's commits look: who wrote them, signed off or not, and the form of their subject."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from bot.base.git import Git
from ci.model.frozen import Frozen

RECENT: Final = 50
"""Subjects of the target branch that tell which form the repository uses."""

_AUTHOR = re.compile(r"[^<>\r\n]{1,80} <[^<>@\s]{1,80}@[^<>@\s]{1,80}>")
_CONVENTIONAL = re.compile(r"[a-z]{2,12}(\([^()\n]{1,60}\))?!?: \S")


def _known_author(value: str) -> str:
    if not _AUTHOR.fullmatch(value):
        raise ValueError(f"'{value}' is no author; write Name <address@host>")
    return value


class CommitStyle(Frozen):
    """A repository's rules for commits."""

    author: Annotated[str, AfterValidator(_known_author)] = Field(
        default="ascendopt <ascendopt@localhost>",
        description="Author of the commits, as `Name <address>`: an account that the forge knows"
        " shows its picture, and passes checks of contributors' agreements.",
    )
    sign_off: bool = Field(
        default=True, description="End the message with Signed-off-by and the author."
    )
    subject: Literal["auto", "plain", "conventional"] = Field(
        default="auto",
        description="Form of commit subject and title: plain (Optimize Abs: …), conventional"
        " (perf(abs): …), or what most recent commits of the target branch have.",
    )

    @property
    def identity(self) -> dict[str, str]:
        """The environment that makes git commit as the author."""
        name, address = self.author[:-1].rsplit(" <", 1)
        return {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", name), ("EMAIL", address))
        }

    def conventional(self, git: Git, tip: str) -> bool:
        """Whether a commit on top of `tip` has a conventional subject."""
        if self.subject != "auto":
            return self.subject == "conventional"
        log = git.run("log", "--first-parent", f"-n{RECENT}", "--format=%s", tip)
        said = [line for line in log.splitlines() if not line.startswith("Merge ")]
        return 2 * sum(bool(_CONVENTIONAL.match(line)) for line in said) > len(said)
