"""Typed reading of YAML mappings; every mistake is one sentence with the file and the key."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from ci.model.errors import InputError

# A workload file is a page of text; anything larger is not one, and YAML parsing is slow.
_MAX_BYTES = 4_000_000


def read_yaml(file: Path) -> Any:
    """The YAML document in `file`. Raises InputError when missing, binary, or broken."""
    if not file.is_file():
        raise InputError(f"There is no file {file}.")
    if file.stat().st_size > _MAX_BYTES:
        raise InputError(f"{file} is larger than {_MAX_BYTES // 1_000_000} MB; not a workload.")
    data = file.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text.") from None
    if "\0" in text:
        raise InputError(f"{file} is a binary file, not YAML.")
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else 0
        raise InputError(f"{file} line {line} is not valid YAML: {problem.problem}.") from None
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise InputError(f"{file} is not valid YAML: {str(problem).splitlines()[0]}.") from None


class Fields:
    """A YAML mapping with its place ('workload.yaml: cases[0].inputs[1]') for messages."""

    def __init__(self, data: Any, file: Path, place: str = "") -> None:
        self.file = file
        self.place = place
        if not isinstance(data, dict):
            where = place or "the file"
            raise InputError(
                f"{file}: {where} must be a mapping of keys to values, not {describe(data)}."
            )
        self.data: dict[Any, Any] = data

    def at(self, key: str) -> str:
        """The full place of `key`."""
        return f"{self.place}.{key}" if self.place else key

    def wrong(self, key: str, what: str) -> InputError:
        """The error that `key` is wrong: '<file>: <place> <what>.'"""
        return InputError(f"{self.file}: {self.at(key)} {what}.")

    def only(self, allowed: Collection[str]) -> None:
        """Refuses keys outside `allowed`, so that a misspelt one is not ignored."""
        for key in self.data:
            if key not in allowed:
                raise self.wrong(str(key), f"is not a known key; known: {', '.join(allowed)}")

    def has(self, key: str) -> bool:
        """True when the key is given and not null."""
        return self.data.get(key) is not None

    def text(self, key: str, default: str | None = None) -> str:
        """The string at `key`."""
        value = self._get(key, default)
        if isinstance(value, bool | list | dict):
            raise self.wrong(key, f"must be text, not {describe(value)}")
        return str(value)

    def number(self, key: str, default: float | None = None) -> float:
        """The number at `key`."""
        value = as_number(self._get(key, default))
        if value is None:
            raise self.wrong(key, f"must be a number, not {describe(self.data.get(key))}")
        return value

    def items(self, key: str) -> list[Any]:
        """The non-empty list at `key`."""
        value = self._get(key, None)
        if not isinstance(value, list) or not value:
            raise self.wrong(key, f"must be a list with at least one entry, not {describe(value)}")
        return value

    def shape(self, key: str) -> tuple[int, ...]:
        """The shape at `key`: a list of positive whole numbers."""
        value = self._get(key, None)
        if not is_shape(value):
            raise self.wrong(
                key,
                f"must be a list of whole numbers ≥ 0, such as [8, 2048], not {describe(value)}",
            )
        count = math.prod(value)
        if count > 2**31:
            raise self.wrong(key, f"has {count} elements; at most 2147483648 can be simulated")
        return tuple(value)

    def _get(self, key: str, default: Any) -> Any:
        value = self.data.get(key, default)
        if value is None:
            raise InputError(f"{self.file}: {self.at(key)} is missing.")
        return value


def is_shape(value: Any) -> bool:
    """True for a list of whole numbers that are not negative."""
    return isinstance(value, list) and all(
        isinstance(d, int) and not isinstance(d, bool) and d >= 0 for d in value
    )


def as_number(value: Any) -> float | None:
    """`value` as a number when it is one; YAML 1.1 reads 1e-3 as text, which counts too."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def describe(value: Any) -> str:
    """`value` in a few words, for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "an empty list" if not value else f"the list {str(value)[:60]}"
    return f"'{str(value)[:60]}'"
