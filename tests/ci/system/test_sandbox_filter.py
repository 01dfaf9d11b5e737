"""The numbers of the calls that are forbidden are those of the kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci.system.sandbox_filter import _FORBIDDEN, _NOT_FOR_ONE_PROCESS, _OF_ITSELF_ALONE, _REFUSED

# By column of the table; Debian has both whatever the processor is.
HEADERS = {
    0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    1: Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("column", HEADERS)
def test_every_forbidden_call_has_the_number_that_the_kernels_header_gives_it(column: int) -> None:
    """A call under another's number would be let through, and nothing else would tell."""
    if not HEADERS[column].is_file():
        pytest.skip(f"{HEADERS[column]} is missing: apt-get install linux-libc-dev")
    text = HEADERS[column].read_text()
    numbers = {name: int(n) for name, n in re.findall(r"#define __NR_(\w+) (\d+)$", text, re.M)}
    named = _FORBIDDEN | _NOT_FOR_ONE_PROCESS | _OF_ITSELF_ALONE | _REFUSED
    table = {name: pair[column] for name, pair in named.items()}
    # Headers of an older kernel lack the newest calls.
    known = {name: numbers[name] for name in table if name in numbers}
    assert {name: table[name] for name in known} == known
    assert len(known) > len(table) / 2


def test_a_call_that_is_newer_than_the_headers_has_one_number_on_all_processors() -> None:
    """Linux numbers calls alike since 5.1, from 424 on."""
    table = _FORBIDDEN | _NOT_FOR_ONE_PROCESS
    newer = {name: pair for name, pair in table.items() if max(pair) >= 424}
    assert newer and all(x86 == arm for x86, arm in newer.values())
