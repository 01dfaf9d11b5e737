"""What every strategy, gate, proposer and backend must do, as tests to inherit.

Subclass a contract in a test of your own (docs/adding-a-strategy.md, docs/adding-a-gate.md,
docs/adding-a-backend.md).
Nothing else of `ci` imports this package, which needs pytest.
"""

import pytest

pytest.register_assert_rewrite(
    "ci.testing.backend", "ci.testing.gate", "ci.testing.proposer", "ci.testing.strategy"
)
