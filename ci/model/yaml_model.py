"""YAML that a person writes, read into pydantic models: every mistake a sentence with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, get_args

import yaml
from pydantic import BaseModel, RootModel, ValidationError
from yaml.composer import Composer

from ci.model.errors import InputError
from ci.model.regular_file import file_bytes, refuse_pointer

Model = TypeVar("Model", bound=BaseModel)
Place: TypeAlias = Sequence[str | int]
"""Keys and indices from a document's top to a value in it."""

MOST_BYTES: Final = 200_000
"""Most bytes of a configuration or a table that a person writes; reading YAML is slow."""
_MOST_DEPTH: Final = 100
"""Most collections in one another. Each takes a few of the 1,000 calls that Python allows, and near
their end nothing works that runs there, such as the collection of garbage."""
_MOST_VALUES: Final = 1_000_000
_MOST_BITS: Final = 64
"""Bits of a whole number: larger ones become no number of an input, and no text."""
# Of a number: a zero before it makes it octal, and a colon counts in sixties.
_TWO_WAYS: Final = re.compile(r"[-+]?0_*[0-9]|[-+0-9_.]*:")
_SUBJECT: Final = re.compile(r"^\w+ should\b")
_REST: Final = re.compile(r", unable to .*| after validation, .*| or instance of \w+$")
_WORDS: Final = (
    ("a valid tuple", "a list"),
    ("a valid list", "a list"),
    ("a valid string", "text"),
    ("a valid integer", "a whole number"),
    ("a valid number", "a number"),
    ("a valid boolean", "true or false"),
    ("a valid dictionary", "a mapping of keys to values"),
)


class PlacingLoader(Composer, yaml.CSafeLoader):
    """PyYAML's safe one, whose every fault has its place: it takes more for numbers than it can
    read. libyaml reads the text, eight times as fast; nodes are made in Python, where their depth
    can be counted."""

    decimal: ClassVar[bool] = True
    """Whether numbers of a person are refused that YAML reads as others: 010 as 8, 1:30 as 90."""

    def __init__(self, text: str) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node; raises yaml.MarkedYAMLError where it lies in too many others."""
        if self._depth >= _MOST_DEPTH:
            mark = getattr(self.peek_event(), "start_mark", None)
            said = f"it lies in more than {_MOST_DEPTH} others"
            raise yaml.composer.ComposerError(None, None, said, mark)
        self._depth += 1
        made = super().compose_node(parent, index)
        self._depth -= 1
        return made

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """The value of a node; raises yaml.MarkedYAMLError."""
        try:
            made = super().construct_object(node, deep)
        except (yaml.YAMLError, RecursionError):
            raise
        except Exception as problem:
            kind = node.tag.rpartition(":")[2]
            said = str(problem) if isinstance(problem, ValueError) else f"this is no {kind}"
            raise _odd(node, said) from None
        odd = self.decimal and isinstance(made, int | float)
        if odd and _TWO_WAYS.match(getattr(node, "value", "")):
            raise _odd(
                node, f"'{node.value}' is {made} in YAML: write that number in decimal digits"
            )
        if isinstance(made, int) and made.bit_length() > _MOST_BITS:
            raise _odd(node, f"this number has more than {_MOST_BITS} bits")
        return made


def _odd(node: yaml.Node, what: str) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, what, node.start_mark)


class YamlFile:
    """One YAML document that knows the line of each of its values."""

    def __init__(
        self, text: str | bytes, name: str, *, most_bytes: int = MOST_BYTES, aliases: bool = False
    ) -> None:
        """Raises InputError, beginning with `name`, when `text` is no YAML or too large.

        An alias can stand for itself, or for a billion copies: they are read only where `aliases`
        are asked for, and then what they stand for is counted.
        """
        self.name = name
        if len(text) > most_bytes:
            raise InputError(f"{name} is larger than {most_bytes // 1000} kB.")
        try:
            head = text[:100]
            refuse_pointer(head if isinstance(head, bytes) else head.encode(), name)
            text = text.decode("utf-8") if isinstance(text, bytes) else text
            loader = PlacingLoader(text)
            self._root = loader.get_single_node()
            self._check(self._root, {}, aliases)
            self.data = None if self._root is None else loader.construct_document(self._root)
        except UnicodeDecodeError:
            raise InputError(f"{name} is not UTF-8 text.") from None
        except yaml.MarkedYAMLError as problem:
            last = str(text).rstrip().count("\n")  # a text that ends too early is wrong behind it
            place = problem.problem_mark
            number = min(place.line, last) if place else 0
            line = f" line {number + 1}" if place else ""
            said = problem.problem
            if re.match(r"\s*\t", str(text).split("\n")[number]):
                said = "a tab indents it, and YAML takes only blanks"
            raise InputError(f"{name}{line}: this is not YAML: {said}.") from None
        except (yaml.YAMLError, RecursionError, ValueError) as problem:
            said = str(problem).splitlines()[0]
            raise InputError(f"{name}: this is not YAML: {said}.") from None

    @classmethod
    def open(
        cls,
        path: Path,
        inside: Path | None = None,
        *,
        most_bytes: int = MOST_BYTES,
        aliases: bool = False,
    ) -> YamlFile:
        """The document in a file; raises InputError too when there is none or it cannot be read.

        `inside`: see `file_bytes`.
        """
        try:
            return cls(file_bytes(path, inside), str(path), most_bytes=most_bytes, aliases=aliases)
        except OSError as problem:
            said = problem.strerror or str(problem)
            raise InputError(f"{path} cannot be read: {said}.") from None

    def read(self, model: type[Model]) -> Model:
        """The document as `model`; empty is the default. Raises InputError with the first fault."""
        try:
            return model.model_validate(self._given(model))
        except ValidationError as error:
            raise InputError(self._sentences(model, error)[0]) from None

    def problems(self, model: type[BaseModel]) -> list[str]:
        """Every fault of the document as `model`, one sentence each."""
        try:
            model.model_validate(self._given(model))
        except ValidationError as error:
            return self._sentences(model, error)
        except InputError as error:
            return [str(error)]
        return []

    def wrong(self, place: Place, what: str) -> InputError:
        """The error for a wrong value at `place`: '<name> line 3: cases[0].name: <what>.'"""
        return InputError(f"{self._at(place)}: {what}.")

    def span(self, place: Place) -> tuple[int, int] | None:
        """Where the text of a scalar at `place` begins and ends, without quotes; None for any other
        value, or one that is written otherwise than it reads."""
        node: Any = self._root
        for part in place:
            found = _child(node, part)
            node = None if found is None else found[1]
        if not isinstance(node, yaml.ScalarNode):
            return None
        quoted = node.style in ("'", '"')
        start, end = node.start_mark.index + quoted, node.end_mark.index - quoted
        return (start, end) if end - start == len(node.value) else None

    def _given(self, model: type[BaseModel]) -> Any:
        if issubclass(model, RootModel):
            return self.data
        if self.data is not None and not isinstance(self.data, dict):
            raise InputError(f"{self.name} line 1: must be a mapping of keys to values.")
        return self.data or {}

    def _sentences(self, model: type[BaseModel], error: ValidationError) -> list[str]:
        """Unknown keys first: a misspelt one is why another is missing."""
        faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
        return [self._sentence(model, fault) for fault in faults]

    def _sentence(self, model: type[BaseModel], fault: Any) -> str:
        """One pydantic fault as a sentence."""
        kind, said, place = str(fault["type"]), str(fault["msg"]), fault["loc"]
        at = self._at(place, named=kind in ("missing", "extra_forbidden"))
        if kind == "missing":
            return f"{at} is missing."
        if kind == "extra_forbidden":
            owner = _model_at(model, place[:-1])
            known = f"; known here: {', '.join(owner.model_fields)}" if owner else ""
            return f"{at} is not a known key{known}."
        if kind == "value_error":
            return f"{at}: {said.removeprefix('Value error, ')}."
        said = _SUBJECT.sub("must", _REST.sub("", said))
        for pydantic, ours in _WORDS:
            said = said.replace(pydantic, ours)
        if kind not in ("too_short", "too_long") and not model.model_config.get(
            "hide_input_in_errors"
        ):
            said += f", not {describe(fault['input'])}"
        return f"{at}: {said}."

    def _at(self, place: Place, *, named: bool = True) -> str:
        """Where a value stands: '<name> line 3: cases[0].name'.

        Pydantic puts the members of a union into a place; what the file does not have is left out,
        but for a last part that is the key which is `named`.
        """
        node, line, path = self._root, 1, ""
        for number, part in enumerate(place, start=1):
            found = _child(node, part)
            if found is not None:
                line, node = found[0].start_mark.line + 1, found[1]
            elif not (named and number == len(place)):
                continue
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
        return f"{self.name} line {line}" + (f": {path.lstrip('.')}" if path else "")

    def _check(self, node: yaml.Node | None, sizes: dict[int, int], aliases: bool) -> int:
        """How many values a node holds with its aliases written out; refuses a key given twice."""
        if node is None:
            return 0
        line = f"{self.name} line {node.start_mark.line + 1}"
        if id(node) in sizes:
            if not aliases:
                raise InputError(f"{line}: aliases (&) of a value are not read; write it out.")
            if not sizes[id(node)]:
                raise InputError(f"{line}: this value holds an alias of itself.")
            return sizes[id(node)]
        sizes[id(node)], count, seen = 0, 1, set()
        for child in node.value if isinstance(node, yaml.CollectionNode) else ():
            key, value = child if isinstance(child, tuple) else (None, child)
            if key is not None and str(key.value) in seen:
                line = f"{self.name} line {key.start_mark.line + 1}"
                raise InputError(f"{line}: {key.value} is given twice.")
            seen.add(str(key and key.value))
            count += self._check(value, sizes, aliases)
        if count > _MOST_VALUES:
            raise InputError(f"{line}: this holds more than {_MOST_VALUES} values.")
        sizes[id(node)] = count
        return count


def read_model(model: type[Model], text: str | bytes, name: str) -> Model:
    """`text` as `model`; empty is the default. Raises `InputError` with the first mistake."""
    return YamlFile(text, name).read(model)


def read_file(model: type[Model], path: Path) -> Model:
    """The YAML of a file as `model`. Raises `InputError` with the first mistake."""
    return YamlFile.open(path).read(model)


def model_problems(model: type[BaseModel], text: str | bytes, name: str) -> list[str]:
    """Every mistake in `text`, one sentence each with file, line and key; empty when it is good."""
    try:
        return YamlFile(text, name).problems(model)
    except InputError as problem:
        return [str(problem)]


def describe(value: Any) -> str:
    """`value` in a few words, for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"the list {str(value)[:60]}" if value else "an empty list"
    return f"'{str(value)[:60]}'"


def _child(node: Any, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """The nodes of a key and of its value below `node`, or of an entry twice; None without one."""
    if isinstance(node, yaml.MappingNode):
        return next((pair for pair in node.value if str(pair[0].value) == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None


def _model_at(model: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """The model whose keys are at `place` below `model`, None when there is none."""
    annotation: Any = model
    for part in place:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            field = annotation.model_fields.get(str(part))
            annotation = None if field is None else field.annotation
        else:  # dict[str, X], tuple[X, ...]
            inner = [a for a in get_args(annotation) if a not in (str, type(None), Ellipsis)]
            annotation = inner[0] if len(inner) == 1 else None
    found = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if found else None
