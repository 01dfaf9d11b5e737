"""`.ascendopt.yml`: what a maintainer decides for a repository. An empty file works.

It is read from the default branch only, so that a merge request cannot raise its own budget or
choose its own judge. The pydantic model is the documentation and the published JSON schema.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from bot.base.language import Language
from bot.repository.command import Stage
from bot.repository.commit_style import CommitStyle
from ci.model.build_setting import CONFIG_FILE, BuildSetting, Inside
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE
from ci.model.yaml_model import model_problems, read_model
from rules.devices import device_names

FILE: Final = CONFIG_FILE


def _known_device(value: str) -> str:
    if value not in device_names():
        raise ValueError(f"there is no device {value}; known: {', '.join(device_names())}")
    return value


Device = Annotated[str, AfterValidator(_known_device)]


class Triggers(Frozen):
    """Which events start work."""

    comment: bool = Field(default=True, description="`/optimize` on a merge request.")
    merge_request: bool = Field(
        default=False,
        description="A merge request that changes kernel or tiling sources, without being asked.",
    )
    measure: bool = Field(
        default=True,
        description="Time a merge request's own change of kernel or tiling against its base;"
        " nothing is searched.",
    )
    check: bool = Field(
        default=False,
        description="Check operators whose kernel or tiling a merge request changes, and say in one"
        " comment what is wrong with them.",
    )
    create: bool = Field(default=True, description="`/create` in an issue or on a merge request.")
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
        default=5,
        ge=1,
        le=100,
        description="Searches that one run of the CI starts; further operators stay in the queue"
        " for the next.",
    )
    wall_minutes: float = Field(
        default=120.0, gt=0, le=1440, description="Wall time of one run, in minutes."
    )


class MergeRequests(CommitStyle):
    """How the bot's merge requests look."""

    labels: tuple[str, ...] = Field(default=(), max_length=10, description="Labels to put on them.")
    rebase: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="When the base moved: rebase and verify again if files that the operator is"
        " built from changed (auto), always, or never.",
    )

    @property
    def style(self) -> dict[str, object]:
        """Return the rules for commits, by field of `CommitStyle`."""
        return self.model_dump(include={*CommitStyle.model_fields})


class OperatorOverride(Frozen):
    """Settings that differ for one operator."""

    enabled: bool = Field(default=True, description="Whether the bot works on it at all.")
    workload: Inside | None = Field(
        default=None, description="Workload file, from the repository's top."
    )
    budget: int | None = Field(default=None, ge=3, le=1000, description="Evaluations for a run.")
    stage: Stage | None = Field(default=None, description="tiling, kernel or both.")
    share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Its part of the time of your model, 0 to 1: the larger one goes first.",
    )


class RepositoryConfig(Frozen):
    """What the bot may do in a repository, and how."""

    version: Literal[1] = Field(default=1, description="Version of this file's format.")
    enabled: bool = Field(default=True, description="false: the bot does nothing here.")
    language: Language | None = Field(
        default=None,
        description="Language of merge requests, comments and reports: en or zh. Default: the"
        " language of the repository's README.",
    )
    include: tuple[str, ...] = Field(
        default=("*",),
        description="Operator folders to work on, as globs from the repository's top; `*` matches"
        " across folders.",
    )
    exclude: tuple[str, ...] = Field(default=(), description="Operator folders to leave alone.")
    workloads: Inside = Field(
        default="",
        description="Folder that holds NAME/workload.yaml, or AROUND/NAME/workload.yaml with the"
        " name of a folder around the operator, for operators without one next to them.",
    )
    dashboard: bool = Field(
        default=True,
        description="Keep an issue that says what is open, waits, failed and was refused.",
    )
    propose_workloads: bool = Field(
        default=False,
        description="Add the workload that was derived for an operator without one to the merge"
        " request.",
    )
    created: Inside = Field(
        default="",
        description="Folder that takes the operators that `/create` makes; the one that holds most"
        " operators when not given.",
    )
    target: Device = Field(
        default=DEFAULT_DEVICE, description="Chip to optimize for: 910B1 … 910B4."
    )
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
        default=1.02,
        ge=1.0,
        le=10.0,
        description="No merge request is opened where the speedup in the mean of the start states"
        " of a launch may be less than this, by what the model is unsure of. What loses in some"
        " state is never proposed.",
    )
    slowdown_threshold: float = Field(
        default=1.05,
        ge=1.0,
        le=10.0,
        description="The check of a measured merge request fails where a case takes more than this"
        " many times as long.",
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
    build: tuple[BuildSetting, ...] = Field(
        default=(),
        description="Build facts that the repository's own build does not say. Unlike the rest they"
        " are read from the tree that is built, as build files are.",
    )

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


def parse_config(text: str | bytes | None, name: str = FILE) -> RepositoryConfig:
    """The configuration in `text`; None or an empty file is the default one.

    Raises `InputError` with file, line and key of the first mistake.
    """
    return read_model(RepositoryConfig, text or "", name)


def config_problems(text: str | bytes | None, name: str = FILE) -> list[str]:
    """Every mistake in `text`, one sentence each with file, line and key; empty when it is good."""
    return model_problems(RepositoryConfig, text or "", name)
