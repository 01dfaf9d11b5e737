"""Documentation that cannot rot: generated pages are current, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from bot.cli.main import root
from bot.cli.reference import PAGES
from tests.places import TOP

PAGES_OF_DOCS = (TOP / "docs").glob("**/*.md")
WRITTEN = sorted([*TOP.glob("README*.md"), *PAGES_OF_DOCS, *TOP.glob("examples/**/*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


def anchors(text: str) -> set[str]:
    """Heading anchors as forges make them."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_is_current(page: str) -> None:
    assert (TOP / "docs" / page).read_text() == PAGES[page](), "run `make docs`"


@pytest.mark.parametrize("path", WRITTEN, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    for pair in LINK.findall(without_code(path.read_text())):
        link = pair[0] or pair[1]
        if re.match(r"[a-z]+://|mailto:", link):
            continue
        place, _, anchor = link.partition("#")
        target = path.parent / place if place else path
        assert target.exists(), f"{name_of(path)} links to {link}"
        if anchor:
            assert anchor in anchors(target.read_text()), f"{name_of(path)} links to {link}"


@pytest.mark.parametrize("path", WRITTEN, ids=name_of)
def test_paths_named_in_the_text_exist(path: Path) -> None:
    """A path of this repository in inline code is there; <angle brackets> stand for any name."""
    for word in re.findall(r"`([^`\n]+)`", without_code(path.read_text())):
        if re.match(r"(bot|ci|rules|experience|tests|docs|examples|\.ci)/[\w./-]*$", word):
            assert (TOP / word).exists(), f"{name_of(path)} names {word}"


def commands(group: click.Group, words: str) -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found += commands(command, f"{words} {name}")
        else:
            found.append((f"{words} {name}", command))
    return found


COMMANDS = dict(commands(root, "ascendopt"))


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_and_option_is_documented(words: str) -> None:
    pages = ("commands.md", "lab-commands.md")
    page = "\n".join((TOP / "docs" / name).read_text() for name in pages)
    section = re.search(rf"^### `{words}[ `].*?(?=^##)", page + "\n##", re.DOTALL | re.MULTILINE)
    assert section is not None
    for parameter in COMMANDS[words].params:
        if isinstance(parameter, click.Option):
            assert f"`{parameter.opts[0]}`" in section.group()
            assert parameter.help, f"{words} {parameter.opts[0]} has no help"


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_json_and_a_sentence_of_help(words: str) -> None:
    command = COMMANDS[words]
    # A server of a protocol writes that protocol.
    assert "as_json" in {p.name for p in command.params} or words == "ascendopt mcp"
    assert (command.help or "").strip()


def shell(text: str) -> list[str]:
    """Commands of the shell blocks, without their comments."""
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return [line.partition(" #")[0].rstrip() for block in blocks for line in block.splitlines()]


def test_the_readme_gives_the_same_commands_in_both_languages() -> None:
    english, chinese = (TOP / name for name in ("README.md", "README.zh-CN.md"))
    assert shell(english.read_text()) == shell(chinese.read_text()) != []
    table = re.compile(r"^\| (`ascendopt .*?) \|", flags=re.MULTILINE)
    assert table.findall(english.read_text()) == table.findall(chinese.read_text()) != []


def test_a_line_of_the_changelog_fits_a_screen() -> None:
    lines = (TOP / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if len(line) > 125]


def test_every_page_has_a_place_on_the_site() -> None:
    nav = (TOP / "mkdocs.yml").read_text()
    pages = {path.relative_to(TOP / "docs").as_posix() for path in (TOP / "docs").glob("**/*.md")}
    assert not {page for page in pages if f": {page}\n" not in nav}


def test_the_readme_names_every_make_target_that_a_newcomer_needs() -> None:
    readme = (TOP / "README.md").read_text()
    targets = set(re.findall(r"^([a-z]+):", (TOP / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"demo", "test"} <= targets
    for line in ("make demo", "make test", "ascendopt optimize", "ascendopt doctor"):
        assert line in readme
