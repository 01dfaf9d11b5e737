"""What stands for each of numpy's names when its argument is traced.

Traced arrays look here; the modules that know numpy's functions enter them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]

FUNCTIONS: dict[str, Function] = {}
"""Replacements by the name of numpy's function."""

UFUNCS: dict[str, Function] = {}
"""Element-wise ones that are made of others."""

METHODS: dict[str, Function] = {}
"""Methods of arrays; reading and assigning by index are among them."""
