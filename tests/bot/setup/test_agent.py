"""The files by which coding agents find the judge."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot.setup.agent import SKILL, agent_files
from ci.model.errors import InputError


def test_a_skill_and_a_server_are_placed(tmp_path: Path) -> None:
    files = {file.path: file for file in agent_files(tmp_path, ".agents/skills")}
    skill = files[".agents/skills/ascendopt/SKILL.md"]
    assert skill.state == "new"
    assert re.match(r"---\nname: ascendopt\ndescription: .+\n---\n", skill.text)
    assert json.loads(files[".mcp.json"].text)["mcpServers"]["ascendopt"]["args"] == ["mcp"]


def test_links_of_the_skill_lead_to_files_that_are_placed() -> None:
    text = (SKILL / "SKILL.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links and all((SKILL / link).is_file() for link in links)


def test_servers_that_are_listed_already_stay(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}')
    servers = next(f for f in agent_files(tmp_path, "skills") if f.path == ".mcp.json")
    assert set(json.loads(servers.text)["mcpServers"]) == {"other", "ascendopt"}
    assert servers.state == "changed"


@pytest.mark.parametrize("folder", ["/etc", "../skills", "a/../../b"])
def test_a_folder_outside_the_repository_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(InputError, match="inside the repository"):
        agent_files(tmp_path, folder)


def test_a_broken_list_of_servers_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        agent_files(tmp_path, "skills")
