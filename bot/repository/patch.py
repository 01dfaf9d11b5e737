"""Patches of an operator's own sources: what they may touch, and whether they apply.

A patch is data from outside. It may change the text of existing sources of its own operator and
nothing else: no other file, no new, renamed, deleted or binary one, no file mode, no link.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from bot.base.git import Git, GitError
from bot.base.text import shortened
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.patch_set import patch_set
from ci.model.regular_file import file_bytes

# Extended headers of git diffs that do more than change lines.
_FORBIDDEN: Final = re.compile(
    r"^(new file mode|deleted file mode|old mode|new mode|rename from|rename to|copy from|copy to"
    r"|similarity index|dissimilarity index|GIT binary patch|Binary files"
    r"|index \S+ (?!100)[0-7]+)\b",
    re.MULTILINE,
)
# What git says of a patch that does not fit the files or is none, and of nothing else that fails.
_UNFIT: Final = re.compile(
    r"patch does not apply|patch failed|does not exist in index|already exists in"
    r"|does not match index|corrupt patch|patch fragment|unrecognized input|no valid patches"
    r"|patch with only garbage|inconsistent|lacks filename|invalid (?:path|mode)"
    r"|^error: [^:]*: No such file or directory$",
    re.IGNORECASE,
)
# Of a path in a sentence, in characters.
_LONGEST_PATH: Final = 200
_DIGITS: Final = re.compile(r"[0-9]+")
LARGEST_PATCH_BYTES: Final = 4 << 20
"""Above any rewrite of one operator's sources; keeps a hostile file from filling memory."""


def own_paths(
    operator_path: str, sources: Iterable[str], shared: Mapping[str, str] | None = None
) -> dict[str, str]:
    """An operator's sources by their paths from the repository's top (`operator_path` '' or '.').

    `shared` are the paths of those that it shares with others.
    """
    given = shared or {}
    return {given.get(s) or (PurePosixPath(operator_path) / s).as_posix(): s for s in sources}


def read_patch(path: Path) -> str:
    """Text of a patch file; raises `InputError` when it is missing, no text or too large."""
    try:
        return file_bytes(path, most_bytes=LARGEST_PATCH_BYTES).decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"There is no patch file {path}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text, so it is no patch.") from None


def check_patch(diff: str, allowed: Collection[str], name: str = "the patch") -> tuple[str, ...]:
    """Paths that `diff` changes, in its order, when all of them are `allowed`.

    Raises `InputError` when it is no unified diff, changes nothing, or does anything but change
    lines of allowed files.
    """
    # Outside hunks only: a changed source line may well begin with such words.
    headers = "\n".join(line for line in diff.split("\n") if line[:1] not in ("+", "-", " ", "@"))
    forbidden = _FORBIDDEN.search(headers)
    if forbidden:
        raise InputError(
            f"{name} may only change lines of the operator's sources, but it holds"
            f" '{forbidden.group(1)}'."
        )
    try:
        files = patch_set(diff)
    except InputError as problem:
        raise InputError(f"{name} is not a unified diff: {problem}.") from None
    if not files or not all(len(file) for file in files):
        raise InputError(f"{name} changes nothing; a unified diff with hunks is needed.")
    changed = []
    for file in files:
        paths = {_stripped(file.source_file), _stripped(file.target_file)}
        if len(paths) != 1:
            shown = shortened(file.path, _LONGEST_PATH)
            raise InputError(f"{name} renames, adds or deletes {shown}, which it may not.")
        path = paths.pop()
        if path not in allowed:
            shown = shortened(path, _LONGEST_PATH)
            raise InputError(
                f"{name} touches {shown}, which is not one of the operator's own sources."
            )
        changed.append(path)
    if len(set(changed)) != len(changed):
        raise InputError(f"{name} names a file twice.")
    return tuple(changed)


def only_numbers(diff: str, path: str) -> bool:
    """Whether a patch, as `check_patch` takes it, changes nothing but digits of one file's text."""
    changed = [one for one in patch_set(diff) if one.path == path]
    lines = [line for one in changed for hunk in one for line in hunk]
    before = "".join(line.value for line in lines if line.is_removed)
    after = "".join(line.value for line in lines if line.is_added)
    return _DIGITS.sub("0", before) == _DIGITS.sub("0", after)


def applied(operator: Operator, diff: str, name: str = "the patch") -> dict[str, str]:
    """Full new texts of the sources that `diff` changes, by path relative to the operator.

    The diff may count paths from the repository's top or from the operator's folder. Raises
    `InputError` when it touches anything else or does not apply.
    """
    sources = operator.sources
    places = {operator.repository_path(source): source for source in sources}
    try:
        changed = check_patch(diff, places, name)
    except InputError:
        if not _relative_to_operator(diff, sources):
            raise
        places = {source: source for source in sources}
        changed = check_patch(diff, places, name)
    with tempfile.TemporaryDirectory(prefix="ascendopt-patch-") as folder:
        top = Path(folder)
        for place, source in places.items():
            copy = top / place
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(operator.raw(source))
        # Its own repository, so that no surrounding one changes what the paths mean.
        git = Git.made(top)
        apply(git, diff, name)
        return {
            places[path]: (top / path).read_text(encoding="utf-8", errors="replace")
            for path in changed
        }


def apply(git: Git, diff: str, name: str = "the patch", *, index: Path | None = None) -> None:
    """`git apply --check`, then apply to the work tree, or to the index file `index` alone.

    Raises `InputError` in git's words when it does not fit, `GitError` when git fails otherwise.
    """
    flags = ["--whitespace=nowarn", *(["--cached"] if index else [])]
    env = {"GIT_INDEX_FILE": str(index)} if index else {}
    try:
        git.run("apply", "--check", *flags, "-", stdin=diff, env=env)
    except GitError as problem:
        told = [line for line in problem.said if line.startswith(("error: ", "fatal: "))]
        for line in told or [str(problem)]:
            if not _UNFIT.search(line):  # such as a disk that is full: nothing about the patch
                raise GitError(f"git apply failed: {line}", problem.said) from None
        words = told[0].partition(": ")[2]
        raise InputError(f"{name} does not apply to the original operator: {words}.") from None
    git.run("apply", *flags, "-", stdin=diff, env=env)


def applies(git: Git, patch: str, commit: str) -> bool:
    """Whether a patch fits the tree of a commit; raises GitError when git cannot say."""
    with tempfile.TemporaryDirectory(prefix="ascendopt-fits-") as folder:
        index = Path(folder) / "index"
        git.run("read-tree", commit, env={"GIT_INDEX_FILE": str(index)})
        try:
            apply(git, patch, index=index)
        except InputError:
            return False
    return True


def _relative_to_operator(diff: str, sources: Collection[str]) -> bool:
    targets = re.findall(r"^\+\+\+ (?:b/)?([^\t\n\r]+)", diff, flags=re.MULTILINE)
    return bool(targets) and all(target in sources for target in targets)


def _stripped(path: str) -> str:
    """The path without git's a/ or b/; what is left is compared, never opened."""
    return re.sub(r"^[ab]/", "", path.strip().strip('"'))
