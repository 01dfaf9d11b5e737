"""The names that a source's macros form with ##, where a reader of the source can tell them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ci.source.cpp_tokens import Token, tokens


def pasted_names(streams: Iterable[Sequence[Token]]) -> list[str] | None:
    """Every name that the macros of these sources paste together; None when that is not plain.

    Plain is a macro that is defined once, pastes pieces of its own to its parameters, and is called
    outside of other macros with single names or numbers for what it pastes.
    """
    sources = [list(stream) for stream in streams]
    names: list[str] = []
    for macro in (t for s in sources for t in s if t.kind == "directive" and t.text == "define"):
        if "##" not in macro.rest:
            continue
        head = _MACRO.match(macro.rest)
        if head is None:
            return None
        parameters = [p.strip() for p in (head["parameters"] or "").split(",")]
        chains = _chains(list(tokens(macro.rest[head.end() :])))
        calls = _calls(sources, head["name"])
        if chains is None or calls is None:
            return None
        if any(set(chain) <= set(parameters) for chain in chains):
            return None
        for call in calls or [parameters]:  # nobody calls it: what it says itself
            if len(call) != len(parameters):
                return None
            given = dict(zip(parameters, call, strict=True))
            formed = ["".join(given.get(piece, piece) for piece in chain) for chain in chains]
            if not all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in formed):
                return None
            names += formed
    return names


_MACRO = re.compile(r"(?P<name>\w+)\((?P<parameters>[\w\s,]*)\)")


def _chains(body: Sequence[Token]) -> list[list[str]] | None:
    """The runs of pieces that a macro's body pastes; None when a piece is no name or number."""
    chains: list[list[str]] = []
    for at, token in enumerate(body):
        if token.text != "##":
            continue
        if not 0 < at < len(body) - 1:
            return None
        before, after = body[at - 1], body[at + 1]
        if any(piece.kind not in ("name", "number") for piece in (before, after)):
            return None
        if at > 2 and body[at - 2].text == "##":
            chains[-1].append(after.text)
        else:
            chains.append([before.text, after.text])
    return chains


def _calls(sources: Sequence[Sequence[Token]], macro: str) -> list[list[str]] | None:
    """The arguments of each call of a macro; None when a use of its name is no plain call."""
    calls: list[list[str]] = []
    for stream in sources:
        in_directive = 0  # the line of the directive whose rest follows
        for at, token in enumerate(stream):
            if token.kind == "directive":
                in_directive = token.line
                defines = token.text == "define" and re.match(rf"{macro}\(", token.rest)
                if re.search(rf"\b{macro}\b", token.rest) and not defines:
                    return None
                if defines and len(re.findall(rf"\b{macro}\b", token.rest)) > 1:
                    return None
            elif token.kind == "newline":
                in_directive = 0
            elif token.text == macro and token.kind == "name" and not in_directive:
                arguments = list(_arguments(stream[at + 1 :]))
                if not arguments or "" in arguments:
                    return None
                calls.append(arguments)
    return calls


def _arguments(stream: Sequence[Token]) -> Iterator[str]:
    """The arguments of a call, "" for one that is not a single name or number."""
    if not stream or stream[0].text != "(":
        return
    argument: list[Token] = []
    for token in stream[1:]:
        if token.text in ("(", "#") or token.kind == "directive":
            yield ""
            return
        if token.text in (",", ")"):
            plain = len(argument) == 1 and argument[0].kind in ("name", "number")
            yield argument[0].text if plain else ""
            argument = []
            if token.text == ")":
                return
        elif token.kind != "newline":
            argument.append(token)
