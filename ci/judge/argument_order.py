"""Finds argument lists and sums whose result depends on which of their parts comes first.

The language leaves that order open: GCC takes the last argument first, clang the first one. What
is judged here would not be what runs there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ci.source.cpp_tokens import Token

_ASSIGN: Final = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])
_STEP: Final = frozenset(("++", "--"))
_NO_CALL: Final = frozenset(
    [
        "if",
        "for",
        "while",
        "switch",
        "return",
        "sizeof",
        "alignof",
        "decltype",
        "static_assert",
        "catch",
        "noexcept",
        "defined",
        "alignas",
        "typeid",
        "new",
        "delete",
        "throw",
        "case",
        "operator",
    ]
)
_QUEUE: Final = frozenset(
    ["AllocTensor", "DeQue", "EnQue", "FreeTensor", "InitBuffer", "SetFlag", "WaitFlag"]
)
"""Calls of the API that change the state of a queue or a flag."""

_LONG: Final = _ASSIGN | _STEP | frozenset(["==", "!=", "<=", ">=", "<<", ">>", "&&", "||"])

_OPERATORS: Final = frozenset(["+", "-", "*", "/", "%", "&", "|", "^", "==", "!=", "<=", ">="])
"""Operators whose operands have no order; those of a shift have one."""

_BETWEEN: Final = frozenset([";", ",", "?", ":", "&&", "||", "return", "else", "do"])

_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class ArgumentList:
    """A list, or a sum, of which one part changes what another one changes or reads."""

    text: str
    line: int


def open_lists(files: Iterable[Sequence[Token]]) -> list[list[ArgumentList]]:
    """Such lists of each file; functions of all of them are known in each."""
    files = [[*file] for file in files]
    streams = [_merged(t for t in f if t.kind not in ("newline", "directive")) for f in files]
    bodies: dict[str, list[list[Token]]] = {}
    acting = set[str]()
    for name, body in _macros(files):
        bodies.setdefault(f"#{name}", []).append(body)
        if _changed(body):
            acting.add(f"#{name}")
    for stream in streams:
        for name, given, body in _functions(stream):
            bodies.setdefault(name, []).append(body)
            if _changes(body, given):
                acting.add(name)
    while True:
        more = {
            name
            for name, found in bodies.items()
            if name not in acting and any(_calls(body, acting | _QUEUE) for body in found)
        }
        if not more:
            return [_of_stream(stream, acting | _QUEUE) for stream in streams]
        acting |= more


def changes_in_call(stream: Sequence[Token], at: int) -> bool:
    """Whether an argument list that opens at `at` assigns or steps a variable; False for none."""
    if at >= len(stream) or stream[at].text != "(":
        return False
    return bool(_changed(_merged(stream[at + 1 : _end([*stream], at)])))


def _merged(tokens: Iterable[Token]) -> list[Token]:
    """Marks that make an operator together, as one token."""
    found: list[Token] = []
    for token in tokens:
        before = found[-1] if found else None
        if before and before.kind == token.kind == "mark" and before.text + token.text in _LONG:
            found[-1] = before._replace(text=before.text + token.text)
        else:
            found.append(token)
    return found


def _of_stream(stream: list[Token], acting: set[str]) -> list[ArgumentList]:
    found = []
    for at, token in enumerate(stream):
        if token.text != "(" or at == 0 or not _is_call(stream, at):
            continue
        end = _end(stream, at)
        arguments = _split(stream[at + 1 : end])
        if len(arguments) > 1 and _depends(arguments, acting):
            text = " ".join(t.text for t in stream[at - 1 : end + 1])
            found.append(ArgumentList(text, token.line))
    return [*found, *_of_operands(stream, acting)]


def _of_operands(stream: list[Token], acting: set[str]) -> Iterator[ArgumentList]:
    """Expressions of which one operand changes what another one changes or reads."""
    runs: list[list[list[Token]]] = [[[]]]  # operands of the expressions around this token
    for at, token in enumerate(stream):
        if token.text in _OPENING:
            runs[-1][-1].append(token)
            runs.append([[]])
            continue
        ends = token.text in _OPENING.values()
        if ends or token.text in _BETWEEN or token.text in _ASSIGN:
            operands = [one for one in runs[-1] if one]
            if len(operands) > 1 and _interfere(operands, acting):
                words = [t for operand in operands for t in operand]
                yield ArgumentList(" ".join(t.text for t in words), words[0].line)
            inside = [t for operand in runs[-1] for t in operand]
            if ends and len(runs) > 1:
                runs.pop()
                runs[-1][-1] += [*inside, token]
                if token.text == "}":
                    runs[-1] = [[]]
            else:
                runs[-1] = [[]]
        elif token.text in _OPERATORS and at > 0 and _ends_operand(stream[at - 1]):
            runs[-1].append([])
        else:
            runs[-1][-1].append(token)


def _interfere(operands: list[list[Token]], acting: set[str]) -> bool:
    """Whether two of them call what acts, or one changes a variable that another one names."""
    if sum(_calls(one, acting) for one in operands) > 1:
        return True
    plain = [{*_plain_names(one)} for one in operands]
    return any(
        _changed(one) & plain[n] & names
        for n, one in enumerate(operands)
        for m, names in enumerate(plain)
        if m != n
    )


def _plain_names(tokens: Sequence[Token]) -> Iterator[str]:
    """Names that are no part of a longer one: of `a->b` neither."""
    marks = (".", "->", "::", "(")
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.kind == "name" and before not in marks[:3] and after not in marks:
            yield token.text


def _ends_operand(token: Token) -> bool:
    return token.kind in ("name", "number", "string") or token.text in (")", "]", "++", "--")


def _depends(arguments: list[list[Token]], acting: set[str]) -> bool:
    """Whether two of them act, or one changes a variable that another one names."""
    if sum(_calls(a, acting) or bool(_changed(a)) for a in arguments) > 1:
        return True
    for number, argument in enumerate(arguments):
        names = _changed(argument)
        others = (t for n, a in enumerate(arguments) if n != number for t in a)
        if names and any(t.kind == "name" and t.text in names for t in others):
            return True
    return False


def _is_call(stream: list[Token], at: int) -> bool:
    before = stream[at - 1]
    if before.kind == "name":
        return before.text not in _NO_CALL
    return before.text in (">", ")", "]")


def _calls(tokens: Sequence[Token], names: Iterable[str]) -> bool:
    wanted = set(names)
    for at, token in enumerate(tokens[:-1]):
        if token.kind == "name" and token.text in wanted and tokens[at + 1].text in ("(", "<", "{"):
            return True
    return any(f"#{token.text}" in wanted for token in tokens if token.kind == "name")


def _changed(tokens: Sequence[Token]) -> set[str]:
    """Variables that an argument assigns to or counts; what a lambda in it does is not done yet."""
    found = set[str]()
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.text == "{") - (token.text == "}")
        if depth or token.text not in _ASSIGN | _STEP:
            continue
        near = [*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]
        if token.text in _ASSIGN:
            near = list(tokens[max(0, at - 1) : at])
            if _is_declared(tokens, at - 1):
                continue  # a parameter with a default
        found.update(t.text for t in near if t.kind == "name")
    return found


def _is_declared(tokens: Sequence[Token], at: int) -> bool:
    """Whether a type is before the name at `at`."""
    while at > 0 and tokens[at - 1].text in ("*", "&"):
        at -= 1
    return at > 0 and (tokens[at - 1].kind == "name" or tokens[at - 1].text == ">")


def _changes(body: list[Token], own: set[str]) -> bool:
    """Whether a body changes something that it did not declare and was not given a copy of."""
    for at, token in enumerate(body):
        declares = at > 0 and (body[at - 1].kind == "name" or body[at - 1].text in (">", "&", "*"))
        follows = body[at + 1].text if at + 1 < len(body) else ""
        declares = declares and body[at - 1].text not in ("return", "else", "delete", "throw")
        if token.kind == "name" and declares and follows in ("=", ";", "(", "{", "[", ",", ":"):
            own.add(token.text)
    for at, token in enumerate(body):
        if token.text in _STEP:
            near = body[max(0, at - 1) : at] + body[at + 1 : at + 2]
            names = [t.text for t in near if t.kind == "name"]
            member = at > 1 and body[at - 2].text in (".", "->")
            if member or not names or any(name not in own for name in names):
                return True
        elif token.text in _ASSIGN and at > 0:
            before = body[at - 1]
            member = at > 1 and body[at - 2].text in (".", "->")
            if before.kind != "name" or member or before.text not in own:
                return True
    return False


def _macros(files: Iterable[Sequence[Token]]) -> Iterator[tuple[str, list[Token]]]:
    """Names of macros, and what stands for them."""
    for file in files:
        for at, token in enumerate(file):
            if token.kind == "directive" and token.text == "define" and at + 1 < len(file):
                end = next((n for n in range(at, len(file)) if file[n].kind == "newline"), -1)
                yield file[at + 1].text, _merged(file[at + 2 : end])


def _functions(stream: list[Token]) -> Iterator[tuple[str, set[str], list[Token]]]:
    """Functions, methods and lambdas that have a name: it, what they are given by value, body."""
    for at, token in enumerate(stream):
        if token.text != "{":
            continue
        name, given = _head(stream, at)
        if name:
            yield name, given, stream[at + 1 : _end(stream, at)]


def _head(stream: list[Token], at: int) -> tuple[str, set[str]]:
    """For the function whose body opens at `at`, return its name and parameters by value;
    no name for
    another block."""
    given = set[str]()
    here = at - 1
    while here > 0 and (
        stream[here].text in ("const", "noexcept", "mutable", "override", "final", "->", "*", "&")
        or (stream[here].kind == "name" and stream[here - 1].text == "->")
    ):
        here -= 1
    if here > 0 and stream[here].text == ")":
        opened = _start(stream, here)
        for one in _split(stream[opened + 1 : here]):
            if not any(t.text in ("&", "&&", "*", "GM_ADDR") for t in one):
                given.update(t.text for t in one if t.kind == "name")
        here = opened - 1
    elif here > 0 and stream[here].text != "]":
        return "", given
    if here > 0 and stream[here].text == "]":  # a lambda: the variable that it is put into
        here = _start(stream, here) - 1
        if here > 0 and stream[here].text == "=" and stream[here - 1].kind == "name":
            return stream[here - 1].text, given
        return "", given
    name = stream[here] if here >= 0 else None
    known = name is not None and name.kind == "name" and name.text not in _NO_CALL
    return (name.text if name and known else ""), given


def _split(tokens: list[Token]) -> list[list[Token]]:
    """Arguments, by the commas that are in no bracket and in no list of template arguments."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in _OPENING) - (token.text in _OPENING.values())
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return [one for one in found if one]


def _end(stream: list[Token], at: int) -> int:
    """Where the bracket closes that opens at `at`."""
    depth = 0
    for here in range(at, len(stream)):
        depth += (stream[here].text in _OPENING) - (stream[here].text in _OPENING.values())
        if depth == 0:
            return here
    return len(stream) - 1


def _start(stream: list[Token], at: int) -> int:
    """Where the bracket opens that closes at `at`."""
    depth = 0
    for here in range(at, -1, -1):
        depth += (stream[here].text in _OPENING.values()) - (stream[here].text in _OPENING)
        if depth == 0:
            return here
    return 0
