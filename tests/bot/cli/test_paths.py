"""What a person gives as a path: pipes and devices keep no command waiting."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bot.cli.main import root, run


def commands(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of each command below a group."""
    if not isinstance(group, click.Group):
        yield words
        return
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        found = group.get_command(ctx, name)
        assert found is not None
        yield from commands(found, (*words, name))


def command(words: tuple[str, ...]) -> click.Command:
    found: click.Command = root
    for name in words:
        assert isinstance(found, click.Group)
        one = found.get_command(click.Context(found), name)
        assert one is not None
        found = one
    return found


def line(words: tuple[str, ...], asked: click.Parameter, value: str) -> list[str]:
    """A command line with all that it must have, and `value` where it is `asked`."""
    made = list(words)
    for given in command(words).params:
        if not (given is asked or given.required):
            continue
        text = value if given is asked else "."
        made += [given.opts[-1], text] if isinstance(given, click.Option) else [text]
    return made


@pytest.mark.parametrize("kind", ["pipe", "device", "link to itself", "no UTF-8"])
def test_no_command_takes_what_is_neither_file_nor_folder(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "place"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "no UTF-8":
        place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
        place.mkdir()
    else:
        place.symlink_to("/dev/zero" if kind == "device" else "place")
    seen = 0
    for words in commands(root):
        for asked in command(words).params:
            if isinstance(asked.type, click.Path):
                assert run(line(words, asked, str(place))) == 2, (words, asked.opts)
                said = capsys.readouterr().err
                why = ("neither a file nor a folder", "cannot be used", "no UTF-8")
                assert any(word in said for word in why), said
                seen += 1
    assert seen > 60
