"""Which model fills which role, and how it is reached: from a YAML file and the environment.

Keys are never settings: a model names the environment variable that holds its key.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ci.model.errors import InputError, first_fault
from ci.model.frozen import Frozen
from ci.model.yaml_model import YamlFile

Role = Literal[
    "synthesis", "mutation", "rewind", "distillation", "diagnosis", "rewriting", "creation"
]
ROLES: Final[tuple[Role, ...]] = (
    "synthesis", "mutation", "rewind", "distillation", "diagnosis", "rewriting",
)  # fmt: skip
"""Roles of a search and of the bank."""

CREATION: Final[Role] = "creation"
"""Writes the program of an operator that does not exist yet, where tracing cannot."""

OFFLINE: Final[tuple[Role, ...]] = ("synthesis", "rewind", "distillation", CREATION)
"""Asked seldom, and worth a strong model: what they make is used again and again."""

NAMED_ONLY: Final[tuple[Role, ...]] = ("synthesis", "diagnosis")
"""Filled by a model only when a file names it: a step's prompt shows what they would tell it."""

KEY_VARIABLE: Final = "ASCENDOPT_LLM_API_KEY"
OFFLINE_KEY_VARIABLE: Final = "ASCENDOPT_LLM_OFFLINE_API_KEY"
FILE_VARIABLE: Final = "ASCENDOPT_LLM_MODELS"
OPENAI: Final = "https://api.openai.com/v1"


class Price(Frozen):
    """What a model costs, in money for each million tokens."""

    input: float = Field(ge=0, description="Prompt tokens.")
    cached_input: float | None = Field(
        default=None,
        ge=0,
        description="Prompt tokens read from the provider's cache; default: `input`.",
    )
    output: float = Field(default=0.0, ge=0, description="Answer tokens.")
    currency: str = Field(default="USD", description="Currency; the same for all models of a file.")

    def of(self, fresh: int, cached: int, output: int) -> float:
        """Money for so many tokens."""
        rate = self.input if self.cached_input is None else self.cached_input
        return (fresh * self.input + cached * rate + output * self.output) / 1e6


class ModelSettings(Frozen):
    """One model behind one endpoint."""

    model: str = Field(min_length=1, description="Name that the endpoint knows the model by.")
    endpoint: str = Field(default=OPENAI, description="Base URL of an OpenAI-compatible API.")
    key: str = Field(
        default=KEY_VARIABLE,
        pattern=r"^[A-Za-z_]\w*$",
        description="Environment variable that holds the key; unset for an endpoint without keys.",
    )
    temperature: float | None = Field(
        default=0.2, ge=0, le=2, description="Sampling temperature; null: the endpoint decides."
    )
    max_tokens: int = Field(default=8192, ge=16, description="Longest answer, in tokens.")
    timeout: float = Field(
        default=300.0, gt=0, description="Longest time for one whole answer, in s."
    )
    stream: bool = Field(default=True, description="Receive an answer while it is written.")
    structured: Literal["auto", "json_schema", "json_object", "text"] = Field(
        default="auto",
        description="Form of answers: json_schema, json_object or text. auto tries them in this"
        " order and keeps the first that the endpoint takes.",
    )
    attempts: int = Field(default=5, ge=1, description="Most requests for one answer.")
    backoff: float = Field(
        default=1.0, ge=0, description="First wait between attempts, in s; doubles up to 60 s."
    )
    price: Price | None = Field(
        default=None, description="Price of a million tokens; overrides rules/prices.yml."
    )

    @model_validator(mode="before")
    @classmethod
    def _keyless(cls, given: Any) -> Any:
        if isinstance(given, dict) and {"api_key", "apikey", "token", "secret"} & set(given):
            raise ValueError(
                "holds a key; keys come only from the environment: write "
                "`key: NAME_OF_THE_VARIABLE`, and take the key back at your provider"
            )
        return given

    @field_validator("endpoint")
    @classmethod
    def _url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be a URL such as https://api.deepseek.com/v1")
        if parts.username or parts.password or parts.query:
            raise ValueError("must hold no user, password or query: keys come from the environment")
        return value.rstrip("/")

    @property
    def host(self) -> str:
        """The endpoint's host and port, for people."""
        return urlsplit(self.endpoint).netloc

    def secret(self) -> SecretStr | None:
        """The key out of the environment, None when the variable is not set."""
        value = os.environ.get(self.key, "").strip()
        return SecretStr(value) if value else None


class AgentSettings(Frozen):
    """A command-line agent that makes patches, with our MCP server as its judge."""

    command: tuple[str, ...] = Field(
        min_length=1,
        description="Program and arguments, started in a checkout of its own. {prompt} stands for"
        " the task (else it is the program's input), {mcp} for the list of MCP servers that the"
        " checkout holds as .mcp.json, {tokens} for --max-tokens.",
    )
    minutes: float = Field(
        default=60.0, gt=0, description="Longest time that it may work, in minutes."
    )


class Models(Frozen):
    """Models by a name of one's own, and which of them fills which role."""

    # Where a key was put by mistake, a message must not repeat it.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    models: dict[str, ModelSettings] = Field(default_factory=dict)
    roles: dict[Role | Literal["embedding"], str] = Field(
        default_factory=dict, description="Name of a model by role; rules fill the others."
    )
    agent: AgentSettings | None = Field(default=None, description="The agent of --proposer agent.")

    @model_validator(mode="after")
    def _known(self) -> Models:
        for role, name in self.roles.items():
            if name not in self.models:
                raise ValueError(f"role {role} names the model '{name}', which is not defined")
        return self

    def of(self, role: Role | Literal["embedding"]) -> ModelSettings | None:
        """The model that fills a role, None when rules do."""
        name = self.roles.get(role)
        return self.models[name] if name is not None else None

    def in_use(self) -> list[ModelSettings]:
        """The models that fill a role, each once."""
        filled = {name for role, name in self.roles.items() if role != "embedding"}
        return [self.models[name] for name in sorted(filled)]


class _Environment(BaseSettings):
    """One model from variables of one prefix: a stronger one has a prefix of its own."""

    model_config = SettingsConfigDict(extra="ignore")

    model: str = ""
    endpoint: str = OPENAI
    temperature: float | None = 0.2
    max_tokens: int = 8192
    timeout: float = 300.0


def load_models(file: Path | None = None) -> Models:
    """The models of `file` (or of $ASCENDOPT_LLM_MODELS), completed from the environment.

    A role that the file leaves open is filled by $ASCENDOPT_LLM_OFFLINE_MODEL when it is an
    offline one, else by $ASCENDOPT_LLM_MODEL unless a step does without it, else by rules.
    Raises `InputError`.
    """
    named = os.environ.get(FILE_VARIABLE, "").strip()
    path = file or (Path(named) if named else None)
    found = YamlFile.open(path, aliases=True).read(Models) if path is not None else Models()
    models, roles = dict(found.models), dict(found.roles)
    for prefix, key, fills in (
        ("ASCENDOPT_LLM_OFFLINE_", OFFLINE_KEY_VARIABLE, OFFLINE),
        (
            "ASCENDOPT_LLM_",
            KEY_VARIABLE,
            tuple(r for r in (*ROLES, CREATION) if r not in NAMED_ONLY),
        ),
    ):
        try:
            given = _Environment(_env_prefix=prefix)
            if not given.model:
                continue
            one = ModelSettings(
                **given.model_dump(), key=key if os.environ.get(key) else KEY_VARIABLE
            )
        except ValidationError as problem:
            place, said = first_fault(problem)
            name = prefix + place.partition(".")[0].upper().removeprefix(prefix)
            raise InputError(f"${name} cannot be used: {said.lower()}.") from None
        label = f"${prefix}MODEL"
        models[label] = one
        roles |= {role: label for role in fills if role not in roles}
    return Models(models=models, roles=roles, agent=found.agent)
