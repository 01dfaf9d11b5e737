"""The files by which coding agents find the judge."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from bot.base.git import Git
from bot.cli.main import root, run
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
    with pytest.raises(InputError, match="from the repository's top"):
        agent_files(tmp_path, folder)


def test_a_broken_list_of_servers_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        agent_files(tmp_path, "skills")


def test_init_for_an_agent_writes_its_files_and_none_of_the_bots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Git.made(tmp_path)  # no remote, no commit, no operator
    monkeypatch.chdir(tmp_path)
    assert run(["init", "--agent", ".agents/skills", "--dry-run"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {".git"}
    assert run(["init", "--agent", ".agents/skills"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {".git", ".agents", ".mcp.json"}
    assert (
        f"In {tmp_path}:\n  .agents/skills/ascendopt/SKILL.md: written" in capsys.readouterr().out
    )


def test_every_command_that_the_skill_names_is_one() -> None:
    for file in SKILL.rglob("*.md"):
        for words in re.findall(r"^ascendopt ([^#\n]+)", file.read_text(), re.MULTILINE):
            command, context = root, click.Context(root)
            names = shlex.split(words)
            while isinstance(command, click.Group):
                command = command.get_command(context, names.pop(0))
            known = {name for one in command.params for name in one.opts}
            assert {name for name in names if name.startswith("--")} <= known, words
