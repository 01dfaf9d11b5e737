"""What stands for each of numpy's names when its argument is traced.

Traced arrays look here; the modules that know numpy's functions enter them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]

FUNCTIONS: dict[str, Function] = {}
"""Functions by numpy's name for them."""

UFUNCS: dict[str, Function] = {}
"""Element-wise functions that are made of others."""

METHODS: dict[str, Function] = {}
"""Methods of arrays; reading and assigning by index are among them."""
