"""The files by which coding agents find the judge: a skill, and the MCP server's address."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any, Final

from bot.setup.files import SetupFile
from ci.model.errors import InputError
from ci.model.regular_file import file_bytes, file_text
from rules.load import RULES

SKILL: Final = RULES / "skill"
SERVERS: Final = ".mcp.json"
"""Where agents look for a repository's MCP servers."""

SERVER: Final = {"command": "ascendopt", "args": ["mcp"]}


def agent_files(top: Path, folder: str) -> tuple[SetupFile, ...]:
    """Return the skill's files below `folder` and the repository's list of MCP servers.

    `folder` is where the agent reads skills, from the repository's top. Servers that are listed
    already stay. Raises InputError when that list cannot be read.
    """
    place = PurePosixPath(folder)
    if place.is_absolute() or ".." in place.parts:
        raise InputError(
            f"--agent {folder} is not a path from the repository's top; give one such as"
            " .agents/skills, and the repository as the argument before it."
        )
    files = [
        _file(top, str(place / "ascendopt" / path.relative_to(SKILL)), path.read_text("utf-8"))
        for path in sorted(SKILL.rglob("*.md"))
    ]
    return (*files, _file(top, SERVERS, _servers(top)))


def _servers(top: Path) -> str:
    file = top / SERVERS
    data: Any = {}
    if file.exists():
        try:
            data = json.loads(file_bytes(file, top.resolve()))
        except (UnicodeDecodeError, json.JSONDecodeError) as problem:
            raise InputError(f"{SERVERS} is not JSON: {problem}.") from problem
    if not isinstance(data, dict) or not isinstance(data.setdefault("mcpServers", {}), dict):
        raise InputError(f"{SERVERS} has no object mcpServers.")
    data["mcpServers"].setdefault("ascendopt", SERVER)
    return json.dumps(data, indent=2) + "\n"


def _file(top: Path, path: str, text: str) -> SetupFile:
    there = top / path
    if not there.exists():
        return SetupFile(path=path, state="new", text=text)
    same = file_text(there, top.resolve()) == text
    return SetupFile(path=path, state="there" if same else "changed", text=text)
