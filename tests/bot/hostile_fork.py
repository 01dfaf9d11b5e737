"""Makes a fork that holds all hostile names and files at once; the project holds none of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bot.forge.local import LocalForge
from bot.forge.model import MergeRequest
from bot.server.merge_request import path_mark
from tests.bot.make import git

NAME = "fixes #1 [skip ci] @everyone <b> `x` --!> PROJ-1"
"""Of an operator, of files and, as far as git allows it, of a branch."""
BRANCH = "optimize/fixes-#1-@everyone/GH-1"
MESSAGE = (
    f"{NAME}\n\nfixes #1\n\n[skip ci]\n\nAscendopt-Run: 0123456789\nAscendopt-Operator: {NAME}\n"
)
HOSTILE = "raise SystemError('code of the fork ran')\n"
CONFIG = "budget: 100000\nmerge_requests:\n  per_day: 1000\n  labels: ['@everyone']\n"


def hostile_fork(
    folder: Path, checkout: Path, operator: str, kernel: str, forge: LocalForge, secret: Path
) -> MergeRequest:
    """The merge request of a stranger's fork of `checkout`, which has an operator in `operator`.

    `kernel` is a source of it; `secret` is a file of whoever runs the bot. It pretends to be the
    bot's own merge request of that operator.
    """
    fork, tree = folder / "fork.git", folder / "fork"
    git(folder, "clone", "-q", "--bare", str(checkout), str(fork))
    git(folder, "clone", "-q", str(fork), str(tree))
    home = tree / operator
    (home / kernel).write_text((home / kernel).read_text() + f"// {NAME} \u202e\n")
    other = home.with_name(NAME)
    shutil.copytree(home, other)
    for place in (home, other):
        (place / "golden.py").write_text(HOSTILE)
        (place / "workload.yaml").write_text(f"golden: '../../../../{secret.name}:f'\n")
        (place / ".x").touch()
        for link, target in {
            "all": "/",
            "secret": str(secret),
            "up": "../../../..",
            NAME: "/proc",
        }.items():
            (place / link).symlink_to(target)
        for module in ("numpy", "sched", "sitecustomize", "conftest", "zipapp"):
            (place / f"{module}.py").write_text(HOSTILE)
    written = {
        ".ascendopt.yml": CONFIG,
        ".gitattributes": "* filter=lfs diff=lfs merge=lfs text eol=crlf ident\n",
        ".lfsconfig": "[lfs]\n\turl = http://127.0.0.1:9/\n",
        ".gitmodules": '[submodule "s"]\n\tpath = s\n\turl = http://127.0.0.1:9/\n',
        "CMakeLists.txt": f'execute_process(COMMAND cp "{secret}" leaked)\n',
        f"{NAME}/op_host/{NAME}.cpp": f'#include "{secret}"\n',
        "-rf": "",
        "new\nline.h": "",
    }
    for name, text in written.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    (Path(os.fsdecode(os.fsencode(tree) + b"/\xff.h"))).touch()
    git(tree, "checkout", "-q", "-b", BRANCH)
    git(tree, "config", "core.attributesFile", os.devnull)
    git(tree, "-c", "filter.lfs.required=false", "add", "-A")
    git(tree, "-c", "user.name=@everyone", "commit", "-q", "--no-verify", "-m", MESSAGE)
    git(tree, "push", "-q", "origin", BRANCH)
    body = f"<!-- ascendopt: {path_mark(operator)} -->\n**2.00x faster**\n\n{NAME}\n"
    return forge.open(NAME, body, BRANCH, "main", fork=fork)
