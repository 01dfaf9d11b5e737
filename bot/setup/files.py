"""The files that a repository needs for the bot in its forge's CI."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import yaml
from pydantic import Field

from bot.repository.config import FILE
from bot.setup.source import NAME
from ci.model.frozen import Frozen
from ci.model.regular_file import file_text
from ci.model.yaml_model import PlacingLoader

TEMPLATES: Final = Path(__file__).parent / "templates"
GITLAB_CI: Final = ".gitlab-ci.yml"
_SOURCE: Final = re.compile(rf'^( *{NAME}: )("?)([^"\n]*)\2$', re.MULTILINE)
_BRANCHES: Final = re.compile(r"^( +)- main\n +- master$", re.MULTILINE)
_INCLUDE: Final = re.compile(r"^include:[ \t]*(?:#.*)?\n(?P<indent>[ ]*)- ", re.MULTILINE)

CONFIG: Final = """\
# What ascendopt may do in this repository. It reads this file from the default branch only.
# Every key: `ascendopt config schema`; what it means for a change: `ascendopt config simulate`.
version: 1
# target: 910B4           # chip to optimize for
# workloads: workloads    # folder of NAME/workload.yaml, for operators without one of their own
# exclude: ["src/contrib/*"]
# triggers: {push: true, comment: true, merge_request: false, nightly: true}
# limits: {operators_per_event: 5, open_merge_requests: 5, daily_merge_requests: 10}
# merge_requests: {author: Operator Bot <bot@example.org>}
"""


class SetupFile(Frozen):
    """One file of the repository, as it is to be."""

    path: str = Field(description="From the repository's top.")
    state: Literal["new", "there", "changed", "differs"] = Field(
        description="new and changed are written; there is as it should be; differs was changed by"
        " somebody and is left alone."
    )
    text: str = Field(repr=False)


class _Ci(NamedTuple):
    template: str
    place: str


_CI: Final[Mapping[str, _Ci]] = {
    "github": _Ci("github.yml", ".github/workflows/ascendopt.yml"),
    "gitlab": _Ci("gitlab.yml", ".gitlab/ascendopt.yml"),
    "gitcode": _Ci("gitcode.yml", ".gitcode/workflows/ascendopt.yml"),
}


def ci_place(forge: str) -> str:
    """Where the template of a forge goes; '' for a forge without CI."""
    return _CI[forge].place if forge in _CI else ""


def ci_text(forge: str, source: str, branch: str) -> str:
    """The template of `forge` that installs `source` and works on `branch`.

    GitHub's and GitCode's name it: their workflows have no word for the default one.
    """
    text = (TEMPLATES / _CI[forge].template).read_text(encoding="utf-8")
    text = _SOURCE.sub(lambda m: f'{m[1]}"{source}"', text)
    return _BRANCHES.sub(lambda m: f"{m[1]}- {_quoted(branch)}", text)


def named_source(text: str) -> str:
    """What a CI file of ours installs; '' when it names nothing."""
    found = _SOURCE.search(text)
    return found[3] if found else ""


def setup_files(
    top: Path, forge: str, source: str, branch: str, *, force: bool
) -> tuple[SetupFile, ...]:
    """Every file that the bot needs in the checkout `top`, compared with what is there.

    `force`: a CI file that differs from ours is written again.
    """
    files = [_file(top, FILE, lambda old: old if old is not None else CONFIG)]
    if forge in _CI:
        ours, place = ci_text(forge, source, branch), _CI[forge].place
        old = _read(top, place)
        state = _state(old, ours)
        kept = state == "changed" and not force
        files.append(SetupFile(path=place, state="differs" if kept else state, text=ours))
    if forge == "gitlab":
        files.append(_file(top, GITLAB_CI, lambda old: included(old or "", _CI["gitlab"].place)))
    return tuple(files)


def _file(top: Path, path: str, make: Callable[[str | None], str]) -> SetupFile:
    old = _read(top, path)
    made = make(old)
    return SetupFile(path=path, state=_state(old, made), text=made)


def _state(old: str | None, made: str) -> Literal["new", "there", "changed"]:
    if old is None:
        return "new"
    return "there" if old == made else "changed"


def _read(top: Path, path: str) -> str | None:
    place = top / path
    return file_text(place, top.resolve()) if place.exists() else None


def included(text: str, place: str) -> str:
    """A project's .gitlab-ci.yml that includes `place` too; the rest stays byte for byte.

    As it is when it includes it already, or when its `include` is no list of lines: then a person
    has to add it (`includes` tells).
    """
    if includes(text, place):
        return text
    item = [f"- local: {place}"]
    stage = _stage(text)
    if stage != "test":
        item.append(f"  inputs: {{stage: {_quoted(stage)}}}")
    listed = _INCLUDE.search(text)
    if listed is not None:
        begin = text.index("\n", listed.start()) + 1
        lines = "".join(f"{listed['indent']}{line}\n" for line in item)
        return text[:begin] + lines + text[begin:]
    if re.search(r"^include:", text, re.MULTILINE):
        return text
    end = "" if not text or text.endswith("\n") else "\n"
    gap = "\n" if text else ""
    return f"{text}{end}{gap}include:\n" + "".join(f"  {line}\n" for line in item)


def includes(text: str, place: str) -> bool:
    """Whether a .gitlab-ci.yml includes `place`."""
    found = _loaded(text).get("include")
    for one in found if isinstance(found, list) else [found]:
        named = one.get("local") if isinstance(one, dict) else one
        if isinstance(named, str) and named.strip("/") == place:
            return True
    return False


def _stage(text: str) -> str:
    """A stage of the project for our jobs: `test`, which every project has by default, else its
    last."""
    stages = _loaded(text).get("stages")
    named = [s for s in stages if isinstance(s, str)] if isinstance(stages, list) else []
    return "test" if "test" in named or not named else named[-1]


def _loaded(text: str) -> dict[str, Any]:
    """A .gitlab-ci.yml as data; empty when it cannot be read."""
    try:
        found = yaml.load(text, _Tolerant)
    except (yaml.YAMLError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class _Tolerant(PlacingLoader):
    """Reads GitLab's own tags, such as !reference, as nothing, and numbers as GitLab does."""

    decimal = False


_Tolerant.add_multi_constructor("!", lambda loader, tag, node: None)


def _quoted(name: str) -> str:
    """`name` as a YAML scalar."""
    return name if re.fullmatch(r"[A-Za-z][\w./-]*", name) else yaml.safe_dump(name).split("\n")[0]
