"""Fixtures that the tests of `lab/` share with those of `ci/`."""

from __future__ import annotations

from tests.ci.conftest import harness, kernels

__all__ = ["harness", "kernels"]
