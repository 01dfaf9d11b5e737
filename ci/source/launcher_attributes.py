"""The attributes of an operator whose op definition leaves them out, as its launcher hands them.

What the toolkit brings knows the attributes of such an operator from elsewhere. The layer above the
operator (`op_api`) lists them all the same, in the order in which the host tiling asks for them by
number: `ADD_TO_LAUNCHER_LIST_AICORE(Type, OP_INPUT(…), OP_OUTPUT(…), OP_ATTR(…))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ci.model.operator import AttrSpec
from ci.source.cpp_text import closing, split_arguments, without_comments

_LAUNCH = r"\bADD_TO_LAUNCHER_LIST\w*\s*(?P<opens>\()\s*"
_HANDED = re.compile(r"\bOP_ATTR\s*(?=\()")
_CAST = re.compile(r"\bstatic_cast\s*<\s*([\w:\s*]+?)\s*>\s*(?=\()")
_TYPES = (
    (r"ArrayRef<\s*float|FloatArray|vector<\s*float", "list_float"),
    (r"ArrayRef<\s*bool|BoolArray|vector<\s*bool", "list_bool"),
    (r"ArrayRef<|IntArray|vector<\s*u?int", "list_int"),
    (r"\bchar\b|\bstring\b", "string"),
    (r"\b(?:double|float)\b", "float"),
    (r"\bbool\b", "bool"),
    (r"\b(?:u?int(?:8|16|32|64)_t|int|long|unsigned|size_t|\w*Type)\b", "int"),
)


_MOST = 100
"""Attributes of one operator; each is looked for in the text in front."""


def launcher_attributes(op_type: str, texts: Iterable[str]) -> tuple[AttrSpec, ...]:
    """What the launcher of `op_type` in one of the sources hands, all required, called as in its
    text: `scaleValueOptional` is `scale_value`. Nothing where a name or a type is not plain."""
    for text in texts:
        launch = re.search(rf"{_LAUNCH}{re.escape(op_type)}\s*,", without_comments(text))
        if launch is None:
            continue
        given = _inside(launch.string, launch.start("opens"))
        handed = _HANDED.search(given)
        arguments = split_arguments(_inside(given, handed.end())) if handed else []
        if len(arguments) > _MOST:
            return ()
        found = [_attribute(one, launch.string[: launch.start()]) for one in arguments]
        names = {one.name for one in found if one}
        return tuple(one for one in found if one) if len(names) == len(found) else ()
    return ()


def _inside(text: str, bracket: int) -> str:
    """What the bracket at an index and its partner enclose."""
    return text[bracket + 1 : max(closing(text, bracket), bracket + 1)]


def _attribute(argument: str, before: str) -> AttrSpec | None:
    cast = _CAST.match(argument)
    plain = _inside(argument, cast.end()) if cast else argument
    words = re.findall(r"[A-Za-z_]\w*", plain.partition("->")[0].partition(".")[0])
    if not words:
        return None
    kind = _kind(cast.group(1)) if cast else _declared(words[-1], before)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words[-1].removesuffix("Optional")).lower()
    return AttrSpec.model_validate({"name": name, "type": kind}) if kind else None


def _kind(written: str) -> str:
    """The type of an attribute that C++ writes so, '' for what is none."""
    return next((kind for pattern, kind in _TYPES if re.search(pattern, written)), "")


def _declared(name: str, before: str) -> str:
    """The type of an attribute that a name was declared with last, '' where it was not."""
    for use in reversed([*re.finditer(rf"\b{name}\s*(?:[,);{{]|=(?!=))", before)]):
        said = re.split(r"[,(;{}]", before[max(use.start() - 200, 0) : use.start()])[-1].strip()
        if re.fullmatch(r"[\w:<>*&\s]*[\w>*&]", said) and (kind := _kind(said)):
            return kind
    return ""
