"""Refuses a candidate before anything is built, for what its sources contain.

The rules are data (`rules/guards/`). A guard is the first fence, not the only one: compiler,
host tiling and kernel run in a sandbox, and the built kernel's symbols are checked once more.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from ci.judge.argument_order import changes_in_call, open_lists
from ci.judge.kept_variables import kept_variables
from ci.judge.pasted_names import pasted_names
from ci.model.amount import amount
from ci.model.operator import Operator
from ci.model.trial import Place, Refusal
from ci.source.cpp_tokens import Token, tokens
from rules.guards import SourceRule, source_rules

MAXIMUM_BYTES = 1 << 20
"""Size of one source file; the largest of 500 real ones has a third of it."""

MAXIMUM_GROWTH = 8
"""A candidate file this many times the original's size (and over 64 KiB) is no optimization."""

MAXIMUM_LINE = 4000
"""Longer lines are generated, not written."""

SPACES = {"\t", "\n", "\r", "\f", "\v"}


@dataclass(frozen=True)
class Use:
    """Something in a source that a rule looks at."""

    rule: SourceRule
    name: str
    file: str
    line: int


def guard(operator: Operator, files: Mapping[str, str]) -> Refusal | None:
    """The first reason to refuse the candidate's changed `files`, or None."""
    for file, text in files.items():
        found = _check_file(operator, file, text) or _check_launch(operator, file, text)
        if found:
            return found
    launch = "" if operator.launch is None else operator.launch.source
    originals = {f: operator.read(f) for f in operator.sources if f != launch}
    changed = {f: t for f, t in files.items() if f != launch and originals[f] != t}
    known = [u for f, t in originals.items() for u in _uses(f, t)]
    texts = originals | changed
    now = [u for f, t in texts.items() for u in _uses(f, t)]
    allowed = Counter((u.rule.id, u.name) for u in known)
    used = Counter((u.rule.id, u.name) for u in now)
    refused = [
        use
        for use in now
        if use.file in changed
        and not _excused(use, allowed, used)
        and not (use.rule.kind == "include" and _is_own(operator, use))
    ]
    if any(use.rule.id == "pasting" for use in refused):
        pasted = pasted_names(_lexed(text) for text in texts.values())
        if pasted is not None:
            refused = [use for use in refused if use.rule.id != "pasting"] + [
                Use(rule, name, next(iter(changed)), 0)
                for name in pasted
                for side in ("host", "kernel")
                for rule in _refusing(side, name)
            ]
    if refused:
        return _evidence(min(refused, key=lambda use: not _is_added(use, originals, changed)))
    found = (
        _check_conditions(texts, originals)
        or _check_order(texts, originals)
        or _check_kept(changed, originals)
    )
    if found:
        return found
    for file, text in changed.items():
        found = _check_pragmas(file, text, originals[file]) or _check_raw_strings(
            file, text, originals[file]
        )
        if found:
            return found
    return None


def _check_launch(operator: Operator, file: str, text: str) -> Refusal | None:
    """Refuse a workload of a launched kernel that changes more than the launch's numbers."""
    launch = operator.launch
    if launch is None or file != launch.source or launch.values(text) is not None:
        return None
    names = ", ".join(number.name for number in launch.numbers) or "none"
    sentence = f"The candidate changes more of the workload than the launch's numbers ({names})."
    return Refusal(sentence=sentence, place=Place(file=file))


def _check_file(operator: Operator, file: str, text: str) -> Refusal | None:
    """Place, size and characters of one changed file."""
    if file not in operator.sources:
        shown = file if file.isprintable() and len(file) < 200 else repr(file[:200])
        return Refusal(
            sentence=(
                f"The candidate writes {shown}, which is not one of the operator's sources "
                "in op_host and op_kernel."
            )
        )
    if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
        return Refusal(sentence=f"The candidate writes outside the operator: {file}.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return Refusal(
            sentence="The candidate's text is not valid Unicode.", place=Place(file=file)
        )
    original_text = operator.read(file)
    original = len(original_text.encode())
    if size > MAXIMUM_BYTES or (size > 64 << 10 and size > MAXIMUM_GROWTH * original):
        return Refusal(
            sentence=f"The candidate makes the file {amount(size, 'byte')} long ({original}"
            " before).",
            place=Place(file=file),
        )
    odd = {
        character
        for character in set(text) - set(original_text)
        if not character.isprintable() and character not in SPACES
    }
    no_trigraphs = not _TRIGRAPH.search(original_text)
    known = set(original_text.split("\n"))
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MAXIMUM_LINE:
            return Refusal(
                sentence=f"The candidate has a line of {amount(len(line), 'character')}.",
                place=Place(file=file, line=number),
            )
        found = odd.intersection(line) if odd else None
        if found:
            first = min(found, key=line.index)
            return Refusal(
                sentence=f"The candidate has the invisible character U+{ord(first):04X}.",
                place=Place(file=file, line=number),
            )
        deceit = None if line in known else _deceit(line)
        if deceit:
            return Refusal(sentence=f"The candidate {deceit}.", place=Place(file=file, line=number))
        if no_trigraphs and "??" in line and _TRIGRAPH.search(line):
            return Refusal(
                sentence="The candidate has a trigraph.", place=Place(file=file, line=number)
            )
    return None


_TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")

_LOOK_ALIKE = re.compile("CYRILLIC|ARMENIAN|CHEROKEE|FULLWIDTH|LISU|COPTIC|GREEK CAPITAL|.*OMICRON")
"""Unicode names of letters that look like Latin ones."""


def _deceit(line: str) -> str | None:
    """What makes a line read otherwise than it compiles."""
    if re.search(r"//.*\\\s*$", line):
        return "has a comment that ends in a backslash, which takes the next line into it"
    for word in () if line.isascii() else re.findall(r"\w+", line):
        odd = next((c for c in word if _LOOK_ALIKE.match(unicodedata.name(c, ""))), None)
        if odd and re.search("[A-Za-z]", word):
            return f"mixes alphabets in a word: '{word}' has the character U+{ord(odd):04X}"
    return None


def _excused(use: Use, allowed: Counter[tuple[str, str]], used: Counter[tuple[str, str]]) -> bool:
    """The unmodified operator uses it too, as far as the rule lets that count."""
    key = (use.rule.id, use.name)
    if use.rule.baseline == "any":
        return allowed[key] > 0
    return use.rule.baseline == "count" and used[key] <= allowed[key]


def _is_added(use: Use, originals: Mapping[str, str], changed: Mapping[str, str]) -> bool:
    """The use is on a line that the original does not have: the one to show."""
    lines = changed[use.file].splitlines()
    at = use.line - 1
    return at < len(lines) and lines[at] not in originals[use.file].splitlines()


def _is_own(operator: Operator, use: Use) -> bool:
    """A quoted include that resolves to one of the operator's own sources."""
    spelled = use.name
    own = {*operator.sources}
    if PurePosixPath(spelled).is_absolute():
        return False
    parts: list[str] = list(PurePosixPath(use.file).parent.parts)
    for part in PurePosixPath(spelled).parts:
        if part == "..":
            if not parts:
                return False
            parts.pop()
        else:
            parts.append(part)
    side = PurePosixPath(use.file).parts[0]
    return "/".join(parts) in own or f"{side}/{spelled}" in own


def _evidence(use: Use) -> Refusal:
    said = " ".join(use.rule.message.split()).replace("{name}", use.name)
    return Refusal(
        sentence=f"The candidate {said}.",
        place=Place(file=use.file, line=use.line),
        evidence=use.rule.id,
    )


def _check_pragmas(file: str, text: str, original: str) -> Refusal | None:
    """Pragmas must be the original's, word by word; those of `_FREE_PRAGMA` are free."""
    allowed = Counter(_pragmas(original))
    for line, pragma in _pragma_lines(text):
        if _FREE_PRAGMA.fullmatch(pragma):
            continue
        allowed[pragma] -= 1
        if allowed[pragma] < 0:
            return Refusal(
                sentence=f"The candidate brings the pragma '{pragma}'.",
                place=Place(file=file, line=line),
                evidence="pragma",
            )
    return None


def _check_conditions(texts: Mapping[str, str], originals: Mapping[str, str]) -> Refusal | None:
    """Conditions of the preprocessor ask for macros of the operator's own, or for as many others
    as the original does: which compiler reads a source is not for the source to choose by."""
    own = _own_macros(texts.values())
    allowed = Counter(name for _, name in _conditions(originals))
    for (file, line), name in _conditions(texts):
        if name in own:
            continue
        allowed[name] -= 1
        if allowed[name] < 0:
            return Refusal(
                sentence=f"The candidate compiles other code where {name} is defined, which is not "
                "a macro of its own: what is judged here would not be what runs.",
                place=Place(file=file, line=line),
                evidence="condition",
            )
    return None


def _check_order(texts: Mapping[str, str], originals: Mapping[str, str]) -> Refusal | None:
    """No argument list or sum is added whose result depends on which part comes first."""
    known = Counter(
        one.text for found in open_lists(map(_lexed, originals.values())) for one in found
    )
    for file, found in zip(texts, open_lists(map(_lexed, texts.values())), strict=True):
        for one in found:
            known[one.text] -= 1
            if known[one.text] < 0:
                return Refusal(
                    sentence="The candidate has an argument list or a sum in which one part "
                    "changes what another one uses or changes too: C++ leaves their order open, "
                    "and compilers differ. Give the values names first.",
                    place=Place(file=file, line=one.line),
                    evidence="order of arguments",
                )
    return None


def _check_kept(changed: Mapping[str, str], originals: Mapping[str, str]) -> Refusal | None:
    """No variable of the host side is added that outlives a call."""
    for file, text in changed.items():
        if not file.startswith("op_host/"):
            continue
        known = Counter(one.text for one in kept_variables(originals[file]))
        for one in kept_variables(text):
            known[one.text] -= 1
            if known[one.text] < 0:
                return Refusal(
                    sentence="The candidate keeps a variable of the host side from call to call: "
                    "what one call leaves in it another one finds.",
                    place=Place(file=file, line=one.line),
                    evidence="kept variable",
                )
    return None


def _conditions(texts: Mapping[str, str]) -> Iterable[tuple[tuple[str, int], str]]:
    """Names that conditions of the preprocessor ask for."""
    for file, text in texts.items():
        for token in _lexed(text):
            if token.kind == "directive" and token.text in _ASKING:
                plain = re.sub(r"/\*.*?\*/|//.*", " ", token.rest)
                for name in re.findall(r"[A-Za-z_$][\w$]*", plain):
                    if name != "defined":
                        yield (file, token.line), name


_GUARD = re.compile(r"_H(PP)?_*$")
"""How the names of macros end that keep a header from being read twice."""

_ASKING = ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef")


def _own_macros(texts: Iterable[str]) -> set[str]:
    """Macros that the texts define, of numbers and of such macros."""
    bodies: dict[str, list[set[str]]] = {}
    for text in texts:
        for token in _lexed(text):
            if token.kind == "directive" and token.text == "define":
                name, *parameters = _macro_names(token.rest)
                words = set(re.findall(r"[A-Za-z_$][\w$]*", _MACRO.sub("", token.rest, count=1)))
                bodies.setdefault(name, []).append(words - set(parameters))
    own = {name for name in bodies if not name.startswith("__") or _GUARD.search(name)}
    while True:
        left = {n for n in own if all(words <= own for words in bodies[n])}
        if left == own:
            return own
        own = left


_FREE_PRAGMA = re.compile(r"once|(no)?unroll|unroll ?\(? ?\d+ ?\)?")


def _pragmas(text: str) -> Iterable[str]:
    return (pragma for _, pragma in _pragma_lines(text))


def _pragma_lines(text: str) -> Iterable[tuple[int, str]]:
    for token in _lexed(text):
        if token.kind == "directive" and token.text == "pragma":
            yield token.line, " ".join(re.sub(r"/\*.*?\*/|//.*", " ", token.rest).split())


def _check_raw_strings(file: str, text: str, original: str) -> Refusal | None:
    """Raw strings undo spliced lines, which a tokenizer could be deceived by: none are added."""
    known = Counter(t.text for t in _lexed(original) if t.kind == "raw_string")
    for token in _lexed(text):
        if token.kind == "raw_string":
            known[token.text] -= 1
            if known[token.text] < 0:
                return Refusal(
                    sentence="The candidate has a raw string literal.",
                    place=Place(file=file, line=token.line),
                )
    return None


@lru_cache(maxsize=256)
def _lexed(text: str) -> tuple[Token, ...]:
    return tuple(tokens(text))


@lru_cache(maxsize=256)
def _uses(file: str, text: str) -> tuple[Use, ...]:
    """Everything in one source that some rule refuses, the baseline apart."""
    side = PurePosixPath(file).parts[0].removeprefix("op_")
    rules = _rules(side)
    found: list[Use] = []
    stream = [t for t in _lexed(text) if t.kind != "newline"]
    skip_line = 0
    for at, token in enumerate(stream):
        if token.kind == "directive":
            found += _directive_uses(rules, file, token)
            # An include's spelling has been looked at; its parts are not names.
            skip_line = token.line if token.text == "include" else 0
            continue
        if skip_line and token.line == skip_line:
            continue
        if token.kind == "number":
            found += [Use(r, token.text, file, token.line) for r in _refusing(side, token.text)]
        elif token.kind == "name":
            found += _name_uses(side, file, stream, at)
            found += [
                Use(rule, token.text, file, token.line)
                for rule in _dropping(side, token.text)
                if changes_in_call(stream, at + 1)
            ]
            if token.text in ("__attribute__", "__attribute"):
                found += _attribute_uses(rules, file, stream, at + 1, "(", ")")
        elif token.kind == "mark":
            found += [Use(r, token.text, file, token.line) for r in _odd(side, token.text)]
            if token.text == "[" and at + 1 < len(stream) and stream[at + 1].text == "[":
                found += _attribute_uses(rules, file, stream, at, "[", "]")
    return tuple(found)


def _name_uses(side: str, file: str, stream: list[Token], at: int) -> list[Use]:
    refused = [(name, rules) for name in _spellings(stream, at) if (rules := _refusing(side, name))]
    if not refused:
        return []
    before = stream[at - 1].text if at else ""
    member = before in (".", "->")
    foreign = before == "::" and at > 1 and stream[at - 2].kind == "name"
    foreign = foreign and stream[at - 2].text != "std"
    called = at + 1 < len(stream) and stream[at + 1].text == "("
    found = []
    for name, rules in refused:
        for rule in rules:
            if member and not rule.members:
                continue
            if rule.kind == "call" and (member or foreign or not called):
                continue
            found.append(Use(rule, name, file, stream[at].line))
    return found


def _spellings(stream: list[Token], at: int) -> list[str]:
    """The name at `at`, with `std::` where that is before it, and as part of `long double`."""
    name = stream[at].text
    found = [name]
    if at > 1 and stream[at - 1].text == "::" and stream[at - 2].text == "std":
        found.append(f"std::{name}")
    if name in ("long", "double"):
        # The words of a type are in any order, qualifiers between them.
        before = [token.text for token in reversed(stream[max(0, at - 4) : at])]
        word = next((text for text in before if text not in ("const", "volatile")), "")
        if {name, word} == {"long", "double"}:
            found.append("long double")
    return found


@lru_cache(maxsize=65536)
def _refusing(side: str, name: str) -> tuple[SourceRule, ...]:
    """Rules that refuse a name wherever it is in the sources of that side."""
    return tuple(
        rule
        for rule in _rules(side)
        if rule.kind in ("word", "call", "reserved")
        and (rule.kind != "reserved" or re.search("__|^_[A-Z]", name))
        and rule.refuses(name)
    )


@lru_cache(maxsize=1024)
def _odd(side: str, mark: str) -> tuple[SourceRule, ...]:
    """Rules that refuse a mark."""
    return tuple(r for r in _rules(side) if r.kind == "mark" and r.refuses(mark))


@lru_cache(maxsize=4096)
def _dropping(side: str, name: str) -> tuple[SourceRule, ...]:
    """Rules that refuse effects in the arguments of a call of a name."""
    return tuple(r for r in _rules(side) if r.kind == "effect" and r.refuses(name))


@lru_cache(maxsize=2)
def _rules(side: str) -> tuple[SourceRule, ...]:
    return tuple(r for r in source_rules() if r.scope in ("both", side))


def _directive_uses(rules: tuple[SourceRule, ...], file: str, token: Token) -> list[Use]:
    found = []
    for rule in rules:
        if rule.kind == "directive" and rule.refuses(token.text):
            found.append(Use(rule, token.text, file, token.line))
        if rule.kind == "include" and token.text == "include":
            spelled = _INCLUDE.match(token.rest)
            name = (spelled["angled"] or spelled["quoted"]) if spelled else token.rest[:80]
            if not spelled or ".." in PurePosixPath(name).parts or rule.refuses(name):
                found.append(Use(rule, name, file, token.line))
        if rule.kind == "define" and token.text in ("define", "undef"):
            found += [
                Use(rule, name, file, token.line)
                for name in _macro_names(token.rest)
                if rule.refuses(name)
            ]
    return found


def _macro_names(rest: str) -> list[str]:
    """A macro's name and its parameters, from what follows #define."""
    name, parameters = _MACRO.match(rest).groups()  # type: ignore[union-attr]
    return [name, *re.findall(r"[\w$]+", parameters or "")]


_MACRO = re.compile(r"([\w$]*)(?:\(([^)]*))?")

_INCLUDE = re.compile(r"""(?:<(?P<angled>[^>\n]+)>|"(?P<quoted>[^"\n]+)")\s*(?://.*|/\*.*)?$""")


def _attribute_uses(
    rules: tuple[SourceRule, ...],
    file: str,
    stream: list[Token],
    at: int,
    opening: str,
    closing: str,
) -> list[Use]:
    """Names inside the brackets that start at `at`, up to the one that closes them."""
    rule = next(r for r in rules if r.kind == "attribute")
    found, depth = [], 0
    if [token.text for token in stream[at : at + 2]] != [opening, opening]:
        # A macro would put the list where nobody looks at it.
        found.append(Use(rule, "without a list in place", file, stream[at - 1].line))
    for token in stream[at:]:
        depth += (token.text == opening) - (token.text == closing)
        if token.kind == "name" and rule.refuses(token.text):
            found.append(Use(rule, token.text, file, token.line))
        if depth == 0:
            break
    return found
