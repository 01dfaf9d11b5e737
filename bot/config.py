"""`.ascendopt.yml`: what a maintainer decides for a repository. An empty file works.

It is read from the default branch only, so that a merge request cannot raise its own budget or
choose its own judge. The pydantic model is the documentation and the published JSON schema.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, Final, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from bot.command import Stage
from ci.errors import InputError
from ci.trial import Frozen
from rules.devices import DEFAULT_DEVICE, device_names

FILE: Final = ".ascendopt.yml"
_MAX_BYTES: Final = 200_000


class Triggers(Frozen):
    """Which events start work."""

    comment: bool = Field(default=True, description="`/optimize` on a merge request.")
    merge_request: bool = Field(
        default=False,
        description="A merge request that changes kernel or tiling sources, without being asked.",
    )
    push: bool = Field(
        default=True, description="A push to the default branch that changes such sources."
    )
    nightly: bool = Field(
        default=True, description="Refresh the bank and verify open merge requests at night."
    )


class Limits(Frozen):
    """How much the bot may ask of its reviewers and of the machine."""

    open_merge_requests: int = Field(
        default=5, ge=0, le=100, description="Merge requests of the bot that are open at once."
    )
    daily_merge_requests: int = Field(
        default=10, ge=0, le=1000, description="Merge requests that the bot opens in 24 hours."
    )
    operators_per_event: int = Field(
        default=5, ge=1, le=100, description="Operators that one event may start runs for."
    )
    wall_minutes: float = Field(
        default=120.0, gt=0, le=1440, description="Wall time of one run, in minutes."
    )


class MergeRequests(Frozen):
    """How the bot's merge requests look."""

    labels: tuple[str, ...] = Field(default=(), max_length=10, description="Labels to put on them.")
    rebase: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="When the base moved: rebase and verify again if files that the operator is"
        " built from changed (auto), always, or never.",
    )


class OperatorOverride(Frozen):
    """What differs for one operator."""

    enabled: bool = Field(default=True, description="Whether the bot works on it at all.")
    workload: str | None = Field(
        default=None, description="Workload file, from the repository's top."
    )
    budget: int | None = Field(default=None, ge=3, le=1000, description="Evaluations for a run.")
    stage: Stage | None = Field(default=None, description="tiling, kernel or both.")


class RepositoryConfig(Frozen):
    """What the bot may do in a repository, and how."""

    version: Literal[1] = Field(default=1, description="Version of this file's format.")
    enabled: bool = Field(default=True, description="false: the bot does nothing here.")
    include: tuple[str, ...] = Field(
        default=("*",),
        description="Operator folders to work on, as globs from the repository's top; `*` matches"
        " across folders.",
    )
    exclude: tuple[str, ...] = Field(default=(), description="Operator folders to leave alone.")
    workloads: str = Field(
        default="",
        description="Folder that holds NAME/workload.yaml for operators without one beside them.",
    )
    target: str = Field(default=DEFAULT_DEVICE, description="Chip to optimize for: 910B1 … 910B4.")
    backend: Literal["sim", "cann"] = Field(
        default="sim", description="What builds and measures: the simulator, or a real NPU."
    )
    stage: Stage = Field(default="both", description="Optimize tiling, kernel, or both in turn.")
    proposer: Literal["rules", "llm"] = Field(
        default="rules", description="Who proposes changes; llm needs models on the bot's side."
    )
    budget: int = Field(
        default=40, ge=3, le=1000, description="Evaluations for a run that names no budget."
    )
    max_budget: int = Field(
        default=80, ge=3, le=1000, description="The most that `/optimize budget=N` may ask for."
    )
    seed: int = Field(default=0, ge=0, description="Seed of the search.")
    minimum_speedup: float = Field(
        default=1.02, ge=1.0, le=10.0, description="Below this ratio no merge request is opened."
    )
    permission: Literal["write", "admin"] = Field(
        default="write", description="What a person needs to give commands."
    )
    triggers: Triggers = Field(default=Triggers(), description="Which events start work.")
    limits: Limits = Field(default=Limits(), description="How much the bot may do.")
    merge_requests: MergeRequests = Field(
        default=MergeRequests(), description="How the bot's merge requests look."
    )
    operators: dict[str, OperatorOverride] = Field(
        default_factory=dict, description="What differs for an operator, by folder or name."
    )

    @field_validator("target")
    @classmethod
    def _known_device(cls, value: str) -> str:
        if value not in device_names():
            raise ValueError(f"there is no device {value}; known: {', '.join(device_names())}")
        return value

    @field_validator("workloads")
    @classmethod
    def _inside(cls, value: str) -> str:
        return _relative(value)

    @field_validator("operators")
    @classmethod
    def _workloads_inside(cls, value: dict[str, OperatorOverride]) -> dict[str, OperatorOverride]:
        for override in value.values():
            _relative(override.workload or "")
        return value

    def override(self, folder: str) -> OperatorOverride:
        """What differs for the operator in `folder` (from the repository's top)."""
        name = folder.rsplit("/", 1)[-1]
        return self.operators.get(folder) or self.operators.get(name) or OperatorOverride()

    def covers(self, folder: str) -> bool:
        """Whether the bot may work on the operator in `folder`."""
        wanted = any(fnmatchcase(folder, glob) for glob in self.include)
        refused = any(fnmatchcase(folder, glob) for glob in self.exclude)
        return self.enabled and wanted and not refused and self.override(folder).enabled

    def granted(self, folder: str, asked: int | None) -> int:
        """Evaluations for a run on the operator in `folder` when `asked` were asked for."""
        return min(asked or self.override(folder).budget or self.budget, self.max_budget)


def _relative(value: str) -> str:
    if value.startswith("/") or ".." in value.split("/") or "\\" in value:
        raise ValueError("must be a path inside the repository, without '..'")
    return value.strip("/")


def parse_config(text: str | bytes | None, name: str = FILE) -> RepositoryConfig:
    """The configuration in `text`; None or an empty file is the default one.

    Raises `InputError` with file, line and key of the first mistake.
    """
    problems: list[str] = []
    config = _parse(text, name, problems)
    if config is None:
        raise InputError(problems[0])
    return config


def config_problems(text: str | bytes | None, name: str = FILE) -> list[str]:
    """Every mistake in `text`, one sentence each with file, line and key; empty when it is good."""
    problems: list[str] = []
    _parse(text, name, problems)
    return problems


def _parse(text: str | bytes | None, name: str, problems: list[str]) -> RepositoryConfig | None:
    if text is None:
        return RepositoryConfig()
    if len(text) > _MAX_BYTES:
        problems.append(f"{name} is larger than {_MAX_BYTES // 1000} kB; it is no configuration.")
        return None
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        # An alias can stand for itself, or for a billion copies; a configuration needs none.
        for event in yaml.parse(decoded, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1 if event.start_mark else 1
                problems.append(f"{name} line {line}: aliases (*{event.anchor}) are not read.")
                return None
        root = yaml.compose(decoded, Loader=yaml.SafeLoader)
        data = yaml.safe_load(decoded)
    except UnicodeDecodeError:
        problems.append(f"{name} is not UTF-8 text.")
        return None
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else 1
        problems.append(f"{name} line {line}: this is not YAML: {problem.problem}.")
        return None
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        problems.append(f"{name}: this is not YAML: {str(problem).splitlines()[0]}.")
        return None
    if data is None:
        return RepositoryConfig()
    if not isinstance(data, dict):
        problems.append(f"{name} line 1: must be a mapping of keys to values.")
        return None
    twice = _key_twice(root, name)
    if twice:
        problems.append(twice)
        return None
    try:
        return RepositoryConfig.model_validate(data)
    except ValidationError as error:
        for fault in error.errors():
            problems.append(_sentence(root, fault, name))
        return None


def _sentence(root: Any, fault: Any, name: str) -> str:
    """One pydantic fault as a sentence with the line of its key."""
    path = [str(part) for part in fault["loc"]]
    key = ".".join(path)
    line = _line(root, path)
    if fault["type"] == "extra_forbidden":
        owner = _model_at(path[:-1])
        known = ", ".join(owner.model_fields) if owner is not None else ""
        return f"{name} line {line}: {key} is not a known key" + (
            f"; known here: {known}." if known else "."
        )
    said = str(fault["msg"]).removeprefix("Value error, ")
    return f"{name} line {line}: {key}: {said[:1].lower()}{said[1:]}."


def _model_at(path: list[str]) -> type[Frozen] | None:
    """The model whose keys stand at `path`."""
    if not path:
        return RepositoryConfig
    nested: dict[str, type[Frozen]] = {
        "triggers": Triggers,
        "limits": Limits,
        "merge_requests": MergeRequests,
    }
    if path[0] == "operators" and len(path) == 2:
        return OperatorOverride
    return nested.get(path[0]) if len(path) == 1 else None


def _line(root: Any, path: list[str]) -> int:
    """1-based line of the key at `path`, or of the nearest key above it that is there."""
    node, line = root, 1
    for part in path:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if str(k.value) == part), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and part.isdigit():
            node = node.value[int(part)]
            line = node.start_mark.line + 1
    return line


def _key_twice(node: Any, name: str) -> str:
    """YAML lets a key stand twice and keeps the last: here it is a mistake."""
    if isinstance(node, yaml.SequenceNode):
        return next((said for child in node.value if (said := _key_twice(child, name))), "")
    if not isinstance(node, yaml.MappingNode):
        return ""
    seen: set[str] = set()
    for key, value in node.value:
        if str(key.value) in seen:
            return f"{name} line {key.start_mark.line + 1}: {key.value} is given twice."
        seen.add(str(key.value))
        deeper = _key_twice(value, name)
        if deeper:
            return deeper
    return ""
