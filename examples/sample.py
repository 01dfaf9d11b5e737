"""Makes the sample repository: a real git checkout with a bare `origin` next to it.

Usage: python examples/sample.py FOLDER
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "sample_repository"
IDENTITY = ("-c", "user.name=Sample", "-c", "user.email=sample@example.org")


def git(folder: Path, *arguments: str) -> list[str]:
    """Lines that a git command prints."""
    command = ["git", *IDENTITY, *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def make_sample(folder: Path) -> tuple[Path, Path]:
    """Create `folder`/sample-ops and `folder`/sample-ops.git; returns (checkout, origin)."""
    checkout, origin = folder / "sample-ops", folder / "sample-ops.git"
    for path in (checkout, origin):
        if path.exists():
            raise FileExistsError(f"{path} exists already; remove it or choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(SOURCE, checkout, ignore=shutil.ignore_patterns("__pycache__"))
    origin.mkdir()
    git(origin, "init", "--quiet", "--bare", "--initial-branch=main")
    git(checkout, "init", "--quiet", "--initial-branch=main")
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message=Add sample operators")
    git(checkout, "remote", "add", "origin", str(origin.resolve()))
    git(checkout, "push", "--quiet", "origin", "main")
    return checkout, origin


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    try:
        made, home = make_sample(parser.parse_args().folder)
    except FileExistsError as problem:
        sys.exit(str(problem))
    print(f"checkout {made}, origin {home}")
