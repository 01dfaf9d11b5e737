"""The demo behind `make demo`: a sample repository, one optimization, one merge request.

Usage: python examples/demo.py --into FOLDER
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from sample import git, make_sample

OPERATOR = "src/math/affine_clamp"
BUDGET = 20
# Only folders that carry this file are cleared: whatever else lies there is not ours to delete.
MARK = ".ascendopt-demo"


def run(*arguments: str) -> int:
    """Run an ascendopt command in view of the user."""
    print(f"\n$ ascendopt {shlex.join(arguments)}", flush=True)
    program = Path(sys.executable).with_name("ascendopt")
    return subprocess.run([str(program), *arguments], check=False).returncode


def fresh(folder: Path) -> None:
    """Make `folder` empty; refuses a folder that no demo made."""
    if folder.exists():
        if not (folder / MARK).exists() and any(folder.iterdir()):
            sys.exit(f"{folder} is not from an earlier demo; choose another with --into.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).touch()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=Path("demo"))
    parser.add_argument("--budget", type=int, default=BUDGET)
    given = parser.parse_args()
    into: Path = given.into
    fresh(into)
    if run("doctor"):
        return 1
    checkout, origin = make_sample(into)
    print(f"\nSample repository: {checkout}, its origin: {origin}")
    out = into / "run"
    code = run(
        *("optimize", str(checkout / OPERATOR), "--budget", str(given.budget)),
        *("--bank", str(into / "bank.duckdb"), "--out", str(out)),
    )
    if code:
        return code
    code = run("submit", str(out), "--forge", "local", "--repository", str(checkout))
    if code:
        return code
    (branch,) = git(origin, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/optimize")
    (request,) = (origin / "merge-requests").glob("*.md")
    print("\nThe loop is closed. Look at:")
    print(f"  patch          {out / 'best.patch'}")
    print(f"  report         {out / 'report.html'} (and report.md)")
    print(f"  merge request  {request}")
    print("Then decide:")
    print(f"  merge it       git -C {origin} push . {branch}:main")
    print(f"  say no         git -C {checkout} push origin --delete {branch}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
