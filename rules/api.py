"""The table of AscendC calls, api.yml: which arguments a call writes, and which it reads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field, model_validator

from ci.model.frozen import Frozen
from ci.model.yaml_model import read_file

API = Path(__file__).with_name("api.yml")

Pipe: TypeAlias = Literal["S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"]


class Family(Frozen):
    """Calls with the same arguments and effects."""

    names: tuple[str, ...] = Field(min_length=1)
    arguments: tuple[str, ...] = Field(
        min_length=1,
        description="Those that every form begins with: 'writes x', 'reads x', 'updates x', or the"
        " name of a scalar; 'count' last when there is a form with a count of elements.",
    )
    pipes: tuple[Pipe, ...] = Field(
        min_length=1, description="Pipes that it runs on, the main one first."
    )
    elementwise: bool = Field(
        default=False, description="An element depends on the elements at its own place alone."
    )
    in_place: bool = Field(default=False, description="What is written may be what is read.")
    converts: bool = Field(default=False, description="The type written may not be the one read.")

    @model_validator(mode="after")
    def _known_words(self) -> Family:
        for argument in self.arguments:
            access, _, name = argument.rpartition(" ")
            if access not in ("", "reads", "writes", "updates") or not name.isidentifier():
                raise ValueError(f"'{argument}' is not 'reads', 'writes' or 'updates' and a name")
        return self

    @property
    def overwrites(self) -> bool:
        """Whether the first argument gets a new value and its old one is not read."""
        return self.arguments[0].startswith("writes ")

    @property
    def tensors(self) -> int:
        """How many of the arguments are tensors."""
        return sum(" " in a for a in self.arguments)

    def counts(self, arguments: Sequence[str]) -> bool:
        """Whether these are the arguments of the form that ends with a count of elements."""
        return self.arguments[-1] == "count" and len(arguments) == len(self.arguments)

    @property
    def computes(self) -> bool:
        """Whether it overwrites a tensor, element by element from tensors of the same type."""
        return self.elementwise and self.overwrites and self.tensors > 1 and not self.converts


class Ordering(Frozen):
    """Calls and methods that order pipes and cores, or hand a buffer over."""

    pairs: dict[str, str] = Field(description="Who waits, by who signals.")
    barriers: tuple[str, ...] = Field(description="Order one pipe, or all, and nothing else.")
    alone: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return frozenset((*self.pairs, *self.pairs.values(), *self.barriers, *self.alone))


class Api(Frozen):
    """The whole table."""

    families: dict[str, Family]
    ordering: Ordering
    others: tuple[tuple[str, ...], ...] = Field(description="Calls that touch no data.")

    @cached_property
    def calls(self) -> dict[str, Family]:
        """The family of each call on data, by the call's name."""
        return {name: family for family in self.families.values() for name in family.names}

    @cached_property
    def known(self) -> frozenset[str]:
        """Every name of the table."""
        others = (name for some in self.others for name in some)
        return frozenset((*self.calls, *self.ordering.names, *others))

    @model_validator(mode="after")
    def _each_once(self) -> Api:
        names = [n for f in self.families.values() for n in f.names]
        names += [n for some in self.others for n in some] + [*self.ordering.names]
        twice = next((n for n in names if names.count(n) > 1), "")
        if twice:
            raise ValueError(f"{twice} is named twice")
        return self

    def written(self, name: str, arguments: Sequence[str]) -> list[str]:
        """The arguments that a call writes; of a call that is not in the table the first."""
        return self._with(name, arguments, ("writes", "updates"))

    def read(self, name: str, arguments: Sequence[str]) -> list[str]:
        """The arguments whose value a call uses; of an unknown call all but the first."""
        return self._with(name, arguments, ("reads", "updates", ""))

    def _with(self, name: str, arguments: Sequence[str], wanted: tuple[str, ...]) -> list[str]:
        family = self.calls.get(name)
        said = family.arguments if family is not None else ("writes first",)
        words = [a.rpartition(" ")[0] for a in said[: len(arguments)]]
        words += [""] * (len(arguments) - len(words))
        return [a for a, word in zip(arguments, words, strict=True) if word in wanted]


@lru_cache(maxsize=4)
def load_api(path: Path = API) -> Api:
    """The table. Raises InputError with file, line and fault."""
    return read_file(Api, path)
