"""YAML files that a person writes, read into a pydantic model: every mistake with line and key."""

from __future__ import annotations

from typing import Any, Final, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from ci.model.errors import InputError

Model = TypeVar("Model", bound=BaseModel)
_MAX_BYTES: Final = 200_000


def read_model(model: type[Model], text: str | bytes, name: str) -> Model:
    """`text` as `model`; empty is the default. Raises `InputError` with the first mistake."""
    problems: list[str] = []
    found = _parse(model, text, name, problems)
    if found is None:
        raise InputError(problems[0])
    return found


def model_problems(model: type[BaseModel], text: str | bytes, name: str) -> list[str]:
    """Every mistake in `text`, one sentence each with file, line and key; empty when it is good."""
    problems: list[str] = []
    _parse(model, text, name, problems)
    return problems


def _parse(model: type[Model], text: str | bytes, name: str, problems: list[str]) -> Model | None:
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
        data = {}
    if not isinstance(data, dict):
        problems.append(f"{name} line 1: must be a mapping of keys to values.")
        return None
    twice = _key_twice(root, name)
    if twice:
        problems.append(twice)
        return None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        for fault in error.errors():
            problems.append(_sentence(model, root, fault, name))
        return None


def _sentence(model: type[BaseModel], root: Any, fault: Any, name: str) -> str:
    """One pydantic fault as a sentence with the line of its key."""
    path = [str(part) for part in fault["loc"]]
    key = ".".join(path)
    line = _line(root, path)
    if fault["type"] == "extra_forbidden":
        owner = _model_at(model, path[:-1])
        known = ", ".join(owner.model_fields) if owner is not None else ""
        return f"{name} line {line}: {key} is not a known key" + (
            f"; known here: {known}." if known else "."
        )
    said = str(fault["msg"]).removeprefix("Value error, ")
    return f"{name} line {line}: {key}: {said[:1].lower()}{said[1:]}."


def _model_at(model: type[BaseModel], path: list[str]) -> type[BaseModel] | None:
    """The model whose keys stand at `path` below `model`, None when there is none."""
    annotation: Any = model
    for part in path:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            field = annotation.model_fields.get(part)
            annotation = None if field is None else field.annotation
        else:  # dict[str, X], tuple[X, ...]
            inner = [a for a in get_args(annotation) if a not in (str, type(None), Ellipsis)]
            annotation = inner[0] if len(inner) == 1 else None
    found = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if found else None


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
