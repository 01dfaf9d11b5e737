"""A server that cannot start says why, before it begins anything."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from bot.cli.main import run


def settings(folder: Path, **keys: object) -> str:
    """A file of settings for a local repository in `folder`."""
    lines = {"data": folder / "data", **keys}
    repository = f"repositories: [{{forge: local, repository: {folder / 'ops.git'}}}]\n"
    file = folder / "bot.yml"
    file.write_text(repository + "".join(f"{key}: {value}\n" for key, value in lines.items()))
    return str(file)


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPT_WEBHOOK_SECRET", "s3cret")


def test_a_port_that_is_taken_ends_the_server_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert run(["serve", settings(tmp_path, port=port)]) == 2
    said = capsys.readouterr().err
    assert f"No server can listen on 127.0.0.1, port {port}: Address already in use. Name" in said
    assert not (tmp_path / "data").exists()


def test_data_that_is_a_file_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert run(["serve", settings(tmp_path, port=0, data=tmp_path / "file")]) == 2
    said = capsys.readouterr().err
    assert f"The folder `data` of the settings cannot be {tmp_path / 'file'}: it is a file" in said
