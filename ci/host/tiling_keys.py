"""Which tiling keys a kernel tests, as far as its text says."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.model.trial import Place
from ci.source.cpp_text import without_comments

_TEST = re.compile(r"\bTILING_KEY_IS\b(?:\s*\(\s*([\w']+)\s*\))?")
_NUMBER = re.compile(r"(0[xX][\da-fA-F]+|\d+)[uUlL]*")


def missed_key(texts: Mapping[str, str], key: int) -> tuple[Place, str] | None:
    """Place and sentence for a key that no branch of the kernel takes; None where the kernel tests
    it, tests no key, or tests what its text alone does not tell.

    `texts` are the operator's sources by path.
    """
    kernel = {
        file: without_comments(text)
        for file, text in texts.items()
        if file.startswith("op_kernel/")
    }
    tests = [(file, found) for file, text in kernel.items() for found in _TEST.finditer(text)]
    if not tests or any("TILING_KEY_VAR" in text for text in kernel.values()):
        return None
    keys = [_number(found[1] or "", kernel) for _, found in tests]
    known = sorted({number for number in keys if number is not None})
    if None in keys or key in known:
        return None
    file, first = tests[0]
    line = kernel[file].count("\n", 0, first.start()) + 1
    return Place(file=file, line=line), (
        f"The host tiling sets the key {key}, and no TILING_KEY_IS({key}) is in the kernel, which"
        f" tests {', '.join(map(str, known))}: the launch does nothing."
    )


def _number(word: str, kernel: Mapping[str, str]) -> int | None:
    plain = _NUMBER.fullmatch(word.replace("'", ""))
    if plain:
        return int(plain[1], 16 if plain[1][:2].lower() == "0x" else 10)
    named = re.compile(rf"(?:#[ \t]*define[ \t]+{word}[ \t]+|\b{word}\s*=\s*)\(?([\w']+)")
    found = {m[1].replace("'", "") for text in kernel.values() for m in named.finditer(text)}
    numbers = {_NUMBER.fullmatch(value) for value in found}
    if not word or len(numbers) != 1 or None in numbers:
        return None
    return _number(found.pop(), {})
