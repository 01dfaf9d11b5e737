"""What processes of ours that are near a stranger's code get of the environment they start from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

SANDBOX_VARIABLE: Final = "ASCENDOPT_SANDBOX"
"""Names the sandbox's level; without it the strongest that works is taken."""

_PASSED: Final = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "ASCEND_HOME_PATH",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCENDOPT_ASC_HEADERS",
    "ASCENDOPT_DEBUG",
    "ASCENDOPT_DEVICES",
    "ASCENDOPT_EMBEDDER",
    SANDBOX_VARIABLE,
)


def passed_on(more: Iterable[str] = ()) -> dict[str, str]:
    """Where programs, caches, toolkits and devices are, and the variables named in `more`.

    No token is in it: what is not listed stays behind.
    """
    return {name: os.environ[name] for name in (*_PASSED, *more) if name in os.environ}
