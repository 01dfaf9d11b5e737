"""The language in which the bot writes to a repository."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bot.base.language import Language
from bot.repository.config import FILE, RepositoryConfig, parse_config
from bot.repository.mirror import Commit
from ci.model.errors import InputError
from ci.model.regular_file import file_bytes

READMES: Final = ("README.md", "readme.md", "README.rst", "README.txt", "README")
_MOST_BYTES: Final = 200_000
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
_WORD: Final = re.compile(r"[A-Za-z]{2,}")


def readme_language(text: str) -> Language:
    """'zh' for a README with more Chinese characters than Latin words, 'en' for any other.

    Code blocks, links and HTML do not count.
    """
    prose = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<[^>]*>", " ", text, flags=re.DOTALL)
    return "zh" if len(_CHINESE.findall(prose)) > len(_WORD.findall(prose)) else "en"


def language_of(config: RepositoryConfig, read: Callable[[str], bytes | None]) -> Language:
    """The configured language, or that of the first README; `read` returns a file's content."""
    if config.language is not None:
        return config.language
    for name in READMES:
        content = read(name)
        if content:
            return readme_language(content[:_MOST_BYTES].decode("utf-8", "replace"))
    return "en"


def commit_language(commit: Commit, config: RepositoryConfig) -> Language:
    """The language of a repository, by its README at `commit`."""
    return language_of(config, commit.read)


def checkout_language(top: Path | None) -> Language:
    """The language of the repository in a checkout; English outside of one or if it is broken."""
    if top is None:
        return "en"

    def read(name: str) -> bytes | None:
        file = top / name
        return file_bytes(file, top.resolve()) if file.is_file() and not file.is_symlink() else None

    try:
        return language_of(parse_config(read(FILE)), read)
    except (InputError, OSError):
        return "en"
